// What a running environment shows, over one WebSocket. A message is an object of sections, each of
// which says all of its own; when it has been shown the page asks for what is newer. A page that is
// hidden asks for nothing.
import { drawPicture } from './draw.js';
import { showParameters } from './parameters.js';
import { showCurves, short } from './curves.js';
import { showArrays, showChoice } from './arrays.js';
import { listen, move, showPlayer, showPlace } from './player.js';

const at = (id) => document.getElementById(id);
const known = {};          // the newest of each section
const pending = new Map();  // parameters to be sent with the next picture
let socket = null;

function send(command) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
}

function ask(name, value) {
  if (!pending.size) requestAnimationFrame(() => {
    for (const [key, wanted] of pending) send({ do: 'param', name: key, value: wanted });
    pending.clear();
  });
  pending.set(name, value);
}

// The line, and below it a mark under the word that the message names.
function excerpt({ line, excerpt: text, message }) {
  if (text === undefined) return '';
  const head = `${String(line).padStart(6)} | `;
  const word = /['"\u2018]([^'"\u2019]+)['"\u2019]/.exec(message ?? '')?.[1];
  const column = word === undefined ? -1 : text.indexOf(word);
  const mark = column < 0 ? '' : `\n${' '.repeat(head.length + column)}${'^'.repeat(word.length)}`;
  return head + text + mark;
}

function showNews({ problem, reload, reloads, data }) {
  at('problem').hidden = !problem;
  if (problem) {
    const { file, line, message, text } = problem;
    at('problem-title').textContent = file ? `${file}:${line}: ${message}` : text.split('\n')[0];
    at('problem-excerpt').textContent = excerpt(problem);
    at('problem-text').textContent = text;
  }
  at('reload').hidden = !(reload || data) || Boolean(problem);
  if (data) at('reload').textContent = data;
  else if (reload)
    at('reload').textContent = `Version ${reload.version} runs, ${reload.seconds.toFixed(2)} s after it was saved ` +
      `(${reload.compile_seconds.toFixed(2)} s of them compiling); its state was ${reload.state}. ${reloads} reloads so far.`;
}

function showNumbers(numbers) {
  at('numbers').replaceChildren(...Object.entries(numbers).flatMap(([name, value]) => [
    Object.assign(document.createElement('dt'), { textContent: name }),
    Object.assign(document.createElement('dd'), { textContent: value })]));
}

function showPlayed(status) {
  const one = showPlace(status);
  at('reset').hidden = true;
  if (!one) return;
  const numbers = { episode: one.index, environment: one.env, steps: one.steps, ended: one.ended };
  one.returns.forEach((value, i) => { numbers[one.returns.length > 1 ? `return of ${i}` : 'return'] = short(value); });
  if (one.trained !== undefined) numbers['steps of training'] = one.trained.toLocaleString('en');
  showNumbers(numbers);
}

// Curves alone: there is nothing to step, choose or change.
function showPlotted() {
  at('state').textContent = 'curves';
  document.body.classList.add('plot');
}

function showStatus(status) {
  const state = at('state');
  state.textContent = { runs: { train: 'trains', play: 'plays' }[status.mode] ?? 'runs', broken: 'waits for a save' }[status.state] ?? status.state;
  state.className = `badge ${status.state}`;
  at('pause').textContent = status.state === 'paused' ? 'Go on' : 'Pause';
  const train = status.mode === 'train';
  at('pace-label').hidden = at('reset').hidden = train;
  if (document.activeElement !== at('pace') && status.pace !== undefined) at('pace').value = status.pace;
  if (status.mode === 'play') return showPlayed(status);
  if (status.mode === 'plot') return showPlotted();
  const numbers = { 'steps a second': short(status.rate), 'step': status.step?.toLocaleString('en') ?? '-' };
  if (status.total_steps) numbers['of'] = status.total_steps.toLocaleString('en');
  if (status.episodes !== undefined) numbers['episodes'] = status.episodes.toLocaleString('en');
  if (status.return !== undefined) numbers['return of an episode'] = short(status.return);
  if (status.length !== undefined) numbers['length of an episode'] = short(status.length);
  if (status.policy_return !== undefined) numbers['return of the policy'] = short(status.policy_return);
  if (status.seconds_left) numbers['seconds left'] = Math.round(status.seconds_left);
  showNumbers(numbers);
}

