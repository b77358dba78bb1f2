// What is asked of the session beside pictures: columns, distances, what tells a selection apart, files and lines.

const DISTANCE_COLUMN = "distance in the data";
const FAITHFULNESS = "faithfulness";
const TRUST = "trust: ";

class Sides {
  constructor(explorer) {
    Object.assign(this, { explorer, $: explorer.$, expected: null, asking: false, next: -1 });
    this.$("column").addEventListener("change", (event) => this.ask(event.target.value));
    this.$("faithful").addEventListener("click", () => this.sampled() && explorer.map.colourBy(FAITHFULNESS));
    this.$("trust").addEventListener("change", () => this.trust());
    this.$("distances").addEventListener("change", (event) => this.distances(event.target.checked));
    for (const axis of ["x", "y", "z", "deep"]) this.$(axis).addEventListener("change", () => this.turn());
    for (const button of explorer.root.querySelectorAll("[data-export]")) {
      button.addEventListener("click", () => this.export(button.dataset.export));
    }
    this.$("copy").addEventListener("click", () => navigator.clipboard?.writeText(this.$("lines").querySelector("pre").textContent));
  }

  begin(hello) {
    const names = [...hello.columns, ...hello.names];
    this.names = new Set(names);
    this.chosen = hello.axes;
    this.$("names-list").replaceChildren(...names.slice(0, 5000).map((name) => element("option", { value: name })));
    this.explorer.root.querySelector("[data-export=shell]").disabled = !hello.command;
    this.explorer.root.querySelector("[data-export=h5ad]").disabled = !hello.h5ad;
  }

  watch(map) {
    map.on("hover", (row) => this.$("distances").checked && row >= 0 && this.from(row));
    map.on("selection", () => this.selected(map));
    map.on("painted", () => this.explorer.strip.redraw());
  }

  // -- columns ------------------------------------------------------------------------------------------------------

  // Whether what is shown are the rows that the session knows by their numbers; else it is said.
  sampled() {
    if (this.explorer.isWhole) this.explorer.alert("All rows are shown. Columns, distances and selections are those of the sample: move a slider to come back to it.");
    return !this.explorer.isWhole;
  }

  ask(name) {
    const { map, transport } = this.explorer;
    if (!name || !this.sampled()) return;
    if (map.data.columns.some((column) => column.name === name)) map.colourBy(name);
    else if (this.names.has(name)) transport.send({ kind: "column", name });
    else this.explorer.alert(`The data have no column or feature "${name}".`);
  }

  column(message) {
    this.expected = message;
  }

  values(body) {
    const { header, row, asked } = this.expected;
    const { map } = this.explorer;
    const values = new ARRAYS[header.type](body);
    if (values.length !== map.count) return;
    map.setColumn(header, values);
    if (header.name === FAITHFULNESS) this.$("faithful").disabled = false;
    if (asked) map.colourBy(header.name);
    if (row !== undefined) this.arrived(row);
  }

  // -- trust --------------------------------------------------------------------------------------------------------

  // Once it is asked for, every picture that comes to rest is measured: the columns are never those of another for long.
  trust() {
    const name = this.$("trust").value;
    if (!name || !this.sampled()) return;
    if (this.measured?.has(name) && this.explorer.map.panel.hasColumn(TRUST + name)) this.explorer.map.colourBy(TRUST + name);
    else {
      this.awaited = name;
      this.measure();
    }
  }

  measure() {
    this.trusting = true;
    this.measured = null;
    this.$("trusted").textContent = "measuring…";
    this.explorer.transport.send({ kind: "trust" });
  }

  judged() {
    this.$("trust").disabled = false;
    if (this.trusting) this.measure();
  }

  trusted({ names, said }) {
    this.measured = new Set(names);
    this.$("trusted").textContent = said;
    const menu = this.$("trust");
    for (const option of menu.options) option.disabled = Boolean(option.value) && !this.measured.has(option.value);
    if (menu.selectedOptions[0]?.disabled) menu.value = "";
    if (menu.value && menu.value === this.awaited) this.trust();
    this.awaited = null;
  }

