"""The page put together from its parts: markup, style, script and data in one file."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...core.atomic import writing
from ..thumbnails import Images
from .content import Content, default_look
from .sprites import sheets_of

_SCRIPTS = (
    "dom.js",
    "data.js",
    "grid.js",
    "draw.js",
    "raster.js",
    "contours.js",
    "names.js",
    "overlay.js",
    "select.js",
    "gestures.js",
    "view.js",
    "map.js",
    "export.js",
    "frames.js",
    "makeup.js",
    "apart.js",
    "link.js",
    "quantity.js",
    "key.js",
    "search.js",
    "tip.js",
    "rows.js",
    "panel.js",
    "state.js",
    "start.js",
)
_SLIDER = """<section>
<label>Frame <input class="ld-frame" type="range" min="0" max="{last}" step="0.05" value="0"></label>
<p class="ld-quiet ld-where" role="status"></p>
<div class="ld-strip" role="group" aria-label="Frames"></div>
<p class="ld-row"><button type="button" data-do="compare" aria-pressed="false">Beside another</button></p>
<label hidden>Beside it <select class="ld-beside-frame"></select></label>
</section>
"""
_STEPS = "<dt>, .</dt><dd>the frame before, the next one</dd>"
_WHOLE = "html, body { height: 100%; margin: 0; }"


@dataclass(frozen=True, slots=True)
class Page:
    """An interactive page: ``html`` is all of it, ``path`` where it was written. Notebooks show it in place."""

    html: str = field(repr=False)
    path: Path

    def _repr_html_(self) -> str:
        frame = "width:100%;height:600px;border:1px solid #8884;border-radius:8px"
        return f'<iframe srcdoc="{escape(self.html)}" style="{frame}" title="Interactive map"></iframe>'


def write_page(path: str | os.PathLike[str], content: Content, images: Images | None = None) -> Page:
    """Write the interactive map of some points as one HTML file, whole or not at all."""
    html = document(
        content.title or "Embedding",
        map_fragment(content, images),
        style=map_style() + _WHOLE,
        script=map_script(),
    )
    with writing(path) as temporary:
        temporary.write_text(html, encoding="utf-8", errors="backslashreplace", newline="")
    return Page(html, Path(path))


def write_pages_beside(
    path: str | os.PathLike[str], contents: Mapping[str, Content], *, title: str = ""
) -> Page:
    """Write maps of the same points side by side as one HTML file: what is selected in one is selected in all."""
    maps = [
        map_fragment(content).replace(
            '<p class="ld-live"', f'<p class="ld-caption">{escape(name)}</p>\n<p class="ld-live"', 1
        )
        for name, content in contents.items()
    ]
    html = document(
        title or " and ".join(contents),
        '<div class="ld-beside">\n' + "".join(map(_one_map, maps)) + "</div>",
        style=map_style() + _WHOLE,
        script=map_script(),
    )
    with writing(path) as temporary:
        temporary.write_text(html, encoding="utf-8", errors="backslashreplace", newline="")
    return Page(html, Path(path))


def _one_map(fragment: str) -> str:
    """A map without what a page says once."""
    return fragment[: fragment.rindex("<noscript>")]


def map_fragment(content: Content, images: Images | None = None, *, embedded: bool = False) -> str:
    """The markup of a map with its data, for a page of its own or, ``embedded``, as a part of a longer one."""
    thumbnails, sheets = (None, []) if images is None else sheets_of(images)
    count, n_axes = content.points.shape
    return fill(
        asset("map.html"),
        _words(n_axes, len(content.frames), embedded=embedded)
        | {
            "label": f"Map of {count:,} points. Press N to go from point to point.",
            "title": escape(content.title),
            "count": f"{count:,} points",
            "about": content.about.html,
            "data": content.packed(thumbnails),
            "sheets": "".join(
                f'<script type="text/plain" class="ld-sheet">{sheet}</script>\n' for sheet in sheets
            ),
        },
    )


def _words(n_axes: int, n_frames: int, *, embedded: bool = False) -> dict[str, str]:
    """What the markup of a map says by its kind."""
    deep, moves = n_axes == 3, n_frames > 1
    return {
        "embedded": ' data-embedded="yes"' if embedded else "",
        "pan": "Turn; Shift moves" if deep else "Move",
        "drag": "turn; with Shift: move" if deep else "move",
        "arrows": "turn" if deep else "move",
        "shift": "dragging moves; lasso and box add" if deep else "lasso; lasso and box add",
        "heading": "h2" if embedded else "h1",
        "count": "",
        "frames": _SLIDER.format(last=n_frames - 1) if moves else "",
        "steps": _STEPS if moves else "",
    }


def map_script() -> str:
    """The script of every map on a page."""
    return "(() => {\n'use strict';\n" + _functions() + "openAll();\n})();"


def map_module() -> str:
    """The same as a module of JavaScript for a page of another kind: it exports ``createMap`` (see ``map.js``)."""
    return _functions() + "export { createMap };\n"


def map_style() -> str:
    """The style that maps need, with the colours of the light and the dark theme."""
    return asset("theme.css") + asset("map.css")


@cache
def _functions() -> str:
    """All functions of a map, and what they need besides the data: colours, and the markup of a map without data."""
    markup = fill(
        asset("map.html"), _words(2, 0) | dict.fromkeys(("label", "title", "about", "data", "sheets"), "")
    )
    empty = markup[: markup.index('<script type="text/plain"')] + "</div>"
    constants = {"DEFAULTS": default_look(None), "MARKUP": empty}
    made = [f"const {name} = {_in_script(value)};\n" for name, value in constants.items()]
    return "".join(made) + "\n".join(map(asset, _SCRIPTS))


def _in_script(value: Any) -> str:
    """A value as JavaScript that can stand in a page: no text in it ends the script."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def document(title: str, body: str, *, style: str, script: str = "") -> str:
    """A whole HTML document whose policy allows its own script and style and nothing from anywhere else."""
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'unsafe-inline'; img-src data:"
    )
    return fill(
        asset("page.html"),
        {
            "policy": policy,
            "version": _version(),
            "title": escape(title),
            "style": style,
            "body": body,
            "script": script,
        },
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """A template with each {{name}} replaced once; what is put in is not looked at again."""
    first, *rest = template.split("{{")
    parts = [first]
    for piece in rest:
        name, _, after = piece.partition("}}")
        parts += [values[name], after]
    return "".join(parts)


@cache
def asset(name: str) -> str:
    """A file that ships beside this one."""
    return files("lowdim.plotting.page").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _version() -> str:
    try:
        return version("lowdim")
    except PackageNotFoundError:
        return "from source"
