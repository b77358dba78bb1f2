"""HTML for notebooks and reports: small pieces in which every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_BOX = (
    "font:13px/1.5 system-ui,sans-serif;border:1px solid #8885;border-radius:8px;padding:10px 14px;"
    "max-width:52rem;overflow-x:auto"
)
_CELL = "padding:2px 14px 2px 0;text-align:left;vertical-align:top;background:none"


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is HTML already; any other text is escaped where it is put."""

    html: str


Text = str | Markup


def rendered(text: Text) -> str:
    """Text as HTML."""
    return text.html if isinstance(text, Markup) else escape(text)


def joined(*pieces: Text) -> Markup:
    """Pieces one after the other."""
    return Markup("".join(map(rendered, pieces)))


def tag(name: str, *content: Text, **attributes: str) -> Markup:
    """An element; ``class_`` is written class, and an empty attribute is left out."""
    written = "".join(
        f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items() if value != ""
    )
    return Markup(f"<{name}{written}>{joined(*content).html}</{name}>")


def table(
    head: Sequence[Text], rows: Iterable[Sequence[Text]], *, style: str = "", class_: str = ""
) -> Markup:
    """A table; a head of empty names is left out."""
    top = tag("thead", tag("tr", *(tag("th", name, style=style) for name in head))) if any(head) else ""
    body = tag("tbody", *(tag("tr", *(tag("td", cell, style=style) for cell in row)) for row in rows))
    return tag("table", top, body, class_=class_)


def box(title: Text, *content: Text) -> str:
    """A framed piece for a notebook: it brings its own style, and inherits the notebook's colours."""
    return tag("div", tag("div", tag("b", title)), *content, style=_BOX).html


def plain_table(head: Sequence[Text], rows: Iterable[Sequence[Text]]) -> Markup:
    """A table for a notebook."""
    return table(head, rows, style=_CELL)


def fold(title: Text, *content: Text, is_open: bool = False) -> Markup:
    """Content under a title that opens it."""
    inner = joined(tag("summary", title, style="cursor:pointer"), *content).html
    return Markup(f'<details{" open" if is_open else ""} style="margin-top:6px">{inner}</details>')


def bar(share: float) -> Markup:
    """A horizontal bar for a share from 0 to 1."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    inner = tag("div", style=f"width:{width};height:100%;background:#3f90da;border-radius:3px")
    return tag("div", inner, style="width:9rem;height:8px;margin-top:6px;border-radius:3px;background:#8883")
