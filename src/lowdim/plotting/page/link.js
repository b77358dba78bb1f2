// Several maps of the same points beside each other: what is selected, searched, coloured or under the pointer in one is so
// in all. The last has the panel; the others are painted as it is.

function linkMaps(roots) {
  const main = roots.at(-1);
  const others = roots.slice(0, -1);
  let busy = false;
  const once = (work) => (detail) => {
    if (busy) return;
    busy = true;
    work(detail);
    busy = false;
  };
  const paint = () => {
    for (const { map } of others.filter((root) => root.isConnected)) {
      map.paints.set(main.map.paints);
      map.painter.arrange(main.map.painter.order);
      map.painter.colour(map.paints);
      map.names = main.panel.column?.name === map.panel.column?.name ? map.names : [];
      map.redraw();
    }
  };
  for (const { map } of roots) {
    const rest = roots.filter((other) => other.map !== map);
    const shown = () => rest.filter((other) => other.isConnected);
    map.on("selected", once(() => {
      for (const other of shown()) other.map.selection.set(map.selected);
      paint();
    }));
    map.on("hover", (row) => shown().forEach((other) => other.map.hoverRow(row)));
    map.on("command", once((name) => {
      // Names, pictures and tools are those of all maps.
      if (["lasso", "box", "pan", "names", "pictures", "contours"].includes(name)) shown().forEach((other) => other.panel.command(name));
    }));
  }
  main.map.on("colour", (name) => others.forEach(({ map }) => map.root.isConnected && map.panel.hasColumn(name) && map.colourBy(name)));
  main.map.on("painted", paint);
  paint();
}

function link() {
  const roots = [...document.querySelectorAll(".ld-beside > .ld")];
  if (roots.length > 1) linkMaps(roots);
}
