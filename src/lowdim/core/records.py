"""Frozen results that packages hand to each other. Rows are points throughout.

Notation: data ``Y`` (N x D), embedding ``X`` (N x d), weights ``W``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from . import markup

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sparse = csr_array
End = Literal["smallest", "largest"]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Neighbours of each query row among the indexed points, in compressed rows.

    Row ``i`` owns ``indices[indptr[i]:indptr[i + 1]]`` and the ``distances`` at the same places, nearest first, ties by
    index. A query of k nearest has rows of one length, a radius query has not. ``recall`` is None where the
    search was exact, else its estimate on a sample.
    """

    indptr: Integers
    indices: Integers
    distances: Floats
    n_points: int
    recall: float | None = None

    @property
    def n_rows(self) -> int:
        """Number of query rows."""
        return self.indptr.size - 1

    @property
    def counts(self) -> Integers:
        """Number of neighbours of each row."""
        return np.diff(self.indptr)

    def narrowed(self) -> Neighbors:
        """The same in half the bytes: names of points in four each, distances in single precision, rounded up.

        So no neighbour is nearer than it is said to be.
        """
        distances = self.distances.astype(np.float32)
        np.nextafter(distances, np.float32(np.inf), out=distances, where=distances < self.distances)
        indices: Any = self.indices.astype(np.int32)
        return Neighbors(self.indptr, indices, cast(Any, distances), self.n_points, self.recall)

    def first(self, k: int) -> Neighbors:
        """At most the ``k`` nearest of each row, so that one search serves every smaller k."""
        if self.counts.max(initial=0) <= k:
            return self
        counts = np.minimum(self.counts, k)
        indptr = np.concatenate(([0], np.cumsum(counts)))
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1] - indptr[:-1], counts)
        return Neighbors(indptr, self.indices[places], self.distances[places], self.n_points, self.recall)


