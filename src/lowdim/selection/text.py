"""A sweep as a page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.markup import box, plain_table, tag
from ..errors import InputError

if TYPE_CHECKING:
    from .result import Sweep

MOST_ROWS = 60
WIDEST_STATUS = 60


def page(sweep: Sweep) -> str:
    """Title, the best point, and a line for each row; the best is marked by a star."""
    title, told, cells = _parts(sweep)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [title, *(f"  {line}" for line in told)]
    lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    if len(sweep.rows) > MOST_ROWS:
        lines.append(f"  ... {len(sweep.rows) - MOST_ROWS} more in .rows")
    return "\n".join(lines)


def notebook_page(sweep: Sweep) -> str:
    """The same in HTML."""
    title, told, (head, *rows) = _parts(sweep)
    shown = [[tag("b", cell) for cell in row] if row[0] else row for row in rows]
    more = [f"{len(sweep.rows) - MOST_ROWS} more in .rows"] if len(sweep.rows) > MOST_ROWS else []
    return box(
        title,
        *(tag("div", line) for line in told),
        plain_table(head, shown),
        *(tag("div", line) for line in more),
    )


def _parts(sweep: Sweep) -> tuple[str, list[str], list[list[str]]]:
    """Title, what was chosen and found, and the table with its head."""
    rows, n_points = sweep.rows, len(sweep.points)
    seeds = f" x {len(sweep.seeds)} seeds" if len(sweep.seeds) > 1 else ""
    done = (
        ""
        if sweep.complete
        else f", interrupted after {len(sweep.runs)} of {n_points * len(sweep.seeds)} fits"
    )
    shape = f"{sweep.shape[0]} x {sweep.shape[1]}"
    title = f"{type(sweep.estimator).__name__} on {shape}: {n_points} grid points{seeds}, {sweep.seconds:.2f} s{done}"
    told = [f"{choice.what}: {choice.choice} ({choice.why})" for choice in sweep.choices]
    try:
        best = sweep.best_place
        told.append(
            f"best: {', '.join(f'{name}={value!r}' for name, value in sweep.best.items())}{_ties(sweep)}"
        )
    except InputError:
        best = -1
    places = sorted({run.point for run in sweep.runs})
    shown = range(min(len(rows), MOST_ROWS))
    cells = [_header(sweep)] + [_cells(sweep, rows[at], places[at] == best) for at in shown]
    return title, told, cells


def _ties(sweep: Sweep) -> str:
    """How many grid points are as good as the best."""
    score, places = next(iter(sweep.scores)), sorted({run.point for run in sweep.runs})
    best = sweep.rows[places.index(sweep.best_place)][score]
    equal = sum(row[score] == best for row in sweep.rows)
    return f" (the first of {equal} that are as good)" if equal > 1 else ""


def _header(sweep: Sweep) -> list[str]:
    return ["", *sweep.parameters, *sweep.scores, "seconds", "status"]


def _cells(sweep: Sweep, row: dict[str, Any], is_best: bool) -> list[str]:
    status = row["status"].partition("\n")[0]
    status = status if len(status) <= WIDEST_STATUS else status[: WIDEST_STATUS - 1] + "…"
    return [
        "*" if is_best else "",
        *(_value(row[name]) for name in sweep.parameters),
        *(_figure(row[score], row[f"{score}_std"]) for score in sweep.scores),
        f"{row['seconds']:.2f}",
        status,
    ]


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _figure(mean: float, spread: float) -> str:
    if not np.isfinite(mean):
        return "-"
    return f"{mean:.4f} ± {spread:.4f}" if np.isfinite(spread) else f"{mean:.4f}"
