"""Local Gram matrices of neighbourhoods and the reconstruction weights that follow from them.

Grams of a block of rows lie end to end: row i of the block owns those from ``places[i] - places[0]`` to
``places[i + 1] - places[0]``. Sums may be reordered and products fused (``FLAGS``): that moves the last bit
only, in the same way at every call.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from ..vectors import EIGHT, products, write_differences
from .small_eigen import FLAGS, eigenvalues

# Columns whose differences are held at a time: a patch of 30 points then fits the second-level cache.
PANEL = 512
# A pivot below this share of the trace means that the Gram matrix is singular or indefinite.
SMALLEST_PIVOT = 1e-14
# Ridge where the given one leaves the Gram matrix singular, as a share of its trace.
RIDGE = 1e-3


@njit(cache=True, nogil=True)
def sort_rows(indptr: Integers, indices: Integers, distances: Floats, start: int, stop: int) -> None:
    """Order each row by index, in place: results then do not depend on how a search broke ties.

    Shell's sort: rows are short, it allocates nothing, and it compiles in a tenth of the time of NumPy's
    sorts.
    """
    for i in range(start, stop):
        row = indices[indptr[i] : indptr[i + 1]]
        lengths = distances[indptr[i] : indptr[i + 1]]
        gap = 1
        while 3 * gap + 1 < row.shape[0]:
            gap = 3 * gap + 1
        while gap > 0:
            for a in range(gap, row.shape[0]):
                index, length = row[a], lengths[a]
                place = a
                while place >= gap and row[place - gap] > index:
                    row[place] = row[place - gap]
                    lengths[place] = lengths[place - gap]
                    place -= gap
                row[place] = index
                lengths[place] = length
            gap //= 3


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def add_products(differences: Floats, count: int, width: int, gram: Floats) -> None:
    """Lower triangle of gram += C C' for the first ``count`` rows and ``width`` columns of C."""
    for a in range(count):
        for b in range(a + 1):
            total = products(differences, a, differences, b, width)
            for c in range(width // EIGHT * EIGHT, width):
                total += differences[a, c] * differences[b, c]
            gram[a * count + b] += total


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def mirror(gram: Floats, count: int) -> None:
    """Copy the lower triangle to the upper one."""
    for a in range(count):
        for b in range(a):
            gram[b * count + a] = gram[a * count + b]


@njit(cache=True, nogil=True, forceinline=True)
def shrinking(lengths: Floats, first: int, last: int) -> float:
    """Power of two that brings the longest of some distances near one; it changes no digit of what follows."""
    longest = 0.0
    for place in range(first, last):
        longest = max(longest, lengths[place])
    if not 0.0 < longest < np.inf:
        return 1.0
    return math.ldexp(1.0, -max(-1000, min(1000, math.frexp(longest)[1] - 1)))


@njit(cache=True, nogil=True, fastmath=FLAGS)
def dense_grams(
    points: Floats,
    queries: Floats,
    indptr: Integers,
    indices: Integers,
    distances: Floats,
    places: Integers,
    grams: Floats,
) -> None:
    """G_jk = (y - eta_j).(y - eta_k) from scaled differences of coordinates, panel by panel of columns."""
    n_columns = points.shape[1]
    panel = min(PANEL, n_columns)
    longest = 0
    for i in range(queries.shape[0]):
        longest = max(longest, indptr[i + 1] - indptr[i])
    differences = np.empty((longest, panel))
    for i in range(queries.shape[0]):
        first, count = indptr[i], indptr[i + 1] - indptr[i]
        scale = shrinking(distances, first, first + count)
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        gram[:] = 0.0
        for left in range(0, n_columns, panel):
            width = min(panel, n_columns - left)
            for a in range(count):
                point = indices[first + a]
                write_differences(points, point, queries, i, (left, width), scale, differences, a)
                for c in range(width // EIGHT * EIGHT, width):
                    differences[a, c] = (points[point, left + c] - queries[i, left + c]) * scale
            add_products(differences, count, width, gram)
        mirror(gram, count)


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def scatter_sparse(columns: Integers, values: Floats, slots: Integers, used: int, line: Floats) -> int:
    """Add a compressed row into ``line``, each new column in the next free slot; returns the slots in use."""
    for place in range(columns.shape[0]):
        column = columns[place]
        if slots[column] < 0:
            slots[column] = used
            used += 1
        line[slots[column]] += values[place]
    return used


@njit(cache=True, nogil=True, fastmath=FLAGS)
def sparse_grams(
    point_starts: Integers,
    point_columns: Integers,
    point_values: Floats,
    query_starts: Integers,
    query_columns: Integers,
    query_values: Floats,
    slots: Integers,
    indptr: Integers,
    indices: Integers,
    distances: Floats,
    places: Integers,
    grams: Floats,
) -> None:
    """As ``dense_grams`` for compressed rows: a patch is spread over the columns that occur in it alone."""
    for i in range(query_starts.shape[0] - 1):
        row = indices[indptr[i] : indptr[i + 1]]
        count = row.shape[0]
        asked = query_columns[query_starts[i] : query_starts[i + 1]]
        room = asked.shape[0]
        for a in range(count):
            room += point_starts[row[a] + 1] - point_starts[row[a]]
        scale = shrinking(distances, indptr[i], indptr[i + 1])
        spread = np.zeros((count + 1, room))
        used = scatter_sparse(
            asked, query_values[query_starts[i] : query_starts[i + 1]], slots, 0, spread[count]
        )
        for a in range(count):
            own = slice(point_starts[row[a]], point_starts[row[a] + 1])
            used = scatter_sparse(point_columns[own], point_values[own], slots, used, spread[a])
        y = spread[count]
        for a in range(count):
            line = spread[a]
            for c in range(used):
                line[c] = (line[c] - y[c]) * scale
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        gram[:] = 0.0
        add_products(spread, count, used, gram)
        mirror(gram, count)
        for column in asked:
            slots[column] = -1
        for a in range(count):
            for column in point_columns[point_starts[row[a]] : point_starts[row[a] + 1]]:
                slots[column] = -1


@njit(cache=True, nogil=True)
def distance_grams(
    indptr: Integers, distances: Floats, between: Floats, places: Integers, grams: Floats
) -> None:
    """G_jk = (d_j^2 + d_k^2 - d_jk^2) / 2 from scaled distances, d_jk in ``between`` (rows x k x k).

    A distance that is not known (not finite) is taken as the way round through the point itself, d_j + d_k.
    """
    for i in range(indptr.shape[0] - 1):
        lengths, scale = distances[indptr[i] : indptr[i + 1]], shrinking(distances, indptr[i], indptr[i + 1])
        count = lengths.shape[0]
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        for a in range(count):
            to_first = lengths[a] * scale
            for b in range(a):
                to_second = lengths[b] * scale
                apart = 0.5 * (between[i, a, b] + between[i, b, a]) * scale
                if not np.isfinite(apart):
                    apart = to_first + to_second
                gram[a * count + b] = 0.5 * (to_first * to_first + to_second * to_second - apart * apart)
            gram[a * count + a] = to_first * to_first
        mirror(gram, count)


@njit(cache=True, nogil=True)
def table_grams(
    indptr: Integers, indices: Integers, distances: Floats, squared: Floats, places: Integers, grams: Floats
) -> None:
    """G_jk = (d_j^2 + d_k^2 - d_jk^2) / 2 from scaled distances, d_jk^2 in a table of all points."""
    for i in range(indptr.shape[0] - 1):
        first, count = indptr[i], indptr[i + 1] - indptr[i]
        scale = shrinking(distances, first, first + count)
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        for a in range(count):
            to_first = distances[first + a] * scale
            line = squared[indices[first + a]]
            for b in range(a):
                to_second = distances[first + b] * scale
                apart = line[indices[first + b]] * scale * scale
                gram[a * count + b] = 0.5 * (to_first * to_first + to_second * to_second - apart)
            gram[a * count + a] = to_first * to_first
        mirror(gram, count)


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def solve_for_ones(factor: Floats, weights: Floats, smallest: float) -> bool:
    """Solve A w = 1 by Cholesky, A in ``factor`` (overwritten); False where a pivot is under ``smallest``."""
    count = weights.shape[0]
    for a in range(count):
        right = 1.0
        for b in range(a + 1):
            value = factor[a, b]
            for c in range(b):
                value -= factor[a, c] * factor[b, c]
            if b < a:
                value *= factor[b, b]
                factor[a, b] = value
                right -= value * weights[b]
            elif value > smallest:
                # The inverse of the pivot's root: one division, and products from here on.
                factor[a, a] = 1.0 / np.sqrt(value)
            else:
                return False
        weights[a] = right * factor[a, a]
    for a in range(count - 1, -1, -1):
        weights[a] *= factor[a, a]
        for b in range(a):
            weights[b] -= factor[a, b] * weights[a]
    return True


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def ridged(gram: Floats, count: int, ridge: float, factor: Floats) -> None:
    """factor = G + ridge I."""
    for a in range(count):
        for b in range(count):
            factor[a, b] = gram[a * count + b]
        factor[a, a] += ridge


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def weights_of_gram(gram: Floats, reg: float, factor: Floats, weights: Floats) -> bool:
    """Solve (G + reg tr(G) I) w = 1 and scale w to the sum 1 (Roweis & Saul 2000; Saul & Roweis 2003).

    ``factor`` is room for the matrix. False where it is not positive definite; then the weights are left undefined.
    """
    count = weights.shape[0]
    trace = 0.0
    for a in range(count):
        trace += gram[a * count + a]
    if count == 1 or not trace > 0.0:
        for a in range(count):
            weights[a] = 1.0 / count
        return True
    ridged(gram, count, reg * trace, factor)
    if not solve_for_ones(factor, weights, SMALLEST_PIVOT * trace):
        return False
    to_unit_sum(weights)
    return True


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def to_unit_sum(weights: Floats) -> None:
    """Divide by the sum."""
    total = 0.0
    for a in range(weights.shape[0]):
        total += weights[a]
    for a in range(weights.shape[0]):
        weights[a] /= total


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def shifted_weights_of_gram(gram: Floats, reg: float, weights: Floats) -> None:
    """Weights where G is singular or indefinite: its spectrum is moved up by -min(0, lambda_min(G)).

    The ridge is then at least ``RIDGE`` tr(G). For weights of sum 1, moving the spectrum by c is the same as
    adding 2 c to every squared distance (constant shift embedding, Roth et al. 2003).
    """
    count = weights.shape[0]
    trace = 0.0
    for a in range(count):
        trace += gram[a * count + a]
    factor = np.empty((count, count))
    ridged(gram, count, 0.0, factor)
    lowest = eigenvalues(factor)[count - 1]
    ridged(gram, count, max(reg, RIDGE) * trace - min(0.0, lowest), factor)
    solve_for_ones(factor, weights, 0.0)
    to_unit_sum(weights)


@njit(cache=True, nogil=True)
def block_weights(
    grams: Floats,
    indptr: Integers,
    places: Integers,
    reg: float,
    snap: bool,
    weights: Floats,
    unsolved: Integers,
) -> int:
    """Weights of a block of rows; with ``snap`` a row that lies on a neighbour is that neighbour alone.

    Rows whose matrix is not positive definite are listed in ``unsolved``; returns how many there are.
    """
    left, longest = 0, 0
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    factor = np.empty((longest, longest))
    for i in range(indptr.shape[0] - 1):
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        row = weights[indptr[i] : indptr[i + 1]]
        count = row.shape[0]
        if count == 0:
            continue
        hit = -1
        if snap:
            for a in range(count):
                if gram[a * count + a] == 0.0:
                    hit = a
                    break
        if hit >= 0:
            for a in range(count):
                row[a] = 0.0
            row[hit] = 1.0
        elif not weights_of_gram(gram, reg, factor, row):
            unsolved[left] = i
            left += 1
    return left


@njit(cache=True, nogil=True)
def shifted_block_weights(
    grams: Floats, indptr: Integers, places: Integers, reg: float, rows: Integers, weights: Floats
) -> None:
    """Weights of the given rows of a block by a shifted spectrum."""
    for i in rows:
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        shifted_weights_of_gram(gram, reg, weights[indptr[i] : indptr[i + 1]])
