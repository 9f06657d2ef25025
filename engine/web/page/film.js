// A recording: its episodes, and the place in the one that plays.
import { short } from './curves.js';

const at = (id) => document.getElementById(id);
let film = { episodes: [] };

const option = (value, textContent) => Object.assign(document.createElement('option'), { value, textContent });
const whole = (select) => select.value === '' ? null : Number(select.value);

function title(one) {
  const trained = one.trained === undefined ? '' : `, trained for ${one.trained.toLocaleString('en')} steps`;
  return `${one.index}: environment ${one.env}, ${one.steps} steps, return ${one.returns.slice(0, 4).map(short).join(' ')}` +
    `${one.returns.length > 4 ? ' ...' : ''}, ${one.ended}${trained}`;
}

function showEpisodes(env) {
  const shown = film.episodes.filter((one) => env === null || one.env === env);
  at('film-episode').replaceChildren(...shown.map((one) => option(one.index, title(one))));
}

export function showFilm(all) {
  film = all;
  at('film').hidden = false;
  at('env-label').hidden = true;
  const envs = [...new Set(film.episodes.map((one) => one.env))].sort((a, b) => a - b);
  at('film-env').replaceChildren(option('', 'all'), ...envs.map((one) => option(one, one)));
  at('facts').textContent = [film.file, ...film.problems].join('; ');
  at('no-curves').textContent = 'No reward was recorded.';
  showEpisodes(null);
}

export function showPlace({ env, episode, step }) {
  const one = film.episodes.find(({ index }) => index === episode);
  if (!one) return null;
  if (whole(at('film-env')) !== env) {
    at('film-env').value = env === null ? '' : env;
    showEpisodes(env);
  }
  if (at('film-episode').value !== String(episode)) at('film-episode').value = episode;
  const slider = at('film-step');
  slider.max = one.steps - 1;
  if (!slider.matches(':active')) slider.value = step;
  at('film-at').textContent = `step ${step} of ${one.steps}`;
  return one;
}

export function listen(send) {
  at('film-step').addEventListener('input', () => send({ do: 'seek', value: Number(at('film-step').value) }));
  at('film-episode').addEventListener('change', () => send({ do: 'episode', value: whole(at('film-episode')) }));
  at('film-env').addEventListener('change', () => {
    showEpisodes(whole(at('film-env')));
    send({ do: 'env', value: whole(at('film-env')) });
  });
}

// One step back or on; the slider holds where it is.
export function move(by, send) {
  send({ do: 'pause' });
  send({ do: 'seek', value: Math.max(0, Number(at('film-step').value) + by) });
}
