"""What can be moved: the controls of each method, made from the rules that its estimator states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from inspect import signature
from math import isfinite
from typing import Any

from ..core.rules import Either, OneOf, Real, Rule, Share, Truth, Whole
from ..neighbors.metrics import metric_names
from ..solvers.named import LANDMARK_SOLVERS
from .catalogue import class_of

LANDMARKS = "n_landmarks"
"""A field of the landmark solver that ``solver`` names, as `lowdim.sweep` calls it."""
ELSEWHERE = {
    *("n_jobs", "memory_limit", "checkpoint", "callback", "verbose", "record", "max_seconds"),
    *("metric_params", "target_metric", "target_weight", "radius", "weights", "fit_inverse_transform"),
    *("homotopy", "landmarks", "positions"),
}
"""Parameters that a page has no use for, or that no slider can say."""
FIRST = (
    *(
        "perplexity",
        "n_neighbors",
        "lam",
        "early_exaggeration",
        "min_dist",
        "spread",
        "bandwidth",
        "n_clusters",
    ),
    *("position", "variant", "kernel", "gamma", "time", "alpha", "repulsion_strength", "scaling", "gravity"),
    *(
        "MN_ratio",
        "FP_ratio",
        "pivots",
        "metric_mds",
        "solver",
        LANDMARKS,
        "metric",
        "n_components",
        "whiten",
    ),
)
"""Those that are shown at once; the others unfold."""
SPANS: dict[str, tuple[float, float]] = {
    "n_components": (2, 10),
    "n_neighbors": (3, 100),
    "perplexity": (3, 100),
    "min_dist": (0, 1),
    "spread": (0.2, 5),
    "early_exaggeration": (1, 50),
    "n_clusters": (2, 40),
    "position": (0, 2),
    "alpha": (0, 1),
    "reg": (1e-6, 1),
    "degree": (1, 8),
    "density": (0, 10),
    "pivots": (10, 1000),
    "random_state": (0, 100),
    "max_iter": (10, 2000),
    "n_init": (1, 20),
    LANDMARKS: (20, 5000),
}
"""From where to where a slider goes, where the rule leaves that open."""
UNTOUCHED_METRICS = {"precomputed", "graph", "haversine", "mahalanobis", "seuclidean", "minkowski"}
"""Metrics of matrices between points, of two columns, or with parameters of their own."""
LOGARITHMIC = 20.0
"""Ratio of the ends of a slider from which it is logarithmic."""


@dataclass(frozen=True, slots=True)
class Control:
    """One control.

    ``kind`` is "number", "choice" or "switch". ``automatic`` says that the value may be left to the method, which
    ``auto`` stands for. ``needs`` names a control and the values of it with which this one counts.
    """

    name: str
    kind: str
    default: Any
    first: bool = False
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    logarithmic: bool = False
    automatic: bool = False
    auto: str | None = None
    words: tuple[str, ...] = ()
    needs: tuple[str, tuple[str, ...]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """For the page."""
        return asdict(self)


@cache
def controls_of(method: str) -> tuple[Control, ...]:
    """The controls of a method in the order of its parameters, those to be shown at once before them."""
    kind = class_of(method)
    made = []
    for name, parameter in signature(kind).parameters.items():
        if name in ELSEWHERE or name not in kind._rules:
            continue
        control = _control(name, kind._rules[name], parameter.default)
        if control is not None:
            made.append(control)
            if name == "solver" and set(control.words) & set(LANDMARK_SOLVERS):
                made.append(_landmarks(control))
    if any(control.name == "perplexity" for control in made):
        # The number of neighbours follows from it, unless somebody insists.
        made = [replace(each, first=False) if each.name == "n_neighbors" else each for each in made]
    return tuple(sorted(made, key=lambda each: FIRST.index(each.name) if each.first else len(FIRST)))


def limited(controls: tuple[Control, ...], n_rows: int, scale: float | None) -> tuple[Control, ...]:
    """The same for so many rows; ``scale`` is a usual distance of neighbours, the unit of bandwidths."""
    most = {"n_neighbors": n_rows - 1, "perplexity": (n_rows - 1) / 3, LANDMARKS: n_rows, "pivots": n_rows}
    made = []
    for each in controls:
        control = each
        if each.name in most and each.kind == "number":
            high = max(each.low + 1, min(each.high, most[each.name]))
            control = replace(each, high=high, default=_within(each.default, high))
        if each.name == "bandwidth" and scale:
            control = replace(each, low=scale / 10, high=scale * 10, logarithmic=True)
        made.append(control)
    return tuple(made)


def _within(value: Any, high: float) -> Any:
    return min(value, int(high)) if isinstance(value, int) and not isinstance(value, bool) else value


def _control(name: str, rule: Rule, default: Any) -> Control | None:
    """The control of a parameter; None where none can say it."""
    parts = list(_parts(rule))
    words = tuple(word for part in parts if isinstance(part, OneOf) for word in part.names)
    number = next((part for part in parts if isinstance(part, Whole | Real | Share)), None)
    first = name in FIRST
    if name == "metric":
        known = tuple(word for word in metric_names() if word not in UNTOUCHED_METRICS)
        return Control(name, "choice", default, first, words=known)
    if any(isinstance(part, Truth) for part in parts):
        return Control(name, "switch", bool(default), first)
    if number is not None and name != "init":
        automatic = default is None or default == "auto"
        return _number(name, number, default, first, automatic=automatic, auto=default if automatic else None)
    words = tuple(word for word in words if word != "precomputed")
    if len(words) < 2:
        return None
    return Control(name, "choice", default, first, words=words)


def _parts(rule: Rule) -> Iterator[Rule]:
    if isinstance(rule, Either):
        for each in rule.rules:
            yield from _parts(each)
    else:
        yield rule


def _number(
    name: str, rule: Whole | Real | Share, default: Any, first: bool, *, automatic: bool, auto: str | None
) -> Control:
    """A slider from the rule's bound, or around the default, logarithmic where it is long."""
    whole = isinstance(rule, Whole)
    is_known = isinstance(default, int | float) and not isinstance(default, bool)
    usual = float(default) if is_known else 1.0
    if name in SPANS:
        low, high = SPANS[name]
    elif isinstance(rule, Share):
        low, high = 0.0, 1.0
    elif name == "lam":
        low, high = usual / 100, usual if usual == 1.0 else usual * 100
    else:
        low, high = (usual / 100, usual * 100) if usual > 0 else (0.0, 10.0)
    floor = getattr(rule, "low", None)
    if isinstance(floor, int | float) and isfinite(floor):
        low = max(low, float(floor))
    if isinstance(rule, Real) and isfinite(rule.high):
        high = min(high, rule.high * 0.999)
    return Control(
        name,
        "number",
        default if is_known or default is None or isinstance(default, str) else None,
        first,
        low,
        high,
        whole,
        logarithmic=low > 0 and high / low >= LOGARITHMIC and name != "random_state",
        automatic=automatic,
        auto=auto,
    )


def _landmarks(solver: Control) -> Control:
    """The number of landmarks of whichever landmark solver is named."""
    names = tuple(name for name in solver.words if name in LANDMARK_SOLVERS)
    low, high = SPANS[LANDMARKS]
    return Control(LANDMARKS, "number", 1000, True, low, high, True, True, needs=("solver", names))
