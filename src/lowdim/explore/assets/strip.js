// The film-strip: pictures that came to rest, small, with what made them and what they are worth. A click restores one, a
// click with Shift, or its own button, shows it beside the present one.

class FilmStrip {
  constructor(explorer) {
    Object.assign(this, { explorer, list: explorer.$("strip"), cards: new Map(), coming: [] });
  }

  clear() {
    this.cards.clear();
    this.coming = [];
    this.list.replaceChildren();
  }

  add(state) {
    this.coming.push(state);
  }

  // The small picture comes right after what is said of the state.
  picture(places, number) {
    const at = this.coming.findIndex((state) => state.state === number);
    if (at < 0) return;
    const [state] = this.coming.splice(at, 1);
    const canvas = element("canvas", { width: 228, height: 152 });
    const words = element("span", { textContent: this.change(state), title: this.describe(state) });
    const score = element("span", { className: "lx-score" });
    const show = element("button", { type: "button", title: "Show this state again; with Shift: beside the present one" }, canvas, words, score);
    const beside = element("button", { type: "button", className: "lx-compare", textContent: "beside" });
    beside.setAttribute("aria-label", `Compare with ${this.describe(state)}`);
    const card = element("div", { className: "lx-state" }, show, beside);
    card.setAttribute("role", "listitem");
    card.dataset.state = state.state;
    show.addEventListener("click", (event) => (event.shiftKey ? this.compare(state) : this.restore(state)));
    beside.addEventListener("click", () => this.compare(state));
    this.cards.set(state.state, { card, state, canvas, score, places, show });
    this.list.append(card);
    this.score(state.state, state.recall);
    this.draw(state.state);
    this.mark(state.state);
    card.scrollIntoView({ block: "nearest", inline: "end" });
  }

  describe({ method, parameters }) {
    const parts = Object.entries(parameters).map(([name, value]) => `${readable(name)} ${value ?? "auto"}`);
    return [method, ...parts].join(", ");
  }

  // What is new beside the card before, for which there is room.
  change(state) {
    const before = [...this.cards.values()].at(-1)?.state;
    if (before?.method !== state.method) return this.describe(state);
    const [now, then] = [state.parameters, before.parameters];
    const names = Object.keys({ ...now, ...then });
    const moved = names.filter((name) => now[name] !== then[name]);
    const words = (moved.length ? moved : names).map((name) => `${readable(name)} ${now[name] ?? "usual"}`);
    return words.join(", ") || state.method;
  }

  score(number, recall) {
    const found = this.cards.get(number);
    if (!found) return;
    found.state.recall = recall;
    const kind = found.state.settled ? "settled" : "preview";
    found.score.textContent = recall === null || recall === undefined ? kind : `${kind} · ${recall.toFixed(3)}`;
    found.score.title = "Share of the 15 nearest that are kept";
    found.show.setAttribute("aria-label", `${this.describe(found.state)}, ${found.score.textContent}`);
  }

  draw(number) {
    const { canvas, places } = this.cards.get(number);
    const { map } = this.explorer;
    if (!map || this.explorer.isWhole) return;
    // Pixels, not rectangles: where WebGL is done by the processor, so are these, and all cards took it a second and a half.
    const image = new ImageData(canvas.width, canvas.height);
    const words = new Uint32Array(image.data.buffer);
    const colours = new Uint32Array(map.paints.buffer, map.paints.byteOffset, map.count);
    const step = Math.max(1, Math.floor(map.count / 2000));
    const half = Math.min(canvas.width, canvas.height) / 2 - 6;
    for (let at = 0; 2 * at < places.length; at++) {
      const x = Math.round(canvas.width / 2 + half * places[2 * at]);
      const y = Math.round(canvas.height / 2 - half * places[2 * at + 1]);
      const first = y * canvas.width + x;
      words.fill(colours[at * step] | OPAQUE, first - 1, first + 1);
      words.fill(colours[at * step] | OPAQUE, first - 1 - canvas.width, first + 1 - canvas.width);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  redraw() {
    for (const number of this.cards.keys()) this.draw(number);
  }

  mark(number) {
    for (const [each, { card }] of this.cards) card.setAttribute("aria-current", each === number);
  }

  restore(state) {
    this.explorer.transport.send({ kind: "restore", state: state.state, pane: 0 });
  }

  compare(state) {
    this.explorer.panes.beside(state);
  }
}
