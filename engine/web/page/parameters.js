// Sliders and fields for the parameters, in rows that stay while their values change.
const rows = new Map();

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function input(type, more = {}) {
  return Object.assign(document.createElement('input'), { type, ...more });
}

function numberRow(row, one, send) {
  const slider = input('range', { min: one.low, max: one.high, step: one.step });
  const field = input('number', { step: 'any' });
  const back = Object.assign(document.createElement('button'), { textContent: '\u21ba', title: 'back to the default' });
  const give = (text) => {
    const value = Number(text);
    if (text === '' || !Number.isFinite(value)) return;
    send(one.name, one.kind === 'whole' ? Math.round(value) : value);
  };
  slider.addEventListener('input', () => { field.value = slider.value; give(slider.value); });
  field.addEventListener('change', () => give(field.value));
  back.addEventListener('click', () => send(one.name, one.default));
  row.append(slider, field, back);
  return (now) => {
    if (document.activeElement !== slider || !slider.matches(':active')) slider.value = now.value;
    if (document.activeElement !== field && !slider.matches(':active')) field.value = now.value;
    row.classList.toggle('changed', !same(now.value, now.default));
  };
}

function otherRow(row, one, send) {
  row.classList.add('wide');
  if (one.kind === 'fixed') {
    const value = Object.assign(document.createElement('span'), { className: 'fixed' });
    row.append(value);
    return (now) => { value.textContent = JSON.stringify(now.value, (_, part) =>
      typeof part === 'number' ? Number(part.toPrecision(6)) : part); };
  }
  if (one.kind === 'table') {
    row.append(Object.assign(document.createElement('span'), { textContent: 'a table' }));
    return () => {};
  }
  const field = one.kind === 'flag' ? input('checkbox') : input('text');
  field.addEventListener('change', () => {
    if (one.kind === 'flag') return send(one.name, field.checked);
    try { send(one.name, JSON.parse(field.value)); } catch { field.focus(); }
  });
  row.append(field);
  return (now) => {
    if (one.kind === 'flag') field.checked = now.value;
    else if (document.activeElement !== field) field.value = JSON.stringify(now.value);
  };
}

// `send(name, value)` asks for another value.
export function showParameters(place, parameters, send) {
  for (const [name, row] of rows)
    if (!parameters.some((one) => one.name === name && same(row.form, [one.kind, one.low, one.high, one.default]))) {
      row.element.remove();
      rows.delete(name);
    }
  for (const one of parameters) {
    if (!rows.has(one.name)) {
      const element = Object.assign(document.createElement('div'), { className: 'parameter' });
      element.dataset.name = one.name;
      element.append(Object.assign(document.createElement('span'), { textContent: one.name, title: one.name }));
      const numeric = one.kind === 'number' || one.kind === 'whole';
      const update = (numeric ? numberRow : otherRow)(element, one, send);
      rows.set(one.name, { element, update, form: [one.kind, one.low, one.high, one.default] });
    }
    const row = rows.get(one.name);
    place.append(row.element);
    row.update(one);
  }
  if (!parameters.length) place.textContent = 'This environment has none.';
}
