"""What ``trust`` found: one row a point, and in one sentence what a reader of the picture may conclude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.markup import Text, bar, box, joined, plain_table, tag
from ..core.records import Floats
from ..metrics.score_results import Estimate
from .clusters import ClusterTable
from .spectral_axes import Axis

BELIEVED, CHANCE, ELSEWHERE = "believed", "no better than chance", "would land elsewhere"
COLUMNS = {
    "recall": "share of the {k} nearest shown near",
    "trustworthiness": "those shown near are near",
    "p_value": "chance of a recall like this at a random place",
    "q_value": "the same among many points: false discovery rate",
    "stability": "1: lands here again after a small move of its row",
    "perturbation": "how far it lands, in radii of a neighbourhood",
    "singularity": "1 / least curvature of the objective, over its median",
    "distortion": "long over short axis of what becomes of a ball",
    "magnification": "area that it takes, over the median",
    "verdict": "what may be concluded",
}
"""Every column, in the order of the table, with what it says; others are there for each further scale."""
FAR = 1.0
"""Radii of a neighbourhood beyond which a point that is placed again lands elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """How far to believe a picture, one row a point; `summary` says it in a sentence, ``print`` as a table.

    ``found["recall"]`` and ``found.recall`` are the same array; ``found.column_names`` lists what there is. Points that
    were not looked at are NaN. It can be given to `lowdim.plot` as ``columns`` and, to grey out what is not to be
    believed and to draw ellipses, as ``trust``.

    Attributes
    ----------
    n_points, n_rows
        Points, and how many of them were looked at, each against all others.
    scales
        Numbers of neighbours k; ``recall`` and ``trustworthiness`` are at the first.
    recall_at, trustworthiness_at, p_value_at
        For each point and scale, N x S; trustworthiness None where only known neighbours were given.
    p_value
        For each point: the least of its p-values times the number of scales.
    q_value
        p-values adjusted for many points (Benjamini & Hochberg 1995).
    level
        False discovery rate at which a point is better placed than at random.
    dual
        Dual metric H of each point, N x d x d; None where it is not known. `metric` is its pseudo-inverse.
    distortion, magnification
        Square root of the largest over the smallest eigenvalue of H; root of its determinant, over the median.
    singularity
        1 / lambda_min of the point's block of the Hessian over its median, infinite where the place is not stable; None
        without a model, or where its objective has no such block.
    perturbation
        Farthest of six places where the point lands after a small move of its row, from its own, in radii of a
        neighbourhood: the median distance to the k-th shown, k the last scale. Of maps that move all points alike,
        such as linear ones, in median moves where these are longer. None without a model that can place it.
    axes
        Of spectral methods: how well each coordinate is told from the others.
    clusters
        Distances between labels; None without ``labels``.
    notes
        What could not be measured, and why.
    """

    n_points: int
    n_rows: int
    scales: tuple[int, ...]
    metric_name: str
    level: float
    recall_at: Floats
    p_value_at: Floats
    p_value: Floats
    q_value: Floats
    trustworthiness_at: Floats | None
    mean_recall: Estimate
    mean_trustworthiness: Estimate | None
    dual: Floats | None = None
    distortion: Floats | None = None
    magnification: Floats | None = None
    singularity: Floats | None = None
    perturbation: Floats | None = None
    axes: tuple[Axis, ...] = ()
    clusters: ClusterTable | None = None
    notes: tuple[str, ...] = ()

    @property
    def recall(self) -> Floats:
        """Share of the k nearest that are shown among the k nearest, at the first scale."""
        return self.recall_at[:, 0]

    @property
    def trustworthiness(self) -> Floats | None:
        """1 less how far beyond the k nearest those shown are ranked, over the worst, at the first scale."""
        return None if self.trustworthiness_at is None else self.trustworthiness_at[:, 0]

    @property
    def stability(self) -> Floats | None:
        """1 / (1 + perturbation): 1 where the point lands in its own place again."""
        return None if self.perturbation is None else 1.0 / (1.0 + self.perturbation)

    @property
    def metric(self) -> Floats | None:
        """The metric by which lengths in the picture are those of the data: pseudo-inverses of H, N x d x d."""
        if self.dual is None:
            return None
        known = np.isfinite(self.dual).all(axis=(1, 2))
        found = np.full(self.dual.shape, np.nan)
        found[known] = np.linalg.pinv(self.dual[known], hermitian=True)
        return found

    @property
    def looked_at(self) -> NDArray[np.bool_]:
        """Which points were looked at."""
        return np.isfinite(self.p_value)

    @property
    def verdict(self) -> NDArray[Any]:
        """What may be concluded of each point, in words; empty of those that were not looked at."""
        words = np.full(self.n_points, "", dtype=object)
        words[self.looked_at] = BELIEVED
        if self.perturbation is not None:
            words[self.perturbation > FAR] = ELSEWHERE
        words[self.q_value > self.level] = CHANCE
        return words

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Points whose place is not to be believed: no better than chance, or elsewhere when placed again."""
        return np.isin(self.verdict, (CHANCE, ELSEWHERE))

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that there are, one value a point each."""
        names = [name for name in COLUMNS if getattr(self, name) is not None]
        further = [
            f"{name}_{k}"
            for k in self.scales[1:]
            for name in ("recall", "trustworthiness")
            if getattr(self, name) is not None
        ]
        return names + further

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column by its name."""
        if name not in self.column_names:
            raise KeyError(
                f"{name!r} is no column that was measured; there are {', '.join(self.column_names)}."
            )
        if name in COLUMNS:
            column: NDArray[Any] = getattr(self, name)
            return column
        kind, _, k = name.rpartition("_")
        found: NDArray[Any] = getattr(self, f"{kind}_at")[:, self.scales.index(int(k))]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def __len__(self) -> int:
        return self.n_points

    def keys(self) -> list[str]:
        """Names of the columns, so that ``dict(found)`` has them all."""
        return self.column_names

    def to_frame(self) -> Any:
        """The columns as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self})

    def shares(self) -> dict[str, Estimate]:
        """Share of the points with each verdict; with bounds (Wilson 1927) where only a sample was looked at.

        Where only some were placed again, believed and elsewhere are shares of those.
        """
        words, looked = self.verdict, self.looked_at
        placed = looked if self.perturbation is None else looked & ~np.isnan(self.perturbation)
        of = {BELIEVED: placed, CHANCE: looked, ELSEWHERE: placed}
        return {word: _share(words[some] == word, self.n_points) for word, some in of.items()}

    def as_dict(self) -> dict[str, Any]:
        """What holds of the picture as a whole, in types that JSON knows; the columns are those of `to_frame`."""
        middle = {
            name: _median(self[name])
            for name in self.column_names
            if name not in ("verdict", "p_value", "q_value")
        }
        return {
            "n_points": self.n_points,
            "n_rows": self.n_rows,
            "scales": list(self.scales),
            "metric": self.metric_name,
            "level": self.level,
            "summary": self.summary(),
            "recall": _bounded(self.mean_recall),
            "trustworthiness": None
            if self.mean_trustworthiness is None
            else _bounded(self.mean_trustworthiness),
            "verdicts": {word: _bounded(share) for word, share in self.shares().items()},
            "medians": middle,
            "axes": [axis.as_dict() for axis in self.axes],
            "clusters": None if self.clusters is None else self.clusters.as_dict(),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """In one sentence what the reader of the picture may conclude."""
        shares = self.shares()
        looked = "" if self.n_rows == self.n_points else f", by a sample of {self.n_rows:,}"
        better = 1.0 - float(shares[CHANCE])
        first = (
            f"Of {self.n_points:,} points {_percent(better)} are shown among their own neighbours more than a random "
            f"place would be (false discovery rate {_percent(self.level)}{looked}), with {_percent(self.mean_recall)} "
            f"of the {self.scales[0]} nearest kept"
        )
        parts = [first]
        if self.perturbation is not None:
            parts.append(
                f"{_percent(shares[ELSEWHERE])} would land elsewhere after a small move of their row"
            )
        if self.clusters is not None:
            agree = self.clusters.count("agrees")
            parts.append(
                f"distances between clusters agree with the data for {agree} of {len(self.clusters)} pairs"
            )
        return "; ".join(parts) + "."

    def __str__(self) -> str:
        """The sentence, then a line for each column."""
        lines = [self.summary(), "", f"  {'column':<18}  {'10 %':>8}  {'median':>8}  {'90 %':>8}"]
        for name in self.column_names:
            if name == "verdict":
                continue
            low, middle, high = _quantiles(self[name])
            lines.append(f"  {name:<18}  {low}  {middle}  {high}  {self._says(name)}".rstrip())
        if self.axes:
            lines += ["", *(f"  {axis}" for axis in self.axes)]
        if self.clusters is not None:
            lines += ["", str(self.clusters)]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"<Trust of {self.n_points:,} points: {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        rows: list[list[Text]] = [
            [word, f"{100 * float(share):.2f} %", bar(float(share))] for word, share in self.shares().items()
        ]
        figures: list[list[Text]] = [
            [name, *_quantiles(self[name]), self._says(name)]
            for name in self.column_names
            if name != "verdict"
        ]
        notes = joined(*(tag("p", note) for note in self.notes))
        head: list[Text] = ["column", "10 %", "median", "90 %", ""]
        return box(self.summary(), plain_table(["", "", ""], rows), plain_table(head, figures), notes)

    def _says(self, name: str) -> str:
        kind, _, k = name.rpartition("_")
        if name in COLUMNS:
            return COLUMNS[name].format(k=self.scales[0])
        return f"the same for {k} neighbours" if kind == "trustworthiness" else COLUMNS[kind].format(k=k)


def _share(hits: NDArray[np.bool_], n_points: int) -> Estimate:
    from ..metrics.sampling import Sample

    sample = Sample(np.zeros(hits.size, np.int64), n_points, 0.95)
    return sample.share(hits.astype(np.float64))


def _bounded(found: Estimate) -> dict[str, float]:
    return {"value": float(found), "low": found.low, "high": found.high}


def _percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"


def _median(values: NDArray[Any]) -> float | None:
    known = values[~np.isnan(values)]
    middle = float(np.median(known)) if known.size else float("nan")
    return middle if np.isfinite(middle) else None


def _quantiles(values: NDArray[Any]) -> list[str]:
    """Three quantiles of what is known, as text of one width; infinite ones count as the largest."""
    known = np.sort(values[~np.isnan(values)])
    if known.size == 0:
        return [f"{'':>8}"] * 3
    places = np.round(np.array([0.1, 0.5, 0.9]) * (known.size - 1)).astype(np.int64)
    return [f"{value:8.3g}" for value in known[places].tolist()]
