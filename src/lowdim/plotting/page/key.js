// The key of classes: a swatch, a name and a count for each, which can be hidden and shown.

class ClassKey {
  constructor(panel, column, place) {
    Object.assign(this, { panel, column });
    const counts = new Uint32Array(column.names.length);
    for (const code of column.values) counts[code]++;
    const colours = panel.themed({ light: column.colours, dark: column.dark ?? column.colours });
    this.entries = column.names.map((name, code) => this.entry(name, code, panel.swatch(colours[code], column.shapes[code]), counts[code]));
    this.all = element("button", { type: "button", className: "ld-link", textContent: "show all" });
    this.all.addEventListener("click", () => panel.show(new Set()));
    const list = element("div", { className: "ld-classes" }, ...this.entries);
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", `Classes of ${column.name}`);
    place.append(list, this.all);
    this.show(panel.off);
  }

  entry(name, code, swatch, count) {
    const { panel } = this;
    const label = element("span", { className: "ld-name", textContent: name || "(missing)" });
    const size = element("span", { className: "ld-number", textContent: number(count) });
    const made = element("button", { type: "button", title: "Hide or show; double click: this one alone" }, swatch, label, size);
    made.addEventListener("click", () => panel.toggle(code));
    made.addEventListener("dblclick", () => panel.alone(code));
    made.addEventListener("keydown", (event) => event.key.toLowerCase() === "o" && panel.alone(code));
    return made;
  }

  show(off) {
    this.entries.forEach((entry, code) => entry.setAttribute("aria-pressed", !off.has(code)));
    this.all.hidden = off.size === 0;
  }
}
