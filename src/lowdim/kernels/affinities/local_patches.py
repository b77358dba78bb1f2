"""Local matrices of the LLE family, one for each neighbourhood, from its Gram matrix.

``grams`` and ``out`` hold square matrices end to end, as ``local_linear`` lays them; ``indptr`` and
``places`` are those of the block of rows. Local matrices are positive semidefinite and send the constant
vector to zero, up to rounding.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .local_linear import mirror, shifted_weights_of_gram, weights_of_gram
from .small_eigen import FLAGS, decompose, eigenvalues, turn_back

# Directions whose share of the largest eigenvalue is below this are rounding, not tangents.
RANK_TOLERANCE = 1e-12
# A quadratic column that loses all but this share of its length to the columns before it adds nothing new.
DEPENDENT = 1e-7


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def square(gram: Floats, count: int) -> Floats:
    """A copy of one Gram matrix with two axes."""
    matrix = np.empty((count, count))
    for a in range(count):
        for b in range(count):
            matrix[a, b] = gram[a * count + b]
    return matrix


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def centre(matrix: Floats) -> None:
    """H G H with H = I - 11'/k: the Gram matrix about the mean of the neighbours."""
    count = matrix.shape[0]
    means = np.zeros(count)
    for a in range(count):
        row = matrix[a]
        for b in range(count):
            means[b] += row[b]
    total = 0.0
    for b in range(count):
        means[b] /= count
        total += means[b]
    total /= count
    for a in range(count):
        row = matrix[a]
        for b in range(count):
            row[b] += total - means[a] - means[b]


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def orthonormalise(basis: Floats, used: int) -> bool:
    """Make row ``used`` of ``basis`` orthonormal to the rows before it; False where it depends on them."""
    row = basis[used]
    size = row.shape[0]
    length = 0.0
    for c in range(size):
        length += row[c] * row[c]
    # Once more than in exact arithmetic: what rounding leaves of the earlier rows goes in the second turn.
    for _ in range(2):
        for place in range(used):
            other = basis[place]
            total = 0.0
            for c in range(size):
                total += row[c] * other[c]
            for c in range(size):
                row[c] -= total * other[c]
    rest = 0.0
    for c in range(size):
        rest += row[c] * row[c]
    if not rest > DEPENDENT * DEPENDENT * length:
        return False
    inverse = 1.0 / np.sqrt(rest)
    for c in range(size):
        row[c] *= inverse
    return True


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def tangent_basis(gram: Floats, count: int, n_components: int, basis: Floats) -> int:
    """Rows of ``basis``: 1/sqrt(k), then the unit tangent coordinates of the patch; returns how many.

    The tangent coordinates are the leading eigenvectors of the centred Gram matrix: the left singular vectors
    of the centred patch, without its coordinates. A patch of lower dimension has fewer of them.
    """
    matrix = square(gram, count)
    centre(matrix)
    values, turned, scales = decompose(matrix)
    for c in range(count):
        basis[0, c] = 1.0 / np.sqrt(count)
    used = 1
    for place in range(n_components):
        if not values[place] > RANK_TOLERANCE * values[0]:
            break
        for c in range(count):
            basis[used, c] = turned[place, c]
        turn_back(matrix, scales, basis[used])
        if orthonormalise(basis, used):
            used += 1
    return used


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def subtract_projection(basis: Floats, used: int, local: Floats) -> None:
    """local = I - sum of b b' over the first ``used`` rows of ``basis``."""
    count = basis.shape[1]
    local[:] = 0.0
    for a in range(count):
        line = local[a * count : (a + 1) * count]
        line[a] = 1.0
        for place in range(used):
            row = basis[place]
            left = row[a]
            for b in range(count):
                line[b] -= left * row[b]


@njit(cache=True, nogil=True, fastmath=FLAGS)
def alignment_block(
    grams: Floats, indptr: Integers, places: Integers, n_components: int, out: Floats
) -> None:
    """LTSA: I - G G', G = [1/sqrt(k), U] with U the tangent coordinates (Zhang & Zha 2004)."""
    for i in range(indptr.shape[0] - 1):
        count = indptr[i + 1] - indptr[i]
        own = slice(places[i] - places[0], places[i + 1] - places[0])
        basis = np.empty((n_components + 1, count))
        used = tangent_basis(grams[own], count, n_components, basis)
        subtract_projection(basis, used, out[own])
        mirror(out[own], count)


@njit(cache=True, nogil=True, fastmath=FLAGS)
def hessian_block(grams: Floats, indptr: Integers, places: Integers, n_components: int, out: Floats) -> None:
    """HLLE: H'H, the rows of H being the last part of an orthonormal [1, U, U_a U_b] (Donoho & Grimes 2003).

    Columns that a patch on a lattice or a curve makes dependent are left out.
    """
    n_products = n_components * (n_components + 1) // 2
    for i in range(indptr.shape[0] - 1):
        count = indptr[i + 1] - indptr[i]
        local = out[places[i] - places[0] : places[i + 1] - places[0]]
        basis = np.empty((1 + n_components + n_products, count))
        linear = tangent_basis(
            grams[places[i] - places[0] : places[i + 1] - places[0]], count, n_components, basis
        )
        used = linear
        for first in range(1, linear):
            for second in range(first, linear):
                for c in range(count):
                    basis[used, c] = basis[first, c] * basis[second, c]
                if orthonormalise(basis, used):
                    used += 1
        local[:] = 0.0
        for a in range(count):
            line = local[a * count : (a + 1) * count]
            for place in range(linear, used):
                row = basis[place]
                left = row[a]
                for b in range(count):
                    line[b] += left * row[b]
        mirror(local, count)


