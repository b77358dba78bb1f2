"""Which criterion a parameter that is left open is chosen by, what may stand in its way, and the choice itself."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ...core.messages import DATA, named, setting
from ...core.messages import value as quoted
from ...core.rules import ByItself, Either, Rule
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...neighbors import check_neighbors_or_radius
from ..metric import metric_of
from .by_connection import choose_by_connection
from .by_dimension import choose_by_dimension
from .by_embedding import choose_by_embedding
from .by_spectrum import choose_by_gap, choose_by_likelihood, choose_by_threshold
from .curve import Curve
from .settled import with_defaults
from .trials import MOST_ROWS, sampled

OF_ROWS: dict[str, Any] = {
    "connected": choose_by_connection,
    "dimension": choose_by_dimension,
    "hard-threshold": choose_by_threshold,
    "mle": choose_by_likelihood,
}
"""Criteria that need the rows and parameters alone."""


def criterion_of(model: Any, name: str, rows: Rows) -> str:
    """The criterion of an open parameter: the one that is named, else the first that suits the data."""
    rule = _automatic(model._rules[name])
    asked = str(getattr(model, name)).partition(":")[2]
    if asked:
        why = obstacle(model, asked, rows)
        if why:
            raise InputError(
                f"{named(name, type(model).__name__)} cannot be chosen by {quoted(asked)}: {why}. Give a number"
                f"{_instead(model, name, rule, asked, rows)}."
            )
        return asked
    reasons = {criterion: obstacle(model, criterion, rows) for criterion in rule.criteria}
    suiting = [criterion for criterion, why in reasons.items() if not why]
    if not suiting:
        raise InputError(
            f"{named(name, type(model).__name__)} cannot be chosen: {reasons[rule.criteria[0]]}. Give a number."
        )
    return suiting[0]


def check_open(model: Any, name: str, rows: Rows) -> None:
    """Raise an InputError, before any work, where a parameter cannot be chosen for such rows."""
    if name == "n_neighbors":
        check_neighbors_or_radius(type(model).__name__, getattr(model, name), getattr(model, "radius", None))
    criterion_of(model, name, rows)


def obstacle(model: Any, criterion: str, rows: Rows) -> str:
    """Why a criterion does not suit a model or its data; empty where it does."""
    if criterion == "mle":
        few = rows.n_rows < rows.n_columns
        return (
            f"it needs as many rows as columns, and {DATA} has {rows.n_rows} x {rows.n_columns}"
            if few
            else ""
        )
    if criterion == "bic" and model.lam != 1:
        return f"it is a divergence, which the objective is with {setting('lam', 1)} alone"
    if criterion in ("eigengap", "hard-threshold") or not model.__sklearn_tags__().input_tags.pairwise:
        return ""
    metric = metric_of(model)
    are_distances = isinstance(metric, str) and metric == "precomputed"
    if not are_distances or getattr(model, "affinity", None) == "precomputed":
        return f"{DATA} holds no points and no distances, but what was made of them"
    if rows.is_sparse and criterion not in ("connected", "bic"):
        return f"{DATA} holds the distances of some pairs of points, and it needs those of all"
    return ""


def choose_one(name: str, model: Any, rows: Rows, targets: NDArray[Any] | None, run: Run) -> Curve:
    """The choice of one parameter; those before it in `OPEN` are settled, those after it have their defaults."""
    criterion, settled = criterion_of(model, name, rows), with_defaults(model)
    if criterion in OF_ROWS:
        return OF_ROWS[criterion](name, criterion, settled, rows, run)  # type: ignore[no-any-return]
    tried = sampled(settled, rows, targets, MOST_ROWS, run)
    if criterion == "eigengap":
        return choose_by_gap(name, criterion, tried, run)
    return choose_by_embedding(name, criterion, tried, run)


def _automatic(rule: Rule) -> ByItself:
    rules = rule.rules if isinstance(rule, Either) else (rule,)
    return next(one for one in rules if isinstance(one, ByItself))


def _instead(model: Any, name: str, rule: ByItself, asked: str, rows: Rows) -> str:
    others = [word for word in rule.criteria if word != asked and not obstacle(model, word, rows)]
    return f", or use {setting(name, f'auto:{others[0]}')}" if others else ""
