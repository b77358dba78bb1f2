// Maps come to life: those of the blocks of data on a saved page, or one in an element of any other page.

const FEW = 50000; // points that WebGL draws in time by the processor too

function begin(root, data) {
  const map = new PointMap(root, data);
  root.map = map;
  root.panel = map.panel = new Panel(root, map, data);
  root.querySelector(".ld-state")?.remove();
  root.dataset.state = "ready";
  return map;
}

// See the head of map.js.
function createMap(parent, header, { panel = true, embedded = false, before = false, raster = false } = {}) {
  const data = { title: "", axes: ["x", "y", "z"].slice(0, header.coordinates.length), columns: [], frames: [], colour: 0, thumbnails: null,
    ...DEFAULTS, ...header, raster };
  parent.insertAdjacentHTML(before ? "afterbegin" : "beforeend", MARKUP);
  const root = before ? parent.firstElementChild : parent.lastElementChild;
  root.querySelector(".ld-title").textContent = data.title;
  root.querySelector(".ld-count").textContent = `${number(data.count)} points`;
  root.querySelector(".ld-over").setAttribute("aria-label", `Map of ${number(data.count)} points. Press N to go from point to point.`);
  root.classList.toggle("ld-bare", !panel);
  if (embedded) root.dataset.embedded = "yes";
  return begin(root, data);
}

async function open(root) {
  try {
    const data = await unpack(root.querySelector(".ld-data").textContent.trim());
    data.raster = data.count > FEW && isSoftwareDrawn();
    begin(root, data);
  } catch (error) {
    root.dataset.state = "failed";
    const state = root.querySelector(".ld-state");
    if (state) state.textContent = `This browser cannot show the map (${error.message}). A current Chrome, Edge, Firefox or Safari can.`;
    throw error;
  }
}

async function openAll() {
  const roots = [...document.querySelectorAll(".ld")];
  await Promise.all(roots.map(open));
  link();
  if (roots.length === 1 && !roots[0].dataset.embedded) keepState(roots[0].map);
}
