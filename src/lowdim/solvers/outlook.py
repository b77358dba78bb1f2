"""What a fit's neighbour graph and its eigenproblem will be like, drawn from those of two samples of its points.

How much a sparse factor fills in hangs on how many dimensions the points fill, and not on the columns that they have:
from 0.3 to 14 N^2 bytes. Two samples, one four times the other, are searched, their problems formed and their symbolic
factors counted. Each count grows as a power of the number of points; the power between the samples, and a little more,
takes it to the whole. Lanczos on the smaller one says how it will end. Samples are the same for the same rows, and no
clock is read: what is chosen by an outlook is the same on every machine.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..core.events import Events
from ..core.messages import DATA
from ..core.records import Problem, Sparse
from ..core.run import Run, Workers
from ..data.rows import Rows
from ..errors import LowdimError, LowdimWarning
from ..methods.base import Method, Size
from ..neighbors.choose import choose_search
from ..neighbors.metrics import resolve_metric
from ..neighbors.neighborhood import Graph, Neighborhood
from ..neighbors.points import PAIRWISE, Points
from ..spectral.operators import Normal
from ..validation import check_numbers
from .eigen import lanczos
from .eigen.common import Settings, SolverFailure, standardise
from .eigen.forecast import TRIAL, Breadth, Forecast, breadth_of, matrix_of
from .eigen.multifrontal import Symbolic
from .eigen.null_space import closed_groups

FEWEST = 3_000
"""Points below which a fit is so short that it is not worth a look."""
SHARE, MOST, APART = 4, 4_000, 4
"""Points for each that is looked at, the most that are, and how many times as many the larger sample has."""
SEARCH_SECONDS = 0.06
"""Processor seconds that the search of a sample may take."""
TURN = 0.1
"""What the power of fill gains beyond the samples, as neighbourhoods grow smaller and fill more dimensions."""
SLOWER = 0.2
"""The power of the number of points with which the products of Lanczos grow."""
CROWDED = 60
"""Entries of a row of the problem above which the larger sample is halved: its symbolic factor would take longer."""


class Unheard(Events):
    """Tells nobody, and warns of nothing: what is amiss with a sample need not be with the whole."""

    def warned(self, message: str, category: type[LowdimWarning]) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Fill:
    """The symbolic factor of a matrix: multiply-adds, entries, entries of its stack, rows of its largest front."""

    work: float
    entries: float
    stack: float
    largest: float

    @classmethod
    def of(cls, matrix: Sparse, *, halves: bool) -> Fill:
        """That of a matrix that is there."""
        symbolic = Symbolic(matrix, symmetric=not halves)
        largest = float(symbolic.sizes.max(initial=0))
        return cls(symbolic.work, float(symbolic.entries), float(symbolic.stack_height), largest)

    def bytes(self, *, halves: bool) -> float:
        """Memory of the factor while its largest front is there, when part of the stack is gone."""
        return 8 * (self.entries * (2 if halves else 1) + self.stack + 0.5 * self.largest**2)


@dataclass(frozen=True, slots=True)
class Eigenproblem:
    """A sparse eigenproblem: how broad it is, and what its two solvers would take.

    ``products`` are those after which Lanczos ends, None where it does not in its budget; ``fill`` is that of the
    factor, None where it is surely dear and not needed. ``is_known``: groups of points give the solution away.
    """

    breadth: Breadth
    forecast: Forecast
    products: int | None
    fill: Fill | None
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Outlook:
    """A graph and its problem: distinct points, components, points outside the largest, a problem if it is sparse."""

    n_points: float
    n_components: int
    outside: float
    problem: Eigenproblem | None = None


_SEEN: dict[int, dict[tuple[str, int | None], Outlook | None]] = {}
"""What was seen of rows that are still there, by their identity: a fit and a plan ask for it more than once."""


def outlook(method: Method, size: Size) -> Outlook | None:
    """The outlook of a method on some rows; None where there is nothing to look at, or no search that is quick."""
    if not size.looks or size.rows is None:
        return None
    seen = _SEEN.get(id(size.rows))
    if seen is None:
        seen = _SEEN[id(size.rows)] = {}
        weakref.finalize(size.rows, _SEEN.pop, id(size.rows), None)
    key = (repr(method), size.memory_limit)
    if key not in seen:
        seen[key] = _look(method, size)
    return seen[key]


def _look(method: Method, size: Size) -> Outlook | None:
    graph, rows = getattr(method, "graph", None), size.rows
    if rows is None or rows.n_rows != size.n_rows or not isinstance(graph, Graph):
        return None
    if (
        graph.radius is not None
        or method.metric in PAIRWISE
        or not (count := _affordable(method, graph, rows))
    ):
        return None
    order, workers = np.random.default_rng(0).permutation(rows.n_rows), Workers(size.n_jobs)
    some = rows.select(order[:count])
    try:
        check_numbers(some, DATA)  # a fit would refuse others
        few = _Sample.of(method, some.select(np.arange(count // APART)), workers)
        if few.problem is not None and few.problem.breadth.stored > CROWDED * few.n_points:
            count //= 2
        many = _Sample.of(method, some.select(np.arange(count)), workers)
    except LowdimError:
        return None
    if few.n_points == many.n_points:
        return None
    n_points = rows.n_rows * many.n_points / count
    outside = many.outside * n_points / many.n_points
    problem = None
    if few.problem is not None and many.problem is not None:
        growth = _Growth(few.n_points, many.n_points, n_points)
        problem = _grown(few.problem, many.problem, growth, method.n_components, size.memory_limit)
    return Outlook(n_points, many.n_components, outside, problem)


def _affordable(method: Method, graph: Graph, rows: Rows) -> int:
    """Points of the larger sample; 0: none."""
    count, metric = min(MOST, rows.n_rows // SHARE), resolve_metric(method.metric)
    while rows.n_rows >= FEWEST and count // APART > 4 * graph.width:
        cost = choose_search((count, rows.n_columns), metric, "exact", n_neighbors=graph.width).cost
        if cost.seconds <= SEARCH_SECONDS:
            return count
        count //= 2
    return 0


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample: its graph, and its problem where that is a sparse one."""

    n_points: int
    n_components: int
    outside: int
    problem: _SampleProblem | None

    @classmethod
    def of(cls, method: Method, rows: Rows, workers: Workers) -> _Sample:
        """That of a method on some rows."""
        run = Run(Unheard(), workers)
        hood = method.parts(Points(rows, method.metric), run)
        assert isinstance(hood, Neighborhood)
        sizes = hood.components.sizes
        problem = None
        if method.falls_into_sums:
            problem = _SampleProblem.of(method.problem(hood, run), method.n_components)
        return cls(hood.n_points, int(sizes.size), int(sizes[1:].sum()), problem)


