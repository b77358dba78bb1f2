"""Docstrings are plain text with a little of reStructuredText: what they do not mean as markup is escaped."""

from __future__ import annotations

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

# ``literals`` and `names` stay; |x| is no substitution, embedding_ no link, and a star no emphasis.
_LITERAL = re.compile(r"(``.*?``|`[^`]+`)")
_DOCUMENT = re.compile(r"docs/([\w-]+)\.md")
_MARKUP = re.compile(r"(?<!\\)(\||\*|(?<=\w)_(?!\w))")


def escape(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape what would be markup in a docstring, outside of its examples."""
    section = ""
    for i, line in enumerate(lines):
        if set(line.strip()) == {"-"} and i:
            section = lines[i - 1].strip()
        if line.lstrip().startswith((">>>", "...")) or section == "Examples":
            continue
        is_head = section in ("Attributes", "Parameters", "Returns", "Raises") and not line.startswith(" ")
        # The names before " : " in a list of attributes or parameters are read by numpydoc, as they are.
        head, between, tail = line.partition(" : ") if is_head else ("", "", line)
        lines[i] = _DOCUMENT.sub(r":doc:`\1 </\1>`", head + between + _escaped(tail))


def _escaped(text: str) -> str:
    parts = _LITERAL.split(text)
    return "".join(part if i % 2 else _MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts))


def sign(app: Sphinx, kind: str, name: str, thing: Any, options: Any, signature: str, returns: str) -> Any:
    """Parameters of a class as they are declared: estimators make their constructors of a list of fields."""
    if kind != "class" or "**" not in (signature or ""):
        return None
    declared = inspect.signature(thing)
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in declared.parameters.values()
    ]
    return str(inspect.Signature(shown)), returns


def skip_inherited(app: Sphinx, kind: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from another library, such as scikit-learn's ``set_output``: it is described there."""
    home = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", "lowdim")
    return None if str(home).startswith("lowdim") else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect before numpydoc, which makes fields of the sections."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", escape, priority=100)
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
