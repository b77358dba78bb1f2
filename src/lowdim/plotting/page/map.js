// The map of points in one element: where it looks, where the points are, what is selected.
//
// A saved page makes one for each block of data on it (start.js). A page outside this folder takes the module that
// `lowdim.plotting.page.map_module()` returns and calls
//
//   import { createMap } from "./map.js";
//   const map = createMap(element, header, { panel: true, embedded: false });
//
// where header = { count, coordinates: [x, y] or [x], [x, y, z] as Float32Array, columns: [], title: "", colour: 0 }; count
// and coordinates are needed, the rest has defaults. The element needs a height, the page `map_style()`. Columns are as the
// packed page describes them (content.py, Column.header) with their `values`: { name, kind: "classes", names, colours, dark,
// shapes, values: codes }, { name, kind: "quantity", low, high, missing, whole, values }, { name, kind: "text", names, values }.
// `panel: false` leaves out the panel beside the map; `embedded: true` lets the map hear keys only while the pointer or the
// focus is in it; `raster: true` draws without WebGL, which `isSoftwareDrawn()` says where the processor would do that. Then
//
//   map.setPositions(numbers, { milliseconds, ghost })
//                                 new coordinates, interleaved (x, y, x, y, ...; 1, 2 or 3 numbers a point), each time
//                                 centred and scaled to fill the map; the points move there in so many milliseconds (400;
//                                 0 or reduced motion: at once). `ghost: false` leaves the ghost as it is, for the frames of
//                                 one run
//   map.setColumn(header, values) adds a column or replaces the one of its name, in the menu and on the map
//   map.colourBy(name)            colours by a column
//   map.ghost(on)                 shows faintly where the points were before the last setPositions
//   map.badge(text)               a line at the top of the map; "" takes it away
//   map.selectRows(rows)          selects these rows and no others
//   map.hoverRow(row)             puts the ring around a row (-1: none), without tooltip and without an event
//   map.setView(view)             looks at { x, y, zoom, yaw, pitch }, each of which may be left out; zoom 1 is the whole map
//   map.on(event, handler)        "hover" (row or -1), "selection" (rows, Uint32Array), "colour" (name of a column), "view"
//                                 ({ x, y, zoom, yaw, pitch }); returns a function that ends it. What changes nothing tells
//                                 nothing, so two maps may tell each other
//   map.thumbnail(width, height)  a data URL of the whole map
//   map.exportPNG({ scale })      a promise of a Blob: what is shown, enlarged (2)
//   map.exportSVG()               a text: what is shown; up to 20,000 points as shapes, more as a picture inside
//   map.remove()                  takes the map away, with all that it listens to
//
// Fields for reading: map.count, map.hovered, map.selected (a byte a row), map.data.columns, map.root, map.panel.

