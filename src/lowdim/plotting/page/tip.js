// What is known of the point under the pointer, in the corner of the map that is farthest from it, so that its surroundings
// stay in sight; and the pictures of points.

const MOST_FACTS = 14;

class Tip {
  constructor(panel) {
    Object.assign(this, { panel, map: panel.map, data: panel.data, place: panel.$("tip"), sheets: [] });
    this.map.on("hover", (row) => this.tell(row));
  }

  facts(row) {
    const { columns } = this.data;
    const named = columns.some((column) => column.name === "id");
    return [...(named ? [] : [["row", String(row)]]), ...columns.map((column) => [column.name, cell(column, row)])];
  }

  tell(row) {
    const { place, map } = this;
    place.hidden = row < 0;
    if (row < 0) return;
    const list = element("dl");
    for (const [name, value] of this.facts(row).slice(0, MOST_FACTS)) {
      list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
    }
    place.replaceChildren(list);
    if (this.data.thumbnails) place.prepend(this.thumbnail(row));
    const [x, y] = map.screen(row);
    place.dataset.side = x > map.width / 2 ? "left" : "right";
    place.dataset.end = y > map.height / 2 && x > map.width / 3 && x < (2 * map.width) / 3 ? "top" : "bottom";
  }

  thumbnail(row) {
    const { width, height } = this.data.thumbnails;
    const canvas = element("canvas", { width, height, className: "ld-thumbnail" });
    const enlarge = Math.max(1, Math.round(112 / Math.max(width, height)));
    canvas.style.width = `${width * enlarge}px`;
    canvas.style.height = `${height * enlarge}px`;
    const { image, left, top } = this.pictureOf(row);
    const draw = () => canvas.getContext("2d").drawImage(image, left, top, width, height, 0, 0, width, height);
    image.decode().then(draw);
    return canvas;
  }

  // The sheet that holds the picture of a point, and where on it; sheets are read when they are first needed.
  pictureOf(row) {
    const { down, right, across, per_sheet: perSheet, kind } = this.data.thumbnails;
    const [sheet, place] = [Math.floor(row / perSheet), row % perSheet];
    if (!this.sheets[sheet]) {
      const text = this.panel.root.querySelectorAll(".ld-sheet")[sheet].textContent.trim();
      this.sheets[sheet] = Object.assign(new Image(), { src: `data:image/${kind};base64,${text}` });
      this.sheets[sheet].decode().then(() => this.map.redraw({ over: true }));
    }
    return { image: this.sheets[sheet], left: (place % across) * right, top: Math.floor(place / across) * down };
  }
}
