// Pictures of the map for files and film-strips: small ones, PNG of what is shown, SVG of what is shown.

const SMALL = 20000; // points of a thumbnail, and of a drawing whose points are shapes

function groundOf(map) {
  return getComputedStyle(map.root).getPropertyValue("--paper").trim();
}

function blank(width, height, ground) {
  const canvas = element("canvas", { width, height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, width, height);
  return canvas;
}

// The whole map; of very many points a fixed sample of them.
function thumbnailOf(map, width, height) {
  const points = element("canvas", { width, height });
  const painter = new PlainPainter(points, map.count, map.order.subarray(0, SMALL));
  painter.move(map.points);
  painter.colour(map.paints);
  const size = Math.max(1, (map.size * Math.min(width, height)) / Math.min(map.width, map.height));
  painter.draw({ ...map.fitted(width, height), ratio: 1 }, size, map.opacity);
  const picture = blank(width, height, groundOf(map));
  picture.getContext("2d").drawImage(points, 0, 0);
  return picture.toDataURL();
}

// What is shown, so many times as fine as a pixel of the page; the canvases are lent for it and drawn again after.
function enlarged(map, scale, work) {
  const canvases = [map.painter.canvas, map.over];
  const ratio = map.view.ratio;
  const size = (by) => {
    map.view.ratio = by;
    for (const canvas of canvases) Object.assign(canvas, { width: Math.round(map.width * by), height: Math.round(map.height * by) });
    map.draw();
  };
  size(scale);
  const made = work(...canvases);
  size(ratio);
  return made;
}

function pictureBlob(map, { scale = 2 } = {}) {
  const picture = enlarged(map, scale, (...layers) => {
    const made = blank(layers[0].width, layers[0].height, groundOf(map));
    for (const layer of layers) made.getContext("2d").drawImage(layer, 0, 0);
    return made;
  });
  return new Promise((done) => picture.toBlob(done, "image/png"));
}

const written = (value) => String(Number(value.toFixed(2)));

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);

function drawingText(map) {
  const { width, height } = map;
  const ground = groundOf(map);
  const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${written(width)} ${written(height)}" font-family="system-ui, sans-serif">`];
  parts.push(`<title>${escaped(map.data.title || "Embedding")}</title><rect width="100%" height="100%" fill="${ground}"/>`);
  parts.push(...pointShapes(map), ...nameTexts(map, ground), "</svg>");
  return `${parts.join("\n")}\n`;
}

function pointShapes(map) {
  const shown = [...map.order].filter((row) => {
    const [x, y] = map.screen(row);
    return map.isShown(row) && x >= 0 && y >= 0 && x <= map.width && y <= map.height;
  });
  if (shown.length > SMALL) {
    const source = enlarged(map, 3, (points) => points.toDataURL());
    return [`<image width="${written(map.width)}" height="${written(map.height)}" href="${source}"/>`];
  }
  const radius = map.shownSize() / 2;
  const strong = shown.filter((row) => (map.paints[4 * row + 3] & MARK) === STRONG);
  const others = shown.filter((row) => (map.paints[4 * row + 3] & MARK) !== STRONG);
  return [...others.map((row) => pointShape(map, row, radius)), ...strong.map((row) => pointShape(map, row, 1.3 * radius + 0.75))];
}

function pointShape(map, row, radius) {
  const [x, y] = map.screen(row);
  const [red, green, blue, bits] = map.paints.subarray(4 * row, 4 * row + 4);
  const mark = bits & MARK;
  const opacity = written(mark === FAINT ? 0.1 * map.opacity : mark === STRONG ? 1 : map.opacity);
  const look = `fill="rgb(${red},${green},${blue})" fill-opacity="${opacity}"`;
  const corners = CORNERS[bits >> 2];
  if (!corners) return `<circle cx="${written(x)}" cy="${written(y)}" r="${written(radius)}" ${look}/>`;
  const path = corners.map(([across, up]) => `${written(x + across * radius)},${written(y - up * radius)}`).join(" ");
  return `<polygon points="${path}" ${look}/>`;
}

function nameTexts(map, ground) {
  if (!map.showNames) return [];
  const ink = getComputedStyle(map.root).getPropertyValue("--ink").trim();
  return map.writtenNames.map(({ name, across, down }) => {
    const look = `text-anchor="middle" dominant-baseline="central" font-size="13" font-weight="600" fill="${ink}"`;
    const halo = `stroke="${ground}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`;
    return `<text x="${written(across)}" y="${written(down)}" ${look} ${halo}>${escaped(name)}</text>`;
  });
}
