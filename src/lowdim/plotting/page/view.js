// Where a map looks: what is where on the screen, closer and further away, turned, and the whole of it.

class MapView {
  resize() {
    const { clientWidth, clientHeight } = this.box;
    const ratio = window.devicePixelRatio || 1;
    if (!clientWidth || !clientHeight) return;
    const before = this.width ? Math.min(this.width, this.height) : 0;
    Object.assign(this, { width: clientWidth, height: clientHeight });
    if (before && this.touched) this.view.scale *= Math.min(clientWidth, clientHeight) / before;
    this.view.ratio = ratio;
    for (const canvas of [this.painter.canvas, this.over]) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
    }
    const fitted = this.fitted();
    this.home = fitted.scale;
    if (!this.touched) Object.assign(this.view, fitted);
    this.redraw();
  }

  // The view that shows all points.
  fitted(width = this.width, height = this.height, places = this.points, beside = this.toolsWidth()) {
    const { left, right, bottom, top } = boundsOf(places, places.length / 2);
    const above = height === this.height ? this.badgeHeight() : 0;
    const scale = Math.min((width - beside) / (right - left || 1), (height - above) / (top - bottom || 1)) * 0.92;
    return { x: (left + right) / 2 - beside / 2 / scale, y: (bottom + top) / 2 + above / 2 / scale, scale };
  }

  // How much of the left side the tools cover.
  toolsWidth() {
    const tools = this.root.querySelector(".ld-tools");
    return getComputedStyle(tools).position === "absolute" && this.width > 240 ? tools.offsetWidth + 12 : 0;
  }

  // How much of its top a line there covers.
  badgeHeight() {
    return this.root.querySelector(".ld-badge").hidden ? 0 : 34;
  }

  refit() {
    const fitted = this.fitted();
    this.home = fitted.scale;
    if (this.journey) this.journey.to = fitted;
    else Object.assign(this.view, fitted);
  }

  reset() {
    this.touched = false;
    this.refit();
    this.viewChanged();
  }

  toScreen(x, y) {
    const { view } = this;
    return [(x - view.x) * view.scale + this.width / 2, (view.y - y) * view.scale + this.height / 2];
  }

  toMap(across, down) {
    const { view } = this;
    return [(across - this.width / 2) / view.scale + view.x, view.y - (down - this.height / 2) / view.scale];
  }

  screen(row) {
    return this.toScreen(this.points[2 * row], this.points[2 * row + 1]);
  }

  // The view that shows these rows and little else.
  lookAtRows(rows) {
    if (!rows.length) return;
    const places = new Float32Array(2 * rows.length);
    rows.forEach((row, at) => places.set(this.points.subarray(2 * row, 2 * row + 2), 2 * at));
    const { x, y, scale } = this.fitted(this.width, this.height, places);
    const nearest = Math.min(scale, 200 * this.home);
    Object.assign(this.view, { x, y, scale: nearest });
    this.touch();
  }

  zoom(factor, across = this.width / 2, down = this.height / 2) {
    const before = this.toMap(across, down);
    this.view.scale = Math.max(this.home / 4, Math.min(this.home * 2000, this.view.scale * factor));
    const after = this.toMap(across, down);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.touch();
  }

  pan(across, down) {
    this.view.x -= across / this.view.scale;
    this.view.y += down / this.view.scale;
    this.touch();
  }

  rotate(across, down) {
    this.turnTo(this.turn.yaw - across * 0.008, this.turn.pitch + down * 0.008);
    this.viewChanged();
  }

  turnTo(yaw, pitch) {
    this.turn = { yaw, pitch: Math.max(-1.57, Math.min(1.57, pitch)) };
    this.project();
    this.emit("turned");
  }

  // The person has chosen where to look: new positions leave the view alone.
  touch() {
    this.touched = true;
    if (this.journey) this.journey.to = null;
    this.viewChanged();
  }

  viewChanged() {
    this.redraw();
    const now = this.viewOf();
    if (this.told && Object.keys(now).every((key) => now[key] === this.told[key])) return;
    this.told = now;
    this.emit("view", now);
  }

  viewOf() {
    return { x: this.view.x, y: this.view.y, zoom: this.view.scale / this.home, ...this.turn };
  }

  setView(view) {
    const { x, y, zoom, yaw, pitch } = { ...this.viewOf(), ...view };
    Object.assign(this.view, { x, y, scale: zoom * this.home });
    if (this.deep && (yaw !== this.turn.yaw || pitch !== this.turn.pitch)) this.turnTo(yaw, pitch);
    this.touch();
  }

  look(row) {
    [this.view.x, this.view.y] = [this.points[2 * row], this.points[2 * row + 1]];
    this.touch();
    this.hovered = -1;
    this.hover(row);
  }
}
