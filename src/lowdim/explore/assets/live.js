// The explorer: what the session says becomes a picture, and what a person does becomes a wish.

class Explorer {
  constructor(parent, transport, { embedded = false } = {}) {
    parent.insertAdjacentHTML("beforeend", LIVE_MARKUP);
    this.root = parent.lastElementChild;
    this.$ = (name) => (name === "names-list" ? this.root.querySelector("#lx-names") : this.root.querySelector(`.lx-${name}`));
    this.ending = new AbortController();
    this.colouring = this.$("colouring");
    Object.assign(this, { transport, embedded, map: null, generation: 0, shown: -1, waiting: null, paused: false });
    this.raster = isSoftwareDrawn();
    this.controls = new LiveControls(this);
    this.strip = new FilmStrip(this);
    this.panes = new Panes(this);
    this.sides = new Sides(this);
    this.$("pause").addEventListener("click", () => this.pause());
    this.$("settle").addEventListener("click", () => this.settle());
    this.$("ghost").addEventListener("click", () => this.ghost());
    this.$("place").addEventListener("click", () => transport.send({ kind: "place" }));
    document.addEventListener("keydown", (event) => this.key(event), { signal: this.ending.signal });
    transport.open({
      opened: () => {},
      received: (data) => this.receive(data),
      lost: (why) => this.lost(why),
    });
  }

  // Whether all rows are shown, placed by the model of the sample: the session answers for rows of the sample alone.
  get isWhole() {
    return this.map !== null && this.map.count !== this.hello.rows;
  }

  // -- from the session -----------------------------------------------------------------------------------------------

  receive(data) {
    if (typeof data !== "string") return this.frame(readFrame(data));
    const message = JSON.parse(data);
    if (!this.hello && message.kind !== "hello") return undefined; // what was on its way before this page came
    const heard = {
      hello: () => this.begin(message),
      stage: () => this.stage(message),
      progress: () => this.progress(message),
      badge: () => this.badge(message.text),
      begun: () => this.alert(""),
      state: () => this.strip.add(message),
      done: () => this.done(message),
      scores: () => this.scores(message),
      failed: () => this.failed(message),
      refused: () => this.sides.refused(message),
      warned: () => this.alert(message.message),
      restored: () => this.restored(message),
      speed: () => this.controls.speeds(message.speed),
      column: () => this.sides.column(message),
      trusted: () => this.sides.trusted(message),
      contrasts: () => this.sides.contrasts(message),
      lines: () => this.sides.lines(message),
      file: () => this.sides.file(message),
      paused: () => this.showPaused(true),
      resumed: () => this.showPaused(false),
    };
    return heard[message.kind]?.();
  }

  begin(hello) {
    this.hello = hello;
    this.generation = hello.generation;
    this.$("title").textContent = hello.title;
    this.$("size").textContent = `${number(hello.rows)} rows, ${number(hello.features)} features`;
    this.$("sample").hidden = hello.all === hello.rows;
    this.tellSample();
    this.controls.begin(hello);
    this.sides.begin(hello);
    this.strip.clear();
    this.showPaused(hello.paused);
  }

  tellSample() {
    const { rows, all } = this.hello;
    this.$("place").hidden = this.isWhole;
    this.$("sample").firstElementChild.textContent = this.isWhole
      ? `All ${number(all)} rows are shown, placed by the model of a sample of ${number(rows)}. Sliders come back to the sample.`
      : `Sliding on a sample of ${number(rows)} of ${number(all)} rows. The others are placed when a picture is settled.`;
  }

  lost(why) {
    this.root.dataset.state = this.map ? "lost" : "connecting";
    this.$("cover").textContent = why;
  }

  frame(frame) {
    if (frame.kind === WIRE.content) this.content(frame);
    else if (frame.kind === WIRE.thumbnail) this.strip.picture(readPlaces(frame.body), frame.generation);
    else if (frame.kind === WIRE.column) this.map && this.sides.values(frame.body);
    else if (frame.kind === WIRE.file) this.sides.save(new Blob([frame.body]));
    else this.positions(frame);
  }

  // The points and their columns: a map is made anew. Messages that come meanwhile wait for it.
  async content(frame) {
    const waiting = (this.held = []);
    const receive = this.receive;
    this.receive = (data) => waiting.push(data);
    const data = await unpack(new TextDecoder().decode(frame.body));
    this.receive = receive;
    const colour = this.map?.panel.column?.name;
    this.panes.close();
    this.map?.remove();
    this.map = createMap(this.root.querySelector("[data-pane='0']"), data, { embedded: this.embedded, raster: this.raster });
    this.map.root.querySelector(".ld-by").closest("section").after(this.colouring);
    this.sides.watch(this.map);
    if (colour && data.columns.some((column) => column.name === colour)) this.map.colourBy(colour);
    this.map.ghost(this.$("ghost").getAttribute("aria-pressed") === "true");
    this.root.dataset.state = "ready";
    this.tellSample();
    this.recall();
    for (const message of waiting) this.receive(message);
  }

  // A frame is drawn when the browser draws; of several that came meanwhile the newest. Then the session may send more.
  positions(frame) {
    if (frame.pane === 1) {
      this.panes.show(readPlaces(frame.body));
      return this.transport.send({ kind: "ack", sequence: frame.sequence });
    }
    const isWaiting = this.waiting !== null;
    this.waiting = frame;
    if (!isWaiting) requestAnimationFrame((now) => this.draw(now));
  }

