"""The gradient of a place in the picture with respect to the data, by one adjoint solve.

m = e.X at a minimum of E(X; W(Y)): dm / dY = -v.d(grad E) / dY with H v = e (see `adjoint`). The attraction's gradient
is linear in the weights, v.grad E+ = sum_nm w_nm c_nm with

    c_nm = 2 f'(D_nm) (v_n - v_m).(x_n - x_m),

so that the slopes of the affinities (`affinity_slopes`) give t_nm = dm / ds_nm for the squared distances s of the
neighbour lists. With s = |y_n - y_m|^2 the gradient is 2 L(T + T') Y, a product with a sparse matrix. What is kept of
it are sums over the points, a block of columns at a time.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..kernels.spectral import sparse_product
from ..objectives.attraction import along_curve
from ..objectives.base import NeighborObjective
from ..objectives.elastic import ElasticEmbedding
from ..objectives.repulsion.exact import Exact
from ..objectives.repulsion.fft import FFT
from ..objectives.umap import UMAP
from ..reliability.models import Reopened
from ..spectral.operators import narrowed, over_rows
from .adjoint import Adjoint, solve_adjoint
from .affinity_slopes import Lists, slopes_of

EXACT = 3_000
"""Points up to which all pairs are summed, and the solve goes on to the last digits."""
GRID, ROUGH = 1e-2, 3e-2
"""Relative error of the sums by a grid, and residual of the solve with them: features then come out within half a
per cent of what finer ones give (docs/experience.md)."""
FINE = 1e-9
COLUMNS = 64
"""Columns of the data that are gone through together."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """dm / dY by features: ``over_selected`` sums it over the points selected, ``stretched`` over all times the data.

    ``whole`` is all of it, N x D, where it was asked for.
    """

    over_selected: Floats
    stretched: Floats
    adjoint: Adjoint
    whole: Floats | None = None


def slopes_through_data(
    opened: Reopened,
    X: Floats,
    rows: Rows,
    e: Floats,
    selected: NDArray[np.bool_],
    run: Run,
    *,
    whole: bool = False,
) -> tuple[Slopes | None, str]:
    """The slopes, or None and why there are none. All of them of different points: ``e`` and ``selected`` too."""
    objective = with_engine(opened.objective, X, run)
    if isinstance(objective, ElasticEmbedding) and objective.data is not None:
        return None, "w- are distances of the data, whose part in it is not known"
    adjoint = solve_adjoint(objective, X, e, FINE if objective.engine.is_exact else ROUGH, run)
    if adjoint is None:
        return None, "the curvature at the picture is negative along some moves: it is far from a minimum"
    lists = Lists(opened.neighbors)
    c = _pair_slopes(objective, X, adjoint.v, lists)
    if isinstance(objective, UMAP):
        drawn = _charge_slopes(objective, X, adjoint.v)
        c += 0.5 * (lists.spread(drawn) + drawn[opened.neighbors.indices])
    copies = opened.points.copies
    total = lists.sums(np.ones(lists.owners.size)).size if copies is None else float(copies.sum())
    scale = 1.0
    if not isinstance(objective, UMAP):
        # Entropic affinities sum to the rows; what an objective makes of them differs by a factor.
        scale = float(objective.attraction.weights.data.sum(dtype=np.float64)) / total
    by_squares = slopes_of(opened.affinity, lists, c, copies, scale, run)
    if by_squares is None:
        return None, f"the slopes of {type(opened.affinity).__name__} are not known"
    return _summed(-by_squares, lists, rows, X, selected, adjoint, run, whole), ""


def with_engine(objective: NeighborObjective, X: Floats, run: Run) -> NeighborObjective:
    """The objective with sums that are exact, or those of a grid that are near enough for second derivatives."""
    n_points, d = X.shape
    if objective.engine.is_exact:
        return objective
    made = copy(objective)
    engine = Exact() if n_points <= EXACT or d > FFT.most_components else FFT(GRID)
    made.engine = engine.start(objective.kernel, n_points, d, run)
    return made


def _pair_slopes(objective: NeighborObjective, X: Floats, v: Floats, lists: Lists) -> Floats:
    """c at the places of the neighbour lists."""
    kernel, near = objective.attraction.kernel, lists.neighbors
    found = np.empty(lists.owners.size)

    def work(rows: slice) -> None:
        places = slice(int(near.indptr[rows.start]), int(near.indptr[rows.stop]))
        here, there = lists.owners[places], near.indices[places]
        u = X[here] - X[there]
        D = np.maximum(np.einsum("ei,ei->e", u, u), kernel.core)
        found[places] = 2.0 * kernel.pull(D) * np.einsum("ei,ei->e", v[here] - v[there], u)

    objective.run.map(work, near.n_rows)
    return found


def _charge_slopes(objective: UMAP, X: Floats, v: Floats) -> Floats:
    """d(v.grad E-) / dd_i: the degrees of UMAP's graph are charges of its repulsion.

    v.grad E- is -2 lambda m / (2 N) sum_n v_n.(d_n F_n + c_n F^d_n), F the sums of K_1 (x_n - x_m) with charges c, d.
    """
    c = objective.drawn[:, None]
    x = X - X.mean(axis=0)
    force = objective.engine.field(X, objective.drawn).force
    found = objective.engine.sums(X, c * np.hstack([v, np.einsum("ni,ni->n", v, x)[:, None]]), 1)
    back = found[:, -1] - np.einsum("ni,ni->n", found[:, :-1], x)
    return np.asarray(-2.0 * objective.lam * objective.rate * (np.einsum("ni,ni->n", v, force) + back))


def _summed(
    t: Floats,
    lists: Lists,
    rows: Rows,
    X: Floats,
    selected: NDArray[np.bool_],
    adjoint: Adjoint,
    run: Run,
    whole: bool,
) -> Slopes:
    """G = 2 L(T + T') Y summed over the points selected, and over all times Y: there it is 2 sum t (y_n - y_m)^2.

    Points that are near in the picture are put near each other in memory: most edges are short there.
    """
    n_points, width = rows.n_rows, rows.n_columns
    order = np.argsort(along_curve(X if X.shape[1] > 1 else np.hstack([X, X])), kind="stable")
    edges = _edges(2.0 * t, lists, order)
    both = narrowed(edges + edges.T)
    sums = np.asarray(both.sum(axis=1)).ravel()
    chosen = selected[order].astype(np.float64)
    marked = sums * chosen - both @ chosen
    over, stretched = np.empty(width), np.empty(width)
    everything = np.empty((n_points, width)) if whole else None
    held = rows.compressed().tocsc() if rows.is_sparse else None
    for first in range(0, width, COLUMNS):
        part = slice(first, min(first + COLUMNS, width))
        some = rows.values[:, part] if held is None else held[:, part].toarray()
        Y = np.ascontiguousarray(some[order], dtype=np.float64)
        Y -= Y.mean(axis=0)
        over[part] = marked @ Y
        stretched[part] = over_rows(sparse_product.edge_energy, edges, Y, run.n_jobs).sum(axis=0)
        if everything is not None:
            everything[order, part] = over_rows(sparse_product.differences, both, Y, run.n_jobs)
    return Slopes(over, stretched, adjoint, everything)


def _edges(t: Floats, lists: Lists, order: Integers) -> Sparse:
    """The slopes as a matrix of the points in an order."""
    near, n_points = lists.neighbors, order.size
    place = np.empty(n_points, np.int64)
    place[order] = np.arange(n_points)
    counts = near.counts[order]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = np.arange(indptr[-1]) + np.repeat(near.indptr[:-1][order] - indptr[:-1], counts)
    return narrowed(Sparse((t[entries], place[near.indices[entries]], indptr), shape=(n_points, n_points)))
