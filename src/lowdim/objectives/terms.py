"""Terms of L^xx: what the second derivatives of an objective add to its Laplacian.

A term stands for symmetric weights w_nm and answers, in each coordinate i apart,

    squares_n = sum_m w_nm (x_n - x_m)^2,    apply(V)_n = sum_m w_nm (x_n - x_m)^2 (v_n - v_m),

the diagonal of L^xx_ii and its product with a vector.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

import numpy as np

from .. import kernels
from ..core.records import Floats, Sparse
from ..core.run import Run
from .attraction import Attraction

Product = Callable[[Floats], Floats]
"""C -> W C for the columns of C, with W the weights of a term, zero on its diagonal."""


class Term(Protocol):
    """Some of the weights of L^xx."""

    def squares(self) -> Floats:
        """The diagonal of each L^xx_ii, as columns (N x d)."""
        ...

    def apply(self, V: Floats) -> Floats:
        """L^xx_ii V_i, column by column."""
        ...


class DenseTerm:
    """Weights between all pairs of points, known by their product with vectors.

    (x_n - x_m)^2 (v_n - v_m) is multiplied out, so that the sums over m are products of W with columns of x and v.

    Parameters
    ----------
    X
        Points.
    product
        C -> W C.
    """

    def __init__(self, X: Floats, product: Product) -> None:
        # Centred and scaled: less is lost where terms cancel, and no square overflows.
        centred = X - X.mean(axis=0)
        self._scale = float(np.abs(centred).max(initial=0.0)) or 1.0
        self._x = centred / self._scale
        self._product = product
        self._squares: Floats | None = None

    def squares(self) -> Floats:
        """The diagonal of each L^xx_ii, as columns (N x d)."""
        return self._unscaled(self._scaled_squares())

    def apply(self, V: Floats) -> Floats:
        """L^xx_ii V_i, column by column."""
        x = self._x
        by_v = self._product(np.hstack([V, x * V, x * x * V]))
        plain, linear, quadratic = np.hsplit(by_v, 3)
        return self._unscaled(self._scaled_squares() * V - (x * (x * plain - 2.0 * linear) + quadratic))

    def _scaled_squares(self) -> Floats:
        if self._squares is None:
            x, d = self._x, self._x.shape[1]
            sums = self._product(np.hstack([np.ones((x.shape[0], 1)), x, x * x]))
            plain, linear, quadratic = sums[:, :1], sums[:, 1 : 1 + d], sums[:, 1 + d :]
            self._squares = x * (x * plain - 2.0 * linear) + quadratic
        return self._squares

    def _unscaled(self, values: Floats) -> Floats:
        return values * self._scale * self._scale


class EdgeTerm:
    """Weights on the edges of a graph.

    Parameters
    ----------
    X
        Points.
    weights
        Symmetric weights of the edges.
    run
        Workers.
    """

    def __init__(self, X: Floats, weights: Sparse, run: Run) -> None:
        self._x = np.ascontiguousarray(X)
        self._weights = weights
        self._run = run

    def squares(self) -> Floats:
        """The diagonal of each L^xx_ii, as columns (N x d)."""
        return self._sum(np.ones_like(self._x), np.zeros_like(self._x))

    def apply(self, V: Floats) -> Floats:
        """L^xx_ii V_i, column by column."""
        vectors = np.ascontiguousarray(V)
        return self._sum(vectors, vectors)

    def _sum(self, here: Floats, there: Floats) -> Floats:
        W, out = self._weights, np.empty_like(self._x)
        graph = (W.indptr, W.indices, W.data)

        def work(rows: slice) -> None:
            kernels.embedding.edge_curvature.curvature(
                graph, self._x, (here, there), rows.start, rows.stop, out
            )

        self._run.map(work, out.shape[0])
        return out


def attractive_edges(X: Floats, attraction: Attraction, masses: Floats, bound: float | None) -> EdgeTerm:
    """The attractive weights p f'' of an objective, or with a ``bound`` max(p f'', -bound c_n c_m K_2).

    f'' is negative or 0 for kernels that fall no faster than a Gaussian.
    """
    P, run, radial = attraction.weights, attraction.run, attraction.kernel.radial
    points, data = np.ascontiguousarray(X), np.empty(P.nnz)
    graph, most = (P.indptr, P.indices, P.data), sys.float_info.max / 4 if bound is None else bound

    def work(rows: slice) -> None:
        kernels.embedding.edge_curvature.coefficients(
            radial, graph, points, masses, most, rows.start, rows.stop, data
        )

    run.map(work, X.shape[0])
    return EdgeTerm(points, Sparse((-data, P.indices, P.indptr), shape=P.shape), run)
