// The gestures and keys by which a person moves the map and selects.

const STEP = 60;
const ARROWS = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
const COMMANDS = { "+": "in", "=": "in", "-": "out", 0: "fit", l: "lasso", p: "pan", r: "box", n: "next", b: "previous", t: "names",
  i: "pictures", d: "contours", v: "invert", u: "undo", z: "closer", "/": "search", Escape: "clear", ",": "earlier", ".": "later" };

function listen(map) {
  const { over } = map;
  const held = new Map();
  const at = (event) => {
    const box = over.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  over.addEventListener("pointerdown", (event) => {
    over.setPointerCapture(event.pointerId);
    held.set(event.pointerId, at(event));
    map.outline = drawsOutline(map, event) && held.size === 1 ? [at(event)] : null;
    map.moved = false;
  });
  over.addEventListener("pointermove", (event) => {
    const now = at(event);
    if (!held.has(event.pointerId)) return map.hover(map.under(...now));
    drag(map, held, event, now);
    held.set(event.pointerId, now);
  });
  const release = (event) => {
    if (!held.delete(event.pointerId)) return;
    const path = map.outline;
    map.outline = null;
    if (path && path.length > 2 && event.type === "pointerup") map.selection.within(path, modeOf(event));
    else if (!map.moved) map.hover(map.under(...at(event)));
    map.redraw({ over: true });
  };
  over.addEventListener("pointerup", release);
  over.addEventListener("pointercancel", release);
  over.addEventListener("pointerleave", () => held.size || map.hover(-1));
  over.addEventListener("dblclick", (event) => map.zoom(event.shiftKey ? 0.5 : 2, ...at(event)));
  const wheel = (event) => {
    // Inside a longer page the wheel scrolls that page, until the map is clicked.
    if (map.root.dataset.embedded && document.activeElement !== over && !event.ctrlKey) return;
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), ...at(event));
  };
  over.addEventListener("wheel", wheel, { passive: false });
  document.addEventListener("keydown", (event) => hears(map, event) && key(map, event), { signal: map.ending.signal });
}

// The lasso and the box draw one; so does the hand with Shift, in the plane.
function drawsOutline(map, event) {
  return map.tool !== "pan" || (event.shiftKey && !map.deep);
}

const modeOf = (event) => (event.altKey ? "remove" : event.shiftKey ? "add" : "");

// Keys are the map's wherever the focus is, but for fields that take keys themselves. In a longer page it hears them when
// the pointer or the focus is in it, and the arrows, which scroll that page, only when it has the focus.
function hears(map, event) {
  if (event.target.closest?.("input, select, textarea")) return false;
  if (!map.root.dataset.embedded || map.root.contains(document.activeElement)) return true;
  return map.root.matches(":hover") && !event.key.startsWith("Arrow");
}

function drag(map, held, event, now) {
  const [x, y] = held.get(event.pointerId);
  if (Math.hypot(now[0] - x, now[1] - y) < 1 && !map.moved) return;
  map.moved = true;
  if (held.size === 2) {
    const [[, other]] = [...held].filter(([id]) => id !== event.pointerId);
    const [before, after] = [Math.hypot(x - other[0], y - other[1]), Math.hypot(now[0] - other[0], now[1] - other[1])];
    map.zoom(after / (before || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    map.pan((now[0] - x) / 2, (now[1] - y) / 2);
  } else if (map.outline) {
    const [[left, top]] = map.outline;
    if (map.tool === "box") map.outline = [[left, top], [now[0], top], now, [left, now[1]]];
    else map.outline.push(now);
    map.redraw({ over: true });
  } else if (map.deep && !event.shiftKey) map.rotate(now[0] - x, now[1] - y);
  else map.pan(now[0] - x, now[1] - y);
  map.hover(-1);
}

function key(map, event) {
  const back = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if ((event.ctrlKey || event.metaKey || event.altKey) && !back) return;
  const command = back ? "undo" : COMMANDS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const arrow = ARROWS[event.key];
  if (arrow) {
    if (map.deep && !event.shiftKey) map.rotate(-arrow[0] / 3, -arrow[1] / 3);
    else map.pan(...arrow);
  } else if (command) map.emit("command", command);
  else return;
  event.preventDefault();
}
