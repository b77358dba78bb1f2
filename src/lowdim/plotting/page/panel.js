// The panel beside the map: colours and their key, search, selection and export. Text from the data is only ever set as
// textContent.

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const number = (value) => value.toLocaleString("en-GB");

class Panel {
  constructor(root, map, data) {
    Object.assign(this, { root, map, data, hits: null, off: new Set(), at: -1, sheets: [] });
    this.$ = (name) => root.querySelector(`.ld-${name}`);
    this.listColumns();
    this.$("by").addEventListener("change", (event) => this.colourBy(this.colourable[event.target.selectedIndex]));
    this.$("search").addEventListener("input", (event) => this.search(event.target.value));
    this.$("search").addEventListener("keydown", (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
    this.$("save").addEventListener("click", () => this.save());
    this.$("clear").addEventListener("click", () => map.unselect());
    this.slider("size", map.size, (value) => (map.size = value));
    this.slider("opacity", map.opacity, (value) => (map.opacity = value));
    for (const button of root.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.command(button.dataset.do));
    }
    root.addEventListener("ld-hover", (event) => this.tell(event.detail));
    root.addEventListener("ld-selected", () => this.selectionChanged());
    root.addEventListener("ld-turned", () => this.nameClasses());
    root.addEventListener("ld-command", (event) => this.command(event.detail));
    map.pictureOf = (row) => this.pictureOf(row);
    root.querySelector("[data-do=pictures]").hidden = !data.thumbnails;
    this.colourBy(this.colourable[data.colour]);
    this.selectionChanged();
    this.use("pan");
    this.frames = data.frames.length > 1 ? new Frames(root, map, data) : null;
  }

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

  colourByName(name) {
    const column = this.colourable.find((each) => each.name === name);
    if (!column) throw new Error(`there is no column ${name} to colour by`);
    this.colourBy(column);
  }

  slider(name, value, change) {
    const input = this.$(name);
    input.value = value;
    input.addEventListener("input", () => {
      change(Number(input.value));
      this.map.redraw();
    });
  }

  command(name) {
    const { map, data } = this;
    const deeds = {
      in: () => map.zoom(1.4),
      out: () => map.zoom(1 / 1.4),
      fit: () => map.reset(),
      next: () => this.step(1),
      previous: () => this.step(-1),
      later: () => this.frames?.step(1),
      earlier: () => this.frames?.step(-1),
      search: () => this.$("search").focus(),
      clear: () => {
        this.$("search").value = "";
        this.search("");
        map.unselect();
      },
      names: () => {
        map.showNames = !map.showNames;
        this.press("names", map.showNames);
        map.redraw();
      },
      pictures: () => {
        map.showPictures = Boolean(data.thumbnails) && !map.showPictures;
        this.press("pictures", map.showPictures);
        map.redraw();
      },
      theme: () => {
        const dark = getComputedStyle(this.root).colorScheme.includes("dark");
        document.documentElement.dataset.theme = dark ? "light" : "dark";
        map.redraw();
      },
    };
    (deeds[name] ?? (() => this.use(name)))();
  }

  press(name, pressed) {
    this.root.querySelector(`[data-do="${name}"]`)?.setAttribute("aria-pressed", pressed);
  }

  use(tool) {
    this.map.tool = tool;
    this.root.dataset.tool = tool;
    for (const name of ["pan", "lasso"]) this.press(name, name === tool);
  }

  // -- colours ----------------------------------------------------------------------------------------------------

  colourBy(column) {
    const told = this.column?.name;
    this.column = column;
    this.$("by").selectedIndex = this.colourable.indexOf(column);
    this.off = new Set();
    const key = this.$("key");
    key.replaceChildren();
    if (column?.kind === "classes") this.classKey(key, column);
    else if (column) this.barKey(key, column);
    this.nameClasses();
    this.paint();
    if (column && column.name !== told) this.map.emit("colour", column.name);
  }

  classKey(key, column) {
    const counts = new Uint32Array(column.names.length);
    for (const code of column.values) counts[code]++;
    this.entries = column.names.map((name, code) => {
      const swatch = this.swatch(column.colours[code], column.shapes[code]);
      const label = element("span", { className: "ld-name", textContent: name || "(missing)" });
      const count = element("span", { className: "ld-number", textContent: number(counts[code]) });
      const entry = element("button", { type: "button", title: "Hide or show; double click: this one alone" }, swatch, label, count);
      entry.setAttribute("aria-pressed", "true");
      entry.addEventListener("click", () => this.toggle(code));
      entry.addEventListener("dblclick", () => this.alone(code));
      entry.addEventListener("keydown", (event) => event.key.toLowerCase() === "o" && this.alone(code));
      return entry;
    });
    const all = element("button", { type: "button", className: "ld-link", textContent: "show all" });
    all.addEventListener("click", () => this.show(new Set()));
    const list = element("div", { className: "ld-classes" }, ...this.entries);
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", `Classes of ${column.name}`);
    key.append(list, all);
    this.all = all;
    all.hidden = true;
  }

  barKey(key, column) {
    const bar = element("div", { className: "ld-bar" });
    bar.style.background = `linear-gradient(to right, ${this.data.scale.join(", ")})`;
    const short = (value) => String(Number(value.toPrecision(4)));
    const middle = (column.low + column.high) / 2;
    const ticks = [column.low, middle, column.high].map((value) => element("span", { textContent: short(value) }));
    key.append(bar, element("div", { className: "ld-ticks" }, ...ticks));
    if (column.missing) {
      const swatch = this.swatch(this.data.missing);
      key.append(element("p", { className: "ld-quiet" }, swatch, ` missing: ${number(column.missing)}`));
    }
  }

  swatch(colour, shape = 0) {
    const made = element("span", { className: "ld-swatch" });
    made.style.background = colour;
    const percent = (value) => `${50 + 50 * value}%`;
    const corners = CORNERS[shape]?.map(([across, up]) => `${percent(across)} ${percent(-up)}`);
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
    this.entries.forEach((entry, code) => entry.setAttribute("aria-pressed", !off.has(code)));
    this.all.hidden = off.size === 0;
    this.nameClasses();
    this.paint();
  }

  nameClasses() {
    const { map, column } = this;
    map.names = [];
    if (column?.kind !== "classes" || column.names.length < 2) return;
    const rows = column.names.map(() => []);
    for (let row = 0; row < map.count; row++) rows[column.values[row]].push(row);
    const median = (members, axis) => {
      const step = Math.ceil(members.length / 2000);
      const values = members.filter((_, at) => at % step === 0).map((row) => map.points[2 * row + axis]);
      return values.sort((a, b) => a - b)[values.length >> 1];
    };
    const short = (name) => (name.length > 28 ? `${name.slice(0, 27)}…` : name);
    map.names = rows
      .map((members, code) => ({ members, code, name: short(column.names[code]) }))
      .filter(({ members, code, name }) => name && members.length && !this.off.has(code))
      .sort((a, b) => b.members.length - a.members.length)
      .map(({ members, name }) => ({ name, x: median(members, 0), y: median(members, 1) }));
  }

  // Colour and mark of every point; the only place that decides what is shown how.
  paint() {
    const { map, column, hits, off } = this;
    const { paints, selected } = map;
    const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const [plain, missing] = [rgb(this.data.plain), rgb(this.data.missing)];
    const table = column?.kind === "classes" ? column.colours.map(rgb) : this.data.scale.map(rgb);
    const span = column?.kind === "quantity" ? (table.length - 1) / (column.high - column.low || 1) : 0;
    for (let row = 0; row < map.count; row++) {
      const value = column ? column.values[row] : 0;
      let colour = plain;
      if (column?.kind === "classes") colour = table[value];
      else if (column) colour = Number.isNaN(value) ? missing : table[Math.round((value - column.low) * span)];
      [paints[4 * row], paints[4 * row + 1], paints[4 * row + 2]] = colour;
      let mark = PLAIN;
      if (off.has(value) && column.kind === "classes") mark = HIDDEN;
      else if (hits) mark = hits[row] ? STRONG : FAINT;
      else if (this.chosen && !selected[row]) mark = FAINT;
      paints[4 * row + 3] = mark | ((column?.shapes?.[value] ?? 0) << 2);
    }
    map.painter.colour(paints);
    map.redraw();
    map.emit("painted");
  }

  // -- search -----------------------------------------------------------------------------------------------------

  search(text) {
    const wanted = text.trim().toLowerCase();
    this.hits = null;
    this.at = -1;
    let count = 0;
    if (wanted) {
      this.hits = new Uint8Array(this.map.count);
      if (/^\d+$/.test(wanted) && Number(wanted) < this.map.count) this.hits[Number(wanted)] = 1;
      for (const column of this.data.columns.filter((each) => each.kind !== "quantity")) {
        const fits = column.names.map((name) => name.toLowerCase().includes(wanted));
        if (fits.includes(true)) column.values.forEach((code, row) => fits[code] && (this.hits[row] = 1));
      }
      for (const hit of this.hits) count += hit;
    }
    this.$("found").textContent = wanted ? `${number(count)} of ${number(this.map.count)} found` : "";
    this.paint();
  }

  // To the next point that was found or selected, or simply the next one: the way through the map without a mouse.
  step(by) {
    const { map } = this;
    const wanted = (row) => map.isShown(row) && (this.hits ? this.hits[row] : !this.chosen || map.selected[row]);
    for (let tried = 0; tried < map.count; tried++) {
      this.at = (this.at + by + map.count) % map.count;
      if (!wanted(this.at)) continue;
      map.look(this.at);
      this.$("live").textContent = this.facts(this.at).map(([name, value]) => `${name} ${value}`).join(", ");
      return;
    }
  }

  // -- one point --------------------------------------------------------------------------------------------------

  facts(row) {
    const named = this.data.columns.some((column) => column.name === "id");
    return [...(named ? [] : [["row", String(row)]]), ...this.data.columns.map((column) => [column.name, cell(column, row)])];
  }

  tell(row) {
    const tip = this.$("tip");
    tip.hidden = row < 0;
    if (row < 0) return;
    const list = element("dl");
    for (const [name, value] of this.facts(row).slice(0, 14)) {
      list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
    }
    tip.replaceChildren(list);
    if (this.data.thumbnails) tip.prepend(this.thumbnail(row));
    const [x, y] = this.map.screen(row);
    const { offsetWidth, offsetHeight } = tip;
    tip.style.left = `${Math.max(4, x + 16 + offsetWidth < this.map.width ? x + 16 : x - 16 - offsetWidth)}px`;
    tip.style.top = `${Math.max(4, Math.min(this.map.height - offsetHeight - 4, y - offsetHeight / 2))}px`;
  }

  thumbnail(row) {
    const { width, height } = this.data.thumbnails;
    const canvas = element("canvas", { width, height, className: "ld-thumbnail" });
    const enlarge = Math.max(1, Math.round(112 / Math.max(width, height)));
    canvas.style.width = `${width * enlarge}px`;
    canvas.style.height = `${height * enlarge}px`;
    const { image, left, top } = this.pictureOf(row);
    const draw = () => canvas.getContext("2d").drawImage(image, left, top, width, height, 0, 0, width, height);
    image.decode().then(draw);
    return canvas;
  }

  // The sheet that holds the picture of a point, and where on it; sheets are read when they are first needed.
  pictureOf(row) {
    const { down, right, across, per_sheet: perSheet, kind } = this.data.thumbnails;
    const [sheet, place] = [Math.floor(row / perSheet), row % perSheet];
    if (!this.sheets[sheet]) {
      const text = this.root.querySelectorAll(".ld-sheet")[sheet].textContent.trim();
      this.sheets[sheet] = Object.assign(new Image(), { src: `data:image/${kind};base64,${text}` });
      this.sheets[sheet].decode().then(() => this.map.redraw());
    }
    return { image: this.sheets[sheet], left: (place % across) * right, top: Math.floor(place / across) * down };
  }

  // -- selection --------------------------------------------------------------------------------------------------

  selectionChanged() {
    this.chosen = this.map.selected.reduce((sum, one) => sum + one, 0);
    this.at = -1;
    this.$("chosen").textContent = this.chosen
      ? `${number(this.chosen)} of ${number(this.map.count)} selected`
      : "Nothing selected: choose the lasso and draw around some points.";
    for (const name of ["save", "clear"]) this.$(name).disabled = !this.chosen;
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
    const address = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    const name = (this.data.title || "embedding").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();
    element("a", { href: address, download: `${name || "embedding"}-selection.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}
