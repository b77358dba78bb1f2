// Search in names, ids and rows, and the way from point to point without a mouse.

class Search {
  constructor(panel) {
    Object.assign(this, { panel, map: panel.map, hits: null, at: -1, field: panel.$("search") });
    this.field.addEventListener("input", () => this.look(this.field.value));
    this.field.addEventListener("keydown", (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
  }

  clear() {
    this.field.value = "";
    this.look("");
  }

  look(text) {
    const { map, panel } = this;
    const wanted = text.trim().toLowerCase();
    this.hits = null;
    this.at = -1;
    let count = 0;
    if (wanted) {
      this.hits = new Uint8Array(map.count);
      if (/^\d+$/.test(wanted) && Number(wanted) < map.count) this.hits[Number(wanted)] = 1;
      for (const column of panel.data.columns.filter((each) => each.kind !== "quantity")) {
        const fits = column.names.map((name) => name.toLowerCase().includes(wanted));
        if (fits.includes(true)) column.values.forEach((code, row) => fits[code] && (this.hits[row] = 1));
      }
      for (const hit of this.hits) count += hit;
    }
    panel.$("found").textContent = wanted ? `${number(count)} of ${number(map.count)} found` : "";
    panel.paint();
  }

  // To the next point that was found or selected, or simply the next one.
  step(by) {
    const { map, panel } = this;
    const wanted = (row) => map.isShown(row) && (this.hits ? this.hits[row] : !panel.chosen || map.selected[row]);
    for (let tried = 0; tried < map.count; tried++) {
      this.at = (this.at + by + map.count) % map.count;
      if (!wanted(this.at)) continue;
      map.look(this.at);
      panel.$("live").textContent = panel.tip.facts(this.at).map(([name, value]) => `${name} ${value}`).join(", ");
      return;
    }
  }
}
