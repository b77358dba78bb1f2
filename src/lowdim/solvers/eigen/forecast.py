"""What Lanczos and a sparse factor would cost at the small end of a sparse matrix, before either is tried.

Levels of a breadth-first search tell both. A graph of many narrow levels, as that of a surface, has small separators,
so that its factor is nearly free, and small eigenvalues, so that Lanczos takes a thousand products; one of few wide
levels, as that of images, fills in, and its eigenvalues lie apart. Where the two come near each other the symbolic
factor decides, whose work is exact. Seconds here are counts times rates, never measured: the choice must be the same at
every load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy import sparse

from ... import kernels
from ...core.records import Operator, Sparse
from ...spectral.operators import Laplacian, Normal
from .common import Settings, Standard
from .factor import fits
from .inverse import factors_half
from .lanczos import PATIENCE, basis_size
from .multifrontal import Symbolic

#: Seconds of one product with a column, by entries, by rows for each column of the basis, and by itself.
_ENTRY, _ROW, _CALL = 5e-10, 5e-10, 5e-6
#: Seconds of a multiply-add of a factor, of one of its entries; of one in a solve with two columns, of a row beside,
#: and of the solve by itself.
_WORK, _FILLED, _SOLVED, _ROW_SOLVED, _SOLVE = 4e-11, 1e-8, 6.5e-10, 4e-8, 1.5e-4
#: Seconds a row of ordering a matrix whose levels are narrow.
_ORDERED = 3e-6
WORTH_A_TRIAL, _SURELY = 400, 3
"""Products that a factor must cost for a trial of Lanczos to be worth its price, and how many times as many the guess
must be to need no symbolic factor: it is up to twenty times too high."""
#: How much longer than the factor it may take once it has begun.
_LEEWAY = 1.3
TRIAL = 150
"""Products that make a trial."""


def most_products(k: int) -> int:
    """Products that Lanczos may take for k eigenvectors where nothing else is left."""
    return 40 * k + 1500


@dataclass(frozen=True, slots=True)
class Breadth:
    """The matrix that would be multiplied, as a breadth-first search of its graph sees it: all that a guess hangs on.

    ``stored`` are its entries. ``halves``: A is F'F, and all of this is said of F. Counts need not be whole: those of
    a larger matrix may have been drawn from smaller ones.
    """

    size: float
    stored: float
    levels: float
    widest: float
    is_laplacian: bool
    halves: bool

    def product(self, k: int) -> float:
        """Seconds of a product with a column."""
        return _ENTRY * self.stored * (2 if self.halves else 1) + _ROW * self.size * basis_size(k) + _CALL

    def products(self, k: int) -> float:
        """Products of Lanczos: a Laplacian has eigenvalues of 1 / levels^2, and Lanczos sees their roots."""
        return 120 + 5 * self.levels + 10 * k if self.is_laplacian else WORTH_A_TRIAL

    def factored(self, k: int, work: float, entries: float) -> float:
        """Seconds of a factor and of the solves of shift-invert with it, two columns at a time."""
        solves = 10 + k
        one = (
            work * _WORK + entries * _FILLED + solves * (entries * _SOLVED + self.size * _ROW_SOLVED + _SOLVE)
        )
        return (2 if self.halves else 1) * one

    def guess(self, k: int) -> float:
        """The same where the factor is only guessed."""
        return self.factored(k, self.widest**3, 40 * self.size + self.widest**2) + _ORDERED * self.size

    def is_worth_a_look(self, k: int) -> bool:
        """Whether a factor may be the quicker one, so that the symbolic factor is worth its seconds."""
        lanczos = self.products(k) * self.product(k)
        return self.guess(k) <= (lanczos if self.is_laplacian else _SURELY * lanczos)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds of Lanczos, of one of its products and of shift-invert; the symbolic factor where it was looked at."""

    breadth: Breadth
    lanczos: float
    product: float
    factored: float
    symbolic: Symbolic | None = None

    @property
    def prefers_factor(self) -> bool:
        """Whether shift-invert is the cheaper one."""
        return self.factored < self.lanczos

    def budget(self, k: int) -> int:
        """Products that Lanczos may take where it comes first."""
        return int(min(most_products(k), max(PATIENCE, _LEEWAY * self.factored / self.product)))


def matrix_of(operator: Operator, *, halves: bool) -> Sparse:
    """The sparse matrix A, or F where A = F'F is inverted by a factor of F."""
    return operator.F if halves and isinstance(operator, Normal) else sparse.csr_array(operator.explicit())


def breadth_of(operator: Operator, matrix: Sparse | None, *, halves: bool) -> Breadth:
    """How broad the graph of that matrix is; of a Laplacian the weights tell it, and the matrix need not be made."""
    if isinstance(operator, Laplacian):  # the diagonal leads nowhere
        graph, stored = operator.W, operator.W.nnz + operator.W.shape[0]
    else:
        matrix = matrix_of(operator, halves=halves) if matrix is None else matrix
        # Along the edges of F alone a search from each point that is in nobody's list would go over all others again.
        graph, stored = sparse.csr_array(abs(matrix) + abs(matrix).T) if halves else matrix, matrix.nnz
    levels, widest = map(int, kernels.neighbors.graphs.breadth(graph.indptr, graph.indices))
    return Breadth(graph.shape[0], stored, levels, widest, isinstance(operator, Laplacian), halves)


def foresee(standard: Standard, settings: Settings) -> Forecast:
    """Forecast for the pattern of a sparse A, or of F where A = F'F is inverted by a factor of F.

    Of LLE and its kin the pattern does not tell how many products Lanczos takes: there a trial is worth its price where
    the factor would cost several.
    """
    operator, k, halves = standard.problem.operator, settings.n_components, factors_half(standard)
    matrix = None if isinstance(operator, Laplacian) else matrix_of(operator, halves=halves)
    breadth = breadth_of(operator, matrix, halves=halves)
    product = breadth.product(k)
    guessed = Forecast(breadth, breadth.products(k) * product, product, breadth.guess(k))
    return look_into(guessed, standard, settings, matrix) if breadth.is_worth_a_look(k) else guessed


def look_into(
    guessed: Forecast, standard: Standard, settings: Settings, matrix: Sparse | None = None
) -> Forecast:
    """The same with the cost of the factor from the symbolic one in the place of a guess."""
    breadth = guessed.breadth
    if matrix is None:
        matrix = matrix_of(standard.problem.operator, halves=breadth.halves)
    symbolic = Symbolic(matrix, symmetric=not breadth.halves)
    factored = float("inf")
    if fits(symbolic, settings.run.workers.memory_limit, symmetric=not breadth.halves):
        factored = breadth.factored(settings.n_components, symbolic.work, symbolic.entries)
    return replace(guessed, factored=factored, symbolic=symbolic)
