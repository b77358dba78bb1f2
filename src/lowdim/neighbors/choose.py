"""Choosing how to search, by what each way would cost: one choice, for a fit and for its plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from ..core.records import PlannedStage
from ..data.rows import Rows
from .all_pairs import GenericIndex
from .costs import USUAL_NEIGHBORS, Cost, Work
from .metrics import PRECOMPUTED, GeneralMetric, Metric, resolve_metric
from .searchers.blocked import BlockedSearcher
from .searchers.descent import DescentSearcher
from .searchers.forest import ForestSearcher
from .searchers.sparse import SparseSearcher
from .searchers.tree import TreeSearcher

PATIENCE = 30.0
"""Processor seconds up to which an exact search is taken without looking further."""
CORES = 2
"""Cores of the machine that planned seconds are for."""
WAYS: Mapping[str, Callable[[Work], Cost]] = {
    "blocked": BlockedSearcher.cost,
    "tree": TreeSearcher.cost,
    "sparse": SparseSearcher.cost,
    "generic": GenericIndex.cost,
    "forest": ForestSearcher.cost,
    "descent": DescentSearcher.cost,
}
"""Ways of searching, and what each of them costs."""
APPROXIMATE, ALONE = ("forest", "descent"), ("descent",)
"""Those that may miss neighbours, and those that work in one thread whatever is asked for."""


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """A way of searching by its name, why it was taken, and what it costs."""

    search: str
    why: str
    cost: Cost


def choose_search(
    rows: Rows | tuple[int, int],
    metric: Metric,
    asked: str = "auto",
    *,
    n_neighbors: int = USUAL_NEIGHBORS,
    n_queries: int | None = None,
    patience: float = PATIENCE,
) -> SearchChoice:
    """A way of searching among some rows, or among dense ones of some shape.

    Parameters
    ----------
    rows, metric
        The points and their metric.
    asked
        ``"exact"``, ``"approximate"``, or ``"auto"``: exact up to ``patience`` processor seconds, and where it costs
        no more than twice as much as approximate.
    n_neighbors, n_queries
        How many neighbours will be asked for, and of how many new rows (None: of the points themselves).
    patience
        Processor seconds up to which ``"auto"`` takes an exact search without looking further.
    """
    work = Work.of(rows, metric, n_neighbors, n_queries)
    exact, cost = cheapest_exact(work, metric)
    if asked == "exact":
        return SearchChoice(exact, f"exact was asked for, {_about(cost)} processor seconds", cost)
    is_mapped = not isinstance(metric, GeneralMetric)
    other = "forest" if is_mapped and work.is_dense else "descent"
    if asked == "auto" and other == "descent" and not _can_descend(metric):
        return SearchChoice(exact, "there is no approximate search for this input here", cost)
    other_cost = WAYS[other](work)
    if asked == "approximate":
        return SearchChoice(
            other, f"approximate was asked for, {_about(other_cost)} processor seconds", other_cost
        )
    why = f"{_about(cost)} processor seconds exactly, {other_cost.seconds:.2g} approximately by {other}"
    if cost.seconds <= max(patience, 2 * other_cost.seconds):
        return SearchChoice(exact, why, cost)
    return SearchChoice(other, why, other_cost)


def cheapest_exact(work: Work, metric: Metric) -> tuple[str, Cost]:
    """The exact search that suits the input best, and its cost."""
    if isinstance(metric, GeneralMetric):
        return "generic", GenericIndex.cost(work)
    if not work.is_dense:
        return "sparse", SparseSearcher.cost(work)
    blocked, tree = BlockedSearcher.cost(work), TreeSearcher.cost(work)
    is_tree = tree.seconds < blocked.seconds and not work.is_sparse
    return ("tree", tree) if is_tree else ("blocked", blocked)


def plan_search(
    rows: Rows | tuple[int, int],
    metric: str | Callable[..., float],
    n_neighbors: int,
    search: str = "auto",
    *,
    patience: float = PATIENCE,
) -> PlannedStage:
    """The stage ``neighbours`` of a fit to some rows, or to dense ones of some shape, with the choice of that fit.

    The parameters are those of `build_index`; nothing of the rows but their form is looked at.
    """
    n_rows = rows.n_rows if isinstance(rows, Rows) else rows[0]
    if isinstance(metric, str) and metric in PRECOMPUTED:
        lists = 16 * n_rows * n_neighbors
        stored = n_rows * n_neighbors if isinstance(rows, Rows) and rows.is_sparse else n_rows**2
        return PlannedStage("neighbours", 2e-9 * stored, 2 * lists, "from the given distances", kept=lists)
    choice = choose_search(rows, resolve_metric(metric), search, n_neighbors=n_neighbors, patience=patience)
    kind = "approximate" if choice.search in APPROXIMATE else "exact"
    threads = 1 if choice.search in ALONE else CORES
    return PlannedStage(
        "neighbours",
        choice.cost.seconds / threads + 0.03,
        choice.cost.bytes,
        f"{kind}, {choice.search}",
        kept=choice.cost.kept,
    )


def _can_descend(metric: Metric) -> bool:
    """Whether a descent can be chosen: it knows neither functions nor weights of columns, and may not be there."""
    is_known = not isinstance(metric, GeneralMetric) or (
        isinstance(metric.function, str) and "w" not in metric.parameters
    )
    return is_known and find_spec("pynndescent") is not None


def _about(cost: Cost) -> str:
    return f"about {cost.seconds:.2g}"
