// A recording: its episodes, and the place in the one that plays.
import { short } from './curves.js';

const at = (id) => document.getElementById(id);
let player = { episodes: [] };

const option = (value, textContent) => Object.assign(document.createElement('option'), { value, textContent });
const whole = (select) => select.value === '' ? null : Number(select.value);

function title(one) {
  const trained = one.trained === undefined ? '' : `, trained for ${one.trained.toLocaleString('en')} steps`;
  return `${one.index}: environment ${one.env}, ${one.steps} steps, return ${one.returns.slice(0, 4).map(short).join(' ')}` +
    `${one.returns.length > 4 ? ' ...' : ''}, ${one.ended}${trained}`;
}

function showEpisodes(env) {
  const shown = player.episodes.filter((one) => env === null || one.env === env);
  at('player-episode').replaceChildren(...shown.map((one) => option(one.index, title(one))));
}

export function showPlayer(all) {
  player = all;
  at('player').hidden = false;
  at('env-label').hidden = true;
  const envs = [...new Set(player.episodes.map((one) => one.env))].sort((a, b) => a - b);
  at('player-env').replaceChildren(option('', 'all'), ...envs.map((one) => option(one, one)));
  at('facts').textContent = [player.file, ...player.problems].join('; ');
  at('no-curves').textContent = 'No reward was recorded.';
  showEpisodes(null);
}

export function showPlace({ env, episode, step }) {
  const one = player.episodes.find(({ index }) => index === episode);
  if (!one) return null;
  if (whole(at('player-env')) !== env) {
    at('player-env').value = env === null ? '' : env;
    showEpisodes(env);
  }
  if (at('player-episode').value !== String(episode)) at('player-episode').value = episode;
  const slider = at('player-step');
  slider.max = one.steps - 1;
  if (!slider.matches(':active')) slider.value = step;
  at('player-at').textContent = `step ${step} of ${one.steps}`;
  return one;
}

export function listen(send) {
  at('player-step').addEventListener('input', () => send({ do: 'seek', value: Number(at('player-step').value) }));
  at('player-episode').addEventListener('change', () => send({ do: 'episode', value: whole(at('player-episode')) }));
  at('player-env').addEventListener('change', () => {
    showEpisodes(whole(at('player-env')));
    send({ do: 'env', value: whole(at('player-env')) });
  });
}

// One step back or on; the slider holds where it is.
export function move(by, send) {
  send({ do: 'pause' });
  send({ do: 'seek', value: Math.max(0, Number(at('player-step').value) + by) });
}
