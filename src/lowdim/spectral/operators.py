"""The symmetric matrices A of the spectral problems, as operators that multiply blocks of columns.

Each follows ``records.Operator``: ``size``, ``apply(X)``, ``energy(X)``, ``explicit()``. ``energy`` gives
x'Ax for each column by a sum of squares where A has one, so that an eigenvalue of 1e-9 |A| keeps its digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import kernels
from ..core.parallel import map_blocks, row_blocks
from ..core.records import Floats, Sparse

#: Multiply-adds below which SciPy's product on one thread beats a compiled one with its dispatch to threads.
_THREADED_WORK = 1_000_000
_SLACK = 1e-12
#: Columns up to which BLAS takes them one by one, and strips of a symmetric matrix that are read apart: so many that
#: threads share them evenly.
_NARROW = 4
_STRIPS = 16
#: Bytes of a dense matrix that is computed a block of rows at a time.
_BLOCK_BYTES = 64_000_000


Differences = tuple[NDArray[Any], NDArray[Any], Floats, Floats]
"""Compressed rows of a matrix A: where they begin, columns and values m_ij; and d, so that A x is
d_i x_i + sum_j m_ij (x_i - x_j)."""


def _few(rows: Differences) -> Differences | None:
    """Rows with so few entries that a product in one thread is the quickest; None for others."""
    return rows if 2 * rows[1].size < _THREADED_WORK else None


def multiply(matrix: Sparse, X: Floats, *, n_jobs: int | None = None) -> Floats:
    """Sparse matrix times a block of columns, over row blocks on threads where there is work enough."""
    if matrix.nnz * X.shape[1] < _THREADED_WORK:
        return np.asarray(matrix @ X)
    return over_rows(kernels.spectral.sparse_product.product, matrix, X, n_jobs)


def over_rows(kernel: Callable[..., None], matrix: Sparse, X: Floats, n_jobs: int | None) -> Floats:
    """What a kernel of `sparse_product` makes of each row of a matrix and a block of columns."""
    X = np.ascontiguousarray(X)
    n_rows = matrix.shape[0]
    out = np.empty((n_rows, X.shape[1]))

    def work(rows: slice) -> None:
        kernel(matrix.indptr, matrix.indices, matrix.data, X, out, rows.start, rows.stop)

    # Sums of a row do not depend on the block that it is in.
    map_blocks(work, n_rows, n_jobs=n_jobs, block_rows=n_rows if n_jobs == 1 else max(1, -(-n_rows // 16)))
    return out


def narrowed(matrix: Sparse) -> Sparse:
    """The same matrix in float64 with 32-bit places where they fit: less traffic in every product."""
    matrix = sparse.csr_array(matrix)
    limit = np.iinfo(np.int32).max
    kind = np.int32 if max(matrix.nnz, *matrix.shape) < limit else np.int64
    return sparse.csr_array(
        (
            matrix.data.astype(np.float64, copy=False),
            matrix.indices.astype(kind, copy=False),
            matrix.indptr.astype(kind, copy=False),
        ),
        shape=matrix.shape,
    )


@dataclass(frozen=True, slots=True)
class Laplacian:
    """A = D - W, with W sparse, symmetric and non-negative (Belkin & Niyogi 2003, sect. 2).

    ``degrees`` is the diagonal D, usually the row sums of W. Products are taken as sum_j w_ij (x_i - x_j), so
    that smooth vectors lose no digits; what the degrees hold beyond the row sums is added to the diagonal.
    """

    W: Sparse
    degrees: Floats
    n_jobs: int | None = None
    slack: Floats | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "W", narrowed(self.W))
        slack = self.degrees - np.asarray(self.W.sum(axis=1)).ravel()
        if np.any(np.abs(slack) > _SLACK * np.abs(self.degrees)):
            object.__setattr__(self, "slack", slack)

    @property
    def size(self) -> int:
        """N."""
        return int(self.W.shape[0])

    def apply(self, X: Floats) -> Floats:
        """A X."""
        out = over_rows(kernels.spectral.sparse_product.differences, self.W, X, self._jobs(X))
        return out if self.slack is None else out + self.slack[:, None] * X

    def energy(self, X: Floats) -> Floats:
        """Half the sum of w_ij (x_i - x_j)^2, for each column."""
        out = over_rows(kernels.spectral.sparse_product.edge_energy, self.W, X, self._jobs(X))
        total: Floats = out.sum(axis=0) / 2
        return total if self.slack is None else np.asarray(total + self.slack @ (X * X))

    def explicit(self) -> Sparse:
        """D - W."""
        return sparse.csr_array(sparse.diags_array(self.degrees) - self.W)

    def differences(self) -> Differences | None:
        """W, and what the degrees hold beyond its row sums."""
        slack = np.zeros(self.size) if self.slack is None else self.slack
        return _few((self.W.indptr, self.W.indices, self.W.data, slack))

    def _jobs(self, X: Floats) -> int | None:
        return self.n_jobs if self.W.nnz * X.shape[1] >= _THREADED_WORK else 1


@dataclass(frozen=True, slots=True)
class Normal:
    """A = F' diag(weights) F, with F sparse, of at least as many rows as columns, and positive weights.

    Locally linear embedding has F = I - W (Roweis & Saul 2000, eq. 3), modified LLE one row of F for each
    of the several weights of a point (Zhang & Wang 2006, eq. 4.1).
    """

    F: Sparse
    weights: Floats | None = None
    n_jobs: int | None = None
    transposed: Sparse = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "F", narrowed(self.F))
        object.__setattr__(self, "transposed", narrowed(sparse.csr_array(self.F.T)))

    @property
    def size(self) -> int:
        """N."""
        return int(self.F.shape[1])

    def apply(self, X: Floats) -> Floats:
        """A X, by one product with F and one with its transpose."""
        kernel = kernels.spectral.sparse_product.product
        jobs = self.n_jobs if self.F.nnz * X.shape[1] >= _THREADED_WORK else 1
        image = over_rows(kernel, self.F, X, jobs)
        if self.weights is not None:
            image *= self.weights[:, None]
        return over_rows(kernel, self.transposed, image, jobs)

    def energy(self, X: Floats) -> Floats:
        """|diag(weights)^1/2 F x|^2 for each column."""
        image = multiply(self.F, X, n_jobs=self.n_jobs)
        weights = np.ones(image.shape[0]) if self.weights is None else self.weights
        return np.asarray(weights @ (image * image))

    def explicit(self) -> Sparse:
        """F' diag(weights) F."""
        scaled = self.F if self.weights is None else sparse.diags_array(self.weights) @ self.F
        return sparse.csr_array(self.transposed @ scaled)


