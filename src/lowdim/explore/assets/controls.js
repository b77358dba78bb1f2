// Sliders, menus and switches of a method, made from what the session says of its parameters.

const SLIDER_STEPS = 1000;

// As a person says it: "n_neighbors" counts neighbours, and "lam" is what Python may not call lambda.
const readable = (name) => (name === "lam" ? "lambda" : name.replace(/^n_/, "").replaceAll("_", " "));

class LiveControls {
  constructor(explorer) {
    Object.assign(this, { explorer, values: {}, made: new Map() });
    this.$ = explorer.$;
    this.$("method").addEventListener("change", (event) => this.choose(event.target.value));
  }

  begin(hello) {
    this.hello = hello;
    const options = Object.keys(hello.methods).map((name) => element("option", { value: name, textContent: name }));
    this.$("method").replaceChildren(...options);
    this.show(hello.setting);
  }

  // The controls as a setting has them, without asking for it.
  show({ method, parameters }) {
    const isNew = method !== this.method;
    Object.assign(this, { method, values: { ...parameters } });
    this.$("method").value = method;
    this.$("formula").textContent = this.hello.methods[method];
    if (isNew) this.build();
    for (const control of this.made.values()) control.update();
    this.need();
  }

  choose(method) {
    this.show({ method, parameters: { ...this.hello.usual[method] } });
    this.explorer.want();
  }

  build() {
    this.made.clear();
    const [first, others] = [this.$("controls"), this.$("others")];
    first.replaceChildren();
    others.replaceChildren();
    for (const control of this.hello.controls[this.method]) {
      const made = this.make(control);
      this.made.set(control.name, made);
      (control.first ? first : others).append(made.row);
    }
    this.$("more").hidden = !others.children.length;
  }

  make(control) {
    const id = `lx-${control.name}`;
    const row = element("div", { className: "lx-control" });
    row.dataset.name = control.name;
    row.append(element("label", { htmlFor: id, textContent: readable(control.name), title: control.name }));
    const made = { number: () => this.slider(control, id, row), choice: () => this.menu(control, id, row), switch: () => this.tick(control, id, row) };
    return { row, control, update: made[control.kind]() };
  }

  slider(control, id, row) {
    const input = element("input", { id, type: "range", min: 0, max: SLIDER_STEPS, step: 1 });
    if (control.whole && control.high - control.low < SLIDER_STEPS && !control.logarithmic) input.max = control.high - control.low;
    const steps = Number(input.max);
    const shown = element("output", { htmlFor: id });
    const { low, high, logarithmic, whole } = control;
    const valueOf = (at) => {
      const share = at / steps;
      const value = logarithmic ? low * (high / low) ** share : low + (high - low) * share;
      return whole ? Math.round(value) : Number(value.toPrecision(3));
    };
    const placeOf = (value) => steps * (logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const auto = control.automatic ? this.automatic(control, row, () => valueOf(Number(input.value))) : null;
    row.append(shown);
    row.append(input);
    if (auto) row.append(auto);
    row.append(this.speed(control));
    input.addEventListener("input", () => this.change(control.name, valueOf(Number(input.value))));
    return () => {
      const value = this.values[control.name] ?? control.default;
      const isNumber = typeof value === "number";
      input.value = isNumber ? placeOf(value) : steps / 2;
      shown.textContent = isNumber ? String(value) : "auto";
      input.setAttribute("aria-valuetext", shown.textContent);
      if (auto) auto.firstChild.checked = !isNumber;
    };
  }

  automatic(control, row, value) {
    const box = element("input", { type: "checkbox" });
    box.setAttribute("aria-label", `${readable(control.name)}: automatic`);
    box.addEventListener("change", () => this.change(control.name, box.checked ? control.auto : value()));
    return element("label", { className: "lx-auto" }, box, " automatic");
  }

  menu(control, id, row) {
    const select = element("select", { id }, ...control.words.map((word) => element("option", { value: word, textContent: word })));
    row.append(this.speed(control), select);
    select.addEventListener("change", () => this.change(control.name, select.value));
    return () => (select.value = this.values[control.name] ?? control.default);
  }

  tick(control, id, row) {
    const box = element("input", { id, type: "checkbox" });
    row.append(box);
    box.addEventListener("change", () => this.change(control.name, box.checked));
    return () => (box.checked = this.values[control.name] ?? control.default);
  }

  speed(control) {
    const made = element("span", { className: "lx-speed" });
    made.dataset.speed = control.name;
    made.textContent = this.hello.speed[control.name] ?? "";
    return made;
  }

  speeds(speed) {
    this.hello.speed = speed;
    for (const made of this.$("left").querySelectorAll("[data-speed]")) made.textContent = speed[made.dataset.speed] ?? "";
  }

  change(name, value) {
    this.values[name] = value;
    this.made.get(name).update();
    this.need();
    this.explorer.want();
  }

  // Controls that count only beside some value of another.
  need() {
    for (const { row, control } of this.made.values()) {
      if (!control.needs) continue;
      const [owner, allowed] = control.needs;
      row.hidden = !allowed.includes(this.values[owner] ?? this.made.get(owner).control.default);
    }
  }
}
