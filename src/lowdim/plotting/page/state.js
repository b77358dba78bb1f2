// What is shown, in the fragment of the page's address, so that a link or a bookmark comes back to it. It holds what was
// chosen, never the data: colour, limits, classes that are hidden, view, frame, theme, and a selection of few rows.

const LONGEST = 1500;

// Rows in order as ranges: 3-7.12.15-20.
function rangesOf(rows) {
  const parts = [];
  for (let at = 0; at < rows.length; at++) {
    const start = rows[at];
    while (rows[at + 1] === rows[at] + 1) at++;
    parts.push(rows[at] === start ? `${start}` : `${start}-${rows[at]}`);
  }
  return parts.join(".");
}

function rowsOf(ranges, count) {
  const rows = [];
  for (const part of ranges.split(".")) {
    const [start, end = start] = part.split("-").map(Number);
    if (!(start >= 0 && end < count)) continue;
    for (let row = start; row <= end; row++) rows.push(row);
  }
  return rows;
}

function stateOf(map) {
  const { panel } = map;
  const { column } = panel;
  const state = new URLSearchParams();
  if (column && panel.colourable.indexOf(column) !== panel.first) state.set("colour", column.name);
  if (column?.kind === "quantity" && column.log !== panel.firstLook.get(column).log) state.set("log", column.log ? "1" : "0");
  if (column?.kind === "quantity" && panel.firstLook.get(column).clip.some((value, at) => value !== column.clip[at])) {
    state.set("clip", column.clip.map((value) => Number(value.toPrecision(6))).join(","));
  }
  if (panel.off.size) state.set("off", [...panel.off].join("."));
  if (map.touched) {
    const { x, y, zoom, yaw, pitch } = map.viewOf();
    state.set("view", [x, y, zoom, ...(map.deep ? [yaw, pitch] : [])].map((value) => Number(value.toPrecision(5))).join(","));
  }
  if (panel.frames?.at) state.set("frame", Number(panel.frames.at.toFixed(2)));
  if (!map.showNames) state.set("names", "0");
  const { theme } = themed(map.root).dataset;
  if (theme) state.set("theme", theme);
  const rows = rangesOf(map.selectedRows());
  if (rows && rows.length < LONGEST) state.set("rows", rows);
  return state;
}

// What an address asks for; what it says of columns or rows that are not there is left alone.
function restore(map, text) {
  const { panel } = map;
  const state = new URLSearchParams(text.replace(/^#/, ""));
  const numbers = (name) => state.get(name)?.split(",").map(Number) ?? [];
  if (["dark", "light"].includes(state.get("theme"))) panel.setTheme(state.get("theme"));
  if (panel.frames && state.has("frame")) panel.frames.go(Number(state.get("frame")) || 0);
  const column = panel.colourable.find((each) => each.name === state.get("colour")) ?? panel.column;
  if (column?.kind === "quantity") {
    const clip = numbers("clip");
    if (clip.length === 2 && clip.every(Number.isFinite)) column.clip = clip;
    if (state.has("log")) column.log = state.get("log") === "1";
  }
  if (state.has("colour") || state.has("clip") || state.has("log")) panel.colourBy(column);
  if (column?.kind === "classes" && state.has("off")) {
    panel.show(new Set(state.get("off").split(".").map(Number).filter((code) => code < column.names.length)));
  }
  if (state.get("names") === "0") panel.command("names");
  const [x, y, zoom, yaw, pitch] = numbers("view");
  if ([x, y, zoom].every(Number.isFinite) && zoom > 0) map.setView({ x, y, zoom, ...(Number.isFinite(pitch) ? { yaw, pitch } : {}) });
  if (state.has("rows")) map.selectRows(rowsOf(state.get("rows"), map.count));
}

// The address follows what is chosen, a little later, without a step in the browser's history.
function keepState(map) {
  if (location.hash.length > 1) restore(map, location.hash);
  let waiting = null;
  const write = () => {
    waiting = null;
    const text = stateOf(map).toString();
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    } catch {
      // A page inside a frame of a notebook has no address of its own.
    }
  };
  const later = () => (waiting ??= setTimeout(write, 250));
  for (const name of ["view", "colour", "selection", "changed"]) map.on(name, later);
}
