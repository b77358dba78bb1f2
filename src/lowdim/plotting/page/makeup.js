// What a selection is made of: counts and shares by class, or the middle of a quantity.

const MOST_PARTS = 12;

// Classes of those selected, the largest first: how many, which share of the selection, which share of the class.
function partsOf(column, selected) {
  const [mine, all] = [new Uint32Array(column.names.length), new Uint32Array(column.names.length)];
  let total = 0;
  for (let row = 0; row < selected.length; row++) {
    all[column.values[row]]++;
    mine[column.values[row]] += selected[row];
    total += selected[row];
  }
  return [...mine.keys()]
    .filter((code) => mine[code])
    .sort((a, b) => mine[b] - mine[a])
    .map((code) => ({ code, count: mine[code], share: mine[code] / total, ofClass: mine[code] / all[code] }));
}

// Fills the part of the panel that says what the selection is made of, by the column that colours, or else the first classes.
function tellMakeup(panel) {
  const { map, data } = panel;
  const place = panel.$("makeup");
  place.replaceChildren();
  place.hidden = !panel.chosen;
  if (place.hidden) return;
  const column = panel.column?.kind === "classes" ? panel.column : data.columns.find((each) => each.kind === "classes");
  if (column) place.append(element("h3", { textContent: `Made of (${column.name})` }), partList(panel, column, partsOf(column, map.selected)));
  if (panel.column?.kind !== "quantity") return;
  const { values, name } = panel.column;
  const quarters = (side) => quantiles(values.filter((_, row) => map.selected[row] === side), [0.25, 0.5, 0.75]);
  const [mine, others] = [quarters(1), quarters(0)];
  const words = (three) => (three ? `${short(three[1])} (${short(three[0])} to ${short(three[2])})` : "none known");
  const text = `Median of ${name}, with quartiles: ${words(mine)}; of the others ${words(others)}`;
  place.append(element("p", { className: "ld-quiet", textContent: text }));
}

function partList(panel, column, parts) {
  const list = element("ol", { className: "ld-parts" });
  const colours = panel.themed({ light: column.colours, dark: column.dark ?? column.colours });
  for (const { code, count, share, ofClass } of parts.slice(0, MOST_PARTS)) {
    const name = element("span", { className: "ld-name", textContent: column.names[code] || "(missing)" });
    const value = element("span", { className: "ld-number", textContent: `${number(count)} · ${percent(share)}` });
    const bar = element("span", { className: "ld-effect-bar" });
    Object.assign(bar.style, { width: `${100 * share}%`, background: colours[code] });
    list.append(element("li", { title: `${percent(ofClass)} of all in this class` }, name, value, bar));
  }
  if (parts.length > MOST_PARTS) {
    const rest = parts.slice(MOST_PARTS);
    const count = rest.reduce((sum, part) => sum + part.count, 0);
    list.append(element("li", { className: "ld-quiet", textContent: `and ${number(count)} in ${rest.length} more` }));
  }
  return list;
}
