"""The number of neighbours by the graph alone: as few as keep it in one piece."""

from __future__ import annotations

from math import ceil, log
from typing import Any

from ...core.run import Run
from ...data.rows import Rows
from ...neighbors.components import find_components
from ...neighbors.neighborhood import Graph, find_neighborhood
from ...neighbors.points import Points
from ..metric import metric_of
from .curve import Curve, nothing_to_choose
from .trials import Unheard

TRIED = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50)
"""Numbers of nearest others that are looked at."""


def choose_by_connection(name: str, criterion: str, model: Any, rows: Rows, run: Run) -> Curve:
    """The least number of neighbours with which the graph is connected, and no less than log N.

    A graph of k nearest neighbours should be connected, and k of the order of log N makes it so where the points are of
    one piece (von Luxburg 2007, sect. 8.2; Brito et al. 1997). The graph is that of all rows: a sample has another.
    """
    inner = Run(Unheard(), run.workers, run.streams.anew())
    points = Points(rows, metric_of(model)).distinct(inner)
    n_points, own = points.n_points, int(model._counts_itself)
    default = min(model._usual_neighbors(n_points), n_points - 1 + own)
    values = [k for k in TRIED if model._fewest_neighbors <= k <= n_points - 1]
    if len(values) < 2:
        why = f"{n_points} different points leave nothing to choose from"
        return nothing_to_choose(name, criterion, default, why, rows.n_rows)
    graph = Graph(values[-1], None, values[-1], model.search)
    lists = find_neighborhood(points, graph, inner, components=False).neighbors
    counts: list[float] = []
    for k in values:
        counts.append(float(find_components(lists.first(k)).count))
        run.progress(len(counts), len(values))
        if counts[-1] == 1.0:
            break
    seen = [k + own for k in values[: len(counts)]]
    if counts[-1] > 1.0:
        why = f"the default: {seen[-1]} neighbours leave the graph in {counts[-1]:g} pieces, and so do fewer"
        chosen, is_flat = default, True
    else:
        least = ceil(log(n_points)) + own
        chosen, is_flat = min(max(seen[-1], least), n_points - 1 + own), False
        why = f"the graph is connected from {seen[-1]} on"
        why += f", and log N = {log(n_points):.3g}" if chosen > seen[-1] else ""
    return Curve(
        name,
        criterion,
        list(seen),
        counts,
        chosen,
        why,
        default,
        is_flat,
        True,
        measured="pieces of the graph",
        n_rows=rows.n_rows,
    )