@dataclass(frozen=True, slots=True)
class Explicit:
    """A given as a symmetric matrix, dense or sparse (alignment matrices, Hessians, kernels)."""

    matrix: Sparse | Floats
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.matrix, np.ndarray):
            object.__setattr__(self, "matrix", narrowed(self.matrix))

    @property
    def size(self) -> int:
        """N."""
        return int(self.matrix.shape[0])

    def apply(self, X: Floats) -> Floats:
        """A X."""
        if isinstance(self.matrix, np.ndarray):
            return _dense_product(self.matrix, X)
        return multiply(self.matrix, X, n_jobs=self.n_jobs)

    def energy(self, X: Floats) -> Floats:
        """x'Ax for each column."""
        return np.asarray(np.einsum("ij,ij->j", X, self.apply(X)))

    def explicit(self) -> Sparse | Floats:
        """The matrix."""
        return self.matrix

    def differences(self) -> Differences | None:
        """The entries, with other signs, and the row sums."""
        if isinstance(self.matrix, np.ndarray):
            return None
        matrix: Any = self.matrix
        return _few((matrix.indptr, matrix.indices, -matrix.data, np.asarray(matrix.sum(axis=1)).ravel()))


@dataclass(frozen=True, slots=True)
class CenteredGram:
    """A = -1/2 M H D2 H' M, H = I - 1 m'/sum(m): the Gram matrix of centred points from squared distances.

    ``mass`` m holds how many times each point stands in the data (None: once); M = diag(m). The eigenpairs of
    (A, M) are then those of the data with every copy written out. D2 is read as it is, in float64 or float32,
    and no second N x N array is made (Torgerson 1952; Borg & Groenen 2005, sect. 12.1).
    """

    squared_distances: Floats
    mass: Floats | None = None
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        """N."""
        return int(self.squared_distances.shape[0])

    def apply(self, X: Floats) -> Floats:
        """A X, centring the columns before and after the one product with D2."""
        if self.mass is None:
            image = self._product(X - X.mean(axis=0))
            return np.asarray(-0.5 * (image - image.mean(axis=0)))
        share = self.mass / self.mass.sum()
        column = self.mass[:, None]
        image = self._product(column * (X - share @ X))
        return np.asarray(-0.5 * column * (image - share @ image))

    def _product(self, X: Floats) -> Floats:
        """D2 X; up to eight columns for the price of one, as most of it is reading the matrix."""
        matrix, width = self.squared_distances, kernels.spectral.eight_columns.WIDTH
        if matrix.dtype == np.float64 and matrix.flags.c_contiguous and X.shape[1] <= width:
            return _symmetric_product(matrix, X, self.n_jobs)
        return _dense_product(matrix, X)

    def energy(self, X: Floats) -> Floats:
        """x'Ax for each column."""
        return np.asarray(np.einsum("ij,ij->j", X, self.apply(X)))

    def explicit(self) -> Floats:
        """The Gram matrix itself: a second N x N array, for small problems."""
        size = self.size
        mass = np.ones(size) if self.mass is None else self.mass
        share = mass / mass.sum()
        gram = -0.5 * self.squared_distances.astype(np.float64)
        gram -= (share @ gram)[None, :]
        gram -= (gram @ share)[:, None]
        return np.asarray(mass[:, None] * gram * mass[None, :])


