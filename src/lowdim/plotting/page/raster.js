// A third way to draw the points: into the pixels of a canvas, one stamp a point. Where WebGL is done by the processor, as on a
// machine without a graphics card, this takes a tenth of its time.

const FRACTIONS = 4; // places within a pixel at which a stamp may stand, in each direction
const FINE = 4; // samples within a pixel, in each direction, of which a stamp's edge is made

const OPAQUE = 0xff000000;
const RED_BLUE = 0x00ff00ff;
const GREEN = 0x0000ff00;

class RasterPainter extends PlainPainter {
  inParts = false;

  // Without transparency: a browser turns the pixels of a canvas that has it over once more, which took it as long as all else.
  constructor(canvas, count, order) {
    super(canvas, count, order, { alpha: false });
    this.stamps = [];
  }

  colour(paints) {
    super.colour(paints);
    this.marked = false;
    for (let at = 3; at < paints.length && !this.marked; at += 4) this.marked = (paints[at] & MARK) === STRONG;
    this.ground = wordOf(this.context, groundOf(this.canvas));
  }

  draw(view, size, opacity, { share = 1, ghost = false, stop = this.count, mixed = false } = {}) {
    const { context, canvas, points, former, past } = this;
    const rows = (mixed ? this.mixed : this.order).subarray(0, stop);
    if (!canvas.width || !canvas.height) return;
    if (this.image?.width !== canvas.width || this.image?.height !== canvas.height) {
      this.image = context.createImageData(canvas.width, canvas.height);
      this.words = new Int32Array(this.image.data.buffer);
    }
    this.words.fill(this.ground);
    if (ghost && past) this.scatter(rows, view, size, GHOST * opacity, false, past, past, 1);
    for (const strong of this.marked ? [false, true] : [false]) this.scatter(rows, view, size, opacity, strong, former || points, points, share);
    context.putImageData(this.image, 0, 0);
  }

  scatter(rows, view, size, opacity, strong, from, to, share) {
    const { paints, words } = this;
    const { width, height } = this.image;
    const colours = new Int32Array(paints.buffer, paints.byteOffset, this.count);
    const scale = view.scale * view.ratio;
    const side = (strong ? size * 1.3 + 1.5 : size) * view.ratio;
    const reach = Math.ceil(side / 2) + 1;
    const middle = width / 2;
    const centre = height / 2;
    if (side !== this.side || width !== this.stride) Object.assign(this, { side, stride: width, stamps: [] });
    const { stamps } = this;
    const plain = Math.round(256 * (strong ? 1 : opacity));
    const faint = Math.round(25.6 * opacity);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at];
      const bits = paints[4 * row + 3];
      const mark = bits & MARK;
      if (mark === HIDDEN || (mark === STRONG) !== strong) continue;
      const x = (from[2 * row] + share * (to[2 * row] - from[2 * row]) - view.x) * scale + middle;
      const y = (view.y - from[2 * row + 1] - share * (to[2 * row + 1] - from[2 * row + 1])) * scale + centre;
      // A point that stands over the edge is left out: its map ends there.
      if (!(x > reach && y > reach && x < width - reach - 1 && y < height - reach - 1)) continue;
      const left = Math.floor(x);
      const top = Math.floor(y);
      const across = ((x - left) * FRACTIONS) | 0;
      const down = ((y - top) * FRACTIONS) | 0;
      const key = ((bits >> 2) * FRACTIONS + across) * FRACTIONS + down;
      stamps[key] ??= stampOf(bits >> 2, side, width, (across + 0.5) / FRACTIONS, (down + 0.5) / FRACTIONS);
      print(words, top * width + left, stamps[key], mark === FAINT ? faint : plain, colours[row]);
    }
  }
}

// Blends a colour into pixels, red and blue at once. A plain loop over whole numbers: it takes most of the time of a picture.
function print(words, place, { offsets, covers }, weight, colour) {
  const redBlue = colour & RED_BLUE;
  const green = colour & GREEN;
  for (let each = 0; each < offsets.length; each++) {
    const at = place + offsets[each];
    const cover = (covers[each] * weight) >> 8;
    const rest = 256 - cover;
    const was = words[at];
    const both = (Math.imul(redBlue, cover) + Math.imul(was & RED_BLUE, rest)) >>> 8;
    const middle = (Math.imul(green, cover) + Math.imul(was & GREEN, rest)) >>> 8;
    words[at] = OPAQUE | (both & RED_BLUE) | (middle & GREEN);
  }
}

// A colour of the page as a pixel.
function wordOf(context, colour) {
  context.fillStyle = colour;
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(context.fillStyle.slice(at, at + 2), 16));
  return OPAQUE | (blue << 16) | (green << 8) | red;
}

// The pixels around a point that its shape covers, and how much of each.
function stampOf(shape, side, stride, across, down) {
  const reach = Math.ceil(side / 2) + 1;
  const corners = CORNERS[shape];
  const radius = side / 2;
  const [offsets, covers] = [[], []];
  for (let line = -reach; line <= reach; line++) {
    for (let column = -reach; column <= reach; column++) {
      let hits = 0;
      for (let sample = 0; sample < FINE * FINE; sample++) {
        const x = (column + ((sample % FINE) + 0.5) / FINE - across) / radius;
        const y = (down - line - (Math.floor(sample / FINE) + 0.5) / FINE) / radius;
        hits += corners ? inside(corners, x, y) : x * x + y * y <= 1;
      }
      if (!hits) continue;
      offsets.push(line * stride + column);
      covers.push(Math.round((256 * hits) / (FINE * FINE)));
    }
  }
  return { offsets: Int32Array.from(offsets), covers: Int32Array.from(covers) };
}

// Whether WebGL would be done by the processor.
function isSoftwareDrawn() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}
