"""Matrices between points: distances, lengths, affinities and kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..core.messages import DATA, in_python, setting, shape
from ..core.parallel import row_blocks
from ..data.mapped import in_memory
from ..data.rows import Rows
from ..errors import InputError
from .points import check_rows


def check_pairwise(estimator: Any, X: Any, *, what: str, reset: bool) -> Rows:
    """A matrix between points: square at ``fit``, new points by fitted points at ``transform``.

    ``what`` names the entries in messages: distances, edge lengths, affinities, kernel values.
    """
    rows = check_rows(estimator, X, reset=reset, at_least=2 if reset else 1)
    if reset:
        check_square(rows, what)
    return rows


def check_square(rows: Rows, what: str) -> None:
    """Raise an InputError for a matrix between points that does not have a row and a column for each."""
    if rows.n_rows != rows.n_columns:
        raise InputError(
            f"{DATA} must be a square matrix of {what} between all points; got shape {shape(rows.shape)}. "
            "Give the full matrix, or give the points themselves with another metric."
        )


def check_dense(rows: Rows, why: str) -> None:
    """Raise an InputError for a sparse matrix where the method needs every entry."""
    if rows.is_sparse:
        raise InputError(
            f"{DATA} must be a dense array: {why}; got a sparse matrix. "
            f"{in_python('Give X.toarray() if zeros mean zero.', 'Save it as a dense array.')}"
        )


def check_dissimilarities(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Distances of which some may be missing: a dense matrix as `check_distances` has it, NaN where there is none.

    A pair that is there in one of its two places is there. The rest of the numbers must be as in `check_distances`.
    """
    rows = check_rows(estimator, X, reset=reset, at_least=2 if reset else 1, missing=True)
    if reset:
        check_square(rows, "distances")
    check_dense(rows, "the distances of all pairs are needed, NaN where one is not known")
    values = rows.block(slice(None), rows.values.dtype)
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)
    if not missing.any():
        return check_distances(rows, what="distances", reset=reset)
    # One copy, in which what is missing is 0 while the rest is looked at: such a matrix may be most of the memory.
    own = np.array(values)
    if reset:
        own[missing] = values.T[missing]
        np.fill_diagonal(own, np.nan_to_num(values.diagonal()))
        np.isnan(own, out=missing)
    own[missing] = 0
    held = check_distances(Rows(own), what="distances", reset=reset).values
    held[missing] = np.nan
    return Rows(held)


ROUNDING = 1e-6
"""Share of the largest entry that negative entries, the diagonal and X - X.T may differ from 0 by."""


def check_distances(rows: Rows, *, what: str, reset: bool) -> Rows:
    """Distances, lengths and affinities are never negative and, at ``fit``, symmetric with a zero diagonal.

    What is only rounding, such as the 2e-16 that cosine distances leave on the diagonal, is set to 0.
    """
    lowest, highest = _extent(rows)
    allowed = ROUNDING * highest
    if lowest < -allowed:
        raise InputError(
            f"{DATA} must hold {what} >= 0; its smallest entry is {lowest:g}. Check how it was computed."
        )
    values = rows.values
    if isinstance(values, csr_array):
        return rows if lowest >= 0 else Rows(values.maximum(csr_array(values.shape, dtype=values.dtype)))
    places = np.arange(rows.n_rows if reset else 0)
    diagonal = values[places, places]
    if reset and np.any(np.abs(diagonal) > allowed):
        worst = int(np.argmax(np.abs(diagonal)))
        raise InputError(
            f"{DATA} must hold {what} with a zero diagonal; {DATA}[{worst}, {worst}] is {diagonal[worst]:g}. "
            f"Set the diagonal to 0, or use {setting('metric', 'graph')} if these are affinities."
        )
    if lowest < 0 or np.any(diagonal != 0):
        # In the order that they have in memory: some solvers' bits hang on it.
        values = np.maximum(in_memory(values), values.dtype.type(0))
        values[places, places] = 0
    if reset:
        check_symmetric(values, what=what)
    return rows if values is rows.values else Rows(values)


def check_not_all_zero(rows: Rows) -> None:
    """Raise an InputError when all distances are 0, so that all points are one; a graph with no edges is none such."""
    held = rows.values.data if isinstance(rows.values, csr_array) else rows.values
    if held.size and not np.any(held):
        raise InputError(
            f"{DATA} must hold distances between at least 2 distinct points; all distances between its {rows.n_rows} "
            "points are 0. There is nothing to embed."
        )


def _extent(rows: Rows) -> tuple[float, float]:
    """The smallest and the largest entry that is held; 0 where none is."""
    if isinstance(rows.values, csr_array):
        held = rows.values.data
        return float(held.min(initial=0)), float(held.max(initial=0))
    lowest = highest = 0.0
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        block = rows.values[part]
        lowest, highest = min(lowest, float(block.min(initial=0))), max(highest, float(block.max(initial=0)))
    return lowest, highest


def check_graph(rows: Rows, *, what: str, reset: bool) -> Rows:
    """A weighted or unweighted graph as sparse rows without self-loops: values >= 0 and, at ``fit``, undirected."""
    graph = rows.compressed()
    if graph.nnz and (lowest := graph.data.min()) < 0:
        raise InputError(
            f"{DATA} must hold {what} >= 0; its smallest entry is {lowest:g}. Check how it was computed."
        )
    if reset:
        gap = abs(graph - graph.T)
        if gap.nnz and gap.data.max() > ROUNDING * graph.data.max():
            raise InputError(
                f"{DATA} must be an undirected graph (a symmetric matrix of {what}); it and its transpose differ by "
                f"up to {gap.data.max():g}. Symmetrise it "
                f"first{in_python(', for example X.maximum(X.T) or (X + X.T) / 2')}."
            )
        entries = graph.tocoo()
        off = entries.row != entries.col
        graph = csr_array((entries.data[off], (entries.row[off], entries.col[off])), shape=graph.shape)
        graph.sort_indices()
    return Rows(graph)


def check_symmetric(values: NDArray[Any], *, what: str, name: str = DATA) -> None:
    """Raise an InputError where a dense matrix differs from its transpose by more than rounding, by row blocks."""
    blocks = [slice(start, start + 512) for start in range(0, values.shape[0], 512)]
    scale = max((float(np.abs(values[block]).max(initial=0)) for block in blocks), default=0.0)
    for block in blocks:
        start = block.start
        gap = np.abs(values[block].astype(np.float64) - values[:, block].T)
        if gap.size and gap.max() > ROUNDING * scale:
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            raise InputError(
                f"{name} must be a symmetric matrix of {what}; {name}[{start + i}, {j}] = {values[start + i, j]:g} "
                f"but {name}[{j}, {start + i}] = {values[j, start + i]:g}. Symmetrise it first"
                f"{in_python(', for example (X + X.T) / 2')}."
            )
