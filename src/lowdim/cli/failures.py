"""What went wrong, in a sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.messages import Mention
from .options.wording import shell


def explain(error: Exception) -> str:
    """The message for a person."""
    from ..errors import LowdimError

    text = str(error).strip()
    if isinstance(error, LowdimError):
        return error.said(shell)
    if isinstance(error, MemoryError):
        return (
            "the machine has no memory left for this. Set --memory-limit so that it stops before the work, use a "
            f"landmark solver (--solver lll), or fewer rows.{' ' + text if text else ''}"
        )
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or text}."
    if isinstance(error, ModuleNotFoundError):
        return (
            f"a part of lowdim is not installed: {text}. Install lowdim again with 'pip install lowdim[all]'."
        )
    if isinstance(error, ValueError) and text:
        return _first_sentences(text)
    return (
        f"{type(error).__name__}: {text or 'no message'}. This is a fault of lowdim, not yours; run it again with -vv "
        "for the details, and please report them."
    )


def _first_sentences(text: str) -> str:
    """The first paragraph: scikit-learn goes on with links and advice for programmers."""
    return re.sub(r"\s+", " ", text.split("\n", maxsplit=1)[0]).strip()


@contextmanager
def about(source: str) -> Generator[None]:
    """Complaints of other libraries about the data, said of the file that it came from."""
    from ..errors import InputError, LowdimError

    try:
        yield
    except LowdimError:
        raise
    except ValueError as error:
        raise InputError(f"{source}: {_first_sentences(str(error))}") from error


@contextmanager
def naming(parameter: str, options: Mapping[str, str]) -> Generator[None]:
    """Where an option has given a parameter that belongs to another one, errors about it name the option that did.

    ``options`` are by what an error must say to be about them; empty text is in every one.
    """
    from ..errors import InputError

    try:
        yield
    except InputError as error:
        said = str(error)
        # What is wrong is said first, then what there is.
        first = min((text for text in options if text in said), key=said.index, default=None)
        mentioned = {part.parameter for part in error.parts if isinstance(part, Mention)}
        if first is None or parameter not in mentioned:
            raise
        option = options[first]
        message = error.said(
            lambda mention: (
                f"{option} {mention.text}".strip() if mention.parameter == parameter else shell(mention)
            )
        )
        raise type(error)(message) from error


@contextmanager
def finding_gaps(table: Any) -> Generator[None]:
    """Say in which rows of the file the numbers are missing that an error is about."""
    from ..errors import InputError, NotFiniteError

    try:
        yield
    except NotFiniteError as error:
        gap = locate_gap(table)
        if not gap:  # they are in another file, which the error names
            raise
        raise InputError(
            f"{table.source}: {gap}. Take these rows out, or fill the gaps in, for example with the column's mean."
        ) from error


def locate_gap(table: Any) -> str:
    """Where the first missing or infinite number is; empty where there is none."""
    from ..data.rows import Rows

    X: Any = Rows(table.X).values
    if X.dtype.kind != "f":
        return ""
    bad_rows, first = 0, None
    for rows, column in _gaps(X):
        bad_rows += rows.size
        first = first or (int(rows[0]), column)
    if first is None:
        return ""
    names = table.feature_names
    where = first[1] if names is None else repr(names[first[1]])
    return (
        f"{bad_rows:,} of {X.shape[0]:,} rows have missing or infinite values, first in row {first[0]}, column "
        f"{where} (counted from 0)"
    )


def _gaps(X: Any) -> Iterator[tuple[Any, int]]:
    """Rows with missing or infinite numbers, some at a time, and the column of the first of those."""
    import numpy as np
    from scipy import sparse

    from ..core.parallel import row_blocks

    if isinstance(X, sparse.csr_array):
        bad = np.flatnonzero(~np.isfinite(X.data))
        if bad.size:
            yield np.unique(np.searchsorted(X.indptr, bad, side="right") - 1), int(X.indices[bad[0]])
        return
    for block in row_blocks(X.shape[0], max(1, 10_000_000 // max(1, X.shape[1]))):
        wrong = ~np.isfinite(X[block])
        rows = np.flatnonzero(wrong.any(axis=1))
        if rows.size:
            yield block.start + rows, int(wrong[rows[0]].argmax())
