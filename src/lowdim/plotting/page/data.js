// From the text blocks of the page to typed arrays. Everything that came from the user's data travels in base64, so that
// none of it is ever read as markup.

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const ARRAYS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

async function unpack(base64) {
  const packed = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(packed).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const array = (place) => new ARRAYS[place.type](buffer, place.at, place.size);
  header.coordinates = header.coordinates.map(array);
  for (const column of header.columns) column.values = array(column.values);
  header.frames.forEach((frame, at) => (frame.coordinates = at ? frame.coordinates.map(array) : header.coordinates));
  return header;
}

// What a cell says, on the screen and in an exported file.
function cell(column, row) {
  const value = column.values[row];
  if (column.kind !== "quantity") return column.names[value];
  if (Number.isNaN(value)) return "";
  return String(column.whole ? value : Number(value.toPrecision(7)));
}

// Coordinates in the middle of the picture, the widest of them from -1 to 1; a line becomes a strip.
function placed(coordinates, count) {
  const centred = coordinates.map((values) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return { values, middle: (low + high) / 2, half: (high - low) / 2 };
  });
  const half = Math.max(...centred.map((axis) => axis.half)) || 1;
  const axes = centred.map(({ values, middle }) => Float32Array.from(values, (value) => (value - middle) / half));
  if (axes.length === 1) {
    const golden = (Math.sqrt(5) - 1) / 2;
    axes.push(Float32Array.from({ length: count }, (_, row) => (((row * golden) % 1) - 0.5) * 0.5));
  }
  return axes;
}

// A fixed shuffle: points are drawn in mixed order, so that no class hides the others.
function shuffled(count) {
  const order = new Uint32Array(count);
  let state = 12345;
  for (let at = 0; at < count; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 4294967296) * (at + 1));
    order[at] = order[other];
    order[other] = at;
  }
  return order;
}

// Rows in square cells, for the nearest point to a place: rows of cell c are rows[starts[c]] to rows[starts[c + 1]].
class Grid {
  constructor(points, count) {
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(count / 3))));
    this.points = points;
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let row = 0; row < count; row++) {
      const [x, y] = [points[2 * row], points[2 * row + 1]];
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < bottom) bottom = y;
      if (y > top) top = y;
    }
    Object.assign(this, { left, bottom, scale: this.side / (Math.max(right - left, top - bottom) * 1.0001 || 1) });
    this.starts = new Uint32Array(this.side * this.side + 1);
    const cells = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      cells[row] = this.cell(points[2 * row], points[2 * row + 1]);
      this.starts[cells[row] + 1]++;
    }
    for (let at = 1; at < this.starts.length; at++) this.starts[at] += this.starts[at - 1];
    const next = this.starts.slice();
    this.rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) this.rows[next[cells[row]]++] = row;
  }

  bound(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(value)));
  }

  cell(x, y) {
    return this.bound((y - this.bottom) * this.scale) * this.side + this.bound((x - this.left) * this.scale);
  }

  nearest(x, y, radius, visible) {
    const across = [this.bound((x - radius - this.left) * this.scale), this.bound((x + radius - this.left) * this.scale)];
    const up = [this.bound((y - radius - this.bottom) * this.scale), this.bound((y + radius - this.bottom) * this.scale)];
    let best = -1;
    let least = radius * radius;
    for (let line = up[0]; line <= up[1]; line++) {
      const stop = this.starts[line * this.side + across[1] + 1];
      for (let at = this.starts[line * this.side + across[0]]; at < stop; at++) {
        const row = this.rows[at];
        const distance = (this.points[2 * row] - x) ** 2 + (this.points[2 * row + 1] - y) ** 2;
        if (distance <= least && visible(row)) [best, least] = [row, distance];
      }
    }
    return best;
  }
}

function inside(path, x, y) {
  let within = false;
  for (let at = 0, last = path.length - 1; at < path.length; last = at++) {
    const [[ax, ay], [bx, by]] = [path[at], path[last]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
