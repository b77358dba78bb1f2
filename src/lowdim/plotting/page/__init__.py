"""One self-contained HTML page with an interactive map, which works from disk and asks the network for nothing."""

from __future__ import annotations

from .assemble import Page, document, map_fragment, map_module, map_style, write_page, write_pages_beside
from .content import Column, Content

__all__ = [
    "Column",
    "Content",
    "Page",
    "document",
    "map_fragment",
    "map_module",
    "map_style",
    "write_page",
    "write_pages_beside",
]
