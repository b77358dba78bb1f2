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

// A column with what follows from its values where its header does not say it.
function completed(header, values, count) {
  if (values.length !== count) throw new RangeError(`column ${header.name} must hold ${count} values; got ${values.length}`);
  if (header.kind !== "quantity" || header.clip) return { ...header, values };
  let [low, high, missing] = [Infinity, -Infinity, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) missing++;
    else [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  if (missing === count) [low, high] = [0, 1];
  return { whole: false, ...header, low, high, missing, ...usualSpread(values, low, high), values };
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
    for (let row = 0; row < count; row++) {
      const value = values[row];
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return { values, middle: (low + high) / 2, half: (high - low) / 2 };
  });
  const half = Math.max(...centred.map((axis) => axis.half)) || 1;
  const axes = centred.map(({ values, middle }) => {
    const made = new Float32Array(count); // a plain loop: `from` with a function takes ten times as long
    for (let row = 0; row < count; row++) made[row] = (values[row] - middle) / half;
    return made;
  });
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
