// Two ways to draw the points: by WebGL, and on a plain canvas where that is switched off. Each point has a paint of four
// bytes: red, green, blue and a mark.

const HIDDEN = 0;
const FAINT = 1;
const PLAIN = 2;
const STRONG = 3;

const VERTEX = `#version 300 es
in vec2 place; in vec4 paint;
uniform vec2 centre, scale; uniform float size, opacity; uniform bool strong;
out vec4 colour;
void main() {
  int mark = int(paint.a * 255.0 + 0.5);
  bool shown = strong ? mark == ${STRONG} : mark == ${FAINT} || mark == ${PLAIN};
  gl_Position = shown ? vec4((place - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = strong ? size * 1.3 + 1.5 : size;
  colour = vec4(paint.rgb, mark == ${FAINT} ? 0.1 * opacity : strong ? 1.0 : opacity);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour; uniform float size; out vec4 pixel;
void main() {
  float edge = 1.0 / max(size, 1.0);
  float cover = 1.0 - smoothstep(0.5 - edge, 0.5 + 0.25 * edge, length(gl_PointCoord - 0.5));
  float alpha = colour.a * cover;
  if (alpha < 0.004) discard;
  pixel = vec4(colour.rgb * alpha, alpha);
}`;

class GraphicsPainter {
  constructor(canvas, count, order) {
    const gl = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL");
    Object.assign(this, { gl, canvas, count, order });
    this.build();
    // A laptop that wakes up may have lost the context.
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.build();
      this.move(this.points);
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
    this.paints = this.attribute("paint", 4, gl.UNSIGNED_BYTE, true);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.order, gl.STATIC_DRAW);
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

  move(points) {
    this.points = points;
    this.fill(this.places, points);
  }

  colour(paints) {
    this.tints = paints;
    this.fill(this.paints, paints);
  }

  draw(view, size, opacity) {
    const gl = this.gl;
    const { width, height } = this.canvas;
    const set = (name, kind, ...values) => gl[`uniform${kind}`](gl.getUniformLocation(this.program, name), ...values);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    set("centre", "2f", view.x, view.y);
    set("scale", "2f", (2 * view.scale * view.ratio) / width, (2 * view.scale * view.ratio) / height);
    set("size", "1f", size * view.ratio);
    set("opacity", "1f", opacity);
    for (const strong of [0, 1]) {
      set("strong", "1i", strong);
      gl.drawElements(gl.POINTS, this.count, gl.UNSIGNED_INT, 0);
    }
  }
}

class PlainPainter {
  constructor(canvas, count, order) {
    Object.assign(this, { canvas, count, order, context: canvas.getContext("2d") });
  }

  move(points) {
    this.points = points;
  }

  colour(paints) {
    this.paints = paints;
  }

  draw(view, size, opacity) {
    const { context, canvas, points, paints } = this;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const scale = view.scale * view.ratio;
    for (const strong of [false, true]) {
      const side = (strong ? size * 1.3 + 1.5 : size) * view.ratio;
      for (const row of this.order) {
        const mark = paints[4 * row + 3];
        if (mark === HIDDEN || (mark === STRONG) !== strong) continue;
        const x = (points[2 * row] - view.x) * scale + canvas.width / 2;
        const y = (view.y - points[2 * row + 1]) * scale + canvas.height / 2;
        if (x < 0 || y < 0 || x > canvas.width || y > canvas.height) continue;
        context.globalAlpha = mark === FAINT ? 0.1 * opacity : strong ? 1 : opacity;
        context.fillStyle = `rgb(${paints[4 * row]} ${paints[4 * row + 1]} ${paints[4 * row + 2]})`;
        context.fillRect(x - side / 2, y - side / 2, side, side);
      }
    }
  }
}

function painterFor(canvas, count, order) {
  try {
    return new GraphicsPainter(canvas, count, order);
  } catch {
    // A canvas that was asked for WebGL gives no other context, so a fresh one takes its place.
    const fresh = canvas.cloneNode(false);
    canvas.replaceWith(fresh);
    return new PlainPainter(fresh, count, order);
  }
}
