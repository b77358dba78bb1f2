"""The live page: the map's own script with that of the controls around it, in one document."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..plotting.page import map_module, map_style

SCRIPTS = ("transport.js", "wire.js", "controls.js", "strip.js", "panes.js", "sides.js", "live.js")
HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>lowdim explorer</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="explorer"></main>
<noscript>The explorer is drawn by the script of this page. Allow scripts to see it.</noscript>
<script type="module">{script}</script>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class LivePage:
    """A document, and the policy that allows its own script and style, its own socket and nothing else."""

    html: str
    policy: str


@cache
def page(host: str) -> LivePage:
    """The page of a server."""
    script = module() + 'openExplorer(document.getElementById("explorer"), new SocketTransport());\n'
    style = map_style() + "html, body { height: 100%; margin: 0; }\n" + _asset("live.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src 'sha256-{_digest(script)}'",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            f"connect-src ws://{host}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )
    return LivePage(HTML.format(style=style, script=script), policy)


@cache
def module() -> str:
    """All functions of the live page: it needs an element and a transport."""
    markup = json.dumps(_asset("live.html")).replace("<", "\\u003c")
    return f"{map_module()}\nconst LIVE_MARKUP = {markup};\n" + "\n".join(map(_asset, SCRIPTS))


def cell_style() -> str:
    """The style of the explorer, with that of the map, in a cell of a notebook.

    Its colours are those of the cell alone, which may stand in a tree of its own, and where the page goes by the width
    and the height of the window, the cell goes by its own.
    """
    style = map_style() + _asset("live.css")
    for of_page, of_cell in (
        (":root", ".lx-cell"),
        ("@media (max-width: 720px)", "@container (max-width: 560px)"),
        ("vh;", "cqh;"),
    ):
        style = style.replace(of_page, of_cell)
    return style + ".lx-cell { container-type: size; }\n.lx-cell .lx-pane { container-type: inline-size; }\n"


@cache
def _asset(name: str) -> str:
    return files("lowdim.explore").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
