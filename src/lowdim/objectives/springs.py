"""Springs that hold points where they were: how a picture that there is changes no more than its data do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats

SMALLEST = 1e-300
"""Spread of the anchors, as a sum of squares, below which nothing says their scale."""


@dataclass(frozen=True, slots=True)
class Springs:
    """S(X) = 1/2 min_{s, t} sum_i k_i |x_i - s a_i - t|^2: each point on a spring to its anchor a_i.

    E of a neighbour embedding does not change as the picture is shifted, and its scale follows from the number of
    points: t-SNE's picture is the wider the more there are. So the anchors are carried along, by the best shift t and,
    if ``scaled``, the best factor s: springs hold the shape, and neither place nor size. At the best s and t their
    derivatives are 0, so that the gradient is k_i (x_i - s a_i - t).

    Parameters
    ----------
    anchors
        a (N x d); any numbers for points that have none.
    stiffness
        k (N), 0 for points without an anchor.
    scaled
        Whether the picture may take another size, else s = 1.
    """

    anchors: Floats
    stiffness: Floats
    scaled: bool = True

    def frame(self, X: Floats) -> tuple[float, Floats]:
        """s and t that carry the anchors as near to X as they come."""
        k = self.stiffness[:, None]
        total = float(self.stiffness.sum())
        if total <= 0.0:
            return 1.0, np.zeros(X.shape[1])
        mean, centre = (k * X).sum(axis=0) / total, (k * self.anchors).sum(axis=0) / total
        if not self.scaled:
            return 1.0, mean - centre
        arms = self.anchors - centre
        spread = float((k * arms * arms).sum())
        s = float((k * arms * (X - mean)).sum()) / spread if spread > SMALLEST else 1.0
        return s, mean - s * centre

    def sized(self, X: Floats, size: float) -> Floats:
        """X drawn to a share of the size of the anchors; as it is where it does not lie like them."""
        s, t = self.frame(X)
        return X if s <= 0.0 else np.asarray((X - t) * (size / s) + t)

    def evaluate(self, X: Floats) -> tuple[float, Floats]:
        """S and its gradient."""
        s, t = self.frame(X)
        stretch = X - s * self.anchors - t
        pull = self.stiffness[:, None] * stretch
        return 0.5 * float((stretch * pull).sum()), pull
