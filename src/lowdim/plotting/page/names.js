// Names of classes on the map: one for each piece of a class that is split, larger ones first, in lines, beside their place
// where that is taken, and in layers: names of classes that lie inside the shown ones come when one looks closer.

const LEAST = 0.12; // share of its class, or of the class's largest piece, that a piece needs for a name of its own
const NESTED = 0.95; // share of a finer class that lies in one of the shown ones
const NEARER = 2.5; // zoom at which the next layer comes
const LINE = 18; // letters of a line

// Pieces of every class: where each is (at a cell near its middle that has points), how many points, how wide.
function piecesOf(map, column, off) {
  const { left, right, bottom, top } = boundsOf(map.points, map.count);
  const across = Math.max(16, Math.min(64, Math.round(Math.sqrt(map.count / 4)))); // cells in which pieces hang together
  const side = Math.max(right - left, top - bottom) / across || 1;
  const size = across * across;
  const counts = new Uint32Array(column.names.length * size);
  const sums = new Float32Array(2 * counts.length);
  const bound = (value) => Math.max(0, Math.min(across - 1, Math.floor(value)));
  for (let row = 0; row < map.count; row++) {
    const x = map.points[2 * row];
    const y = map.points[2 * row + 1];
    const cell = column.values[row] * size + bound((y - bottom) / side) * across + bound((x - left) / side);
    counts[cell]++;
    sums[2 * cell] += x;
    sums[2 * cell + 1] += y;
  }
  const found = [];
  column.names.forEach((name, code) => {
    if (!name || off.has(code)) return;
    const pieces = connected(counts.subarray(code * size, (code + 1) * size), across);
    const total = pieces.reduce((sum, piece) => sum + piece.count, 0);
    const most = pieces.length ? pieces[0].count : 0;
    for (const { cells, count } of pieces.filter((piece) => piece.count >= Math.max(LEAST * total, LEAST * most, 1)).slice(0, 4)) {
      const place = middleOf(cells, (cell) => [sums[2 * (code * size + cell)], sums[2 * (code * size + cell) + 1], counts[code * size + cell]]);
      found.push({ ...place, name, lines: linesOf(name), count, code, wide: Math.sqrt(cells.length) * side });
    }
  });
  return found.sort((a, b) => b.count - a.count);
}

// Cells that hang together, the largest piece first; single points between clusters do not join them.
function connected(counts, side) {
  const most = counts.reduce((largest, count) => Math.max(largest, count), 0);
  const least = Math.max(1, 0.02 * most);
  const seen = new Uint8Array(counts.length);
  const pieces = [];
  for (let start = 0; start < counts.length; start++) {
    if (seen[start] || counts[start] < least) continue;
    const cells = [start];
    seen[start] = 1;
    let count = 0;
    for (let at = 0; at < cells.length; at++) {
      const [line, column] = [Math.floor(cells[at] / side), cells[at] % side];
      count += counts[cells[at]];
      for (let down = Math.max(0, line - 1); down <= Math.min(side - 1, line + 1); down++) {
        for (let across = Math.max(0, column - 1); across <= Math.min(side - 1, column + 1); across++) {
          const cell = down * side + across;
          if (seen[cell] || counts[cell] < least) continue;
          seen[cell] = 1;
          cells.push(cell);
        }
      }
    }
    pieces.push({ cells, count });
  }
  return pieces.sort((a, b) => b.count - a.count);
}

// The mean of the cell nearest to the mean of all; one with a few points between two crowds is not asked.
function middleOf(cells, sum) {
  let [x, y, count, most] = [0, 0, 0, 0];
  for (const cell of cells) {
    const [a, b, many] = sum(cell);
    [x, y, count, most] = [x + a, y + b, count + many, Math.max(most, many)];
  }
  let [best, least] = [null, Infinity];
  for (const cell of cells) {
    const [a, b, many] = sum(cell);
    if (many < 0.3 * most) continue;
    const far = (a / many - x / count) ** 2 + (b / many - y / count) ** 2;
    if (far < least) [best, least] = [{ x: a / many, y: b / many }, far];
  }
  return best;
}

function linesOf(name) {
  const lines = [""];
  for (const word of name.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= LINE || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const cut = lines.length > 3 ? [...lines.slice(0, 2), `${lines[2]}…`] : lines;
  return cut.map((line) => (line.length > LINE + 10 ? `${line.slice(0, LINE + 9)}…` : line));
}

// The column of finer classes that lie inside those of this one, the coarsest of them; null where there is none.
function finerThan(column, columns, count) {
  const finer = columns.filter((other) => other.kind === "classes" && other.names.length > column.names.length && other.names.length < 257);
  const step = Math.ceil(count / 20000);
  const isNested = (other) => {
    const tally = other.names.map(() => new Map());
    for (let row = 0; row < count; row += step) {
      const within = tally[other.values[row]];
      within.set(column.values[row], (within.get(column.values[row]) ?? 0) + 1);
    }
    const kept = tally.reduce((sum, within) => sum + Math.max(0, ...within.values()), 0);
    return kept >= NESTED * Math.ceil(count / step);
  };
  return finer.sort((a, b) => a.names.length - b.names.length).find(isNested) ?? null;
}

// How opaque a name is at a zoom: it fades as its piece outgrows the screen, and a finer layer comes as the first one goes.
function fade(map, { wide, layer }) {
  const zoom = map.view.scale / map.home;
  const outgrown = (wide * map.view.scale) / Math.min(map.width, map.height);
  const gone = Math.max(0, Math.min(1, (outgrown - 0.9) / 1.2));
  if (layer) return Math.max(0, Math.min(1, (zoom - NEARER) / 0.8));
  return 1 - 0.75 * gone;
}

// Where each name can stand, larger pieces first: at its place, or around it with a line to it, or not at all.
function placeNames(map, measure) {
  const taken = [];
  const found = [];
  const [left, top] = [map.toolsWidth(), map.badgeHeight()];
  const isMany = map.names.length > 40;
  const largest = Math.sqrt(map.names[0]?.count ?? 1);
  for (const piece of map.names) {
    const opacity = fade(map, piece);
    const [x, y] = map.toScreen(piece.x, piece.y);
    if (opacity < 0.05 || x < 0 || y < 0 || x > map.width || y > map.height) continue;
    const size = Math.round((piece.layer || isMany ? 11 : 12) + (piece.layer ? 1 : isMany ? 3 : 5) * (Math.sqrt(piece.count) / largest));
    const half = Math.max(...piece.lines.map((line) => measure(line, size))) / 2 + 5;
    const tall = (piece.lines.length * size * 1.15) / 2 + 4;
    const free = ([a, d]) => a - half > left && a + half < map.width && d - tall > top && d + tall < map.height &&
      taken.every(([p, q, h, t]) => Math.abs(p - a) > h + half || Math.abs(q - d) > t + tall);
    const place = tries(x, y, half, tall).find(free);
    if (!place) continue;
    taken.push([...place, half, tall]);
    const moved = Math.abs(place[0] - x) > half || Math.abs(place[1] - y) > tall;
    found.push({ ...piece, across: place[0], down: place[1], size, opacity, line: moved ? [x, y] : null });
  }
  return found;
}

function tries(x, y, half, tall) {
  const places = [[x, y]];
  for (const ring of [1, 2, 3]) {
    for (let step = 0; step < 8; step++) {
      const angle = (step * Math.PI) / 4 - Math.PI / 2;
      places.push([x + Math.cos(angle) * ring * (half * 0.6 + 14), y + Math.sin(angle) * ring * (tall + 10)]);
    }
  }
  return places;
}
