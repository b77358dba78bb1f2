"""Messages that know which of their words are parameters, settings and values.

A message is written once, for Python, and said in the language of whoever reads it: ``n_neighbors=30`` in Python is
``--n-neighbors 30`` for somebody at a shell. `named`, `setting`, `value` and `in_python` go into the f-string of a
message; errors and warnings of lowdim take it apart, so that only plain text is ever printed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

_MARK, _BETWEEN = "\x1e", "\x1f"
"""Around a mention and between its fields while a message is on its way from an f-string to an error.

ASCII's own separators of records and units: no text for people has them, and what is mentioned is freed from them.
"""

FEW = 8
"""Items of a list that a message names."""

Kind = Literal["name", "setting", "value", "python"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a message that reads differently in another language.

    Attributes
    ----------
    kind
        ``name``: a parameter; ``setting``: a parameter and its value; ``value``: a value; ``python``: words that only
        a programmer can use.
    parameter
        Its name in the library; empty for values.
    owner
        The class that has the parameter, where another may have one of that name.
    code
        The value as Python writes it.
    text
        The value as a person would type it.
    """

    kind: Kind
    parameter: str = ""
    owner: str = ""
    code: str = ""
    text: str = ""


Language = Callable[[Mention], str]
"""What a mention reads like."""


def python(mention: Mention) -> str:
    """The language of the library: ``n_neighbors of LLL``, ``n_neighbors=30``, ``None``."""
    if mention.kind == "name":
        return f"{mention.parameter} of {mention.owner}" if mention.owner else mention.parameter
    return f"{mention.parameter}={mention.code}" if mention.kind == "setting" else mention.code


def named(parameter: str, owner: str = "") -> str:
    """A parameter, for the f-string of a message; ``owner`` is the class whose parameter it is."""
    return _marked("name", parameter, owner, "", "")


def setting(parameter: str, given: object, owner: str = "") -> str:
    """A parameter and its value, for the f-string of a message; ``owner`` is the class whose parameter it is."""
    return _marked("setting", parameter, owner, repr(_plain(given)), _typed(given))


def value(given: object) -> str:
    """A value, for the f-string of a message."""
    text = f"'{given}'" if isinstance(given, str) else _typed(given)
    return _marked("value", "", "", repr(_plain(given)), text)


def shape(given: tuple[int, ...]) -> str:
    """Numbers of rows and columns, for the f-string of a message: (60, 5) for a programmer, 60 x 5 for others."""
    return in_python(repr(tuple(given)), " x ".join(map(str, given)))


def in_python(words: str, otherwise: str = "") -> str:
    """Words for a programmer, for the f-string of a message, and what another language says in their place."""
    return _marked("python", "", "", words, otherwise)


def parts_of(message: str) -> tuple[str | Mention, ...]:
    """A message taken apart: plain text and mentions in turn."""
    pieces: list[str | Mention] = []
    for piece in message.split(_MARK):
        fields: list[Any] = piece.split(_BETWEEN)
        if len(fields) == 5 and fields[0] in get_args(Kind):
            pieces.append(Mention(*fields))
        elif piece:
            pieces.append(piece)
    return tuple(pieces)


def said(message: str | tuple[str | Mention, ...], language: Language = python) -> str:
    """A message in a language."""
    parts = parts_of(message) if isinstance(message, str) else message
    return "".join(part if isinstance(part, str) else language(part) for part in parts)


def _marked(kind: Kind, *fields: str) -> str:
    clean = (field.replace(_MARK, " ").replace(_BETWEEN, " ") for field in fields)
    return _MARK + _BETWEEN.join([kind, *clean]) + _MARK


def _typed(given: object) -> str:
    """A value as a person would type it: words without quotes, lists with commas, objects by their class."""
    given = _plain(given)
    if isinstance(given, str):
        return given
    if given is None or isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, list | tuple | set | frozenset):
        return ",".join(map(_typed, given))
    if isinstance(given, int | float | complex):
        return str(given)
    return hyphenated(type(given).__name__)


def _plain(given: Any) -> Any:
    """A number of NumPy's as one of Python's: its type is of no interest to the reader."""
    is_scalar = hasattr(given, "item") and getattr(given, "ndim", None) == 0
    return given.item() if is_scalar else given


def hyphenated(name: str) -> str:
    """The name of a class as it is typed: LaplacianEigenmaps as laplacian-eigenmaps, PaCMAP as pacmap."""
    return re.sub(r"(?<=[a-z0-9]{2})(?=[A-Z])", "-", name).lower()


def listed(items: Iterable[object]) -> str:
    """The first few items of a list: 3, 5, 8, ... (20 in all)."""
    words = [str(item) for item in items]
    return ", ".join(words[:FEW]) + (f", ... ({len(words)} in all)" if len(words) > FEW else "")


def likely(word: str, known: Iterable[object]) -> str:
    """A question with up to three names that may be meant, in any case of letters; empty where none is near."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(str(name).lower(), str(name))
    wanted = word.lower()
    begun = sorted(
        (name for name in names if len(wanted) > 1 and name.startswith(wanted)),
        key=lambda name: (len(name), name),
    )
    found = [names[name] for name in begun or difflib.get_close_matches(wanted, names)]
    return f" Did you mean {' or '.join(map(repr, found[:3]))}?" if found else ""


DATA = named("X")
"""The data, which estimators take as X, for the f-string of a message."""
