"""Put the built pages of this version beside those of others: ``python docs/publish.py SITE``, after ``make docs``.

SITE then holds a folder for each version, the list from which their pages make a menu, and an entrance that leads to
the newest release. Only the standard library is used.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "docs/_build/html"
VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?")
ENTRANCE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>lowdim</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">lowdim {version}</a></html>
"""


def order(version: str) -> tuple[tuple[int, ...], str, int]:
    """What sorts versions: candidates before their release."""
    found = VERSION.fullmatch(version)
    if found is None:
        raise SystemExit(f"{version!r} is no version of a release, such as 1.2.0 or 1.2.0rc1.")
    numbers, stage, count = found.groups()
    return tuple(map(int, numbers.split("."))), stage or "release", int(count or 0)


def publish(built: Path, site: Path, version: str) -> list[str]:
    """Copy the pages, and write list and entrance; the versions that are there then, the newest first."""
    if not (built / "index.html").is_file():
        raise SystemExit(f"{built} holds no pages. Run `make docs` first.")
    order(version)
    site.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.copytree(built, site / version)
    versions = sorted(
        (path.parent.name for path in site.glob("*/index.html") if VERSION.fullmatch(path.parent.name)),
        key=order,
        reverse=True,
    )
    menu = (ROOT / "docs/version_menu.js").read_text(encoding="utf-8")
    (site / "versions.js").write_text(f"const VERSIONS = {json.dumps(versions)};\n{menu}", encoding="utf-8")
    newest = next((one for one in versions if order(one)[1] == "release"), versions[0])
    (site / "index.html").write_text(ENTRANCE.format(version=newest), encoding="utf-8")
    (site / ".nojekyll").touch()  # GitHub's pages would leave out folders that begin with an underscore
    return versions


def main(arguments: list[str]) -> None:
    """Publish what is built."""
    if len(arguments) != 1:
        raise SystemExit(f"Give the folder of the site; got {arguments}")
    source = (ROOT / "src/lowdim/__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    print("\n".join(publish(BUILT, Path(arguments[0]), version)))


if __name__ == "__main__":
    main(sys.argv[1:])
