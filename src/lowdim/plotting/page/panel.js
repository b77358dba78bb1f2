// The panel beside the map: what colours it and the key of that, the commands of buttons and keys, what is selected. Text
// from the data is only ever set as textContent.

class Panel {
  constructor(root, map, data) {
    Object.assign(this, { root, map, data, off: new Set(), chosen: 0, firstLook: new Map() });
    this.$ = (name) => root.querySelector(`.ld-${name}`);
    data.columns = data.columns.map((column) => completed(column, column.values, map.count));
    this.first = data.colour;
    this.search = new Search(this);
    this.tip = new Tip(this);
    this.rows = new RowTable(this);
    map.pictureOf = (row) => this.tip.pictureOf(row);
    this.listColumns();
    this.$("by").addEventListener("change", (event) => this.colourBy(this.colourable[event.target.selectedIndex]));
    this.$("save").addEventListener("click", () => this.save());
    this.slider("size", map.size, (value) => (map.size = value));
    this.slider("opacity", map.opacityOf(map.count), (value) => (map.opacity = value));
    for (const button of root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.command(button.dataset.do));
    }
    map.on("selected", () => this.selectionChanged());
    map.on("turned", () => this.nameClasses());
    map.on("command", (name) => this.command(name));
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.recolour(), { signal: map.ending.signal });
    root.querySelector("[data-do=pictures]").hidden = !data.thumbnails;
    this.colourBy(this.colourable[data.colour]);
    this.selectionChanged();
    this.use("pan");
    this.frames = data.frames.length > 1 ? new Frames(root, map, data) : null;
    this.$("summary").textContent = this.summary();
  }

  // What the picture is, for those who do not see it.
  summary() {
    const { column, map } = this;
    if (column?.kind !== "classes") return column ? `Coloured by ${column.name}, from ${short(column.low)} to ${short(column.high)}.` : "";
    const parts = partsOf(column, new Uint8Array(map.count).fill(1));
    const listed = parts.slice(0, 10).map(({ code, count }) => `${column.names[code] || "missing"}: ${number(count)}`);
    return `Coloured by ${column.name}, ${parts.length} classes: ${listed.join(", ")}${parts.length > 10 ? " and others" : ""}.`;
  }

  slider(name, value, change) {
    const input = this.$(name);
    input.value = value;
    input.addEventListener("input", () => {
      change(Number(input.value));
      this.map.redraw();
    });
  }

  // -- commands ---------------------------------------------------------------------------------------------------

  command(name) {
    const { map, data } = this;
    const deeds = {
      in: () => map.zoom(1.4),
      out: () => map.zoom(1 / 1.4),
      fit: () => map.reset(),
      next: () => this.search.step(1),
      previous: () => this.search.step(-1),
      later: () => this.frames?.step(1),
      earlier: () => this.frames?.step(-1),
      search: () => this.$("search").focus(),
      invert: () => map.selection.invert(),
      undo: () => map.selection.undo(),
      closer: () => map.lookAtRows(map.selectedRows()),
      unselect: () => map.unselect(),
      png: () => map.exportPNG().then((blob) => download(data.title, ".png", blob)),
      svg: () => download(data.title, ".svg", new Blob([map.exportSVG()], { type: "image/svg+xml" })),
      compare: () => this.frames?.toggle(),
      clear: () => {
        this.search.clear();
        map.unselect();
      },
      names: () => this.switch("names", "showNames", true),
      contours: () => this.switch("contours", "showContours", true),
      pictures: () => this.switch("pictures", "showPictures", Boolean(data.thumbnails)),
      theme: () => this.setTheme(isDark(this.root) ? "light" : "dark"),
    };
    (deeds[name] ?? (() => this.use(name)))();
  }

  switch(name, field, possible) {
    this.map[field] = possible && !this.map[field];
    this.press(name, this.map[field]);
    this.map.redraw({ over: true });
    this.map.emit("changed");
  }

  press(name, pressed) {
    this.root.querySelector(`[data-do="${name}"]`)?.setAttribute("aria-pressed", pressed);
  }

  use(tool) {
    this.map.tool = tool;
    this.root.dataset.tool = tool;
    for (const name of ["pan", "lasso", "box"]) this.press(name, name === tool);
  }

  setTheme(theme) {
    const whole = themed(this.root);
    whole.dataset.theme = theme;
    whole.querySelectorAll(".ld").forEach(({ panel }) => panel?.recolour());
    this.map.emit("changed");
  }

  recolour() {
    const off = this.off;
    this.drawKey();
    if (off.size) this.key.show(off);
    this.paint();
    tellMakeup(this);
  }

  themed(value) {
    return value[isDark(this.root) ? "dark" : "light"];
  }

  // -- colours ----------------------------------------------------------------------------------------------------

  listColumns() {
    const select = this.$("by");
    this.colourable = this.data.columns.filter((column) => column.kind !== "text");
    select.replaceChildren(...this.colourable.map((column) => element("option", { textContent: column.name })));
    select.closest("label").hidden = this.colourable.length < 2;
    select.selectedIndex = this.colourable.indexOf(this.column);
  }

  // A column of its own, in the place of the one of this name where there is one.
  setColumn(header, values) {
    const { columns } = this.data;
    const made = completed(header, values, this.map.count);
    const place = columns.findIndex((column) => column.name === made.name);
    columns.splice(place < 0 ? columns.length : place, 1, made);
    const isShown = !this.column ? made.kind !== "text" : this.column.name === made.name;
    if (isShown && made.kind === "text") this.column = undefined;
    this.listColumns();
    if (isShown) this.colourBy(made.kind === "text" ? this.colourable[0] : made);
  }

  hasColumn(name) {
    return this.colourable.some((each) => each.name === name);
  }

  colourByName(name) {
    const column = this.colourable.find((each) => each.name === name);
    if (!column) throw new Error(`there is no column ${name} to colour by`);
    this.colourBy(column);
  }

  colourBy(column) {
    const told = this.column?.name;
    this.column = column;
    this.$("by").selectedIndex = this.colourable.indexOf(column);
    this.off = new Set();
    if (column?.kind === "quantity" && !this.firstLook.has(column)) this.firstLook.set(column, { clip: column.clip, log: column.log });
    this.drawKey();
    this.nameClasses();
    this.paint();
    if (this.chosen) tellMakeup(this);
    if (column && column.name !== told) this.map.emit("colour", column.name);
  }

  drawKey() {
    const place = this.$("key");
    place.replaceChildren();
    const Key = { classes: ClassKey, quantity: QuantityKey }[this.column?.kind];
    this.key = Key ? new Key(this, this.column, place) : null;
  }

  swatch(colour, shape = 0) {
    const made = element("span", { className: "ld-swatch" });
    made.style.background = colour;
    const share = (value) => `${50 + 50 * value}%`;
    const corners = CORNERS[shape]?.map(([across, up]) => `${share(across)} ${share(-up)}`);
    if (corners) Object.assign(made.style, { clipPath: `polygon(${corners.join(", ")})`, borderRadius: "0" });
    return made;
  }

  toggle(code) {
    const off = new Set(this.off);
    if (!off.delete(code)) off.add(code);
    this.show(off);
  }

  alone(code) {
    this.show(new Set([...this.column.names.keys()].filter((other) => other !== code)));
  }

  show(off) {
    this.off = off;
    this.key.show(off);
    this.nameClasses();
    this.paint();
    this.map.emit("changed");
  }

  // Names follow the points; while these move many times a second, not each time.
  nameClasses() {
    clearTimeout(this.naming);
    const wait = this.map.journey ? 250 : 0;
    if (wait) this.naming = setTimeout(() => this.nameNow(), wait);
    else this.nameNow();
  }

  nameNow() {
    const { map, column } = this;
    map.names = [];
    if (column?.kind === "classes" && column.names.length > 1) {
      map.names = piecesOf(map, column, this.off);
      const finer = finerThan(column, this.colourable, map.count);
      if (finer) {
        const hidden = new Set(this.off.size ? piecesHidden(column, finer, this.off) : []);
        map.names.push(...piecesOf(map, finer, hidden).map((piece) => ({ ...piece, layer: 1 })));
      }
    }
    map.redraw({ over: true });
  }

  // Colour and mark of every point; the only place that decides what is shown how.
  paint() {
    const { map, column, off } = this;
    const { paints, selected } = map;
    const { hits } = this.search;
    const isClasses = column?.kind === "classes";
    const looks = isClasses ? { light: column.colours, dark: column.dark ?? column.colours } : this.data.scale;
    const table = tableOf([...this.themed(looks), this.themed(this.data.missing), this.themed(this.data.plain)]);
    const [steps, missing, plain] = [table.length / 3 - 3, table.length / 3 - 2, table.length / 3 - 1];
    const share = column && !isClasses ? shareOf(column) : null;
    const values = column?.values;
    for (let row = 0; row < map.count; row++) {
      const value = column ? values[row] : 0;
      const look = !column ? plain : isClasses ? value : Number.isNaN(value) ? missing : Math.round(share(value) * steps);
      paints[4 * row] = table[3 * look];
      paints[4 * row + 1] = table[3 * look + 1];
      paints[4 * row + 2] = table[3 * look + 2];
      let mark = PLAIN;
      if (isClasses && off.size && off.has(value)) mark = HIDDEN;
      else if (hits) mark = hits[row] ? STRONG : FAINT;
      else if (this.chosen && !selected[row]) mark = FAINT;
      paints[4 * row + 3] = mark | (isClasses ? column.shapes[value] << 2 : 0);
    }
    map.painter.arrange(share ? byValue(values, map.order, share) : map.order);
    map.painter.colour(paints);
    map.contours = null;
    map.redraw();
    map.emit("painted");
  }

  // -- selection --------------------------------------------------------------------------------------------------

  selectionChanged() {
    this.chosen = this.map.selected.reduce((sum, one) => sum + one, 0);
    this.search.at = -1;
    this.$("chosen").textContent = this.chosen
      ? `${number(this.chosen)} of ${number(this.map.count)} selected (${percent(this.chosen / this.map.count)})`
      : "Nothing selected: hold Shift and draw around some points.";
    for (const name of ["save", "closer", "clear"]) this.$(name).disabled = !this.chosen;
    tellMakeup(this);
    this.rows.tell();
    tellApart(this);
    this.paint();
  }

  csv() {
    const { map, data } = this;
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const axes = data.coordinates.map((values, axis) => [data.axes[axis], (row) => String(Number(values[row].toPrecision(7)))]);
    const cells = [["row", String], ...data.columns.map((column) => [column.name, (row) => cell(column, row)]), ...axes];
    const lines = [cells.map(([name]) => quoted(name)).join(",")];
    for (let row = 0; row < map.count; row++) {
      if (map.selected[row]) lines.push(cells.map(([, text]) => quoted(text(row))).join(","));
    }
    return `${lines.join("\r\n")}\r\n`;
  }

  save() {
    download(this.data.title, "-selection.csv", new Blob([this.csv()], { type: "text/csv" }));
  }
}

// Whose theme a map has: that of the page, or of the cell of a notebook it is in.
const themed = (root) => root.closest(".lx-cell") ?? document.documentElement;
const isDark = (root) => getComputedStyle(root).colorScheme.includes("dark");

// Colours as bytes, red, green and blue of each.
function tableOf(colours) {
  return Uint8Array.from(colours.flatMap((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))));
}

// Finer classes of which every point is in a class that is hidden.
function piecesHidden(column, finer, off) {
  const shown = new Set();
  finer.values.forEach((code, row) => off.has(column.values[row]) || shown.add(code));
  return [...finer.names.keys()].filter((code) => !shown.has(code));
}
