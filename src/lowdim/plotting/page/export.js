// Pictures of the map for files and film-strips: small ones, PNG of what is shown, SVG of what is shown.

const SMALL = 20000; // points of a thumbnail, and of a drawing whose points are shapes

function groundOf(element) {
  return getComputedStyle(element).getPropertyValue("--paper").trim();
}

function blank(width, height, ground) {
  const canvas = element("canvas", { width, height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, width, height);
  return canvas;
}

// The whole map; of very many points a fixed sample of them.
function thumbnailOf(map, width, height, places = map.points) {
  const points = element("canvas", { width, height });
  const painter = new PlainPainter(points, map.count, map.order.subarray(0, SMALL));
  painter.move(places);
  painter.colour(map.paints);
  const size = Math.max(1, (map.size * Math.min(width, height)) / Math.min(map.width, map.height));
  painter.draw({ ...map.fitted(width, height, places, 0), ratio: 1 }, size, map.opacityOf(Math.min(SMALL, map.count)));
  const picture = blank(width, height, groundOf(map.root));
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
    const made = blank(layers[0].width, layers[0].height, groundOf(map.root));
    for (const layer of layers) made.getContext("2d").drawImage(layer, 0, 0);
    return made;
  });
  return new Promise((done) => picture.toBlob(done, "image/png"));
}

const written = (value) => String(Number(value.toFixed(2)));

// A drawing is built as elements, so that no text of the data is ever read as markup.
function drawingText(map) {
  const space = map.root.querySelector("svg").namespaceURI;
  const make = (name, attributes, text = "") => {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? written(value) : value);
    made.textContent = text;
    return made;
  };
  const ground = groundOf(map.root);
  const drawing = make("svg", { viewBox: `0 0 ${written(map.width)} ${written(map.height)}`, "font-family": "system-ui, sans-serif" });
  drawing.append(make("title", {}, map.data.title || "Embedding"), make("rect", { width: "100%", height: "100%", fill: ground }));
  drawing.append(...pointShapes(map, make), ...nameTexts(map, make, ground));
  return new XMLSerializer().serializeToString(drawing);
}

function pointShapes(map, make) {
  const shown = [...map.painter.order].filter((row) => {
    const [x, y] = map.screen(row);
    return map.isShown(row) && x >= 0 && y >= 0 && x <= map.width && y <= map.height;
  });
  if (shown.length > SMALL) {
    const address = enlarged(map, 3, (points) => points.toDataURL());
    return [make("image", { width: map.width, height: map.height, href: address })];
  }
  const radius = map.shownSize() / 2;
  const isStrong = (row) => (map.paints[4 * row + 3] & MARK) === STRONG;
  const others = shown.filter((row) => !isStrong(row)).map((row) => pointShape(map, make, row, radius));
  return [...others, ...shown.filter(isStrong).map((row) => pointShape(map, make, row, 1.3 * radius + 0.75))];
}

function pointShape(map, make, row, radius) {
  const [x, y] = map.screen(row);
  const [red, green, blue, bits] = map.paints.subarray(4 * row, 4 * row + 4);
  const [mark, usual] = [bits & MARK, map.shownOpacity()];
  const look = { fill: `rgb(${red},${green},${blue})`, "fill-opacity": mark === FAINT ? 0.1 * usual : mark === STRONG ? 1 : usual };
  const corners = CORNERS[bits >> 2];
  if (!corners) return make("circle", { cx: x, cy: y, r: radius, ...look });
  const path = corners.map(([across, up]) => `${written(x + across * radius)},${written(y - up * radius)}`);
  return make("polygon", { points: path.join(" "), ...look });
}

function nameTexts(map, make, ground) {
  if (!map.showNames) return [];
  const ink = getComputedStyle(map.root).getPropertyValue("--ink").trim();
  const halo = { stroke: ground, "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke" };
  const common = { "text-anchor": "middle", "dominant-baseline": "central", "font-weight": 600, fill: ink, ...halo };
  return map.writtenNames.flatMap(({ lines, across, down, size, opacity, line }) => {
    const texts = lines.map((text, at) => {
      const y = down + (at - (lines.length - 1) / 2) * size * 1.15;
      return make("text", { x: across, y, "font-size": size, opacity, ...common }, text);
    });
    if (!line) return texts;
    return [make("line", { x1: line[0], y1: line[1], x2: across, y2: down, stroke: ink, "stroke-opacity": 0.5 }), ...texts];
  });
}
