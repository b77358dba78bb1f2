// What lies over the points: the ring around the one under the pointer, names, pictures, the outline that is being drawn.

function drawOver(map, size) {
  const { pen, view } = map;
  const style = getComputedStyle(map.root);
  const [ink, paper] = [style.getPropertyValue("--ink"), style.getPropertyValue("--paper")];
  pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  pen.clearRect(0, 0, map.width, map.height);
  if (map.showContours) drawContours(map, pen, ink);
  if (map.showPictures) drawPictures(map, pen);
  if (map.showNames && !map.journey) drawNames(map, pen, ink, paper); // on the way no name has a place
  if (map.hovered >= 0) drawRing(pen, map.screen(map.hovered), size, ink, paper);
  if (map.outline) drawOutline(pen, map.outline, style);
}

function drawRing(pen, [x, y], size, ink, paper) {
  pen.beginPath();
  pen.arc(x, y, size / 2 + 4, 0, 7);
  for (const [width, colour] of [[4, paper], [2, ink]]) {
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

function drawOutline(pen, path, style) {
  pen.beginPath();
  for (const [x, y] of path) pen.lineTo(x, y);
  pen.closePath();
  pen.fillStyle = style.getPropertyValue("--veil");
  pen.fill();
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.strokeStyle = style.getPropertyValue("--accent");
  pen.stroke();
  pen.setLineDash([]);
}

// Pictures of points that are not faint, each clear of those before it in the fixed mixed order.
function drawPictures(map, pen) {
  const { paints } = map;
  const { width, height } = map.data.thumbnails;
  const zoom = 40 / Math.max(width, height);
  const [across, down] = [width * zoom, height * zoom];
  const side = Math.max(across, down) + 4;
  const taken = new Map();
  const key = (column, line) => column * 4096 + line;
  let room = 300;
  pen.imageSmoothingEnabled = zoom < 1;
  pen.lineWidth = 2;
  for (const row of map.order) {
    if (!room) break;
    const [x, y] = map.screen(row);
    if ((paints[4 * row + 3] & MARK) <= FAINT || x < 0 || y < 0 || x > map.width || y > map.height) continue;
    const [column, line] = [Math.floor(x / side) + 1, Math.floor(y / side) + 1];
    const near = [-1, 0, 1].flatMap((a) => [-1, 0, 1].flatMap((b) => taken.get(key(column + a, line + b)) ?? []));
    if (near.some(([a, b]) => Math.abs(a - x) < side && Math.abs(b - y) < side)) continue;
    taken.set(key(column, line), [...(taken.get(key(column, line)) ?? []), [x, y]]);
    room--;
    const { image, left, top } = map.pictureOf(row);
    if (!image.complete) continue;
    pen.drawImage(image, left, top, width, height, x - across / 2, y - down / 2, across, down);
    pen.strokeStyle = `rgb(${paints[4 * row]} ${paints[4 * row + 1]} ${paints[4 * row + 2]})`;
    pen.strokeRect(x - across / 2, y - down / 2, across, down);
  }
}

function drawNames(map, pen, ink, paper) {
  const font = (size) => `600 ${size}px system-ui, sans-serif`;
  const measure = (text, size) => {
    pen.font = font(size);
    return pen.measureText(text).width;
  };
  map.writtenNames = placeNames(map, measure);
  Object.assign(pen, { textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  for (const { line, across, down, opacity } of map.writtenNames) {
    if (!line) continue;
    Object.assign(pen, { globalAlpha: 0.5 * opacity, strokeStyle: ink, lineWidth: 1 });
    pen.beginPath();
    pen.moveTo(...line);
    pen.lineTo(across, down);
    pen.stroke();
  }
  for (const { lines, across, down, size, opacity } of map.writtenNames) {
    Object.assign(pen, { font: font(size), globalAlpha: opacity, lineWidth: 4, strokeStyle: paper, fillStyle: ink });
    lines.forEach((text, at) => {
      const y = down + (at - (lines.length - 1) / 2) * size * 1.15;
      pen.strokeText(text, across, y);
      pen.fillText(text, across, y);
    });
  }
  pen.globalAlpha = 1;
}
