"""All verdicts and figures on one page that needs nothing beside itself."""

from __future__ import annotations

import base64
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from lowdim import __version__
from lowdim.core.atomic import writing

if TYPE_CHECKING:
    from .notebook import Claim
    from .running import Verdict

STYLE = """
:root {
  color-scheme: light dark; --page: #fff; --ink: #1c2430; --line: #d5dae1; --soft: #6b7280;
  --yes: #1a7f4b; --no: #b42318;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #12161c; --ink: #e6e9ee; --line: #39414d; --soft: #9aa4b2; --yes: #52c98b; --no: #ff8a7a; }
}
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 68rem; margin: 2rem auto; padding: 0 1.2rem;
}
h1 { font-size: 1.7rem; }
h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.4rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; font-weight: 600; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; margin: .8rem 0; }
a { color: inherit; }
.soft { color: var(--soft); }
.yes, .no { font-weight: 600; }
.yes { color: var(--yes); }
.no { color: var(--no); }
"""


def write_summary(verdicts: Sequence[Verdict], path: str | Path) -> Path:
    """Write one HTML page with every verdict and figure inside it; it is written whole or not at all."""
    target = Path(path)
    with writing(target) as temporary:
        temporary.write_text(page(verdicts), encoding="utf-8")
    return target


def page(verdicts: Sequence[Verdict]) -> str:
    """The page as text."""
    claims = [claim for verdict in verdicts for claim in verdict.claims]
    held = sum(claim.held for claim in claims)
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    quick = any(verdict.quick for verdict in verdicts)
    note = (
        "<p><b>Small sizes only (quick):</b> the figures show that everything runs, and little else.</p>"
        if quick
        else ""
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>lowdim: the papers\' experiments</title><style>{STYLE}</style></head>'
        f"<body><h1>The papers' experiments</h1><p>{held} of {len(claims)} outcomes held in {len(verdicts)} "
        f"experiments. An outcome that does not hold is a finding, not a failure of the run.</p>{note}"
        f'<p class="soft">lowdim {escape(__version__)}, Python {platform.python_version()}, '
        f"{escape(platform.system())} {escape(platform.machine())}, {when}</p>{_contents(verdicts)}"
        + "".join(_section(verdict) for verdict in verdicts)
        + "</body></html>\n"
    )


def _contents(verdicts: Sequence[Verdict]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{v.id}">{v.id}</a></td><td>{escape(v.title)}</td><td>{escape(v.words)}</td>'
        f"<td>{v.seconds:.0f} s</td></tr>"
        for v in verdicts
    )
    return f"<table><tr><th>experiment</th><th>what</th><th>verdict</th><th>took</th></tr>{rows}</table>"


def _section(verdict: Verdict) -> str:
    parts = [f'<h2 id="{verdict.id}">{verdict.id}</h2><p>{escape(verdict.title)}</p>']
    if verdict.failure:
        parts.append(f'<p class="no">{escape(verdict.failure)}</p>')
    if verdict.claims:
        rows = "".join(map(_claim, verdict.claims))
        head = "<tr><th>outcome</th><th>authors</th><th>here</th><th>held</th></tr>"
        parts.append(f"<table>{head}{rows}</table>")
    if verdict.remarks:
        parts.append("<ul>" + "".join(f"<li>{escape(words)}</li>" for words in verdict.remarks) + "</ul>")
    for figure in verdict.figures:
        code = base64.b64encode(figure.read_bytes()).decode("ascii")
        parts.append(f'<img alt="{verdict.id}: {escape(figure.stem)}" src="data:image/png;base64,{code}">')
    return "".join(parts)


def _claim(claim: Claim) -> str:
    mark = '<td class="yes">yes</td>' if claim.held else '<td class="no">no</td>'
    cells = "".join(f"<td>{escape(text)}</td>" for text in (claim.words, claim.authors, claim.measured))
    return f"<tr>{cells}{mark}</tr>"
