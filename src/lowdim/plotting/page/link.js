// Several maps of the same points beside each other: what is selected, searched, coloured or under the pointer in one is so
// in all. The last has the panel; the others are painted as it is.

function link() {
  const roots = [...document.querySelectorAll(".ld-beside > .ld")];
  if (roots.length < 2) return;
  const main = roots.at(-1);
  const others = roots.slice(0, -1);
  let busy = false;
  const once = (work) => (event) => {
    if (busy) return;
    busy = true;
    work(event);
    busy = false;
  };
  const paint = () => {
    for (const root of others) {
      root.map.paints.set(main.map.paints);
      root.map.painter.colour(root.map.paints);
      root.map.redraw();
    }
  };
  for (const root of roots) {
    const rest = roots.filter((other) => other !== root);
    root.addEventListener("ld-selected", once(() => {
      for (const other of rest) {
        other.map.select(root.map.selected);
      }
      paint();
    }));
    root.addEventListener("ld-hover", (event) => {
      for (const { map } of rest) map.hoverRow(event.detail);
    });
    root.addEventListener("ld-command", once((event) => {
      // Names, pictures and tools are those of all maps.
      if (["lasso", "pan", "names", "pictures"].includes(event.detail)) rest.forEach((other) => other.panel.command(event.detail));
    }));
  }
  main.addEventListener("ld-painted", paint);
  paint();
}
