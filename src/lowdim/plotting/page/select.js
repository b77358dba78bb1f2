// What is selected, and the ways to change it: an outline, a box, the others, one step back.

const MOST_STEPS = 50;

class Selection {
  constructor(map) {
    Object.assign(this, { map, past: [] });
  }

  // A byte for each row; what is selected already is not told again.
  set(wanted, { remember = true } = {}) {
    const { map } = this;
    if (wanted.every((one, row) => one === map.selected[row])) return;
    if (remember) this.past.push(map.selectedRows());
    if (this.past.length > MOST_STEPS) this.past.shift();
    map.selected.set(wanted);
    map.emit("selected");
    map.emit("selection", map.selectedRows());
  }

  undo() {
    const rows = this.past.pop();
    if (rows) this.set(this.bytes(rows), { remember: false });
  }

  invert() {
    this.set(this.map.selected.map((one, row) => (this.map.isShown(row) ? 1 - one : one)));
  }

  bytes(rows) {
    const wanted = new Uint8Array(this.map.count);
    for (const row of rows) wanted[row] = 1;
    return wanted;
  }

  // Points that are shown within a path on the screen: alone, added ("add") or taken away ("remove").
  within(path, mode) {
    const { map } = this;
    const outline = path.map(([across, down]) => map.toMap(across, down));
    const { left, right, bottom, top } = boundsOf(outline.flat(), outline.length);
    const wanted = mode ? map.selected.slice() : new Uint8Array(map.count);
    for (let row = 0; row < map.count; row++) {
      const x = map.points[2 * row];
      const y = map.points[2 * row + 1];
      if (x < left || x > right || y < bottom || y > top || !map.isShown(row)) continue;
      if (inside(outline, x, y)) wanted[row] = mode === "remove" ? 0 : 1;
    }
    this.set(wanted);
  }
}
