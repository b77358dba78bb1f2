// One map, or two of the same points whose hover, selection and view are one.

class Panes {
  constructor(explorer) {
    Object.assign(this, { explorer, box: explorer.$("panes"), second: null, busy: false });
  }

  get first() {
    return this.explorer.map;
  }

  beside(state) {
    if (!this.second) this.open();
    this.caption.firstChild.textContent = this.explorer.strip.describe(state);
    this.explorer.transport.send({ kind: "restore", state: state.state, pane: 1 });
  }

  open() {
    const pane = element("div", { className: "lx-pane" });
    pane.dataset.pane = "1";
    this.box.prepend(pane);
    const coordinates = this.first.data.coordinates.map((values) => values.slice());
    this.second = createMap(pane, { count: this.first.count, coordinates }, { panel: false, embedded: true, raster: this.explorer.raster });
    const close = element("button", { type: "button", className: "lx-link", textContent: "close" });
    close.addEventListener("click", () => this.close());
    this.caption = element("div", { className: "lx-compared" }, element("span"), close);
    pane.append(this.caption);
    this.first.root.dataset.embedded = "yes";
    this.link();
    this.paint();
  }

  close() {
    if (!this.second) return;
    for (const end of this.ends) end();
    this.second.remove();
    this.box.querySelector("[data-pane='1']").remove();
    this.second = null;
    if (!this.explorer.embedded) delete this.first.root.dataset.embedded;
  }

  link() {
    const pairs = [[this.first, this.second], [this.second, this.first]];
    const once = (work) => (detail) => {
      if (this.busy) return;
      this.busy = true;
      work(detail);
      this.busy = false;
    };
    this.ends = pairs.flatMap(([one, other]) => [
      one.on("hover", (row) => other.hoverRow(row)),
      one.on("selection", once((rows) => other.selectRows(rows))),
      one.on("view", once((view) => other.setView(view))),
    ]);
    this.ends.push(this.first.on("painted", () => this.paint()));
  }

  paint() {
    this.second.paints.set(this.first.paints);
    this.second.painter.colour(this.second.paints);
    this.second.redraw();
  }

  show(places) {
    this.second?.setPositions(places, { milliseconds: 400 });
  }
}
