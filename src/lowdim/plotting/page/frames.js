// Several embeddings of the same points: a slider and a strip of small pictures move the points between them, and a second
// map shows another one beside. What is saved is the nearest of them.

const STRIP = [84, 56];

class Frames {
  constructor(root, map, data) {
    Object.assign(this, { root, map, data, at: 0, input: root.querySelector(".ld-frame"), where: root.querySelector(".ld-where") });
    this.axes = data.frames.map((frame) => placed(frame.coordinates, data.count));
    this.input.addEventListener("input", () => this.show(Number(this.input.value)));
    this.strip = root.querySelector(".ld-strip");
    this.buttons = data.frames.map(({ title }, at) => this.button(title, at));
    this.strip.append(...this.buttons);
    this.beside = root.querySelector(".ld-beside-frame");
    this.beside.append(...data.frames.map(({ title }) => element("option", { textContent: title })));
    this.beside.addEventListener("change", () => this.second?.moveTo(data.frames[this.beside.selectedIndex].coordinates, { ghost: false }));
    this.show(0);
    map.on("painted", () => this.picture());
    this.picture();
  }

  button(title, at) {
    const made = element("button", { type: "button", title: `${title}; Shift: beside` }, element("img", { alt: "", width: STRIP[0], height: STRIP[1] }), element("span", { textContent: title }));
    made.addEventListener("click", (event) => (event.shiftKey ? this.compare(at) : this.go(at)));
    return made;
  }

  // Small pictures are drawn when nothing else is to do.
  picture() {
    const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
    this.drawing = (this.drawing ?? 0) + 1;
    const mine = this.drawing;
    let at = 0;
    const draw = () => {
      if (mine !== this.drawing) return; // colours have changed since
      const places = this.map.projected(this.axes[at]);
      this.buttons[at].firstChild.src = thumbnailOf(this.map, ...STRIP, places);
      if (++at < this.buttons.length) later(draw);
    };
    later(draw);
  }

  // To the next one that there is, or the one before.
  step(by) {
    this.go(Math.max(0, Math.min(this.axes.length - 1, by > 0 ? Math.floor(this.at) + 1 : Math.ceil(this.at) - 1)));
  }

  go(at) {
    const from = this.map.axes;
    this.input.value = at;
    this.show(Number(this.input.value));
    this.map.travel(from);
  }

  show(at) {
    const { map, data, axes } = this;
    const before = Math.min(Math.floor(at), axes.length - 2);
    const share = at - before;
    const later = axes[before + 1];
    this.at = at;
    map.axes = axes[before].map((values, axis) => Float32Array.from(values, (value, row) => value + share * (later[axis][row] - value)));
    const nearest = data.frames[Math.round(at)];
    data.coordinates = nearest.coordinates;
    const between = `between ${data.frames[before].title} and ${data.frames[before + 1].title}`;
    this.where.textContent = Number.isInteger(at) ? nearest.title : between;
    this.input.setAttribute("aria-valuetext", this.where.textContent);
    this.buttons.forEach((button, place) => button.setAttribute("aria-pressed", place === Math.round(at)));
    map.travel(null);
    map.emit("changed");
  }

  toggle() {
    if (this.second) this.close();
    else this.compare((Math.round(this.at) + 1) % this.axes.length);
  }

  // A second map beside the first, of another embedding.
  compare(at) {
    this.beside.selectedIndex = at;
    this.beside.closest("label").hidden = false;
    const { coordinates } = this.data.frames[at];
    if (this.second) return this.second.moveTo(coordinates, { ghost: false });
    this.frame = element("div", { className: "ld-beside" });
    this.root.replaceWith(this.frame);
    this.frame.append(this.root);
    const header = { ...this.data, coordinates, frames: [], thumbnails: null };
    this.second = createMap(this.frame, header, { panel: false, embedded: true, before: true, raster: this.data.raster });
    this.panelPressed(true);
    linkMaps([this.second.root, this.root]);
    this.map.on("view", (view) => this.second?.setView(view));
    this.second.on("view", (view) => this.map.setView(view));
  }

  close() {
    this.second.remove();
    this.second = null;
    this.frame.replaceWith(this.root);
    this.beside.closest("label").hidden = true;
    this.panelPressed(false);
  }

  panelPressed(on) {
    this.root.querySelector("[data-do=compare]").setAttribute("aria-pressed", on);
  }
}