@dataclass(frozen=True, slots=True)
class GramRows:
    """A = scale M H R H' M, H = I - 1 m'/sum(m), for a dense R that is computed a block of rows at a time.

    ``rows(slice)`` gives a block of R: squared distances with ``scale`` -1/2, kernel values with 1. Every product
    computes all of R once and never holds more than a block of it. ``rows`` is called by one thread at a time and
    may use threads of its own. ``mass`` m as in `CenteredGram`.
    """

    size: int
    rows: Callable[[slice], Floats]
    mass: Floats | None = None
    scale: float = -0.5

    def blocks(self, start: int = 0) -> Iterator[tuple[slice, Floats]]:
        """All of R, or from the block that begins at a row on, a block at a time, with the rows that it holds."""
        for rows in row_blocks(self.size, max(1, _BLOCK_BYTES // (8 * self.size))):
            if rows.start >= start:
                yield rows, self.rows(rows)

    def apply(self, X: Floats) -> Floats:
        """A X, centring the columns before and after the one product with R."""
        mass = np.ones(self.size) if self.mass is None else self.mass
        share, column = mass / mass.sum(), mass[:, None]
        weighted = column * (X - share @ X)
        image = np.empty(X.shape)
        for rows, block in self.blocks():
            image[rows] = block @ weighted
        return np.asarray(self.scale * column * (image - share @ image))

    def energy(self, X: Floats) -> Floats:
        """x'Ax for each column."""
        return np.asarray(np.einsum("ij,ij->j", X, self.apply(X)))

    def explicit(self) -> Floats:
        """The Gram matrix itself: an N x N array, for small problems."""
        whole = CenteredGram(np.concatenate([block for _, block in self.blocks()]), self.mass)
        return -2 * self.scale * whole.explicit()


def _dense_product(matrix: Floats, X: Floats) -> Floats:
    """Dense matrix times a block, in float64 whatever the matrix is stored in.

    Few columns one by one: at N = 10,000 one takes 63 ms, two at once 260 ms.
    """
    if matrix.dtype == np.float64:
        if X.shape[1] > _NARROW:
            return np.asarray(matrix @ X)
        return np.stack([matrix @ column for column in np.ascontiguousarray(X.T)], axis=1)
    out = np.empty((matrix.shape[0], X.shape[1]))
    for rows in row_blocks(matrix.shape[0], max(1, 4_000_000 // matrix.shape[1])):
        np.matmul(matrix[rows].astype(np.float64), X, out=out[rows])
    return out


def _symmetric_product(matrix: Floats, X: Floats, n_jobs: int | None) -> Floats:
    """Symmetric matrix times up to eight columns, from what lies right of the diagonal, in strips of equal area.

    For distances, which are equal both ways. A kernel from which a large common part was taken is so to few digits.
    """
    kernel, size = kernels.spectral.eight_columns, matrix.shape[0]
    whole = np.zeros((size, kernel.WIDTH))
    whole[:, : X.shape[1]] = X
    ends = size * (1 - np.sqrt(1 - np.arange(_STRIPS + 1) / _STRIPS))
    bounds = np.append(ends[:-1].astype(int) // kernel.WIDTH * kernel.WIDTH, size)
    parts = np.zeros((_STRIPS, size, kernel.WIDTH))

    def work(strips: slice) -> None:
        for strip in range(strips.start, strips.stop):
            kernel.product(matrix, whole, parts[strip], bounds[strip], bounds[strip + 1])

    map_blocks(work, _STRIPS, n_jobs=n_jobs, block_rows=1)
    return np.ascontiguousarray(parts.sum(axis=0)[:, : X.shape[1]])
