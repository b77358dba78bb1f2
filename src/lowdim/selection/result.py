"""What a sweep leaves: every run, a row for each point of the grid, the best point, a table and pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.records import Choice, Floats
from ..errors import InputError, MissingExtraError
from ..estimators.base import Estimator
from .embeddings import embeddings_of
from .grid import configure, own_value
from .picture import draw
from .text import notebook_page, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class FitRecord:
    """One fit: which point of the grid, with which seed, its figures, its seconds by stage, and how it ended."""

    point: int
    seed: int
    figures: Mapping[str, float]
    seconds: float
    stages: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    status: str = "ok"


@dataclass(frozen=True)
class Sweep:
    """An estimator judged at every point of a grid.

    Attributes
    ----------
    estimator
        As it was given, not fitted.
    shape
        Rows and columns of the data.
    parameters
        Names that the grid has.
    scores
        Names of the figures, each with True where less is better. The first decides which point is best.
    points
        The parameters of each point, in the order of the grid.
    seeds
        Seed of each repetition.
    runs
        Every fit, in the order they were made.
    choices
        What ``score="auto"`` chose and why.
    seconds
        Of the whole sweep.
    complete
        False where it was interrupted.
    """

    estimator: Estimator
    shape: tuple[int, int]
    parameters: tuple[str, ...]
    scores: Mapping[str, bool]
    points: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]
    runs: tuple[FitRecord, ...] = field(repr=False)
    choices: tuple[Choice, ...] = ()
    seconds: float = 0.0
    complete: bool = True

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each point that was tried: parameters, scores, seconds and status.

        Each score is the mean over the seeds that came through, ``<score>_std`` its standard deviation over them
        (NaN for one alone), ``seeds`` their number. ``seconds`` and ``seconds_<stage>`` are means too; a stage that
        another point had already done takes next to nothing. ``status`` is ``"ok"``, or what went wrong.
        """
        stages = list(dict.fromkeys(name for run in self.runs for name in run.stages))
        by_point: dict[int, list[FitRecord]] = {}
        for run in self.runs:
            by_point.setdefault(run.point, []).append(run)
        return [self._row(point, by_point[point], stages) for point in sorted(by_point)]

    def _row(self, point: int, runs: list[FitRecord], stages: list[str]) -> dict[str, Any]:
        named = self.points[point]
        row = {
            name: named[name] if name in named else own_value(self.estimator, name)
            for name in self.parameters
        }
        good = [run for run in runs if run.status == "ok"]
        for score in self.scores:
            values = np.array([run.figures.get(score, np.nan) for run in good])
            row[score] = float(values.mean()) if values.size else np.nan
            row[f"{score}_std"] = float(values.std(ddof=1)) if values.size > 1 else np.nan
        row["seeds"] = len(good)
        row["seconds"] = _mean([run.seconds for run in runs])
        for name in stages:
            row[f"seconds_{name.replace(' ', '_')}"] = _mean([run.stages.get(name, 0.0) for run in runs])
        row["warnings"] = " | ".join(dict.fromkeys(text for run in runs for text in run.warnings))
        row["status"] = _status(runs)
        return row

    @property
    def table(self) -> DataFrame:
        """The rows as a pandas data frame."""
        if find_spec("pandas") is None:
            raise MissingExtraError(
                "a table needs pandas: pip install 'lowdim[frames]'; the rows are in .rows"
            )
        from pandas import DataFrame

        return DataFrame(self.rows)

    @property
    def best(self) -> dict[str, Any]:
        """Parameters of the point with the best mean of the first score; the first of equals."""
        return dict(self.points[self.best_place])

    @property
    def best_place(self) -> int:
        """Place among ``points`` of the best one; a point where some seed failed only if no other is there."""
        places = sorted({run.point for run in self.runs})
        for whole in (True, False):
            found = [
                (row[score] if less else -row[score], place)
                for place, row in zip(places, self.rows, strict=True)
                for score, less in list(self.scores.items())[:1]
                if np.isfinite(row[score]) and (row["status"] == "ok" or not whole)
            ]
            if found:
                return min(found)[1]
        why = self.rows[0]["status"] if self.rows else "nothing was tried"
        raise InputError(
            f"best needs at least one point of the grid with a finite score; none of the {len(self.rows)} that were "
            f"tried has one. The first says: {why}"
        )

    def best_estimator(self, X: Any = None) -> Estimator:
        """The estimator with the best parameters and the first seed, fitted to ``X`` where it is given."""
        best = configure(self.estimator, self.best, random_state=self.seeds[0])
        return best if X is None else best.fit(X)

    def embeddings(self, X: Any, n_components: int = 2) -> dict[str, Floats]:
        """Coordinates of every point of the grid, by its parameters: ``lowdim.plot(found.embeddings(X), labels)``.

        The fits are made again, to all rows of ``X`` and with the first seed, and share what they have in common. Each
        is turned onto the one before it; a point that fails is left out. A picture shows them side by side, a page
        (.html) moves the points from one to the next.

        Parameters
        ----------
        X
            The data of the sweep.
        n_components
            Coordinates to keep of each, the first ones.
        """
        return embeddings_of(self, X, n_components)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: str = "auto",
        x: str | None = None,
        y: str | None = None,
        score: str | None = None,
        title: str = "",
    ) -> Figure:
        """Draw the scores over the grid.

        Parameters
        ----------
        path
            Where to write the picture: .png, .pdf, .svg or another format of Matplotlib.
        kind
            ``"curves"``: one parameter across, a line for each combination of the others, bands of one standard
            deviation. ``"heat map"``: two parameters, the best over any others. ``"auto"``: a heat map for two
            with at least three values each, else curves.
        x, y
            Parameters across and, for a heat map, upwards; by default the first that vary.
        score
            Draw this one alone; by default each has a panel.
        title
            Above the picture.
        """
        return draw(self, path, kind=kind, x=x, y=y, score=score, title=title)

    def __str__(self) -> str:
        """A page for people."""
        return page(self)

    def _repr_html_(self) -> str:
        return notebook_page(self)


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _status(runs: list[FitRecord]) -> str:
    bad = [run for run in runs if run.status != "ok"]
    if not bad:
        return "ok"
    if len(bad) == len(runs) and len({run.status for run in bad}) == 1:
        return bad[0].status
    return "; ".join(f"seed {run.seed}: {run.status}" for run in bad)
