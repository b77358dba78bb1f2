// Lines of equal density over the points that are shown: counts on a grid, smoothed, and cut at some shares of the highest.

const GRID = 96;
const LEVELS = [0.05, 0.15, 0.35, 0.65];

function smoothed(values, side, rounds) {
  const kernel = [0.06, 0.24, 0.4, 0.24, 0.06];
  const pass = (from, step) => {
    const to = new Float32Array(from.length);
    for (let at = 0; at < from.length; at++) {
      const along = step === 1 ? at % side : Math.floor(at / side);
      kernel.forEach((weight, place) => {
        const shift = place - 2;
        if (along + shift >= 0 && along + shift < side) to[at] += weight * from[at + shift * step];
      });
    }
    return to;
  };
  let found = values;
  for (let round = 0; round < rounds; round++) found = pass(pass(found, 1), side);
  return found;
}

// Segments of a level, from cell to cell (marching squares).
function segmentsAt(field, side, level) {
  const found = [];
  const value = (x, y) => field[y * side + x] - level;
  for (let y = 0; y < side - 1; y++) {
    for (let x = 0; x < side - 1; x++) {
      const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
      const heights = corners.map(([a, b]) => value(a, b));
      const cuts = [];
      corners.forEach((from, at) => {
        const [to, here, there] = [corners[(at + 1) % 4], heights[at], heights[(at + 1) % 4]];
        if (here > 0 === there > 0) return;
        const share = here / (here - there);
        cuts.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
      });
      for (let at = 0; at + 1 < cuts.length; at += 2) found.push([cuts[at], cuts[at + 1]]);
    }
  }
  return found;
}

function contoursOf(map) {
  const { left, right, bottom, top } = boundsOf(map.points, map.count);
  const step = (1.16 * Math.max(right - left, top - bottom)) / (GRID - 1) || 1;
  const [startX, startY] = [(left + right) / 2 - (step * (GRID - 1)) / 2, (bottom + top) / 2 - (step * (GRID - 1)) / 2];
  const counts = new Float32Array(GRID * GRID);
  for (let row = 0; row < map.count; row++) {
    if (!map.isShown(row)) continue;
    const [x, y] = [Math.round((map.points[2 * row] - startX) / step), Math.round((map.points[2 * row + 1] - startY) / step)];
    counts[y * GRID + x]++;
  }
  const field = smoothed(counts, GRID, map.count < 20000 ? 5 : 2);
  const most = field.reduce((largest, value) => Math.max(largest, value), 0);
  const place = ([x, y]) => [startX + x * step, startY + y * step];
  return LEVELS.map((share) => segmentsAt(field, GRID, share * most).map((ends) => ends.map(place)));
}

function drawContours(map, pen, ink) {
  map.contours ??= contoursOf(map);
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  map.contours.forEach((segments, level) => {
    pen.globalAlpha = 0.25 + 0.12 * level;
    pen.beginPath();
    for (const [from, to] of segments) {
      pen.moveTo(...map.toScreen(...from));
      pen.lineTo(...map.toScreen(...to));
    }
    pen.stroke();
  });
  pen.globalAlpha = 1;
}
