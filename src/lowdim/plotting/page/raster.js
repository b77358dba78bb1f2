// A third way to draw the points: into the pixels of a canvas, one stamp a point. Where WebGL is done by the processor, as on a
// machine without a graphics card, this takes a tenth of its time.

const FRACTIONS = 4; // places within a pixel at which a stamp may stand, in each direction
const FINE = 4; // samples within a pixel, in each direction, of which a stamp's edge is made

class RasterPainter extends PlainPainter {
  inParts = false;

  constructor(canvas, count, order) {
    super(canvas, count, order);
    this.stamps = [];
  }

  colour(paints) {
    super.colour(paints);
    this.marked = false;
    for (let at = 3; at < paints.length && !this.marked; at += 4) this.marked = (paints[at] & MARK) === STRONG;
  }

  draw(view, size, opacity, { share = 1, ghost = false, stop = this.count, mixed = false } = {}) {
    const { context, canvas, points, former, past } = this;
    const rows = (mixed ? this.mixed : this.order).subarray(0, stop);
    if (!canvas.width || !canvas.height) return;
    if (this.image?.width !== canvas.width || this.image?.height !== canvas.height) {
      this.image = context.createImageData(canvas.width, canvas.height);
      this.words = new Uint32Array(this.image.data.buffer);
      this.bytes = new Uint8Array(this.image.data.buffer);
    }
    this.words.fill(0);
    if (ghost && past) this.scatter(rows, view, size, GHOST * opacity, false, past, past, 1);
    for (const strong of this.marked ? [false, true] : [false]) this.scatter(rows, view, size, opacity, strong, former || points, points, share);
    this.dilute();
    context.putImageData(this.image, 0, 0);
  }

  // Colours are blended as they are multiplied by their opacity; an image has them as they are.
  dilute() {
    const { words, bytes: data } = this;
    for (let at = 0; at < words.length; at++) {
      if (!words[at]) continue;
      const alpha = data[4 * at + 3];
      if (alpha > 252 || !alpha) continue;
      const by = 255 / alpha;
      data[4 * at] = Math.min(255, data[4 * at] * by);
      data[4 * at + 1] = Math.min(255, data[4 * at + 1] * by);
      data[4 * at + 2] = Math.min(255, data[4 * at + 2] * by);
    }
  }

  scatter(rows, view, size, opacity, strong, from, to, share) {
    const { paints } = this;
    const { width, height } = this.image;
    const data = this.bytes;
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
      print(data, 4 * (top * width + left), stamps[key], mark === FAINT ? faint : plain, paints, 4 * row);
    }
  }
}

// A plain loop over whole numbers: it takes most of the time of a picture.
function print(data, place, { offsets, covers }, weight, paints, paint) {
  const red = paints[paint];
  const green = paints[paint + 1];
  const blue = paints[paint + 2];
  for (let each = 0; each < offsets.length; each++) {
    const at = place + offsets[each];
    const cover = (covers[each] * weight) >> 8;
    const rest = 256 - cover;
    data[at] = (red * cover + data[at] * rest) >> 8;
    data[at + 1] = (green * cover + data[at + 1] * rest) >> 8;
    data[at + 2] = (blue * cover + data[at + 2] * rest) >> 8;
    data[at + 3] = (255 * cover + data[at + 3] * rest) >> 8;
  }
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
      offsets.push(4 * (line * stride + column));
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