@njit(cache=True, nogil=True, fastmath=FLAGS)
def residual_ratios(
    grams: Floats, indptr: Integers, places: Integers, n_components: int, ratios: Floats
) -> None:
    """rho_i = sum_{j > d} lambda_j / sum_{j <= d} lambda_j over the eigenvalues of each Gram matrix."""
    for i in range(indptr.shape[0] - 1):
        count = indptr[i + 1] - indptr[i]
        values = eigenvalues(square(grams[places[i] - places[0] : places[i + 1] - places[0]], count))
        ratios[i] = tail_ratio(values, n_components)


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def tail_ratio(values: Floats, kept: int) -> float:
    """Sum of the eigenvalues after the first ``kept`` over the sum of those; negative ones count as zero."""
    head, tail = 0.0, 0.0
    for place in range(values.shape[0]):
        if place < kept:
            head += max(values[place], 0.0)
        else:
            tail += max(values[place], 0.0)
    return tail / head if head > 0.0 else 0.0


@njit(cache=True, nogil=True, fastmath=FLAGS)
def modified_block(
    grams: Floats,
    indptr: Integers,
    places: Integers,
    own: Integers,
    n_components: int,
    threshold: float,
    reg: float,
    out: Floats,
) -> None:
    """Modified LLE: sum over the columns w of W_i of (e_i - w)(e_i - w)' (Zhang & Wang 2006).

    The patch of row i is its neighbours and itself, which stands at place ``own[i]``. With V the eigenvectors
    of the s smallest eigenvalues, W_i = V (I - 2 h h') + (1 - alpha) w 1'. Since I - 2 h h' sends V'1 to
    alpha 1, both sums that are needed follow from the complement U of V alone: with v = VV'1 = 1 - UU'1 and
    alpha = |v| / sqrt(s),

        W_i 1 = v / alpha + (1 - alpha) s w
        W_i W_i' = I - UU' + (1 - alpha) (v w' + w v') / alpha + (1 - alpha)^2 s w w'
    """
    for i in range(indptr.shape[0] - 1):
        count = indptr[i + 1] - indptr[i]
        gram = grams[places[i] - places[0] : places[i + 1] - places[0]]
        matrix = square(gram, count)
        values, turned, scales = decompose(matrix)
        kept = n_components
        while kept < count - 1 and tail_ratio(values, kept) > threshold:
            kept += 1
        v = np.ones(count)
        for place in range(kept):
            turn_back(matrix, scales, turned[place])
            row = turned[place]
            total = 0.0
            for c in range(count):
                total += row[c]
            for c in range(count):
                v[c] -= total * row[c]
        projector = np.empty(count * count)
        subtract_projection(turned, kept, projector)
        w = np.empty(count)
        if not weights_of_gram(gram, reg, np.empty((count, count)), w):
            shifted_weights_of_gram(gram, reg, w)
        start = places[i] - places[0] + 2 * indptr[i] + i
        local = out[start : start + (count + 1) * (count + 1)]
        join_weights(projector, v, w, float(count - kept), own[i], local)


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def join_weights(projector: Floats, v: Floats, w: Floats, s: float, own: int, local: Floats) -> None:
    """The local matrix of modified LLE on neighbours and point, in the order of the patch."""
    count = v.shape[0]
    width = count + 1
    squared = 0.0
    for c in range(count):
        squared += v[c] * v[c]
    alpha = np.sqrt(squared / s)
    # With V orthogonal to the constant vector v / alpha has no direction: without it the matrix keeps all it
    # must have.
    inverse = 1.0 / alpha if alpha > RANK_TOLERANCE else 0.0
    rest = 1.0 - alpha
    local[own * width + own] = s
    for a in range(count):
        row = a + (a >= own)
        across = inverse * v[a] + rest * s * w[a]
        local[row * width + own] = -across
        local[own * width + row] = -across
        for b in range(a + 1):
            value = projector[a * count + b] + rest * inverse * (v[a] * w[b] + w[a] * v[b])
            value += rest * rest * s * w[a] * w[b]
            column = b + (b >= own)
            local[row * width + column] = value
            local[column * width + row] = value


@njit(cache=True, nogil=True)
def add_own(
    indptr: Integers, indices: Integers, start: int, stop: int, own: Integers, patch_indices: Integers
) -> None:
    """Patches of neighbours and the point itself, by rising index; ``own`` is the place of the point."""
    for i in range(start, stop):
        row = indices[indptr[i] : indptr[i + 1]]
        patch = patch_indices[indptr[i] + i : indptr[i + 1] + i + 1]
        place = 0
        for a in range(row.shape[0]):
            after = row[a] > i
            patch[a + after] = row[a]
            place += 1 - after
        patch[place] = i
        own[i] = place
