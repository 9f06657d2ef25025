// The arrays of one environment: short ones as numbers, longer ones as bars, those of several dimensions
// as small pictures.
const rows = new Map();
const WRITTEN = 16;

const written = (value) => value === null ? 'nan' : String(Number(value.toPrecision(6)));

function range(values) {
  let low = 0, high = 0;
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high > low ? high : low + 1];
}

function image(canvas, array) {
  const [high, wide] = array.dims, channels = array.count / high / wide;
  if (canvas.width !== wide || canvas.height !== high) {
    [canvas.width, canvas.height] = [wide, high];
    const pixels = Math.max(1, Math.min(12, Math.floor(240 / Math.max(wide, high))));
    canvas.style.width = `${wide * pixels}px`;
  }
  const pen = canvas.getContext('2d'), picture = pen.createImageData(wide, high);
  const [low, top] = range(array.values), coloured = channels === 3 || channels === 4;
  for (let at = 0; at < high * wide; ++at) {
    for (let c = 0; c < 3; ++c)
      picture.data[4 * at + c] = 255 * ((array.values[at * channels + (coloured ? c : 0)] ?? 0) - low) / (top - low);
    picture.data[4 * at + 3] = 255;
  }
  pen.putImageData(picture, 0, 0);
}

function bars(canvas, array) {
  const wide = Math.min(640, array.values.length * 6), high = 36;
  if (canvas.width !== wide) [canvas.width, canvas.height] = [wide, high];
  const pen = canvas.getContext('2d'), [low, top] = range(array.values), each = wide / array.values.length;
  const y = (value) => (top - value) / (top - low) * high;
  pen.clearRect(0, 0, wide, high);
  array.values.forEach((value, i) => {
    pen.fillStyle = value < 0 ? '#e4822e' : '#3a70c4';
    pen.fillRect(i * each, Math.min(y(value), y(0)), Math.max(1, each - 1), Math.abs(y(value) - y(0)));
  });
}

function make(place, name) {
  const code = Object.assign(document.createElement('code'), { textContent: name });
  const form = Object.assign(document.createElement('span'), { className: 'form' });
  const values = Object.assign(document.createElement('div'), { className: 'values' });
  place.append(code, form, values);
  return { parts: [code, form, values], form, values, canvas: null };
}

function show(row, array) {
  row.form.textContent = array.form;
  const flat = array.dims.length < 2 || array.dims[0] < 2 || array.dims[1] < 2;
  const whole = array.values.length === array.count;
  if (array.values.length <= WRITTEN || (!flat && !whole)) {
    row.values.textContent = array.values.slice(0, 256).map(written).join('  ');
    row.canvas = null;
    return;
  }
  if (!row.canvas) {
    row.canvas = document.createElement('canvas');
    row.values.replaceChildren(row.canvas);
  }
  (flat ? bars : image)(row.canvas, array);
}

export function showArrays(place, arrays) {
  const names = new Set(arrays.map((array) => array.name));
  for (const [name, row] of rows)
    if (!names.has(name)) {
      for (const part of row.parts) part.remove();
      rows.delete(name);
    }
  for (const array of arrays) {
    if (!rows.has(array.name)) rows.set(array.name, make(place, array.name));
    show(rows.get(array.name), array);
  }
}

// `send(names)` asks for these.
export function showChoice(place, arrays, send) {
  const chosen = new Set([...place.querySelectorAll('input')].filter((one) => one.checked).map((one) => one.name));
  const fresh = place.children.length === 0;
  place.replaceChildren(...arrays.map(({ name, form, first }) => {
    const label = document.createElement('label');
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', name, checked: fresh ? first : chosen.has(name) });
    box.addEventListener('change', () => {
      const names = [...place.querySelectorAll('input')].filter((one) => one.checked).map((one) => one.name);
      if (names.length) send(names);
      else box.checked = true;
    });
    label.append(box, ` ${name} `, Object.assign(document.createElement('small'), { textContent: form }));
    return label;
  }));
}
