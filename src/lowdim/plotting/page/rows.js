// The rows that are selected, as a table: the first of them, with what is known of each. A click looks at one on the map.

const MOST_LISTED = 50;

class RowTable {
  constructor(panel) {
    Object.assign(this, { panel, place: panel.$("rows"), table: panel.$("table") });
    this.place.addEventListener("toggle", () => this.fill());
  }

  // It is filled when somebody looks.
  tell() {
    this.place.hidden = !this.panel.chosen;
    this.fill();
  }

  fill() {
    this.table.replaceChildren();
    if (this.place.hidden || !this.place.open) return;
    const { map, tip } = this.panel;
    const rows = [];
    for (let row = 0; row < map.count && rows.length < MOST_LISTED; row++) if (map.selected[row]) rows.push(row);
    const names = tip.facts(rows[0]).slice(0, MOST_FACTS).map(([name]) => element("th", { textContent: name, scope: "col" }));
    const body = element("table", {}, element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows.map((row) => this.line(row))));
    this.table.append(body);
    const left = this.panel.chosen - rows.length;
    if (left) this.table.append(element("p", { className: "ld-quiet", textContent: `and ${number(left)} more: CSV has all of them` }));
  }

  line(row) {
    const [[, first], ...others] = this.panel.tip.facts(row).slice(0, MOST_FACTS);
    const look = element("button", { type: "button", className: "ld-link", textContent: first || "(missing)", title: "Look at it" });
    look.addEventListener("click", () => this.panel.map.look(row));
    return element("tr", {}, element("td", {}, look), ...others.map(([, text]) => element("td", { textContent: text, title: text })));
  }
}
