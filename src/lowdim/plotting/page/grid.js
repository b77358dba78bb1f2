// Where points are on the map: the box around them, the one nearest to a place, those within an outline.

function boundsOf(places, count) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let row = 0; row < count; row++) {
    const x = places[2 * row];
    const y = places[2 * row + 1];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < bottom) bottom = y;
    if (y > top) top = y;
  }
  return { left, right, bottom, top };
}

// Rows in square cells, for the nearest point to a place: rows of cell c are rows[starts[c]] to rows[starts[c + 1]].
class Grid {
  constructor(points, count) {
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(count / 3))));
    this.points = points;
    const { left, right, bottom, top } = boundsOf(points, count);
    Object.assign(this, { left, bottom, scale: this.side / (Math.max(right - left, top - bottom) * 1.0001 || 1) });
    this.starts = new Uint32Array(this.side * this.side + 1);
    const cells = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      cells[row] = this.cell(points[2 * row], points[2 * row + 1]);
      this.starts[cells[row] + 1]++;
    }
    for (let at = 1; at < this.starts.length; at++) this.starts[at] += this.starts[at - 1];
    const next = this.starts.slice();
    this.rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) this.rows[next[cells[row]]++] = row;
  }

  bound(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(value)));
  }

  cell(x, y) {
    return this.bound((y - this.bottom) * this.scale) * this.side + this.bound((x - this.left) * this.scale);
  }

  // About how many points a box holds: those of the cells that it touches.
  countWithin(left, right, bottom, top) {
    const across = [left, right].map((x) => this.bound((x - this.left) * this.scale));
    const up = [bottom, top].map((y) => this.bound((y - this.bottom) * this.scale));
    let count = 0;
    for (let line = up[0]; line <= up[1]; line++) {
      count += this.starts[line * this.side + across[1] + 1] - this.starts[line * this.side + across[0]];
    }
    return count;
  }

  nearest(x, y, radius, visible) {
    const across = [this.bound((x - radius - this.left) * this.scale), this.bound((x + radius - this.left) * this.scale)];
    const up = [this.bound((y - radius - this.bottom) * this.scale), this.bound((y + radius - this.bottom) * this.scale)];
    let best = -1;
    let least = radius * radius;
    for (let line = up[0]; line <= up[1]; line++) {
      const stop = this.starts[line * this.side + across[1] + 1];
      for (let at = this.starts[line * this.side + across[0]]; at < stop; at++) {
        const row = this.rows[at];
        const distance = (this.points[2 * row] - x) ** 2 + (this.points[2 * row + 1] - y) ** 2;
        if (distance <= least && visible(row)) [best, least] = [row, distance];
      }
    }
    return best;
  }
}

function inside(path, x, y) {
  let within = false;
  for (let at = 0, last = path.length - 1; at < path.length; last = at++) {
    const [[ax, ay], [bx, by]] = [path[at], path[last]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
