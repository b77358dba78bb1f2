"""Isotonic regression of distances on the order of what they stand for: the disparities of non-metric scaling."""

from __future__ import annotations

from ...core.records import Floats, Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def pair_lengths(columns: Floats, order: Integers, start: int, stop: int, lengths: Floats) -> None:
    """Distances of pairs start to stop - 1 of points in columns (d x N); pair n N + m is that of points n and m."""
    d, n_points = columns.shape
    for place in range(start, stop):
        n, m = order[place] // n_points, order[place] % n_points
        squared = 0.0
        for c in range(d):
            gap = columns[c, n] - columns[c, m]
            squared += gap * gap
        lengths[place] = squared**0.5


@njit(cache=True, nogil=True)
def pool(
    lengths: Floats, weights: Floats, starts: Integers, levels: Floats, masses: Floats, ends: Integers
) -> int:
    """Pool adjacent violators: the rising levels nearest to the lengths, the number of their blocks returned.

    ``starts`` are the places where groups begin that must have one level, and the end of the last; block b ends before
    place ``ends[b]``. ``weights`` of the lengths; without entries: 1. Barlow et al. (1972), sect. 1.2.
    """
    count = 0
    for group in range(starts.size - 1):
        total = mass = 0.0
        for place in range(starts[group], starts[group + 1]):
            w = weights[place] if weights.size else 1.0
            total += w * lengths[place]
            mass += w
        # A group without weight takes the level of what comes before it.
        level = total / mass if mass > 0.0 else (levels[count - 1] if count else 0.0)
        end = starts[group + 1]
        while count and levels[count - 1] >= level:
            count -= 1
            together = masses[count] + mass
            if together > 0.0:
                level = (masses[count] * levels[count] + mass * level) / together
            mass = together
        levels[count], masses[count], ends[count] = level, mass, end
        count += 1
    return count


@njit(cache=True, nogil=True)
def spread(levels: Floats, ends: Integers, order: Integers, targets: Floats) -> None:
    """Write the level of each block at the places of its pairs in the targets (N x N), and at their mirror images."""
    n_points, place = targets.shape[1], 0
    for block in range(levels.size):
        level = levels[block]
        while place < ends[block]:
            n, m = order[place] // n_points, order[place] % n_points
            targets[n, m] = level
            targets[m, n] = level
            place += 1
