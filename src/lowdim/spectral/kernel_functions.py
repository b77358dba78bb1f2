"""Kernels k(a, b) between rows, and the Gram matrix of all of them, filled by row blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.parallel import map_blocks
from ..core.records import Floats, Sparse
from ..data.rows import Rows

KERNELS = ("linear", "rbf", "poly", "sigmoid", "cosine", "laplacian")
OTHER_WORDS = {"polynomial": "poly"}
"""Second words for some of them."""
Pairwise = Callable[[NDArray[Any], NDArray[Any]], float]
Block = Floats | Sparse

_BLOCK_BYTES = 1 << 25
_SAMPLED_ROWS = 64
_FAR_OUT = 100.0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel by its name in ``KERNELS``, or a function of two rows; parameters as in scikit-learn.

    ====================  ==========================================
    linear                a'b
    rbf                   exp(-gamma |a - b|^2)
    poly                  (gamma a'b + coef0)^degree
    sigmoid               tanh(gamma a'b + coef0)
    cosine                a'b / (|a| |b|), 0 for a row of zeros
    laplacian             exp(-gamma |a - b|_1)
    ====================  ==========================================

    ``gamma`` None stands for 1 / D; ``resolved`` puts the number in. ``origin`` is taken off dense rows of a linear
    kernel, whose centred values do not depend on it; see ``about_origin``.
    """

    name: str | Pairwise = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    origin: Floats | None = None

    def resolved(self, n_columns: int) -> Kernel:
        """The same kernel with gamma as a number."""
        return self if self.gamma is not None else replace(self, gamma=1.0 / n_columns)

    def about_origin(self, rows: Rows) -> Kernel:
        """The same kernel about the first row, where it is linear and the rows lie so far out that digits would go."""
        if self.name != "linear" or rows.is_sparse:
            return self
        sample = rows.take(np.linspace(0, rows.n_rows - 1, _SAMPLED_ROWS).astype(np.int64))
        origin = sample[0]
        if np.abs(origin).max(initial=0.0) <= _FAR_OUT * np.abs(sample - origin).max(initial=0.0):
            return self
        return replace(self, origin=origin)

    def block(self, a: Block, b: Block) -> Floats:
        """Kernel of every row of ``a`` with every row of ``b``, both dense (float64) or both sparse."""
        if not isinstance(self.name, str):
            return _pairwise(self.name, _dense(a), _dense(b))
        gamma = 1.0 / a.shape[1] if self.gamma is None else self.gamma
        if self.name in ("rbf", "laplacian"):
            distances = _squared_distances(a, b) if self.name == "rbf" else _city_block(a, b)
            distances *= -gamma
            return np.exp(distances, out=distances)
        if self.origin is not None:
            a, b = _dense(a) - self.origin, _dense(b) - self.origin
        product = _product(a, b)
        if self.name == "poly":
            # What overflows is found where the matrix, or the coordinates made of it, are handed on.
            with np.errstate(over="ignore"):
                return np.asarray((gamma * product + self.coef0) ** self.degree)
        if self.name == "sigmoid":
            return np.tanh(gamma * product + self.coef0)
        if self.name == "cosine":
            return product / (_lengths(a)[:, None] * _lengths(b)[None, :])
        return product


def gram_matrix(
    kernel: Kernel, rows: Rows, *, n_jobs: int | None = None, done: Callable[[int], None] | None = None
) -> Floats:
    """The N x N matrix of all kernel values: one array, its lower part computed by row blocks and mirrored."""
    n_rows = rows.n_rows
    kernel = kernel.resolved(rows.n_columns)
    gram = np.empty((n_rows, n_rows))
    size = _block_rows(rows, n_rows)

    def fill(part: slice) -> None:
        left = _block(rows, part)
        for start in range(0, part.stop, size):
            other = slice(start, min(start + size, n_rows))
            values = kernel.block(left, left if other == part else _block(rows, other))
            gram[part, other] = values
            gram[other, part] = values.T

    map_blocks(fill, n_rows, n_jobs=n_jobs, block_rows=size, done=done)
    return gram


def cross_kernel(kernel: Kernel, new: Rows, rows: Rows, *, n_jobs: int | None = None) -> Floats:
    """Kernel values (M x N) of new rows with the rows of a fit."""
    kernel = kernel.resolved(rows.n_columns)
    values = np.empty((new.n_rows, rows.n_rows))
    size = _block_rows(rows, rows.n_rows)

    def fill(part: slice) -> None:
        left = _block(new, part)
        for start in range(0, rows.n_rows, size):
            other = slice(start, min(start + size, rows.n_rows))
            values[part, other] = kernel.block(left, _block(rows, other))

    map_blocks(fill, new.n_rows, n_jobs=n_jobs, block_rows=size)
    return values


def _block_rows(rows: Rows, n_rows: int) -> int:
    return max(32, min(512, rows.block_rows(_BLOCK_BYTES), n_rows))


def _block(rows: Rows, part: slice) -> Block:
    if isinstance(rows.values, Sparse):
        block: Sparse = rows.values[part].astype(np.float64)
        return block
    return rows.block(part)


def _dense(block: Block) -> Floats:
    return block.toarray() if isinstance(block, Sparse) else block


def _product(a: Block, b: Block) -> Floats:
    product: Any = a @ b.T
    values: Floats = product.toarray() if isinstance(product, Sparse) else product
    return values


def _squares(a: Block) -> Floats:
    if isinstance(a, Sparse):
        return np.asarray(a.multiply(a).sum(axis=1), dtype=np.float64).ravel()
    squares: Floats = np.einsum("ij,ij->i", a, a)
    return squares


def _lengths(a: Block) -> Floats:
    lengths = np.sqrt(_squares(a))
    return np.where(lengths > 0, lengths, 1.0)


def _squared_distances(a: Block, b: Block) -> Floats:
    """|a|^2 + |b|^2 - 2 a'b, for dense rows about a common origin so that a large offset costs no digits.

    What is left of equal rows is rounding, which a narrow kernel would take for a distance: it counts as 0.
    """
    if not isinstance(a, Sparse) and not isinstance(b, Sparse):
        same = a is b
        origin = b[0]
        a = a - origin
        b = a if same else b - origin
    squared = _product(a, b)
    squared *= -2.0
    sums = np.add.outer(_squares(a), _squares(b))
    squared += sums
    sums *= (a.shape[1] + 4) * np.finfo(np.float64).eps
    squared[squared <= sums] = 0.0
    return squared


def _city_block(a: Block, b: Block) -> Floats:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(_dense(a), _dense(b), "cityblock"))


def _pairwise(function: Pairwise, a: Floats, b: Floats) -> Floats:
    return np.array([[float(function(x, y)) for y in b] for x in a])
