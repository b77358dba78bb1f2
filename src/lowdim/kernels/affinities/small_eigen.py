"""Eigenpairs of one small symmetric matrix: Householder reduction to tridiagonal form, then implicit QL.

Neighbourhoods have some ten to a hundred points, where calling LAPACK costs more than the arithmetic. Vectors
are kept in rows, so that every inner loop runs along memory. Kernels copy by loops and sort by their own few
lines: Numba compiles NumPy's sorts, fancy indices and slice assignments some ten times as long as a loop.

Reordering of sums (``reassoc``) and fused products (``contract``) are allowed: they move the last bit only,
in the same way at every call, and let the inner products use vector instructions.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit

FLAGS = {"reassoc", "contract", "nsz"}
EPSILON = 2.220446049250313e-16
# QL needs under two sweeps per eigenvalue; the limit only ends a matrix that holds NaN.
MAX_SWEEPS = 60


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def tridiagonalise(A: Floats, diagonal: Floats, beside: Floats, scales: Floats) -> None:
    """Reduce symmetric A to Q'AQ = tridiag(``beside``, ``diagonal``, ``beside``); A is overwritten.

    Row j of A then holds, from column j + 1 on, the vector v of the reflector I - ``scales[j]`` v v'.
    """
    n = A.shape[0]
    space = np.empty(n)
    for j in range(n - 1):
        # Views that start at zero: an index that might be negative would keep the loops from vector
        # instructions.
        v, product = A[j, j + 1 :], space[j + 1 :]
        size = v.shape[0]
        head = v[0]
        v[0] = 0.0
        tail = 0.0
        for c in range(size):
            tail += v[c] * v[c]
        diagonal[j] = A[j, j]
        if tail == 0.0:
            beside[j] = head
            scales[j] = 0.0
            continue
        length = np.sqrt(head * head + tail)
        value = -length if head > 0.0 else length
        beside[j] = value
        # v = x - value e_1: both terms have one sign, so that nothing cancels.
        v[0] = head - value
        scale = 1.0 / (value * (value - head))
        scales[j] = scale
        dot = 0.0
        for a in range(size):
            line = A[j + 1 + a, j + 1 :]
            total = 0.0
            for c in range(size):
                total += line[c] * v[c]
            product[a] = scale * total
            dot += product[a] * v[a]
        half = 0.5 * scale * dot
        for a in range(size):
            product[a] -= half * v[a]
        for a in range(size):
            line = A[j + 1 + a, j + 1 :]
            left, right = v[a], product[a]
            for c in range(size):
                line[c] -= left * product[c] + right * v[c]
    diagonal[n - 1] = A[n - 1, n - 1]
    beside[n - 1] = 0.0


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def implicit_ql(diagonal: Floats, beside: Floats, vectors: Floats, with_vectors: bool) -> None:
    """Eigenvalues of a tridiagonal matrix into ``diagonal``, in no order; ``vectors`` turn along, by rows."""
    n = diagonal.shape[0]
    for first in range(n):
        for _ in range(MAX_SWEEPS):
            last = first
            while last < n - 1:
                size = abs(diagonal[last]) + abs(diagonal[last + 1])
                if abs(beside[last]) <= EPSILON * size:
                    break
                last += 1
            if last == first:
                break
            # Wilkinson's shift: the eigenvalue of the leading 2 x 2 block next to its corner.
            ratio = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first])
            root = np.hypot(ratio, 1.0)
            signed = root if ratio >= 0.0 else -root
            g = diagonal[last] - diagonal[first] + beside[first] / (ratio + signed)
            sine, cosine, shift = 1.0, 1.0, 0.0
            split = False
            for i in range(last - 1, first - 1, -1):
                f = sine * beside[i]
                b = cosine * beside[i]
                length = np.sqrt(f * f + g * g)
                beside[i + 1] = length
                if length == 0.0:
                    diagonal[i + 1] -= shift
                    beside[last] = 0.0
                    split = True
                    break
                sine = f / length
                cosine = g / length
                g = diagonal[i + 1] - shift
                chase = (diagonal[i] - g) * sine + 2.0 * cosine * b
                shift = sine * chase
                diagonal[i + 1] = g + shift
                g = cosine * chase - b
                if with_vectors:
                    upper, lower = vectors[i], vectors[i + 1]
                    for c in range(upper.shape[0]):
                        kept = lower[c]
                        lower[c] = sine * upper[c] + cosine * kept
                        upper[c] = cosine * upper[c] - sine * kept
            if not split:
                diagonal[first] -= shift
                beside[first] = g
                beside[last] = 0.0


@njit(cache=True, nogil=True)
def falling_order(values: Floats) -> Integers:
    """Places of the values from the largest to the smallest, by insertion: there are few."""
    order = np.empty(values.shape[0], dtype=np.int64)
    for a in range(values.shape[0]):
        place = a
        while place > 0 and values[order[place - 1]] < values[a]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = a
    return order


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def eigenvalues(A: Floats) -> Floats:
    """Eigenvalues of symmetric A, largest first; A is overwritten."""
    n = A.shape[0]
    diagonal, beside, scales = np.empty(n), np.empty(n), np.empty(n)
    peak = unit_scale(A)
    tridiagonalise(A, diagonal, beside, scales)
    implicit_ql(diagonal, beside, A, False)
    order = falling_order(diagonal)
    for a in range(n):
        beside[a] = diagonal[order[a]] * peak
    return beside


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def decompose(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues of symmetric A, largest first, and what ``turn_back`` needs; A is overwritten."""
    n = A.shape[0]
    diagonal, beside, scales = np.empty(n), np.empty(n), np.empty(n)
    peak = unit_scale(A)
    tridiagonalise(A, diagonal, beside, scales)
    turned = np.zeros((n, n))
    for a in range(n):
        turned[a, a] = 1.0
    implicit_ql(diagonal, beside, turned, True)
    order = falling_order(diagonal)
    vectors = np.empty((n, n))
    for a in range(n):
        beside[a] = diagonal[order[a]] * peak
        for c in range(n):
            vectors[a, c] = turned[order[a], c]
    return beside, vectors, scales


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def turn_back(A: Floats, scales: Floats, vector: Floats) -> None:
    """Make an eigenvector of the tridiagonal matrix one of the matrix given to ``decompose``, in place."""
    for j in range(A.shape[0] - 2, -1, -1):
        if scales[j] == 0.0:
            continue
        v, part = A[j, j + 1 :], vector[j + 1 :]
        total = 0.0
        for c in range(v.shape[0]):
            total += v[c] * part[c]
        total *= scales[j]
        for c in range(v.shape[0]):
            part[c] -= total * v[c]


@njit(cache=True, nogil=True, forceinline=True, fastmath=FLAGS)
def unit_scale(A: Floats) -> float:
    """Divide A by its largest entry and return that, so that no square inside over- or underflows."""
    peak = 0.0
    for a in range(A.shape[0]):
        for c in range(A.shape[1]):
            peak = max(peak, abs(A[a, c]))
    if peak == 0.0 or not np.isfinite(peak):
        return 1.0
    inverse = 1.0 / peak
    for a in range(A.shape[0]):
        for c in range(A.shape[1]):
            A[a, c] *= inverse
    return peak
