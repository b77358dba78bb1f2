// A menu of the versions of these pages in place of the note that names one. VERSIONS, the newest first, stands above.
(() => {
  const note = document.getElementById("version-menu");
  if (!note) return;
  const home = new URL(document.documentElement.dataset.content_root, location.href);
  const page = location.href.split(/[?#]/)[0].slice(home.href.length);
  const menu = document.createElement("select");
  menu.id = note.id;
  menu.className = note.className;
  menu.setAttribute("aria-label", "The version that these pages describe");
  for (const version of VERSIONS) menu.add(new Option(`version ${version}`, version));
  menu.value = note.dataset.version;
  menu.addEventListener("change", async () => {
    const there = new URL(`../${menu.value}/`, home);
    // The page of the same name where that version has it; files that lie on a disk cannot be asked for.
    const same = new URL(page, there);
    const found = await fetch(same, { method: "HEAD" }).then((answer) => answer.ok, () => false);
    location.assign(found ? same : new URL("index.html", there));
  });
  note.replaceWith(menu);
})();
