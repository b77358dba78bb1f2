// Frames of the protocol (protocol.py): a header of 32 bytes, then an array.

const WIRE = { positions: 1, thumbnail: 2, column: 3, content: 4, file: 5 };
const WIRE_HEADER = 32;

function readFrame(buffer) {
  const view = new DataView(buffer);
  return {
    kind: view.getUint8(0),
    pane: view.getUint8(1),
    generation: view.getUint32(4, true),
    sequence: view.getUint32(8, true),
    count: view.getUint32(12, true),
    iteration: view.getUint32(28, true),
    body: buffer.slice(WIRE_HEADER), // its own, so that values of eight bytes may stand in it
  };
}

// Steps of 16 bits as numbers from -1 to 1.
function readPlaces(body) {
  const steps = new Int16Array(body);
  const places = new Float32Array(steps.length);
  for (let at = 0; at < steps.length; at++) places[at] = steps[at] / 32767;
  return places;
}

// The same, a column for each coordinate.
function readColumns(body, count) {
  const steps = new Int16Array(body);
  const width = steps.length / count;
  return Array.from({ length: width }, (_, axis) => {
    const column = new Float32Array(count);
    for (let row = 0, at = axis; row < count; row++, at += width) column[row] = steps[at] / 32767;
    return column;
  });
}

// A bit for each row, in base64.
function maskOf(selected) {
  const bits = new Uint8Array(Math.ceil(selected.length / 8));
  for (let row = 0; row < selected.length; row++) if (selected[row]) bits[row >> 3] |= 1 << (row & 7);
  let text = "";
  for (let at = 0; at < bits.length; at += 8192) text += String.fromCharCode(...bits.subarray(at, at + 8192));
  return btoa(text);
}
