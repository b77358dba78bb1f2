"""Parameters by their rules, sizes against each other, memory and seeds."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.memory import available_memory
from ..core.messages import DATA, in_python, named, setting
from ..core.messages import value as quoted
from ..core.records import Floats, format_bytes
from ..core.rules import Either, OneOf, Rule
from ..errors import InputError, MemoryLimitError


def check_parameters(
    owner: str,
    values: Mapping[str, Any],
    rules: Mapping[str, Rule],
    *,
    own_word: Callable[[str, object, Rule], str] = lambda name, value, rule: "",
) -> None:
    """Raise an InputError for the first parameter that its rule does not allow.

    ``own_word`` may say what a value of another library is called here.
    """
    for name, value in values.items():
        rule = rules.get(name)
        if rule is None or rule.allows(value):
            continue
        hint = own_word(name, value, rule) or _nearest_word(value, rule)
        raise InputError(f"{named(name, owner)} must be {rule.words}; got {quoted(value)}.{hint}")


def _nearest_word(value: object, rule: Rule) -> str:
    rules = rule.rules if isinstance(rule, Either) else (rule,)
    words = [part for part in rules if isinstance(part, OneOf)]
    if not isinstance(value, str):
        return ""
    close = difflib.get_close_matches(value, [name for part in words for name in part.names], n=1)
    return f" Did you mean {quoted(close[0])}?" if close else ""


def check_components(n_components: int, available: int, why: str) -> None:
    """Raise an InputError when more components are asked for than the problem has."""
    if n_components > available:
        raise InputError(
            f"{named('n_components')} must be at most {available}: {why}; got {n_components}. Ask for fewer, or "
            "give more data."
        )


def check_neighbors(
    n_neighbors: int, n_points: int, collapsed: int = 0, *, counts_itself: bool = False
) -> None:
    """Raise an InputError when there are not more points than neighbours asked for.

    ``counts_itself``: the parameter has one more, the point itself, and the message is in its numbers.
    """
    if n_neighbors >= n_points:
        distinct = f" distinct points ({collapsed} duplicates were collapsed)" if collapsed else " points"
        bound = "at most" if counts_itself else "less than"
        raise InputError(
            f"{named('n_neighbors')} must be {bound} the number of points; got "
            f"{setting('n_neighbors', n_neighbors + counts_itself)} with {n_points}{distinct}. Use "
            f"{named('n_neighbors')} <= {n_points - 1 + counts_itself}."
        )


def check_distinct(n_distinct: int, n_rows: int) -> None:
    """Raise an InputError when all rows are one point."""
    if n_distinct == 1:
        raise InputError(
            f"{DATA} must hold at least 2 distinct points; all its {n_rows} rows are equal. There is nothing to embed."
        )


def check_clusters(n_clusters: int, n_rows: int) -> None:
    """Raise an InputError when there are more groups than points."""
    if n_clusters > n_rows:
        raise InputError(
            f"{named('n_clusters')} must be at most the number of points; got {setting('n_clusters', n_clusters)} "
            f"with {in_python(f'n_samples={n_rows}', f'{n_rows} points')}. "
            "Ask for fewer."
        )


def check_finite(values: Floats, stage: str) -> Floats:
    """What a stage hands on must be finite: NaN never comes out."""
    if not np.all(np.isfinite(values)):
        raise InputError(
            f"{stage} gave {int(np.sum(~np.isfinite(values)))} values that are not finite. The data's scale is "
            "probably beyond what float64 can square: rescale the columns, for example by their standard deviation."
        )
    return values


def parse_bytes(limit: int | float | str | None) -> int | None:
    """Bytes that ``memory_limit`` stands for: a number, or words such as '4 GB' and '512MiB'."""
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if match is None:
            raise InputError(
                f"{named('memory_limit')} must be bytes or a size such as '4 GB'; got {quoted(limit)}."
            )
        base = 1024 if match[3] else 1000
        return int(float(match[1]) * base ** " kmgt".index(match[2] or " "))
    return int(limit)


def check_memory(needed: int, limit: int | float | str | None, *, what: str, instead: str) -> None:
    """Raise a MemoryLimitError before work that would need more than the limit, or than the machine has free."""
    allowed = parse_bytes(limit)
    source = named("memory_limit")
    if allowed is None:
        allowed, source = available_memory(), "this machine's free memory"
    if allowed is not None and needed > allowed:
        raise MemoryLimitError(
            f"{what} needs at least {format_bytes(needed)}, more than {source} of {format_bytes(allowed)}. {instead}"
        )
