"""What a fit is judged by: labels, ground truth, quality without either, or a function of one's own.

Each measure gives one or more figures by name, and knows of each whether less is better.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers
from ..data.rows import Rows
from ..errors import InputError
from ..estimators.base import Estimator
from ..metrics import nearest_neighbor_error, procrustes, score
from ..metrics.score_results import BEST_AT_ZERO
from .split import Split

QUALITY = ("trustworthiness", "continuity", "recall_area")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of all rows: labels as given, the same as codes of classes, and true coordinates."""

    y: NDArray[Any] | None
    codes: Integers | None
    truth: Floats | None


@dataclass(frozen=True, slots=True)
class Part:
    """The data of one repetition: the rows that are fitted, those that are not, and what is known."""

    rows: Rows
    outside: Rows | None
    split: Split
    known: Known
    seed: int
    n_jobs: int | None


@dataclass(frozen=True, slots=True)
class Fit:
    """Coordinates of the fitted rows and of those outside. A fit cut from a wider one has no ``estimator``."""

    embedding: Floats
    outside: Floats | None
    estimator: Estimator | None = None

    def first(self, n_components: int) -> Fit:
        """The fit with fewer coordinates, of a method whose coordinates do not depend on how many there are."""
        outside = None if self.outside is None else np.ascontiguousarray(self.outside[:, :n_components])
        return Fit(np.ascontiguousarray(self.embedding[:, :n_components]), outside)


class Measure(Protocol):
    """A way to judge a fit."""

    @property
    def needs_estimator(self) -> bool:
        """Whether coordinates alone are not enough."""
        ...

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """The figures of a fit, by name; the first decides."""
        ...

    def less_is_better(self, name: str) -> bool:
        """Whether the smaller figure is the better one."""
        ...


@dataclass(frozen=True, slots=True)
class LabelError:
    """Share of rows whose nearest training row in the embedding has another label (1-NN error).

    Test rows are embedded together with the training rows, their labels unseen; rows out of sample go through
    ``transform`` (Vladymyrov & Carreira-Perpinan 2013, section 5).
    """

    needs_estimator = False

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """``test_error`` and ``out_of_sample_error``, where there are such rows."""
        split, labels = part.split, part.known.codes
        assert labels is not None
        train, known = fit.embedding[split.train], labels[split.fitted[split.train]]
        figures = {}
        if split.test.size:
            test, hidden = fit.embedding[split.test], labels[split.fitted[split.test]]
            figures["test_error"] = nearest_neighbor_error(train, known, test, hidden, n_jobs=part.n_jobs)
        if fit.outside is not None:
            hidden = labels[split.outside]
            error = nearest_neighbor_error(train, known, fit.outside, hidden, n_jobs=part.n_jobs)
            figures["out_of_sample_error"] = error
        return figures

    def less_is_better(self, name: str) -> bool:
        """Always: these are errors."""
        return True


@dataclass(frozen=True, slots=True)
class TruthError:
    """Procrustes error against the true coordinates; where one side has fewer columns, the missing ones are zero."""

    needs_estimator = False

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """``procrustes_error``, and that of the rows outside under the same alignment."""
        assert part.known.truth is not None
        width = max(fit.embedding.shape[1], part.known.truth.shape[1])
        truth = _widened(part.known.truth, width)
        fitted = procrustes(_widened(fit.embedding, width), truth[part.split.fitted])
        figures = {"procrustes_error": fitted.error}
        if fit.outside is not None:
            there = truth[part.split.outside]
            placed = fitted.scale * _widened(fit.outside, width) @ fitted.rotation + fitted.translation
            size = np.linalg.norm(there - there.mean(axis=0))
            figures["out_of_sample_procrustes_error"] = float(np.linalg.norm(placed - there) / size)
        return figures

    def less_is_better(self, name: str) -> bool:
        """Always: these are errors."""
        return True


@dataclass(frozen=True, slots=True)
class Quality:
    """How true the embedding is without labels or truth: some measures of `lowdim.score`, under the data's metric."""

    names: tuple[str, ...] = QUALITY
    metric: Any = "euclidean"
    needs_estimator = False

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """The measures by their names."""
        found = score(
            part.rows.values,
            fit.embedding,
            measures=self.names,
            metric=self.metric,
            random_state=part.seed,
            n_jobs=part.n_jobs,
        )
        return {name: float(found[name]) for name in self.names}

    def less_is_better(self, name: str) -> bool:
        """Of what is best at 0."""
        return name in BEST_AT_ZERO


@dataclass(frozen=True, slots=True)
class Score:
    """A score of your own for `lowdim.sweep`.

    Parameters
    ----------
    function
        Called with the fitted estimator, the rows it was fitted to and their labels (None where there are none).
        Returns a number, or numbers by name, of which the first decides.
    better
        ``"higher"``, ``"lower"``, or None: lower for names that end in error, loss, stress or distance, else higher.
    name
        What a single number is called; None: the name of the function.
    """

    function: Callable[[Any, Any, Any], float | Mapping[str, float]]
    better: str | None = None
    name: str | None = None
    needs_estimator = True

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """What the function returns, checked."""
        y = None if part.known.y is None else part.known.y[part.split.fitted]
        found = self.function(fit.estimator, part.rows.values, y)
        figures: dict[str, Any] = dict(found) if isinstance(found, Mapping) else {self._single: found}
        for name, value in figures.items():
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise InputError(
                    f"The score {name!r} must be a number; got {value!r}. Let the function return one."
                )
        return {str(name): float(value) for name, value in figures.items()}

    def less_is_better(self, name: str) -> bool:
        """As ``better`` says, or the name."""
        if self.better is not None:
            return self.better == "lower"
        return name.lower().endswith(("error", "loss", "stress", "distance"))

    @property
    def _single(self) -> str:
        named = getattr(self.function, "__name__", "score")
        return self.name or ("score" if named == "<lambda>" else named)


def _widened(points: Floats, width: int) -> Floats:
    missing = width - points.shape[1]
    return np.pad(points, ((0, 0), (0, missing))) if missing else points