function showEnvironment(environment) {
  document.title = `${environment.name} - Nacelle`;
  at('name').textContent = environment.name;
  if (environment.version !== undefined) at('facts').textContent = `version ${environment.version} on the ${environment.backend}, ` +
    `${environment.envs} environments, actions: ${environment.policy}`;
  if (!environment.arrays) return;
  at('env').max = environment.envs - 1;
  at('agent').max = environment.agents - 1;
  at('agent-label').hidden = environment.agents < 2;
  showChoice(at('array-names'), environment.arrays, (names) => send({ do: 'arrays', value: names }));
}

function showPicture(picture) {
  drawPicture(at('picture'), picture);
  for (const id of ['env', 'agent']) if (document.activeElement !== at(id)) at(id).value = picture[id];
  const mean = picture.episode;
  at('episode').textContent = mean ? `step ${mean[1]} of its episode, return so far ${short(mean[0])}` : '';
  const notes = [picture.draw_note, picture.note];
  if (picture.dropped) notes.push(`${picture.dropped} shapes were left out: a coordinate is not finite`);
  at('note').textContent = notes.filter(Boolean).join('\n');
}

function showRecording(files) {
  const { file, episodes } = files[files.length - 1];
  at('recording').textContent = `records in ${file}: ${episodes} episodes`;
}

// What the author's code prints.
function showOutput({ count, lines }) {
  at('output-section').hidden = !count;
  at('output').textContent = lines.join('\n');
  at('output').scrollTop = at('output').scrollHeight;
}

const SHOW = {
  player: showPlayer,
  environment: showEnvironment,
  status: showStatus,
  news: showNews,
  parameters: (all) => showParameters(at('parameters'), all, ask),
  refused: (why) => { at('refused').hidden = !why; at('refused').textContent = why; },
  picture: showPicture,
  arrays: (all) => showArrays(at('arrays'), all),
  curves: (all) => showCurves(at('curves'), all),
  recording: showRecording,
  output: showOutput,
};

function connect() {
  const place = new URL('live', location.href);
  place.protocol = 'ws:';
  socket = new WebSocket(place);
  socket.onopen = () => socket.send('next');
  socket.onmessage = ({ data }) => {
    const news = JSON.parse(data);
    Object.assign(known, news);
    requestAnimationFrame(() => {
      for (const [name, show] of Object.entries(SHOW)) if (news[name] !== undefined && news[name] !== null) show(news[name]);
      if (socket.readyState === WebSocket.OPEN) socket.send('next');
    });
  };
  socket.onclose = () => {
    at('state').textContent = 'has ended';
    at('state').className = 'badge gone';
    setTimeout(connect, 2000);
  };
}

listen(send);
const press = () => send({ do: at('pause').textContent === 'Pause' ? 'pause' : 'play' });
at('pause').addEventListener('click', press);
at('step').addEventListener('click', () => send({ do: 'step' }));
at('reset').addEventListener('click', () => send({ do: 'reset' }));
at('pace').addEventListener('change', () => send({ do: 'pace', value: Number(at('pace').value) || 0 }));
for (const id of ['env', 'agent'])
  at(id).addEventListener('change', () => send({ do: id, value: Math.max(0, Math.round(Number(at(id).value) || 0)) }));
window.addEventListener('keydown', (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement ||
      event.target instanceof HTMLSelectElement) return;
  if (event.key === ' ') { press(); event.preventDefault(); }
  if (event.key === 's') send({ do: 'step' });
  if (known.player && event.key === 'ArrowLeft') move(-1, send);
  if (known.player && event.key === 'ArrowRight') move(1, send);
});
window.addEventListener('resize', () => { if (known.picture) drawPicture(at('picture'), known.picture); });
connect();
