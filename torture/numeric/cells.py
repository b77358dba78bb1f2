"""One cell of the table: fit, look at what came out, and say ok, what error was said, or what was found."""

from __future__ import annotations

import functools
import traceback
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lowdim.errors import LowdimError, LowdimWarning

from .checks import Finding, check_model, require
from .estimators import Entry, every_estimator
from .graphs import GRAPHS
from .inputs import Case, every_input, ordinary
from .newcomers import check_newcomers
from .problems import PROBLEMS, check_problem

STRICT = 1e-9
"""A tolerance below this asks for the same answer of estimators that take many small steps too."""


@dataclass(frozen=True)
class Outcome:
    """How a cell ended."""

    kind: Literal["ok", "said", "FOUND"]
    words: str = ""


def judge(estimator: str, case: str, size: int) -> Outcome:
    """Fit one estimator on one input and look at the result."""
    entry, made = every_estimator(max(5, min(30, size // 3)))[estimator], every_input()[case](size)
    return judged(lambda: examine(entry, estimator, made, size))


def judged(work: Any) -> Outcome:
    """Run the work of a cell; every warning or error that is not lowdim's own is a finding."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            work()
        except LowdimError as error:
            words = f"{type(error).__name__}: {error}"
            if type(error).__module__ != "lowdim.errors":
                return Outcome("FOUND", f"inner error escaped: {words}")
            return Outcome("said", words)
        except Finding as finding:
            return Outcome("FOUND", str(finding))
        except Exception as error:  # noqa: BLE001
            place = traceback.extract_tb(error.__traceback__)[-1]
            return Outcome(
                "FOUND", f"{type(error).__name__}: {error} ({place.filename.split('/')[-1]}:{place.lineno})"
            )
    foreign = [str(w.message) for w in caught if not issubclass(w.category, LowdimWarning)]
    if foreign:
        return Outcome("FOUND", f"warning from below: {foreign[0]}")
    said = [f"{w.category.__name__}: {w.message}" for w in caught]
    return Outcome("ok", said[0] if said else "")


def examine(entry: Entry, name: str, case: Case, size: int) -> None:
    """Fit and check."""
    model = entry.make(case.scale, **case.parameters).fit(case.data)
    check_model(model, case.data)
    if case.related:
        compare(entry, model, ordinary_fit(name, size, tuple(case.parameters.items())), case)


@functools.cache
def ordinary_fit(name: str, size: int, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """The same estimator on the ordinary points."""
    entry = every_estimator(max(5, min(30, size // 3)))[name]
    return entry.make(1.0, **dict(parameters)).fit(ordinary(size))


def compare(entry: Entry, model: Any, base: Any, case: Case) -> None:
    """The embedding of scaled or shifted points against that of the ordinary ones."""
    with np.errstate(over="ignore", under="ignore"):
        X = model.embedding_ / (case.scale if entry.power else 1.0)
    reference = base.embedding_
    if not entry.exact and case.tolerance > STRICT:
        before, after = (getattr(m, "objective_", None) or m.normalized_stress_ for m in (base, model))
        require(
            abs(after - before) <= 0.05 * abs(before) + 1e-9,
            f"objective {after:g}, {before:g} of ordinary points",
        )
        return
    gap = aligned_gap(X, reference)
    require(gap <= case.tolerance, f"differs from the answer of ordinary points by {gap:.2g}")


def aligned_gap(X: np.ndarray, Y: np.ndarray) -> float:
    """Largest difference of two embeddings whose columns may differ in sign, relative to the size of the second."""
    signs = np.where(np.sum(X * Y, axis=0) < 0, -1.0, 1.0)
    return float(np.abs(X * signs - Y).max() / np.abs(Y).max())


def judge_graph(estimator: str, graph: str, size: int) -> Outcome:
    """One estimator on one graph of affinities or lengths."""
    made, parameters = GRAPHS[graph](size), {"metric": "graph"}
    if graph in ("two nodes", "three nodes"):
        parameters["n_components"] = 1

    def work() -> None:
        model = every_estimator(max(5, min(30, size // 3)))[estimator].make(1.0, **parameters).fit(made)
        check_model(model, made)

    return judged(work)


def judge_problem(problem: str, end: str, solver: str, size: int, n_components: int = 3) -> Outcome:
    """One spectral problem by one solver."""
    A, B = PROBLEMS[problem](size)
    return judged(lambda: check_problem(A, B, end, solver, n_components))


def judge_newcomers(estimator: str, rows: str, size: int) -> Outcome:
    """New points of one kind for one estimator that was fitted on ordinary points."""
    return judged(lambda: check_newcomers(ordinary_fit(estimator, size, ()), rows, size))