@dataclass(frozen=True, slots=True)
class _SampleProblem:
    """The problem of a sample, the matrix that would be factored, and whether groups of points give k vectors away."""

    problem: Problem
    matrix: Sparse
    breadth: Breadth
    is_known: bool

    @classmethod
    def of(cls, problem: Problem, k: int) -> _SampleProblem:
        """That of a problem for k eigenvectors."""
        operator = problem.operator
        halves = isinstance(operator, Normal) and operator.F.shape[0] == operator.F.shape[1]
        matrix = matrix_of(operator, halves=halves)
        breadth = breadth_of(operator, matrix, halves=halves)
        if halves:
            groups = closed_groups(matrix)
            if groups.max() >= k:
                others = np.flatnonzero(groups < 0)
                return cls(problem, sparse.csr_array(matrix[others][:, others]), breadth, is_known=True)
        return cls(problem, matrix, breadth, is_known=False)

    def fill(self) -> Fill:
        """The symbolic factor."""
        if not self.matrix.shape[0]:
            return Fill(0.0, 0.0, 0.0, 0.0)
        return Fill.of(self.matrix, halves=self.breadth.halves)

    def products(self, k: int, budget: int) -> int | None:
        """Products of Lanczos for k eigenvectors, as the ladder would begin it; None where it gives up."""
        run = Run(Unheard(), Workers(1))
        standard, trial = standardise(self.problem, run), 0 if self.breadth.is_laplacian else TRIAL
        settings = Settings(k, 1e-8, run)
        try:
            found = lanczos.solve(standard, settings, max_products=budget, give_up=True, trial=trial)
        except SolverFailure:
            return None
        return found.iterations


@dataclass(frozen=True, slots=True)
class _Growth:
    """Numbers of points of two samples and of the whole."""

    few: int
    many: int
    n_points: float

    def __call__(self, few: float, many: float, least: float, most: float, turn: float = 0.0) -> float:
        """A count of the whole by those of the samples; its power is between ``least`` and ``most``."""
        power = math.log(max(many, 1.0) / max(few, 1.0)) / math.log(self.many / self.few)
        return float(many * (self.n_points / self.many) ** min(max(power, least) + turn, most))

    def breadth(self, few: Breadth, many: Breadth) -> Breadth:
        """That of the whole."""
        return replace(
            many,
            size=self.n_points,
            stored=many.stored * self.n_points / self.many,
            levels=self(few.levels, many.levels, 0.0, 1.0),
            widest=self(few.widest, many.widest, 0.0, 1.0),
        )

    def fill(self, few: Fill, many: Fill) -> Fill:
        """That of the whole."""
        return Fill(
            self(few.work, many.work, 1.0, 3.0, 2 * TURN),
            self(few.entries, many.entries, 1.0, 2.0, TURN),
            self(few.stack, many.stack, 0.0, 2.0, TURN),
            self(few.largest, many.largest, 0.0, 1.0, TURN / 2),
        )


def _grown(
    few: _SampleProblem, many: _SampleProblem, growth: _Growth, k: int, memory_limit: int | None
) -> Eigenproblem:
    """The problem of the whole, by the rules of the ladder."""
    breadth = growth.breadth(few.breadth, many.breadth)
    product, fill = breadth.product(k), None
    factored = breadth.guess(k)

    def looked_at() -> tuple[Fill, float]:
        found = growth.fill(few.fill(), many.fill())
        allowed = memory_limit is None or found.bytes(halves=breadth.halves) <= memory_limit
        return found, breadth.factored(k, found.work, found.entries) if allowed else math.inf

    if not breadth.is_laplacian or breadth.is_worth_a_look(k):
        fill, factored = looked_at()
    forecast = Forecast(breadth, breadth.products(k) * product, product, factored)
    if many.is_known or forecast.prefers_factor:
        return Eigenproblem(breadth, forecast, None, fill, many.is_known)
    times = (growth.n_points / growth.many) ** SLOWER
    products = many.products(k, int(forecast.budget(k) / times))
    if products is not None:
        products = int(products * times)
    elif fill is None:
        fill, factored = looked_at()
        forecast = replace(forecast, factored=factored)
    return Eigenproblem(breadth, forecast, products, fill)
