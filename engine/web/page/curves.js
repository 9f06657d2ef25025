// A small chart for each curve, by Chart.js; where that is not there its last value.
const charts = new Map();
const FIRST = ['episode.return', 'evaluation.return', 'episode.length', 'steps_per_second'];

export const short = (value) => {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
  return String(Number(value.toPrecision(4)));
};

function rank(name) {
  const at = FIRST.indexOf(name);
  return at < 0 ? FIRST.length : at;
}

function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function make(place, name) {
  const box = Object.assign(document.createElement('div'), { className: 'curve' });
  const title = Object.assign(document.createElement('b'), { textContent: name });
  const last = document.createElement('i');
  box.append(title, last);
  let chart = null;
  if (window.Chart) {
    const plot = Object.assign(document.createElement('div'), { className: 'plot' });
    const canvas = document.createElement('canvas');
    plot.append(canvas);
    box.append(plot);
    place.append(box);
    const ticks = { color: paint('--soft'), maxTicksLimit: 5, font: { size: 10 }, callback: short };
    const grid = { color: paint('--line') };
    chart = new window.Chart(canvas, {
      type: 'line',
      data: { datasets: [{ data: [], borderColor: paint('--accent'), borderWidth: 1.5, pointRadius: 0 }] },
      options: {
        animation: false, parsing: false, normalized: true, maintainAspectRatio: false,
        scales: { x: { type: 'linear', bounds: 'data', ticks: { ...ticks, maxRotation: 0 }, grid },
                  y: { ticks, grid } },
        plugins: { legend: { display: false },
                   tooltip: { intersect: false, mode: 'nearest', axis: 'x',
                              callbacks: { title: (items) => `step ${items[0].parsed.x}` } } },
      },
    });
  } else place.append(box);
  return { box, last, chart };
}

export function showCurves(place, curves) {
  document.getElementById('no-charts').hidden = Boolean(window.Chart);
  const names = Object.keys(curves).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  for (const name of names) {
    if (!charts.has(name)) charts.set(name, make(place, name));
    const { box, last, chart } = charts.get(name), points = curves[name];
    place.append(box);
    last.textContent = short(points[points.length - 1][1]);
    if (!chart) continue;
    chart.data.datasets[0].data = points.map(([x, y]) => ({ x, y }));
    chart.update('none');
  }
  document.getElementById('no-curves').hidden = names.length > 0;
  if (place.children.length === names.length) return;
  for (const [name, { box, chart }] of charts)
    if (!(name in curves)) {
      chart?.destroy();
      box.remove();
      charts.delete(name);
    }
}