  refused({ request, message }) {
    if (request.startsWith("trust")) this.$("trusted").textContent = "";
    this.explorer.alert(message);
  }

  // -- distances in the data from the point under the mouse ---------------------------------------------------------

  distances(on) {
    const { map } = this.explorer;
    if (!on && this.before) map.colourBy(this.before);
    if (on) this.before = map.panel.column?.name;
  }

  from(row) {
    if (!this.sampled()) return;
    this.next = row;
    if (this.asking) return;
    this.asking = true;
    this.explorer.transport.send({ kind: "distances", row });
  }

  arrived(row) {
    this.asking = false;
    if (!this.$("distances").checked) return;
    this.explorer.map.colourBy(DISTANCE_COLUMN);
    if (this.next !== row && this.next >= 0) this.from(this.next);
  }

  // -- selection ----------------------------------------------------------------------------------------------------

  selected(map) {
    if (this.explorer.isWhole) return;
    this.explorer.transport.send({ kind: "selection", mask: maskOf(map.selected) });
  }

  contrasts({ count, features }) {
    this.$("selection").hidden = !count;
    this.$("count").textContent = `${number(count)} points beside the others: difference of means in standard deviations`;
    const largest = Math.max(...features.map(({ effect }) => Math.abs(effect)), 1e-9);
    this.$("contrasts").replaceChildren(...features.map((each) => {
      const name = element("button", { type: "button", className: "lx-link", textContent: each.feature, title: "Colour by it" });
      name.addEventListener("click", () => this.ask(each.feature));
      const size = element("span", { textContent: `${each.effect > 0 ? "+" : "−"}${Math.abs(each.effect).toFixed(2)}${each.certain ? "" : " ?"}` });
      size.title = `95 % interval ${each.low.toFixed(2)} to ${each.high.toFixed(2)}`;
      const bar = element("i");
      bar.style.width = `${(100 * Math.abs(each.effect)) / largest}%`;
      if (each.effect < 0) bar.dataset.sign = "less";
      return element("li", {}, name, size, bar);
    }));
  }

  // -- axes ---------------------------------------------------------------------------------------------------------

  // Which coordinates are shown: of three all, of more the first two, unless a person says otherwise.
  axes(count) {
    this.$("axes").hidden = count < 3;
    if (count < 3) return;
    for (const [place, axis] of ["x", "y", "z"].entries()) {
      const kept = this.chosen?.[place] ?? place;
      this.$(axis).replaceChildren(...Array.from({ length: count }, (_, at) => element("option", { value: at, textContent: `coordinate ${at + 1}` })));
      this.$(axis).value = String(kept < count ? kept : place);
    }
    this.$("deep").checked = this.chosen ? this.chosen.length === 3 : count === 3;
    this.$("depth").hidden = !this.$("deep").checked;
  }

  turn() {
    const depth = this.$("deep").checked;
    this.$("depth").hidden = !depth;
    this.chosen = (depth ? ["x", "y", "z"] : ["x", "y"]).map((axis) => Number(this.$(axis).value));
    const [x, y, z = null] = this.chosen;
    this.explorer.transport.send({ kind: "axes", x, y, z });
  }

  // -- files and lines ----------------------------------------------------------------------------------------------

  async export(what) {
    const { map, transport } = this.explorer;
    if (what === "png") this.save(await map.exportPNG(), "explorer.png");
    else if (what === "svg") this.save(new Blob([map.exportSVG()], { type: "image/svg+xml" }), "explorer.svg");
    else transport.send({ kind: "export", what });
  }

  lines({ text }) {
    this.$("lines").hidden = false;
    this.$("lines").querySelector("pre").textContent = text;
  }

  file({ name }) {
    this.name = name;
  }

  save(blob, name = this.name) {
    const address = URL.createObjectURL(blob);
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}
