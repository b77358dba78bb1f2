"""Parts of the graph that nothing ties down: along their shifts the attractive Hessian is zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.records import Floats, Integers
from ...neighbors.components import find_components
from .matrix import AttractiveHessian

Solve = Callable[[Floats], Floats]
#: Slack of a row relative to its degree from which it ties its component down.
_TIED = 1e-9


class Floating:
    """Turns a solve with B into one that also knows what to do with the shifts of whole components.

    E does not change when all points shift together: that part is taken off. A component of several that float moves
    against the others with the curvature 4 times the mean degree of its points, as the fixed-point direction has it:
    B has none there but mu, and would throw it away. What comes out is symmetric where ``solve`` is, and positive
    definite on vectors of sum 0.
    """

    def __init__(self, matrix: AttractiveHessian) -> None:
        laplacian = matrix.laplacian
        components = find_components(laplacian.W)
        degrees, slack = laplacian.degrees, laplacian.slack
        count = components.count
        tied = np.zeros(count, np.bool_)
        if slack is not None:
            tied = np.bincount(components.labels, slack > _TIED * degrees, count) > 0.0
        #: Components that float come first; the points of all others share the last label.
        self.count = int(np.sum(~tied))
        names = np.full(count, self.count)
        names[~tied] = np.arange(self.count)
        self._labels: Integers = names[components.labels]
        self._sizes = np.maximum(np.bincount(self._labels, minlength=self.count + 1), 1)
        means = np.bincount(self._labels, matrix.diagonal, self.count + 1) / self._sizes
        self._curvature = np.maximum(means, matrix.shift)

    def solve(self, solve: Solve, V: Floats) -> Floats:
        """``solve`` within the components, and the shifts of those that float."""
        V = V - V.mean(axis=0)
        if self.count <= 1:
            P = solve(V)
            return np.asarray(P - P.mean(axis=0))
        shifts = self._means(V)
        P = solve(V - shifts[self._labels])
        P += (shifts / self._curvature[:, None] - self._means(P))[self._labels]
        return np.asarray(P - P.mean(axis=0))

    def _means(self, V: Floats) -> Floats:
        """Mean of each component that floats, and 0 for the rest."""
        sums = [np.bincount(self._labels, column, self.count + 1) for column in V.T]
        means = np.stack(sums, axis=1) / self._sizes[:, None]
        means[self.count] = 0.0
        return means
