// Several embeddings of the same points, between which a slider moves them. What is saved is the nearest of them.

class Frames {
  constructor(root, map, data) {
    Object.assign(this, { map, data, input: root.querySelector(".ld-frame"), where: root.querySelector(".ld-where") });
    this.axes = data.frames.map((frame) => placed(frame.coordinates, data.count));
    this.input.addEventListener("input", () => this.show(Number(this.input.value)));
    this.show(0);
  }

  // To the next one that there is, or the one before.
  step(by) {
    const at = Number(this.input.value);
    this.input.value = by > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1;
    this.show(Number(this.input.value));
  }

  show(at) {
    const { map, data, axes } = this;
    const before = Math.min(Math.floor(at), axes.length - 2);
    const share = at - before;
    const later = axes[before + 1];
    map.axes = axes[before].map((values, axis) =>
      Float32Array.from(values, (value, row) => value + share * (later[axis][row] - value)),
    );
    const nearest = data.frames[Math.round(at)];
    data.coordinates = nearest.coordinates;
    const between = `between ${data.frames[before].title} and ${data.frames[before + 1].title}`;
    this.where.textContent = Number.isInteger(at) ? nearest.title : between;
    this.input.setAttribute("aria-valuetext", this.where.textContent);
    map.project();
    map.hover(-1);
    map.emit("turned");
    map.redraw();
  }
}
