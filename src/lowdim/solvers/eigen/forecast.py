"""What Lanczos and a sparse factor would cost at the small end of a sparse matrix, before either is tried.

Levels of a breadth-first search tell both. A graph of many narrow levels, as that of a surface, has small separators,
so that its factor is nearly free, and small eigenvalues, so that Lanczos takes a thousand products; one of few wide
levels, as that of images, fills in, and its eigenvalues lie apart. Where the two come near each other the symbolic
factor decides, whose work is exact. Seconds here are counts times rates, never measured: the choice must be the same at
every load.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy import sparse

from ... import kernels
from ...spectral.operators import Laplacian, Normal
from .common import Settings, Standard
from .factor import fits
from .inverse import factors_half
from .lanczos import basis_size
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


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds of Lanczos, of one of its products and of shift-invert; the symbolic factor where it was looked at."""

    lanczos: float
    product: float
    factored: float
    symbolic: Symbolic | None = None

    @property
    def prefers_factor(self) -> bool:
        """Whether shift-invert is the cheaper one."""
        return self.factored < self.lanczos


def foresee(standard: Standard, settings: Settings) -> Forecast:
    """Forecast for the pattern of a sparse A, or of F where A = F'F is inverted by a factor of F.

    A Laplacian has eigenvalues of 1 / levels^2, and Lanczos sees their roots. Of LLE and its kin the pattern does not
    tell: there a trial is worth its price where the factor would cost several.
    """
    operator, size, k = standard.problem.operator, standard.size, settings.n_components
    halves = factors_half(standard)
    if isinstance(operator, Laplacian):  # the diagonal leads nowhere
        matrix, both, entries = None, operator.W, operator.W.nnz + size
    else:
        matrix = (
            operator.F if halves and isinstance(operator, Normal) else sparse.csr_array(operator.explicit())
        )
        # Along the edges of F alone a search from each point that is in nobody's list would go over all others again.
        both = sparse.csr_array(abs(matrix) + abs(matrix).T) if halves else matrix
        entries = matrix.nnz * (2 if halves else 1)
    levels, widest = map(int, kernels.neighbors.graphs.breadth(both.indptr, both.indices))
    product = _ENTRY * entries + _ROW * size * basis_size(k) + _CALL
    products = 120 + 5 * levels + 10 * k if isinstance(operator, Laplacian) else WORTH_A_TRIAL
    lanczos, factors = products * product, 2 if halves else 1
    guess = factors * _factored(size, k, widest**3, 40 * size + widest**2) + _ORDERED * size
    if guess > (lanczos if isinstance(operator, Laplacian) else _SURELY * lanczos):
        return Forecast(lanczos, product, guess)
    matrix = sparse.csr_array(operator.explicit()) if matrix is None else matrix
    symbolic = Symbolic(matrix, symmetric=not halves)
    if not fits(symbolic, settings.run.workers.memory_limit, symmetric=not halves):
        return Forecast(lanczos, product, float("inf"), symbolic)
    factored = factors * _factored(size, k, symbolic.work, symbolic.entries)
    return Forecast(lanczos, product, factored, symbolic)


def _factored(size: int, k: int, work: float, entries: float) -> float:
    """Seconds of a factor and of the solves of shift-invert with it, two columns at a time."""
    solves = 10 + k
    return work * _WORK + entries * _FILLED + solves * (entries * _SOLVED + size * _ROW_SOLVED + _SOLVE)
