"""Forces on a block of points, worked on in place: N x d arrays whose rows NumPy would take up one by one."""

from __future__ import annotations

from typing import Any

from ..compiling import njit


@njit(cache=True, nogil=True)
def weigh(weights: Any, start: int, stop: int, force: Any) -> None:
    """Each force times the weight of its point."""
    for n in range(start, stop):
        for c in range(force.shape[1]):
            force[n, c] *= weights[n]


@njit(cache=True, nogil=True)
def join(push: Any, factor: float, start: int, stop: int, force: Any) -> None:
    """Four times each force, less ``factor`` times the push."""
    for n in range(start, stop):
        for c in range(force.shape[1]):
            force[n, c] = 4.0 * force[n, c] - factor * push[n, c]
