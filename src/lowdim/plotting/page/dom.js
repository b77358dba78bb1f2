// Small things that every part uses: elements, numbers as people read them, files.

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const number = (value) => value.toLocaleString("en-GB");
const short = (value) => {
  const size = Math.abs(value);
  return size && (size < 1e-3 || size >= 1e7) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
};
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

// Values at shares of the way from the least to the greatest of those that are known.
function quantiles(values, shares) {
  const known = Float64Array.from(values).filter(Number.isFinite).sort();
  return known.length ? shares.map((share) => known[Math.round(share * (known.length - 1))]) : null;
}

// Hands a file to the person.
function download(title, ending, blob) {
  const address = URL.createObjectURL(blob);
  const name = (title || "embedding").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();
  element("a", { href: address, download: `${name || "embedding"}${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
