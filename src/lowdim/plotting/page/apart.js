// What tells the points selected from the others: standardised mean differences of the columns that the page carries, and
// of pictures the mean of one side less that of the other.

const MANY_NUMBERS = 12; // classes beyond which numbers are read as a quantity

// Counts, means and the pooled deviation of a quantity on both sides; what is missing does not count.
function sides(values, selected) {
  const [counts, sums, squares] = [[0, 0], [0, 0], [0, 0]];
  for (let row = 0; row < values.length; row++) {
    if (Number.isNaN(values[row])) continue;
    counts[selected[row]]++;
    sums[selected[row]] += values[row];
  }
  const means = sums.map((sum, side) => sum / counts[side]);
  for (let row = 0; row < values.length; row++) {
    if (!Number.isNaN(values[row])) squares[selected[row]] += (values[row] - means[selected[row]]) ** 2;
  }
  const freedom = counts[0] + counts[1] - 2;
  return { counts, means, deviation: Math.sqrt((squares[0] + squares[1]) / Math.max(1, freedom)) };
}

// Hedges' g with its 95 % interval; null where a side is empty or nothing differs.
function effectOf({ counts, means, deviation }) {
  const [others, chosen] = counts;
  const difference = means[1] - means[0];
  if (!others || !chosen || !difference || !deviation) return null;
  const all = others + chosen;
  const effect = ((1 - 3 / Math.max(4 * all - 9, 4)) * difference) / deviation;
  const reach = 1.959964 * Math.sqrt(all / (others * chosen) + effect ** 2 / (2 * all));
  return { effect, low: effect - reach, high: effect + reach };
}

// The numbers of a column: a quantity, or many classes that are all numbers; null where it has none.
function numbersOf(column) {
  if (column.kind === "quantity") return column.values;
  if (column.names.length <= MANY_NUMBERS || !column.names.every((name) => name === "" || Number.isFinite(Number(name)))) return null;
  const numbers = column.names.map((name) => (name === "" ? NaN : Number(name)));
  return Float64Array.from(column.values, (code) => numbers[code]);
}

// One line for each quantity and for the class of each column whose share differs most, the largest effect first.
function contrasts(data, selected) {
  const brief = (value) => String(Number(value.toPrecision(3)));
  const found = [];
  for (const column of data.columns) {
    if (column.name === "id") continue;
    const numbers = numbersOf(column);
    if (numbers) {
      const both = sides(numbers, selected);
      const told = effectOf(both);
      if (told) found.push({ ...told, name: column.name, words: `${brief(both.means[1])} against ${brief(both.means[0])}` });
      continue;
    }
    if (column.kind === "text") continue;
    const tallies = [new Uint32Array(column.names.length), new Uint32Array(column.names.length)];
    const counts = [0, 0];
    for (let row = 0; row < selected.length; row++) {
      tallies[selected[row]][column.values[row]]++;
      counts[selected[row]]++;
    }
    let best = null;
    column.names.forEach((name, code) => {
      const means = tallies.map((tally, side) => tally[code] / counts[side]);
      // The deviation over all points, not within the sides: a class that has one side to itself would have none.
      const share = (tallies[0][code] + tallies[1][code]) / (counts[0] + counts[1]);
      const told = effectOf({ counts, means, deviation: Math.sqrt(share * (1 - share)) });
      if (told && means[1] > means[0] && !(best && best.effect >= told.effect)) {
        best = { ...told, name: `${column.name}: ${name || "(missing)"}`, words: `${brief(100 * means[1])} % against ${brief(100 * means[0])} %` };
      }
    });
    if (best) found.push(best);
  }
  return found.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

// The greys of all pictures, a sheet at a time: each sheet is read once.
async function greysOf(panel, sheet) {
  const { width, height, down, right, across, per_sheet: perSheet } = panel.data.thumbnails;
  const { image } = panel.tip.pictureOf(sheet * perSheet);
  await image.decode();
  const canvas = element("canvas", { width: image.naturalWidth, height: image.naturalHeight });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  const count = Math.min(perSheet, panel.data.count - sheet * perSheet);
  const greys = new Uint8Array(count * width * height);
  for (let place = 0; place < count; place++) {
    const [left, top] = [(place % across) * right, Math.floor(place / across) * down];
    for (let line = 0; line < height; line++) {
      for (let at = 0; at < width; at++) {
        const pixel = 4 * ((top + line) * canvas.width + left + at);
        greys[(place * height + line) * width + at] = (pixels[pixel] + pixels[pixel + 1] + pixels[pixel + 2]) / 3;
      }
    }
  }
  return greys;
}

// Mean picture of each side, in greys from 0 to 255: the others, then those selected.
async function meanPictures(panel, selected) {
  const { width, height, per_sheet: perSheet } = panel.data.thumbnails;
  const size = width * height;
  const sums = [new Float64Array(size), new Float64Array(size)];
  const counts = [0, 0];
  panel.greys ??= [];
  for (let sheet = 0; sheet * perSheet < panel.data.count; sheet++) {
    panel.greys[sheet] ??= await greysOf(panel, sheet);
    const greys = panel.greys[sheet];
    for (let place = 0; place * size < greys.length; place++) {
      const side = selected[sheet * perSheet + place];
      counts[side]++;
      for (let at = 0; at < size; at++) sums[side][at] += greys[place * size + at];
    }
  }
  return sums.map((sum, side) => sum.map((value) => value / counts[side]));
}

// More ink in the selection is red, less is blue, as much as the largest difference.
function differencePicture(panel, means) {
  const { width, height } = panel.data.thumbnails;
  const canvas = element("canvas", { width, height, className: "ld-difference" });
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(width, height);
  const differences = means[1].map((value, at) => value - means[0][at]);
  const most = differences.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  differences.forEach((value, at) => {
    const share = Math.abs(value) / most;
    const [r, g, b] = value > 0 ? [178, 24, 43] : [33, 102, 172];
    pixels.data.set([255 + share * (r - 255), 255 + share * (g - 255), 255 + share * (b - 255), 255], 4 * at);
  });
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

// Fills the part of the panel that says what tells the selection apart.
function tellApart(panel) {
  const { map, data } = panel;
  const place = panel.$("apart");
  place.hidden = !panel.chosen || panel.chosen === map.count;
  panel.asked = (panel.asked ?? 0) + 1;
  if (place.hidden) return;
  const lines = contrasts(data, map.selected).slice(0, 8);
  const most = Math.max(...lines.map((line) => Math.abs(line.effect)), 1e-9);
  const list = element("ol", { className: "ld-effects" });
  for (const { name, effect, low, high, words } of lines) {
    const bar = element("span", { className: "ld-effect-bar" });
    bar.style.width = `${(100 * Math.abs(effect)) / most}%`;
    bar.dataset.sign = effect > 0 ? "more" : "less";
    const title = `effect ${effect.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}) deviations`;
    const text = element("span", { className: "ld-name", textContent: name });
    const value = element("span", { className: "ld-number", textContent: `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(2)}` });
    list.append(element("li", { title }, text, value, element("span", { className: "ld-number ld-words", textContent: words }), bar));
  }
  place.querySelector(".ld-effects")?.remove();
  if (lines.length) place.append(list);
  if (!data.thumbnails) return;
  const asked = panel.asked;
  panel.pictured = meanPictures(panel, map.selected).then((means) => {
    if (asked !== panel.asked) return; // another selection has been made since
    place.querySelector("figure")?.remove();
    const caption = element("figcaption", { className: "ld-quiet", textContent: "mean picture: red more, blue less than the others" });
    place.append(element("figure", {}, differencePicture(panel, means), caption));
  });
}
