"""From the rows of a sweep to the panels of a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.rules import OneOf
from ..errors import InputError
from ..plotting.curves import Line, Panel, Surface, plot_curves, plot_heat_map
from ..validation import check_parameters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .result import Sweep

KINDS = ("auto", "curves", "heat map")
MANY = 3


def draw(
    sweep: Sweep,
    path: str | os.PathLike[str] | None,
    *,
    kind: str,
    x: str | None,
    y: str | None,
    score: str | None,
    title: str,
) -> Figure:
    """Draw curves or heat maps of a sweep; see `Sweep.plot`."""
    check_parameters("plot", {"kind": kind}, {"kind": OneOf(*KINDS)})
    for name, value, allowed in (
        ("x", x, sweep.parameters),
        ("y", y, sweep.parameters),
        ("score", score, sweep.scores),
    ):
        if value is not None:
            check_parameters("plot", {name: value}, {name: OneOf(*allowed)})
    if not sweep.scores:
        raise InputError(
            f"plot needs at least one fit that came through; the first failed with: {sweep.rows[0]['status']}"
        )
    varied = [name for name in sweep.parameters if len(_distinct(sweep.rows, name)) > 1] or list(
        sweep.parameters
    )
    if kind == "auto":
        square = len(varied) == 2 and all(len(_distinct(sweep.rows, name)) >= MANY for name in varied)
        kind = "heat map" if y is not None or square else "curves"
    scores = list(sweep.scores) if score is None else [score]
    x = x or next(name for name in varied if name != y)
    if kind == "curves":
        if y is not None:
            raise InputError(f"y of plot belongs to kind='heat map'; got y={y!r} with curves. Leave it out.")
        return _curves(sweep, x, [name for name in varied if name != x], scores, path, title)
    y = y or next((name for name in varied if name != x), None)
    if y is None or y == x:
        raise InputError(
            f"kind='heat map' needs two parameters of the grid; got {x!r} alone. Use kind='curves', or name x and y."
        )
    if not title and (rest := [name for name in varied if name not in (x, y)]):
        title = f"best over {', '.join(rest)}"
    return _heat_map(sweep, x, y, scores, path, title)


def _curves(
    sweep: Sweep,
    x: str,
    others: list[str],
    scores: Sequence[str],
    path: str | os.PathLike[str] | None,
    title: str,
) -> Figure:
    places = _distinct(sweep.rows, x)
    keys: list[list[Any]] = []
    for row in sweep.rows:
        key = [row[name] for name in others]
        if _place(keys, key) is None:
            keys.append(key)
    panels = []
    for score in scores:
        means = np.full((len(keys), len(places)), np.nan)
        spreads, failed = means.copy(), np.zeros(means.shape, dtype=bool)
        for row in sweep.rows:
            at = _place(keys, [row[name] for name in others]), _place(places, row[x])
            means[at], spreads[at] = row[score], row[f"{score}_std"]
            failed[at] = not np.isfinite(row[score])
        names = [
            ", ".join(f"{name} = {_short(v)}" for name, v in zip(others, key, strict=True)) for key in keys
        ]
        lines = [Line(*line) for line in zip(names, means, spreads, failed, strict=True)]
        panels.append(Panel(score, tuple(lines), sweep.scores[score]))
    ordered = len(others) == 1 and all(isinstance(key[0], int | float) for key in keys)
    return plot_curves(places, panels, label=x, ordered=ordered, title=title, path=path)


def _heat_map(
    sweep: Sweep, x: str, y: str, scores: Sequence[str], path: str | os.PathLike[str] | None, title: str
) -> Figure:
    columns, rows = _distinct(sweep.rows, x), _distinct(sweep.rows, y)
    surfaces = []
    for score in scores:
        less = sweep.scores[score]
        means = np.full((len(rows), len(columns)), np.nan)
        for row in sweep.rows:
            at = _place(rows, row[y]), _place(columns, row[x])
            means[at] = (np.fmin if less else np.fmax)(means[at], row[score])
        surfaces.append(Surface(score, means, less))
    return plot_heat_map(columns, rows, surfaces, labels=(x, y), title=title, path=path)


def _distinct(rows: list[dict[str, Any]], name: str) -> list[Any]:
    """Values of a parameter, each once, in order where they have one."""
    values: list[Any] = []
    for row in rows:
        if _place(values, row[name]) is None:
            values.append(row[name])
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(values) if numbers else values


def _place(values: list[Any], value: Any) -> int | None:
    """Where a value stands in a list, by identity or equality."""
    return next((at for at, other in enumerate(values) if other is value or other == value), None)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
