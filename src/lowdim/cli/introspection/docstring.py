"""Descriptions of parameters out of docstrings of the NumPy kind."""

from __future__ import annotations

import inspect
import re

_NAMES = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*)(?: :.*)?")
_OTHERS = ("Attributes", "Examples", "Notes", "Raises", "Returns", "Yields")


def descriptions(docstring: str) -> dict[str, str]:
    """The text that belongs to each parameter, on one line.

    A parameter is a name, or several with commas, on a line of its own, and its text is indented below.
    """
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = inspect.cleandoc(docstring).splitlines()
    is_open = True
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following and not following.strip("-") and line.strip():
            is_open, current = line.strip() not in _OTHERS, None
        elif not line.startswith(" "):
            match = _NAMES.fullmatch(line) if is_open and following.startswith("    ") else None
            current = [] if match else None
            if match and current is not None:
                found |= dict.fromkeys(match[1].split(", "), current)
        elif current is not None:
            current.append(line.strip())
    return {name: " ".join(words) for name, words in found.items()}


def first_paragraph(docstring: str) -> str:
    """The sentence that a docstring opens with."""
    return " ".join(inspect.cleandoc(docstring).partition("\n\n")[0].split())


def words_in(text: str) -> tuple[str, ...]:
    """The values that a description quotes, as in ``"exact"``."""
    return tuple(dict.fromkeys(re.findall(r'``"([^"`]+)"``', text)))


def plain(text: str) -> str:
    """A description as it reads on a terminal: without the marks of code and the quotes of Python."""
    text = re.sub(r'``"([^"`]*)"``', r"\1", text)
    return re.sub(r"`+([^`]*)`+", r"\1", text)
