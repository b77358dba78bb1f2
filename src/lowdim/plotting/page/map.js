// The map: where it looks, what is under the pointer, what is selected; and the gestures and keys that change these.

class PointMap {
  constructor(root, data) {
    Object.assign(this, { root, data, count: data.count, tool: "pan", names: [], showNames: true, lasso: null });
    Object.assign(this, { showPictures: false, pictureOf: null });
    this.axes = placed(data.coordinates, data.count);
    this.deep = this.axes.length === 3;
    this.turn = { yaw: 0.6, pitch: 0.35 };
    this.points = new Float32Array(2 * data.count);
    this.paints = new Uint8Array(4 * data.count);
    this.selected = new Uint8Array(data.count);
    this.box = root.querySelector(".ld-map");
    this.order = shuffled(data.count);
    this.painter = painterFor(root.querySelector(".ld-points"), data.count, this.order);
    this.over = root.querySelector(".ld-over");
    this.pen = this.over.getContext("2d");
    this.size = Math.max(1.2, Math.min(9, 60 / data.count ** 0.28));
    this.opacity = Math.max(0.35, Math.min(0.9, 1.75 - 0.22 * Math.log10(data.count + 1)));
    this.view = { x: 0, y: 0, scale: 1, ratio: 1 };
    this.hovered = -1;
    this.project();
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
    this.reset();
    this.listen();
    this.painter.canvas.addEventListener("restored", () => this.redraw());
  }

  // -- the picture ------------------------------------------------------------------------------------------------

  project() {
    const [xs, ys, zs] = this.axes;
    const { yaw, pitch } = this.turn;
    const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    for (let row = 0; row < this.count; row++) {
      const [x, y] = [xs[row], ys[row]];
      this.points[2 * row] = this.deep ? cy * x + sy * y : x;
      this.points[2 * row + 1] = this.deep ? cp * zs[row] + sp * (cy * y - sy * x) : y;
    }
    this.grid = null;
    this.painter.move(this.points);
  }