const TURN_PAUSE = 300; // milliseconds between two times that others are told that all points have moved
const MANY = 150000; // points that any machine draws at once
const SLOW = 120; // milliseconds of a frame that people feel
const PAUSE = 350;
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class PointMap extends MapView {
  constructor(root, data) {
    super();
    Object.assign(this, { root, data, count: data.count, tool: "pan", names: [], showNames: true, outline: null, writtenNames: [] });
    Object.assign(this, { showPictures: false, pictureOf: null, showGhost: false, hovered: -1, touched: false, isSlow: true, stale: true });
    this.over = root.querySelector(".ld-over");
    this.pen = this.over.getContext("2d");
    this.box = root.querySelector(".ld-stage");
    this.order = shuffled(data.count);
    this.painter = painterFor(root.querySelector(".ld-points"), data.count, this.order, data.raster);
    this.turn = { yaw: 0.6, pitch: 0.35 };
    this.paints = new Uint8Array(4 * data.count);
    this.selected = new Uint8Array(data.count);
    this.selection = new Selection(this);
    this.size = Math.max(1.2, Math.min(9, 60 / data.count ** 0.28));
    this.opacity = null; // by the number of points in sight, unless a person says otherwise
    this.view = { x: 0, y: 0, scale: 1, ratio: 1 };
    this.share = 1; // how far the points are on their way from `former` to `axes`
    this.axes = placed(data.coordinates, data.count);
    this.former = null;
    this.past = null; // where the points were before the last setPositions: the ghost
    this.project();
    this.ending = new AbortController();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    this.resize();
    this.reset();
    listen(this);
    this.painter.canvas.addEventListener("restored", () => this.redraw());
  }

  // -- where the points are ---------------------------------------------------------------------------------------

  get deep() {
    return this.axes.length === 3;
  }

  // Places on the map of coordinates in the plane or, turned, in space.
  projected([xs, ys, zs], places = new Float32Array(2 * this.count)) {
    const { yaw, pitch } = this.turn;
    const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    for (let row = 0; row < this.count; row++) {
      const x = xs[row];
      const y = ys[row];
      places[2 * row] = zs ? cy * x + sy * y : x;
      places[2 * row + 1] = zs ? cp * zs[row] + sp * (cy * y - sy * x) : y;
    }
    return places;
  }

  project() {
    this.points = this.projected(this.axes, this.points);
    this.grid = null;
    this.contours = null;
    this.painter.move(this.points, this.former && this.projected(this.former), this.showGhost && this.past && this.projected(this.past));
  }

  setPositions(numbers, options = {}) {
    const width = numbers.length / this.count;
    if (![1, 2, 3].includes(width)) {
      throw new RangeError(`positions must hold 1, 2 or 3 numbers for each of ${this.count} points; got ${numbers.length}`);
    }
    const columns = Array.from({ length: width }, () => new Float32Array(this.count));
    for (let axis = 0; axis < width; axis++) {
      for (let row = 0; row < this.count; row++) columns[axis][row] = numbers[row * width + axis];
    }
    this.moveTo(columns, options);
  }

  moveTo(columns, { milliseconds = 400, ghost = true } = {}) {
    const shown = this.shownAxes();
    if (ghost) this.past = this.axes;
    this.data.coordinates = columns;
    this.data.axes = this.data.axes.length === columns.length ? this.data.axes : ["x", "y", "z"].slice(0, columns.length);
    this.axes = placed(columns, this.count);
    this.travel(shown, milliseconds);
  }

  // The way to where the axes are now from where they were (null: at once).
  travel(from, milliseconds = 400) {
    const moves = from && from.length === this.axes.length && milliseconds > 0 && !calm();
    this.former = moves ? from : null;
    this.share = moves ? 0 : 1;
    this.journey = moves ? { start: null, milliseconds, from: { ...this.view }, to: null } : null;
    this.project();
    if (!this.touched) this.refit();
    this.hover(-1);
    this.tellOfTurn();
    this.redraw();
  }

  // Where names belong takes longer to find than a frame of a moving map to draw: a few times in a second is enough.
  tellOfTurn() {
    const wait = TURN_PAUSE - (performance.now() - (this.toldOfTurn ?? -Infinity));
    clearTimeout(this.turning);
    if (wait > 0) this.turning = setTimeout(() => this.tellOfTurn(), wait);
    else {
      this.toldOfTurn = performance.now();
      this.emit("turned");
    }
  }

  // The coordinates as they are shown now, on their way too.
  shownAxes() {
    if (this.share === 1 || !this.former) return this.axes;
    const [before, after] = [this.former, this.axes];
    if (before.length !== after.length) return after;
    return after.map((values, axis) => values.map((value, row) => before[axis][row] + this.share * (value - before[axis][row])));
  }

  // One frame of the way: smooth at both ends.
  advance(now) {
    const { journey } = this;
    if (!journey) return;
    this.stale = true;
    journey.start ??= now;
    const time = Math.min(1, (now - journey.start) / journey.milliseconds);
    this.share = time * time * (3 - 2 * time);
    if (journey.to) {
      for (const key of ["x", "y", "scale"]) this.view[key] = journey.from[key] + this.share * (journey.to[key] - journey.from[key]);
    }
    if (time < 1) return this.redraw();
    this.journey = null;
    this.former = null;
    this.emit("arrived");
  }

  ghost(on) {
    this.showGhost = Boolean(on);
    this.project();
    this.redraw();
  }

  // -- the picture ------------------------------------------------------------------------------------------------

  // The points and what lies over them; `over` alone where the points stay as they are.
  redraw({ over = false } = {}) {
    this.stale ||= !over;
    this.waiting ??= requestAnimationFrame((now) => this.drawNow(now));
  }

  // The same at once, for those who are called by the browser's own clock already and would wait for its next beat.
  drawNow(now) {
    cancelAnimationFrame(this.waiting);
    this.waiting = null;
    this.advance(now);
    if (this.stale) this.drawPoints();
    drawOver(this, this.shownSize());
  }

  // Fewer points in sight are less transparent.
  opacityOf(count) {
    return Math.max(0.35, Math.min(0.9, 1.75 - 0.22 * Math.log10(count + 1)));
  }

  shownOpacity() {
    if (this.opacity !== null) return this.opacity;
    if (this.view.scale < 1.5 * this.home || this.journey) return this.opacityOf(this.count);
    this.grid ??= new Grid(this.points, this.count);
    const [left, top] = this.toMap(0, 0);
    const [right, bottom] = this.toMap(this.width, this.height);
    return this.opacityOf(this.grid.countWithin(left, right, bottom, top));
  }

  // Points grow a little as one comes closer.
  shownSize() {
    return this.size * Math.max(1, Math.min(4, (this.view.scale / this.home) ** 0.4));
  }

  // Of very many points that take long to draw, a part at once and the others, part by part, when nothing has changed for a
  // while: the page answers in between.
  drawPoints(isWhole = this.count <= MANY || !this.isSlow) {
    const start = performance.now();
    this.stale = false;
    clearTimeout(this.completing);
    this.drawPart(0, isWhole ? this.count : MANY, !isWhole);
    if (this.count <= MANY) return;
    this.painter.whenDone(() => (this.isSlow = performance.now() - start > (isWhole ? SLOW : SLOW / 4)));
    if (!isWhole) this.completing = setTimeout(() => this.complete(this.painter.order === this.order ? MANY : 0), PAUSE);
  }

  drawPart(start, stop, mixed = false) {
    const parts = { share: this.share, ghost: this.showGhost, start, stop, mixed };
    this.painter.draw(this.view, this.shownSize(), this.shownOpacity(), parts);
  }

  complete(start) {
    const stop = this.painter.inParts ? Math.min(this.count, start + MANY) : this.count;
    this.drawPart(this.painter.inParts ? start : 0, stop);
    const mine = this.completing;
    if (stop < this.count) this.painter.whenDone(() => mine === this.completing && !this.stale && this.complete(stop));
  }

  draw() {
    this.drawPoints(true);
    drawOver(this, this.shownSize());
  }

  badge(text) {
    const place = this.root.querySelector(".ld-badge");
    const isNew = place.hidden !== !text;
    place.hidden = !text;
    place.textContent = text;
    if (!isNew || this.touched) return;
    this.refit();
    this.redraw();
  }

  // -- places -----------------------------------------------------------------------------------------------------

  isShown(row) {
    return (this.paints[4 * row + 3] & MARK) !== HIDDEN;
  }

  under(across, down) {
    this.grid ??= new Grid(this.points, this.count);
    const [x, y] = this.toMap(across, down);
    return this.grid.nearest(x, y, (this.size / 2 + 6) / this.view.scale, (row) => this.isShown(row));
  }

  hover(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.redraw({ over: true });
    this.emit("hover", row);
  }

  hoverRow(row) {
    this.hovered = row;
    this.redraw({ over: true });
  }

  // -- what others are told, and what they ask for ------------------------------------------------------------------

  emit(name, detail) {
    this.root.dispatchEvent(new CustomEvent(`ld-${name}`, { detail }));
  }

  on(name, handler) {
    const heard = (event) => handler(event.detail);
    this.root.addEventListener(`ld-${name}`, heard, { signal: this.ending.signal });
    return () => this.root.removeEventListener(`ld-${name}`, heard);
  }

  setColumn(header, values) {
    this.panel.setColumn(header, values);
  }

  colourBy(name) {
    this.panel.colourByName(name);
  }

  thumbnail(width, height) {
    return thumbnailOf(this, width, height);
  }

  exportPNG(options) {
    return pictureBlob(this, options);
  }

  exportSVG() {
    return drawingText(this);
  }

  remove() {
    this.ending.abort();
    clearTimeout(this.turning);
    this.observer.disconnect();
    cancelAnimationFrame(this.waiting);
    clearTimeout(this.completing);
    this.waiting = -1;
    this.painter.release();
    this.root.remove();
  }

  // -- selection --------------------------------------------------------------------------------------------------

  selectedRows() {
    const rows = new Uint32Array(this.selected.reduce((sum, one) => sum + one, 0));
    for (let row = 0, at = 0; row < this.count; row++) if (this.selected[row]) rows[at++] = row;
    return rows;
  }

  selectRows(rows) {
    this.selection.set(this.selection.bytes(rows));
  }

  unselect() {
    this.selectRows([]);
  }
}
