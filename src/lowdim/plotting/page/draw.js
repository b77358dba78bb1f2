// Two ways to draw the points: by WebGL, and on a plain canvas where that is switched off. Each point has a paint of four
// bytes: red, green, blue, and a mark (two bits) with a shape above it. Points on their way are a `share` of it from where
// they come from.

const HIDDEN = 0;
const FAINT = 1;
const PLAIN = 2;
const STRONG = 3;
const MARK = 3;
const GHOST = 0.18; // opacity of where points were

// In the order of palette.SHAPES, each within the circle of radius 1, upwards; the first, a circle, has no corners.
const around = (count, turn, radius = () => 1) =>
  Array.from({ length: count }, (_, at) => {
    const angle = turn + (2 * Math.PI * at) / count;
    return [radius(at) * Math.sin(angle), radius(at) * Math.cos(angle)];
  });
const plus = [[-0.3, 0.95], [0.3, 0.95], [0.3, 0.3], [0.95, 0.3], [0.95, -0.3], [0.3, -0.3], [0.3, -0.95], [-0.3, -0.95],
  [-0.3, -0.3], [-0.95, -0.3], [-0.95, 0.3], [-0.3, 0.3]];
const CORNERS = [
  null,
  around(4, Math.PI / 4),
  around(3, 0),
  around(4, 0),
  around(3, Math.PI),
  plus,
  plus.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]),
  around(10, 0, (at) => (at % 2 ? 0.42 : 1)),
];

const VERTEX = `#version 300 es
in vec2 place, before; in vec4 paint;
uniform vec2 centre, scale; uniform float size, opacity, share; uniform bool strong;
out vec4 colour; flat out int shape;
void main() {
  int bits = int(paint.a * 255.0 + 0.5);
  int mark = bits & ${MARK};
  shape = bits >> 2;
  bool shown = strong ? mark == ${STRONG} : mark == ${FAINT} || mark == ${PLAIN};
  gl_Position = shown ? vec4((mix(before, place, share) - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = strong ? size * 1.3 + 1.5 : size;
  colour = vec4(paint.rgb, mark == ${FAINT} ? 0.1 * opacity : strong ? 1.0 : opacity);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour; flat in int shape; uniform float size; out vec4 pixel;
// How far out a place is in a shape: 1 on its edge. Half a turn of a triangle is the other triangle.
float reach(vec2 at) {
  vec2 out_ = abs(at);
  if (shape == 1) return max(out_.x, out_.y) * 1.414;
  if (shape == 2 || shape == 4) {
    float up = shape == 2 ? at.y : -at.y;
    return max(-up * 2.0, up + out_.x * 1.732);
  }
  if (shape == 3) return out_.x + out_.y;
  if (shape == 5 || shape == 6) {
    if (shape == 6) out_ = abs(vec2(at.x + at.y, at.x - at.y)) * 0.7071;
    return max(max(out_.x, out_.y) / 0.95, min(out_.x, out_.y) / 0.3);
  }
  if (shape == 7) {
    float angle = mod(atan(at.x, at.y), 1.2566) - 0.6283;
    float side = 0.6283 - abs(angle);
    return length(at) * (cos(side) + sin(side) * 2.674);
  }
  return length(at);
}
void main() {
  float edge = 1.0 / max(size, 1.0);
  vec2 at = vec2(gl_PointCoord.x - 0.5, 0.5 - gl_PointCoord.y);
  float cover = 1.0 - smoothstep(0.5 - edge, 0.5 + 0.25 * edge, 0.5 * reach(2.0 * at));
  float alpha = colour.a * cover;
  if (alpha < 0.004) discard;
  pixel = vec4(colour.rgb * alpha, alpha);
}`;

class GraphicsPainter {
  inParts = true; // whether points can be drawn over those that are there

