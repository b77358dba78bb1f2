// What lies over the points: the ring around the one under the pointer, names, pictures, the outline that is being drawn.

function drawOver(map, size) {
  const { pen, view } = map;
  const style = getComputedStyle(map.root);
  const [ink, paper] = [style.getPropertyValue("--ink"), style.getPropertyValue("--paper")];
  pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  pen.clearRect(0, 0, map.width, map.height);
  if (map.showPictures) drawPictures(map, pen);
  if (map.showNames) drawNames(map, pen, ink, paper);
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

// Names of classes at their medians, the largest class first; one that would cover another waits for a closer look.
function drawNames(map, pen, ink, paper) {
  const taken = [];
  map.writtenNames = [];
  pen.font = "600 13px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const { name, x, y } of map.names) {
    const [across, down] = map.toScreen(x, y);
    const half = pen.measureText(name).width / 2 + 4;
    const free = taken.every(([a, d, h]) => Math.abs(a - across) > h + half || Math.abs(d - down) > 18);
    if (!free || across < 0 || down < 0 || across > map.width || down > map.height) continue;
    taken.push([across, down, half]);
    map.writtenNames.push({ name, across, down });
    pen.lineWidth = 4;
    pen.strokeStyle = paper;
    pen.strokeText(name, across, down);
    pen.fillStyle = ink;
    pen.fillText(name, across, down);
  }
}
