"""Products of an objective's whole Hessian with a vector: all blocks, those between different points too.

Of sum w f(D) over all pairs, both ways, row n of the product with V is

    4 sum_m w f' (v_n - v_m) + 8 sum_m w f'' u (u.(v_n - v_m)),    u = x_n - x_m,

and of a pair potential K the same with -K_1 for f' and K_2 for f'' (Vladymyrov & Carreira-Perpinan 2012, sec. 2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from .attraction import Attraction
from .repulsion.protocol import Engine

Product = Callable[[Floats], Floats]
"""V -> H V for V of the shape of X."""


class EdgeProduct:
    """The Hessian of the attraction, on the edges of its graph: d (d + 1) / 2 numbers an edge.

    Parameters
    ----------
    attraction
        E+.
    X
        Points.
    """

    def __init__(self, attraction: Attraction, X: Floats) -> None:
        W, d = attraction.weights, X.shape[1]
        self._graph, self._run = (W.indptr, W.indices), attraction.run
        self._axes = [(i, j) for i in range(d) for j in range(i, d)]
        self._entries = np.empty((len(self._axes), W.nnz))
        points, kernel = np.ascontiguousarray(X), attraction.kernel

        def work(rows: slice) -> None:
            entries = slice(int(W.indptr[rows.start]), int(W.indptr[rows.stop]))
            owners: Integers = np.repeat(
                np.arange(rows.start, rows.stop), np.diff(W.indptr[rows.start : rows.stop + 1])
            )
            u = points[owners] - points[W.indices[entries]]
            D = np.maximum(np.einsum("ei,ei->e", u, u), kernel.core)
            w = W.data[entries].astype(np.float64)
            stiff, bend = 4.0 * w * kernel.pull(D), -8.0 * w * kernel.relief(D)
            for place, (i, j) in enumerate(self._axes):
                values = bend * u[:, i] * u[:, j]
                self._entries[place, entries] = values + stiff if i == j else values

        self._run.map(work, X.shape[0])

    def __call__(self, V: Floats) -> Floats:
        """H+ V."""
        V, out = np.ascontiguousarray(V), np.zeros(V.shape)
        part = np.empty(V.shape)
        for place, (i, j) in enumerate(self._axes):
            data = self._entries[place]

            def work(rows: slice, data: Floats = data) -> None:
                kernels.spectral.sparse_product.differences(
                    *self._graph, data, V, part, rows.start, rows.stop
                )

            self._run.map(work, V.shape[0])
            out[:, i] += part[:, j]
            if i != j:
                out[:, j] += part[:, i]
        return out


class PairProduct:
    """V -> -2 sum_m c_m K_1 (v_n - v_m) + 4 sum_m c_m K_2 u (u.(v_n - v_m)) by the sums of an engine.

    It is the change of the gradient of the potential sum_m c_m K(D_nm) that a point n sees, where all points move by V.
    The part of v_n is a block for each point, from the same sums as that of v_m: their errors cancel where points that
    are near move alike.

    Parameters
    ----------
    engine
        Sums K_1 and K_2 over all pairs.
    X
        Points.
    charges
        c, of either sign.
    """

    def __init__(self, engine: Engine, X: Floats, charges: Floats) -> None:
        self._engine, self._points = engine, X
        self._c = charges[:, None]
        columns = [self._bends(np.broadcast_to(unit, X.shape)) for unit in np.eye(X.shape[1])]
        self._blocks = np.stack(columns, axis=2)

    def __call__(self, V: Floats) -> Floats:
        """The product with one V."""
        return np.asarray(self._bends(V) - np.einsum("nij,nj->ni", self._blocks, V))

    def _bends(self, V: Floats) -> Floats:
        """sum_m c_m (2 K_1 v_m - 4 K_2 u (u.v_m))."""
        return self._engine.bends(self._points, self._c * V)


def sums_of_slopes(engine: Engine, X: Floats, charges: Floats) -> Floats:
    """sum_m c_m K_1 (x_n - x_m) for charges of either sign."""
    x = X - X.mean(axis=0)
    found = engine.sums(X, charges[:, None] * np.hstack([np.ones((x.shape[0], 1)), x]), 1)
    return np.asarray(found[:, :1] * x - found[:, 1:])
