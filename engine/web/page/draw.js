// Draws a picture that came as a list of shapes, in the author's coordinates, onto a canvas.
const VIEW = { disc: 1, ring: 2, line: 3, box: 4, polygon: 5, text: 6, number: 7 };

const colour = (number) => {
  const part = (shift) => Math.floor(number / 2 ** shift) % 256;
  return `rgba(${part(24)},${part(16)},${part(8)},${part(0) / 255})`;
};

// As large as there is room for, with the author's proportions.
function fit(canvas, wide, high) {
  const most = Math.max(200, window.innerHeight * 0.68);
  const width = canvas.parentElement.clientWidth - 24;
  const scale = Math.min(width / wide, most / high), dense = window.devicePixelRatio || 1;
  const pixels = [Math.max(1, Math.round(wide * scale * dense)), Math.max(1, Math.round(high * scale * dense))];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
    [canvas.width, canvas.height] = pixels;
    canvas.style.width = `${pixels[0] / dense}px`;
  }
  return scale * dense;
}

export function drawPicture(canvas, picture) {
  const [left, bottom, right, top] = picture.view;
  const scale = fit(canvas, Math.abs(right - left), Math.abs(top - bottom));
  const pen = canvas.getContext('2d'), wide = canvas.width, high = canvas.height;
  const x = (at) => (at - left) / (right - left) * wide, y = (at) => (top - at) / (top - bottom) * high;
  const lineWidth = (asked) => asked === 0 ? Math.max(1, Math.max(wide, high) / 360) : Math.abs(asked) * scale;
  pen.clearRect(0, 0, wide, high);
  pen.lineCap = 'round';
  pen.textBaseline = 'middle';
  for (const [form, paint, ...n] of picture.shapes) {
    pen.fillStyle = pen.strokeStyle = colour(paint);
    pen.beginPath();
    if (form === VIEW.disc || form === VIEW.ring) {
      pen.arc(x(n[0]), y(n[1]), Math.abs(n[2]) * scale, 0, 2 * Math.PI);
      if (form === VIEW.disc) pen.fill();
      else strokeWith(pen, lineWidth(n[3]));
    } else if (form === VIEW.line) {
      pen.moveTo(x(n[0]), y(n[1]));
      pen.lineTo(x(n[2]), y(n[3]));
      strokeWith(pen, lineWidth(n[4]));
    } else if (form === VIEW.box) {
      // On whole pixels, where it has some: boxes side by side would show a seam.
      const [x0, x1, y0, y1] = [x(n[0]), x(n[2]), y(n[1]), y(n[3])].map((at, _, all) =>
        Math.abs(all[0] - all[1]) > 2 && Math.abs(all[2] - all[3]) > 2 ? Math.round(at) : at);
      pen.fillRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    } else if (form === VIEW.polygon) {
      for (let i = 0; i + 1 < n.length; i += 2) pen.lineTo(x(n[i]), y(n[i + 1]));
      pen.closePath();
      pen.fill();
    } else if (form === VIEW.text || form === VIEW.number) {
      const size = n[2] === 0 ? Math.max(wide, high) / 36 : Math.abs(n[2]) * scale;
      pen.font = `${size}px sans-serif`;
      // A text of the engine's own begins or ends at its place: a fourth number says so.
      const anchor = form === VIEW.text && n.length > 4 ? n[3] : 0;
      pen.textAlign = anchor < 0 ? 'left' : anchor > 0 ? 'right' : 'center';
      pen.fillText(String(n[n.length - 1]), x(n[0]), y(n[1]));
    }
  }
}

function strokeWith(pen, width) {
  pen.lineWidth = width;
  pen.stroke();
}
