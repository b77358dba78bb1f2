// The key of a quantity: its histogram, the limits between which colours run, and a linear or logarithmic scale.

const BINS = 56;

// From values to [0, 1] over all of a column, and back: straight, by the logarithm, or, where there are zeros, by log(1 + x).
function axisOf(column) {
  const { low, high } = column;
  let [to, from] = [(value) => value, (value) => value];
  if (column.log) [to, from] = low > 0 ? [Math.log, Math.exp] : [(value) => Math.log1p(value - low), (value) => Math.expm1(value) + low];
  const [start, end] = [to(low), to(high)];
  const span = end - start || 1;
  return { to: (value) => (to(value) - start) / span, from: (share) => from(start + share * span) };
}

// Where a value is between the limits: 0 and 1 are the limits and all beyond.
function shareOf(column) {
  const axis = axisOf(column);
  const [low, high] = column.clip.map(axis.to);
  const span = high - low || 1;
  return (value) => Math.max(0, Math.min(1, (axis.to(value) - low) / span));
}

// The limits and the scale of a column of which nobody said them: as colours.spread_of in Python.
function usualSpread(values, low, high) {
  const [near, median, far] = quantiles(values, [0.01, 0.5, 0.99]) ?? [low, low, high];
  const clip = (scale) => {
    const [below, middle, above] = [scale(near) - scale(low), scale(far) - scale(near), scale(high) - scale(far)];
    if (!(middle > 0) || below + middle + above < 2 * middle) return [low, high];
    return [below > middle / 2 ? near : low, above > middle / 2 ? far : high];
  };
  const limits = clip((value) => value);
  const log = low > 0 && median - limits[0] < 0.08 * (limits[1] - limits[0]);
  return { log, clip: log ? clip(Math.log) : limits };
}

// Rows in the order of their values, so that high ones lie on top; those of one shade stay mixed.
function byValue(values, order, share) {
  const shade = (row) => (Number.isNaN(values[row]) ? 0 : 1 + Math.round(254 * share(values[row])));
  const starts = new Uint32Array(257);
  for (let row = 0; row < values.length; row++) starts[shade(row) + 1]++;
  for (let at = 1; at < starts.length; at++) starts[at] += starts[at - 1];
  const sorted = new Uint32Array(order.length);
  for (const row of order) sorted[starts[shade(row)]++] = row;
  return sorted;
}

class QuantityKey {
  constructor(panel, column, place) {
    Object.assign(this, { panel, column, canvas: element("canvas", { className: "ld-histogram", width: 2 * 248, height: 2 * 56 }) });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Histogram of ${column.name}`);
    this.bar = element("div", { className: "ld-bar" });
    this.handles = ["lower", "upper"].map((which, at) => this.handle(which, at));
    this.ticks = [0, 1, 2].map(() => element("span"));
    place.append(this.canvas, this.bar, element("div", { className: "ld-handles" }, ...this.handles), element("div", { className: "ld-ticks" }, ...this.ticks));
    place.append(this.choices());
    if (column.missing) place.append(element("p", { className: "ld-quiet" }, panel.swatch(panel.themed(panel.data.missing)), ` missing: ${number(column.missing)}`));
    this.show();
  }

  handle(which, at) {
    const input = element("input", { type: "range", min: 0, max: 1000, step: 1 });
    input.setAttribute("aria-label", `${which} limit of the colours`);
    input.addEventListener("input", () => {
      const value = axisOf(this.column).from(Number(input.value) / 1000);
      const [low, high] = this.column.clip;
      this.column.clip = at ? [low, Math.max(value, low)] : [Math.min(value, high), high];
      this.changed();
    });
    return input;
  }

  choices() {
    const log = element("input", { type: "checkbox", checked: Boolean(this.column.log), className: "ld-log" });
    log.addEventListener("change", () => {
      this.column.log = log.checked;
      this.changed();
    });
    const words = this.column.low > 0 ? " logarithmic" : " log(1 + x)";
    const link = (text, limits) => {
      const button = element("button", { type: "button", className: "ld-link", textContent: text });
      button.addEventListener("click", () => {
        this.column.clip = limits();
        this.changed();
      });
      return button;
    };
    const { values, low, high } = this.column;
    const all = link("all values", () => [low, high]);
    const middle = link("1 to 99 %", () => quantiles(values, [0.01, 0.99]));
    return element("p", { className: "ld-choices" }, element("label", {}, log, words), all, middle);
  }

  changed() {
    this.show();
    this.panel.paint();
    this.panel.map.emit("changed");
  }

  show() {
    const { column, panel } = this;
    const axis = axisOf(column);
    const places = column.clip.map(axis.to);
    this.handles.forEach((input, at) => {
      input.value = Math.round(1000 * places[at]);
      input.setAttribute("aria-valuetext", short(column.clip[at]));
    });
    const colours = panel.themed(panel.data.scale);
    const [start, end] = places.map((place) => `${(100 * place).toFixed(1)}%`);
    this.bar.style.background = `linear-gradient(to right, ${colours[0]} ${start}, ${colours.slice(1, -1).map((colour, at) => `${colour} calc(${start} + (${end} - ${start}) * ${((at + 1) / (colours.length - 1)).toFixed(4)})`).join(", ")}, ${colours.at(-1)} ${end})`;
    const texts = [column.clip[0] > column.low ? `≤ ${short(column.clip[0])}` : short(column.clip[0]), short(axis.from((places[0] + places[1]) / 2)),
      column.clip[1] < column.high ? `≥ ${short(column.clip[1])}` : short(column.clip[1])];
    this.ticks.forEach((tick, at) => (tick.textContent = texts[at]));
    this.histogram(axis, places, colours);
  }

  // Heights by the logarithm of the count: a few high values among very many are seen too.
  histogram(axis, places, colours) {
    const { canvas, column } = this;
    const counts = new Uint32Array(BINS);
    for (const value of column.values) if (!Number.isNaN(value)) counts[Math.min(BINS - 1, Math.floor(axis.to(value) * BINS))]++;
    const most = Math.log1p(Math.max(...counts));
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const wide = canvas.width / BINS;
    counts.forEach((count, at) => {
      const share = ((at + 0.5) / BINS - places[0]) / (places[1] - places[0] || 1);
      const tall = (Math.log1p(count) / most) * (canvas.height - 2);
      pen.globalAlpha = share < 0 || share > 1 ? 0.45 : 1;
      pen.fillStyle = colours[Math.round(Math.max(0, Math.min(1, share)) * (colours.length - 1))];
      pen.fillRect(at * wide, canvas.height - tall, wide - 1, tall);
    });
  }
}