  resize() {
    const { clientWidth, clientHeight } = this.box;
    const ratio = window.devicePixelRatio || 1;
    if (!clientWidth || !clientHeight) return;
    const before = this.width ? Math.min(this.width, this.height) : 0;
    Object.assign(this, { width: clientWidth, height: clientHeight });
    if (before) this.view.scale *= Math.min(clientWidth, clientHeight) / before;
    this.view.ratio = ratio;
    for (const canvas of [this.painter.canvas, this.over]) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
    }
    this.redraw();
  }

  reset() {
    this.grid ??= new Grid(this.points, this.count);
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let row = 0; row < this.count; row++) {
      left = Math.min(left, this.points[2 * row]);
      right = Math.max(right, this.points[2 * row]);
      bottom = Math.min(bottom, this.points[2 * row + 1]);
      top = Math.max(top, this.points[2 * row + 1]);
    }
    const fit = Math.min(this.width / (right - left || 1), this.height / (top - bottom || 1)) * 0.92;
    Object.assign(this.view, { x: (left + right) / 2, y: (bottom + top) / 2, scale: fit });
    this.home = fit;
    this.redraw();
  }

  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      const grown = Math.max(1, Math.min(4, (this.view.scale / this.home) ** 0.4));
      this.painter.draw(this.view, this.size * grown, this.opacity);
      this.drawOver(this.size * grown);
    });
  }

  drawOver(size) {
    const { pen, view } = this;
    const style = getComputedStyle(this.root);
    const [ink, paper] = [style.getPropertyValue("--ink"), style.getPropertyValue("--paper")];
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    if (this.showPictures) this.drawPictures();
    if (this.showNames) this.drawNames(ink, paper);
    if (this.hovered >= 0) {
      const [x, y] = this.screen(this.hovered);
      pen.beginPath();
      pen.arc(x, y, size / 2 + 4, 0, 7);
      pen.lineWidth = 4;
      pen.strokeStyle = paper;
      pen.stroke();
      pen.lineWidth = 2;
      pen.strokeStyle = ink;
      pen.stroke();
    }
    if (this.lasso) {
      pen.beginPath();
      for (const [x, y] of this.lasso) pen.lineTo(x, y);
      pen.closePath();
      pen.fillStyle = style.getPropertyValue("--veil");
      pen.fill();
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.strokeStyle = style.getPropertyValue("--accent");
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  // Pictures of points that are not faint, each clear of those before it in the fixed mixed order.
  drawPictures() {
    const { pen, paints } = this;
    const { width, height } = this.data.thumbnails;
    const zoom = 40 / Math.max(width, height);
    const [across, down] = [width * zoom, height * zoom];
    const side = Math.max(across, down) + 4;
    const taken = new Map();
    const key = (column, line) => column * 4096 + line;
    let room = 300;
    pen.imageSmoothingEnabled = zoom < 1;
    pen.lineWidth = 2;
    for (const row of this.order) {
      if (!room) break;
      const [x, y] = this.screen(row);
      if ((paints[4 * row + 3] & MARK) <= FAINT || x < 0 || y < 0 || x > this.width || y > this.height) continue;
      const [column, line] = [Math.floor(x / side) + 1, Math.floor(y / side) + 1];
      const near = [-1, 0, 1].flatMap((a) => [-1, 0, 1].flatMap((b) => taken.get(key(column + a, line + b)) ?? []));
      if (near.some(([a, b]) => Math.abs(a - x) < side && Math.abs(b - y) < side)) continue;
      taken.set(key(column, line), [...(taken.get(key(column, line)) ?? []), [x, y]]);
      room--;
      const { image, left, top } = this.pictureOf(row);
      if (!image.complete) continue;
      pen.drawImage(image, left, top, width, height, x - across / 2, y - down / 2, across, down);
      pen.strokeStyle = `rgb(${paints[4 * row]} ${paints[4 * row + 1]} ${paints[4 * row + 2]})`;
      pen.strokeRect(x - across / 2, y - down / 2, across, down);
    }
  }

  // Names of classes at their medians, the largest class first; one that would cover another waits for a closer look.
  drawNames(ink, paper) {
    const { pen } = this;
    const taken = [];
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const { name, x, y } of this.names) {
      const [across, down] = this.toScreen(x, y);
      const half = pen.measureText(name).width / 2 + 4;
      const free = taken.every(([a, d, h]) => Math.abs(a - across) > h + half || Math.abs(d - down) > 18);
      if (!free || across < 0 || down < 0 || across > this.width || down > this.height) continue;
      taken.push([across, down, half]);
      pen.lineWidth = 4;
      pen.strokeStyle = paper;
      pen.strokeText(name, across, down);
      pen.fillStyle = ink;
      pen.fillText(name, across, down);
    }
  }

  // -- places -----------------------------------------------------------------------------------------------------

  toScreen(x, y) {
    const { view } = this;
    return [(x - view.x) * view.scale + this.width / 2, (view.y - y) * view.scale + this.height / 2];
  }

  toMap(across, down) {
    const { view } = this;
    return [(across - this.width / 2) / view.scale + view.x, view.y - (down - this.height / 2) / view.scale];
  }

  screen(row) {
    return this.toScreen(this.points[2 * row], this.points[2 * row + 1]);
  }

  isShown(row) {
    return (this.paints[4 * row + 3] & MARK) !== HIDDEN;
  }

  under(across, down) {
    this.grid ??= new Grid(this.points, this.count);
    const [x, y] = this.toMap(across, down);
    return this.grid.nearest(x, y, (this.size / 2 + 6) / this.view.scale, (row) => this.isShown(row));
  }

  zoom(factor, across = this.width / 2, down = this.height / 2) {
    const before = this.toMap(across, down);
    this.view.scale = Math.max(this.home / 4, Math.min(this.home * 2000, this.view.scale * factor));
    const after = this.toMap(across, down);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.redraw();
  }

  pan(across, down) {
    this.view.x -= across / this.view.scale;
    this.view.y += down / this.view.scale;
    this.redraw();
  }

  rotate(across, down) {
    this.turn.yaw -= across * 0.008;
    this.turn.pitch = Math.max(-1.57, Math.min(1.57, this.turn.pitch + down * 0.008));
    this.project();
    this.emit("turned");
    this.redraw();
  }

  look(row) {
    [this.view.x, this.view.y] = [this.points[2 * row], this.points[2 * row + 1]];
    this.hover(row);
  }

  hover(row) {
    if (row !== this.hovered) this.redraw();
    this.hovered = row;
    this.emit("hover", row);
  }

  emit(name, detail) {
    this.root.dispatchEvent(new CustomEvent(`ld-${name}`, { detail }));
  }

  // -- selection --------------------------------------------------------------------------------------------------

  selectWithin(path, keep) {
    const outline = path.map(([across, down]) => this.toMap(across, down));
    const [xs, ys] = [outline.map((at) => at[0]), outline.map((at) => at[1])];
    const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    if (!keep) this.selected.fill(0);
    for (let row = 0; row < this.count; row++) {
      const [x, y] = [this.points[2 * row], this.points[2 * row + 1]];
      if (x < left || x > right || y < bottom || y > top || !this.isShown(row)) continue;
      if (inside(outline, x, y)) this.selected[row] = 1;
    }
    this.emit("selected");
  }

  unselect() {
    this.selected.fill(0);
    this.emit("selected");
  }

  // -- gestures ---------------------------------------------------------------------------------------------------

  listen() {
    const { over } = this;
    const held = new Map();
    const at = (event) => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      held.set(event.pointerId, at(event));
      this.lasso = this.tool === "lasso" && held.size === 1 ? [at(event)] : null;
      this.moved = false;
    });
    over.addEventListener("pointermove", (event) => {
      const now = at(event);
      if (!held.has(event.pointerId)) return this.hover(this.under(...now));
      this.drag(held, event, now);
      held.set(event.pointerId, now);
    });
    const release = (event) => {
      if (!held.delete(event.pointerId)) return;
      const path = this.lasso;
      this.lasso = null;
      if (path && path.length > 2 && event.type === "pointerup") this.selectWithin(path, event.shiftKey);
      else if (!this.moved) this.hover(this.under(...at(event)));
      this.redraw();
    };
    over.addEventListener("pointerup", release);
    over.addEventListener("pointercancel", release);
    over.addEventListener("pointerleave", () => held.size || this.hover(-1));
    over.addEventListener("dblclick", (event) => this.zoom(event.shiftKey ? 0.5 : 2, ...at(event)));
    const wheel = (event) => {
      // Inside a longer page the wheel scrolls that page, until the map is clicked.
      if (this.root.dataset.embedded && document.activeElement !== over && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...at(event));
    };
    over.addEventListener("wheel", wheel, { passive: false });
    document.addEventListener("keydown", (event) => this.hears(event) && this.key(event));
  }

  // Keys are the map's wherever the focus is, but for fields that take keys themselves. In a longer page it hears them when
  // the pointer or the focus is in it, and the arrows, which scroll that page, only when it has the focus.
  hears(event) {
    if (event.target.closest?.("input, select, textarea")) return false;
    if (!this.root.dataset.embedded || this.root.contains(document.activeElement)) return true;
    return this.root.matches(":hover") && !event.key.startsWith("Arrow");
  }

  drag(held, event, now) {
    const [x, y] = held.get(event.pointerId);
    if (Math.hypot(now[0] - x, now[1] - y) < 1 && !this.moved) return;
    this.moved = true;
    if (held.size === 2) {
      const [[, other]] = [...held].filter(([id]) => id !== event.pointerId);
      const [before, after] = [Math.hypot(x - other[0], y - other[1]), Math.hypot(now[0] - other[0], now[1] - other[1])];
      this.zoom(after / (before || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      this.pan((now[0] - x) / 2, (now[1] - y) / 2);
    } else if (this.lasso) {
      this.lasso.push(now);
      this.redraw();
    } else if (this.deep && !event.shiftKey) this.rotate(now[0] - x, now[1] - y);
    else this.pan(now[0] - x, now[1] - y);
    this.hover(-1);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    const arrows = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const deeds = { "+": () => this.zoom(1.4), "=": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4), 0: () => this.reset() };
    const commands = { l: "lasso", p: "pan", n: "next", b: "previous", t: "names", i: "pictures", "/": "search", Escape: "clear",
      ",": "earlier", ".": "later" };
    const command = commands[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (arrows[event.key]) {
      if (this.deep && !event.shiftKey) this.rotate(-arrows[event.key][0] / 3, -arrows[event.key][1] / 3);
      else this.pan(...arrows[event.key]);
    } else if (deeds[event.key]) deeds[event.key]();
    else if (command) this.emit("command", command);
    else return;
    event.preventDefault();
  }
}