  constructor(canvas, count, order) {
    const gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL");
    Object.assign(this, { gl, canvas, count, order, mixed: order });
    this.build();
    // A laptop that wakes up may have lost the context.
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.build();
      this.move(this.points, this.former, this.past);
      this.colour(this.tints);
      canvas.dispatchEvent(new Event("restored"));
    });
  }

  build() {
    const gl = this.gl;
    this.program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(this.program));
    gl.useProgram(this.program);
    this.places = this.attribute("place", 2, gl.FLOAT, false);
    this.starts = this.attribute("before", 2, gl.FLOAT, false);
    this.ghosts = gl.createBuffer();
    this.paints = this.attribute("paint", 4, gl.UNSIGNED_BYTE, true);
    this.orders = [this.mixed, this.order].map((order) => this.indices(gl.createBuffer(), order));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  attribute(name, size, type, normalised) {
    const gl = this.gl;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    const at = gl.getAttribLocation(this.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalised, 0, 0);
    return buffer;
  }

  fill(buffer, values) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, values, this.gl.DYNAMIC_DRAW);
  }

  // Where the points are, where they come from, and where they were before that: the last two may be missing.
  move(points, former, past) {
    Object.assign(this, { points, former, past });
    this.fill(this.places, points);
    if (former) this.fill(this.starts, former);
    if (past) this.fill(this.ghosts, past);
  }

  // Takes the places of a corner of the shader from this buffer.
  read(name, buffer) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.vertexAttribPointer(gl.getAttribLocation(this.program, name), 2, gl.FLOAT, false, 0, 0);
  }

  // In which order the points are drawn.
  arrange(order) {
    if (order === this.order) return;
    this.order = order;
    this.indices(this.orders[1], order);
  }

  indices(buffer, order) {
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, order, this.gl.DYNAMIC_DRAW);
    return buffer;
  }

  colour(paints) {
    this.tints = paints;
    this.fill(this.paints, paints);
    this.marked = false;
    for (let at = 3; at < paints.length && !this.marked; at += 4) this.marked = (paints[at] & MARK) === STRONG;
  }

  // The points from `start` to `stop` in their order, or the mixed one; a part after the first is drawn over those before.
  draw(view, size, opacity, { share = 1, ghost = false, start = 0, stop = this.count, mixed = false } = {}) {
    const gl = this.gl;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.orders[mixed ? 0 : 1]);
    const { width, height } = this.canvas;
    const set = (name, kind, ...values) => gl[`uniform${kind}`](gl.getUniformLocation(this.program, name), ...values);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    if (!start) gl.clear(gl.COLOR_BUFFER_BIT);
    set("centre", "2f", view.x, view.y);
    set("scale", "2f", (2 * view.scale * view.ratio) / width, (2 * view.scale * view.ratio) / height);
    set("size", "1f", size * view.ratio);
    const points = (from, to, strong, faint, first = start) => {
      this.read("before", from);
      this.read("place", to);
      set("strong", "1i", strong);
      set("opacity", "1f", faint);
      gl.drawElements(gl.POINTS, stop - first, gl.UNSIGNED_INT, 4 * first);
    };
    set("share", "1f", share);
    if (ghost && this.past && !start) points(this.ghosts, this.ghosts, 0, GHOST * opacity);
    const from = this.former ? this.starts : this.places;
    points(from, this.places, 0, opacity);
    if (this.marked && stop === this.count) points(from, this.places, 1, opacity, 0);
  }

  // Calls back when all that was asked for is drawn.
  whenDone(work) {
    const gl = this.gl;
    const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      if (!gl.isContextLost() && gl.getSyncParameter(sync, gl.SYNC_STATUS) !== gl.SIGNALED) return setTimeout(look, 15);
      gl.deleteSync(sync);
      work();
    };
    setTimeout(look, 0);
  }

  release() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

class PlainPainter {
  inParts = true;

  constructor(canvas, count, order, options = {}) {
    Object.assign(this, { canvas, count, order, mixed: order, context: canvas.getContext("2d", options) });
  }

  move(points, former, past) {
    Object.assign(this, { points, former, past });
  }

  arrange(order) {
    this.order = order;
  }

  colour(paints) {
    this.paints = paints;
  }

  draw(view, size, opacity, { share = 1, ghost = false, start = 0, stop = this.count, mixed = false } = {}) {
    const { context, canvas, points, former, past } = this;
    const rows = (mixed ? this.mixed : this.order).subarray(start, stop);
    if (!start) context.clearRect(0, 0, canvas.width, canvas.height);
    if (ghost && past && !start) this.scatter(rows, view, size, GHOST * opacity, false, past, past, 1);
    this.scatter(rows, view, size, opacity, false, former || points, points, share);
    if (stop === this.count) this.scatter(this.order, view, size, opacity, true, former || points, points, share);
  }

  scatter(rows, view, size, opacity, strong, from, to, share) {
    const { context, canvas, paints } = this;
    const scale = view.scale * view.ratio;
    const side = (strong ? size * 1.3 + 1.5 : size) * view.ratio;
    for (const row of rows) {
      const mark = paints[4 * row + 3] & MARK;
      const corners = CORNERS[paints[4 * row + 3] >> 2];
      if (mark === HIDDEN || (mark === STRONG) !== strong) continue;
      const place = (axis) => from[2 * row + axis] + share * (to[2 * row + axis] - from[2 * row + axis]);
      const x = (place(0) - view.x) * scale + canvas.width / 2;
      const y = (view.y - place(1)) * scale + canvas.height / 2;
      if (x < 0 || y < 0 || x > canvas.width || y > canvas.height) continue;
      context.globalAlpha = mark === FAINT ? 0.1 * opacity : strong ? 1 : opacity;
      context.fillStyle = `rgb(${paints[4 * row]} ${paints[4 * row + 1]} ${paints[4 * row + 2]})`;
      if (corners) this.polygon(corners, x, y, side / 2);
      else context.fillRect(x - side / 2, y - side / 2, side, side);
    }
  }

  polygon(corners, x, y, radius) {
    this.context.beginPath();
    for (const [across, up] of corners) this.context.lineTo(x + across * radius, y - up * radius);
    this.context.fill();
  }

  whenDone(work) {
    setTimeout(work, 0);
  }

  release() {}
}

function painterFor(canvas, count, order, raster = false) {
  if (raster) return new RasterPainter(canvas, count, order);
  try {
    return new GraphicsPainter(canvas, count, order);
  } catch {
    // A canvas that was asked for WebGL gives no other context, so a fresh one takes its place.
    const fresh = canvas.cloneNode(false);
    canvas.replaceWith(fresh);
    return new PlainPainter(fresh, count, order);
  }
}