  draw(now) {
    const frame = this.waiting;
    this.waiting = null;
    // Two or three coordinates of a point, in two bytes each.
    if (frame.generation >= this.shown && [4, 6].includes(frame.body.byteLength / this.map?.count)) {
      // What comes step by step moves by itself; what comes at once is shown the way to.
      const columns = readColumns(frame.body, this.map.count);
      this.map.moveTo(columns, { milliseconds: frame.iteration ? 0 : 350, ghost: frame.generation !== this.shown });
      this.map.drawNow(now);
      this.shown = frame.generation;
      const { generation, iteration } = frame;
      this.root.dispatchEvent(new CustomEvent("lx-drawn", { detail: { generation, iteration } }));
    }
    this.transport.send({ kind: "ack", sequence: frame.sequence });
  }

  badge(text) {
    this.map?.badge(text);
  }

  stage({ name, state }) {
    this.$("stage").textContent = state === "started" ? name : "";
    this.$("progress").hidden = true;
  }

  progress({ name, done, total }) {
    this.$("stage").textContent = name;
    Object.assign(this.$("progress"), { hidden: !total, max: total || 1, value: done });
  }

  done({ settled, state }) {
    this.$("stage").textContent = "";
    this.$("progress").hidden = true;
    this.strip.mark(state);
    this.showAxes(state);
    this.$("heard").textContent = settled ? "The picture is settled." : "The preview is at rest.";
  }

  showAxes(state) {
    this.sides.axes(this.strip.cards.get(state)?.state.components ?? 2);
  }

  scores({ state, recall, k }) {
    this.$("stage").textContent = "";
    this.$("progress").hidden = true;
    this.strip.score(state, recall);
    this.sides.judged();
    const asked = this.hello.all === this.hello.rows ? "all points" : "all points of the sample";
    this.$("recall").textContent = `${(100 * recall).toFixed(1)} % of the ${k} nearest (exact, ${asked})`;
  }

  restored({ state, setting }) {
    this.controls.show(setting);
    this.strip.mark(state);
    this.showAxes(state);
    this.remember();
  }

  failed({ generation, message }) {
    if (generation < this.generation) return;
    this.alert(this.strip.cards.size ? `${message} Shown is the picture before.` : message);
    this.$("stage").textContent = "";
    this.$("progress").hidden = true;
  }

  alert(text) {
    this.$("alert").hidden = !text;
    this.$("alert").textContent = text;
  }

  // -- from the person ------------------------------------------------------------------------------------------------

  // A wish is told at once; of those that come before the browser has drawn again, the last counts.
  want() {
    this.isWanted = true;
    if (!this.wanting) this.tell();
  }

  tell() {
    this.wanting = this.isWanted;
    if (!this.isWanted) return;
    this.isWanted = false;
    this.generation += 1;
    const { method, values } = this.controls;
    this.transport.send({ kind: "set", generation: this.generation, method, parameters: values });
    this.showPaused(false);
    this.remember();
    requestAnimationFrame(() => this.tell());
  }

  settle() {
    this.generation += 1;
    this.transport.send({ kind: "settle", generation: this.generation });
    this.showPaused(false);
  }

  pause() {
    this.transport.send({ kind: this.paused ? "resume" : "pause" });
  }

  showPaused(paused) {
    this.paused = paused;
    this.$("pause").setAttribute("aria-pressed", paused);
    this.$("pause").textContent = paused ? "Go on" : "Pause";
  }

  ghost() {
    const on = this.$("ghost").getAttribute("aria-pressed") !== "true";
    this.$("ghost").setAttribute("aria-pressed", on);
    this.map?.ghost(on);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
    if (this.embedded && !this.root.matches(":hover") && !this.root.contains(document.activeElement)) return;
    const deeds = { k: () => this.pause(), s: () => this.settle(), g: () => this.ghost() };
    const deed = deeds[event.key.toLowerCase()];
    if (!deed) return;
    deed();
    event.preventDefault();
  }

  remove() {
    this.ending.abort();
    this.panes.close();
    this.map?.remove();
    this.transport.close();
    this.root.remove();
  }

  // -- the state in the address, which a reload or a friend takes up ----------------------------------------------------

  remember() {
    const { method, values } = this.controls;
    const text = new URLSearchParams({ method, parameters: JSON.stringify(values) });
    if (this.transport instanceof SocketTransport) history.replaceState(null, "", `#${text}`);
  }

  recall() {
    if (!(this.transport instanceof SocketTransport) || this.recalled) return;
    this.recalled = true;
    const asked = new URLSearchParams(location.hash.slice(1));
    const method = asked.get("method");
    if (!this.hello.controls[method]) return;
    try {
      const parameters = JSON.parse(asked.get("parameters") || "{}");
      const now = JSON.stringify(this.hello.setting.parameters);
      if (method === this.hello.setting.method && JSON.stringify(parameters) === now) return;
      this.controls.show({ method, parameters });
      this.want();
    } catch {
      history.replaceState(null, "", "#");
    }
  }
}

function openExplorer(parent, transport, options) {
  const explorer = new Explorer(parent, transport, options);
  parent.explorer = explorer;
  return explorer;
}
