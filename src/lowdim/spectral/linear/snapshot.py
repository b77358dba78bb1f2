"""Exact principal components from the N x N Gram matrix: for few rows of many columns (Sirovich 1987)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import blas, qr

from ...core.parallel import apart, row_blocks
from ...core.records import Floats, Sparse
from ...core.run import Run
from ...data.rows import Rows
from .covariance import leading_eigenpairs
from .result import Components, LinearFit, assemble, components_to_compute, needs_spectrum, resolve_components

_BLOCK_BYTES = 1 << 23


def snapshot_pca(rows: Rows, n_components: Components, *, run: Run) -> LinearFit:
    """Eigenvectors a of R = Y Y' / (N - 1), Y centred, then e = Y'a, normalised.

    Time N^2 D; beside the data it holds two N x N arrays, the components twice and a block of columns. The products
    Y'a pass through one QR and a small SVD, which makes the components orthonormal to rounding also where R, whose
    condition is that of Y squared, has lost the small eigenvalues.
    """
    n_rows, n_columns = rows.shape
    gram = np.zeros((n_rows, n_rows), order="F")
    mean = np.empty(n_columns)
    for part, block in centred_columns(rows, mean):
        blas.dsyrk(1.0 / max(n_rows - 1, 1), block.T, beta=1.0, c=gram, trans=1, lower=1, overwrite_c=1)
        run.progress(part.stop, 2 * n_columns)
    total = float(np.trace(gram))
    wanted = components_to_compute(n_components, rows.shape)
    values, vectors = leading_eigenpairs(gram, min(wanted, n_rows))
    if needs_spectrum(n_components):
        wanted = resolve_components(values, total, n_components, n_rows)
    products = np.zeros((n_columns, wanted), order="F")
    held = min(wanted, n_rows)
    for part, block in centred_columns(rows, mean):
        products[part, :held] = block.T @ vectors[:, :held]
        run.progress(n_columns + part.stop, 2 * n_columns)
    components, singular = orthonormal_rows(products)
    return assemble(mean, components, singular**2 / max(n_rows - 1, 1), total, n_rows)


def orthonormal_rows(products: Floats) -> tuple[Floats, Floats]:
    """Left singular vectors of a tall matrix in rows, and its singular values: QR, then the SVD of the small factor.

    Columns of zeros still give orthonormal rows. ``products`` is spoiled.
    """
    basis, triangle = qr(products, mode="economic", overwrite_a=True, check_finite=False)
    # NumPy's, which lets other threads run.
    rotation, singular, _ = apart(lambda: np.linalg.svd(triangle), 20.0 * float(triangle.shape[0]) ** 3)
    return rotation.T @ basis.T, singular


def centred_columns(rows: Rows, mean: Floats, *, height: int | None = None) -> Iterator[tuple[slice, Floats]]:
    """Blocks of centred columns (N x few, float64), as wide as blocks of ``height`` (N) rows may be.

    Fills in their ``mean`` on the way.
    """
    values = rows.values.tocsc() if isinstance(rows.values, Sparse) else rows.values
    width = max(16, _BLOCK_BYTES // (8 * max(1, height or rows.n_rows)))
    for part in row_blocks(rows.n_columns, width):
        columns: Any = values[:, part]
        block = np.array(columns.toarray() if rows.is_sparse else columns, dtype=np.float64, order="C")
        mean[part] = block.mean(axis=0)
        block -= mean[part]
        yield part, block