@dataclass(frozen=True, slots=True)
class Components:
    """Connected components: a label for each row, 0 for the largest, then by falling size."""

    labels: Integers
    sizes: Integers

    @property
    def count(self) -> int:
        """Number of components."""
        return self.sizes.size


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Equal rows collapsed: ``first`` row of each group, ``group`` of every row, ``copies`` = rows in the group."""

    first: Integers
    group: Integers
    copies: Floats

    @property
    def n_collapsed(self) -> int:
        """Number of rows that are copies of an earlier row."""
        return self.group.size - self.first.size


class Operator(Protocol):
    """A symmetric N x N matrix A that knows how to multiply: all that a solver or a reducer may rely on."""

    @property
    def size(self) -> int:
        """N."""
        ...

    def apply(self, X: Floats) -> Floats:
        """A X for a block of columns (N x m)."""
        ...

    def energy(self, X: Floats) -> Floats:
        """x'Ax for each column, as exactly as the form of A allows."""
        ...

    def explicit(self) -> Sparse | Floats:
        """The matrix itself, sparse where it is sparse."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """min (or max) tr X'AX  s.t.  X'BX = I, without the trivial solutions.

    ``mass`` is the diagonal of B (None: B = I); a B that is not diagonal, symmetric and positive definite, is
    ``mass_matrix`` instead. ``trivial`` holds in its columns the solutions that are known and
    unwanted, usually the constant vector; every solver works in their B-orthogonal complement.
    """

    operator: Operator
    end: End
    mass: Floats | None = None
    trivial: Floats | None = None
    mass_matrix: Sparse | None = None

    @property
    def size(self) -> int:
        """N."""
        return self.operator.size

    def weigh(self, X: Floats) -> Floats:
        """B X."""
        if self.mass_matrix is not None:
            return np.asarray(self.mass_matrix @ X)
        return X if self.mass is None else self.mass[:, None] * X


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rung of the ladder of solvers: which, why it was tried, and how it ended."""

    solver: str
    why: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Solution:
    """Eigenpairs in the order of the wanted end, X'BX = I, signs fixed.

    ``residuals`` are |A x - lambda B x| / (|A| |x|) in the norm that makes B the identity, each on its own column.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    solver: str
    iterations: int = 0
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """How near a landmark solution is to the solution of the whole problem, as far as that can be known.

    ``ritz_values`` bound the eigenvalues from one side where the reduction is a restriction (LLL, variational Nystrom).
    ``residuals`` are those of the whole problem, as in `Solution`, but that |A| of a Laplacian is a bound within a
    factor of 2 unless the solution was polished; None where it was never formed. ``far`` counts the points that have no
    near landmark. ``angle`` is the largest angle, in radians, between the landmark and the exact solution of a
    subsample, where that was asked for.
    """

    method: str
    n_landmarks: int
    n_neighbors: int | None
    ritz_values: Floats
    residuals: Floats | None
    far: int
    n_points: int
    angle: float | None = None

    def figures(self) -> dict[str, Any]:
        """The certificate as lines of a report."""
        known: dict[str, Any] = {
            "landmark_solver": self.method,
            "landmarks": self.n_landmarks,
            "landmarks_of_each_point": self.n_neighbors,
            "ritz_values": self.ritz_values,
            "residuals_of_all_points": self.residuals,
            "share_without_near_landmark": self.far / max(1, self.n_points),
            "angle_to_exact_on_subsample": self.angle,
        }
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Stage:
    """A finished stage: its name and its seconds. A stage inside another has a depth above 0.

    ``memory`` is the most bytes that the process had held by the end of the stage; 0 where the system does not tell.
    """

    name: str
    seconds: float
    depth: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision left to ``auto``: what was decided, how, and why."""

    what: str
    choice: str
    why: str


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage that would run: its estimated seconds, the bytes it would hold at its peak, and those it would leave.

    ``kept`` bytes are held until the end of the fit. ``certain`` marks bytes that are known rather than guessed, such
    as those of a dense matrix. An ``elastic`` stage takes another way by itself where memory is scarce.
    """

    name: str
    seconds: float
    bytes: int
    note: str = ""
    certain: bool = False
    kept: int = 0
    elastic: bool = False


def held_at(stages: Sequence[PlannedStage]) -> list[int]:
    """Bytes at the peak of each stage, with what the stages before it have left."""
    left = [0, *accumulate(stage.kept for stage in stages)]
    return [before + stage.bytes for before, stage in zip(left, stages, strict=False)]


def needed_bytes(stages: Sequence[PlannedStage], *, limited: bool) -> tuple[float, PlannedStage | None]:
    """Bytes that a fit must be given, and the stage that asks for most.

    Under a limit of the user's a guess counts as it is. Without one it must be wrong by half before it stops anything.
    """
    asked = [
        (held * (1.0 if stage.certain or limited else 0.5), stage)
        for held, stage in zip(held_at(stages), stages, strict=True)
        if not stage.elastic
    ]
    return max(asked, key=lambda pair: pair[0], default=(0.0, None))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a fit would do, without doing it; ``basis`` says what of the data the estimates know beside its shape."""

    method: str
    shape: tuple[int, int]
    stages: tuple[PlannedStage, ...]
    basis: str = ""

    @property
    def seconds(self) -> float:
        """Estimated seconds of all stages together."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def bytes(self) -> int:
        """Estimated bytes at the peak, beside the data and the libraries."""
        return max(held_at(self.stages), default=0)

    def __str__(self) -> str:
        """A table for people."""
        rows = [
            (stage.name, _in_seconds(stage.seconds), format_bytes(held), stage.note)
            for stage, held in zip(self.stages, held_at(self.stages), strict=True)
        ]
        rows.append(
            ("in all", _in_seconds(self.seconds), format_bytes(self.bytes), "seconds add up, bytes peak")
        )
        title = f"{self.method} on {self.shape[0]} x {self.shape[1]}{self.basis and f', {self.basis}'}"
        width = max(14, *(len(row[0]) for row in rows))
        return "\n".join([title, *(f"  {a:<{width}} {b:>9} {c:>10}  {d}".rstrip() for a, b, c, d in rows)])


@dataclass(frozen=True, slots=True)
class Report:
    """What a fit did: choices and their reasons, seconds per stage, figures, warnings."""

    method: str
    shape: tuple[int, int]
    stages: tuple[Stage, ...] = ()
    choices: tuple[Choice, ...] = ()
    warnings: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Seconds of all outermost stages together."""
        return sum(stage.seconds for stage in self.stages if stage.depth == 0)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        return {
            "method": self.method,
            "shape": list(self.shape),
            "seconds": {stage.name: stage.seconds for stage in self.stages},
            "memory": {stage.name: stage.memory for stage in self.stages},
            "choices": [{"what": c.what, "choice": c.choice, "why": c.why} for c in self.choices],
            "warnings": list(self.warnings),
            "figures": {key: _plain(value) for key, value in self.figures.items()},
        }

    def __str__(self) -> str:
        """A page for people."""
        lines = [f"{self.method} on {self.shape[0]} x {self.shape[1]}: {self.seconds:.2f} s"]
        lines += [f"  {'  ' * s.depth}{s.name:<{20 - 2 * s.depth}} {s.seconds:9.3f} s" for s in self.stages]
        lines += [f"  {c.what}: {c.choice} ({c.why})" for c in self.choices]
        lines += [f"  {key.replace('_', ' ')}: {short(value)}" for key, value in self.figures.items()]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        whole = self.seconds or 1.0
        stages: list[list[markup.Text]] = [
            ["\u2003" * s.depth + s.name, f"{s.seconds:.3f} s", markup.bar(s.seconds / whole)]
            for s in self.stages
        ]
        choices: list[list[markup.Text]] = [[c.what, markup.tag("b", c.choice), c.why] for c in self.choices]
        figures = [[key.replace("_", " "), short(value)] for key, value in self.figures.items()]
        warned = [markup.tag("div", f"⚠ {text}", style="margin-top:4px") for text in self.warnings]
        return markup.box(
            f"{self.method} on {self.shape[0]:,} × {self.shape[1]:,}: {self.seconds:.2f} s",
            *warned,
            markup.fold("Decided", markup.plain_table(["", "", ""], choices), is_open=True)
            if choices
            else "",
            markup.fold("Seconds by stage", markup.plain_table(["", "", ""], stages)),
            markup.fold("Found", markup.plain_table(["", ""], figures)),
        )


def format_bytes(count: float) -> str:
    """Bytes as people write them: 1.5 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _in_seconds(seconds: float) -> str:
    """Seconds that are a guess: two digits, and no power of ten."""
    digits = 0 if seconds == 0 else max(0, 1 - math.floor(math.log10(seconds)))
    return f"{float(f'{seconds:.2g}'):,.{digits}f} s"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def short(value: Any) -> str:
    """A figure in a few digits; of a long array the first eight."""
    if isinstance(value, np.ndarray):
        shown = ", ".join(f"{entry:.4g}" for entry in value.ravel()[:8])
        return f"{shown}, ..." if value.size > 8 else shown
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    if isinstance(value, Mapping):
        # Of a curve what follows from it; its points are drawn, and `as_dict` has them.
        return ", ".join(f"{key} {short(one)}" for key, one in value.items() if not isinstance(one, list))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
