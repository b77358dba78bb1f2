"""Block thick-restart Lanczos for the largest eigenvalues of a symmetric map, the engine of two solvers.

Every new block is orthogonalised against the whole basis, twice, so that no copy of a found eigenvector comes back
(Wu & Simon 2000; Stewart 2002). The block sees multiplicities up to its width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...records import Floats


@dataclass(frozen=True, slots=True)
class Krylov:
    """Ritz pairs, largest first, the norms of their residuals in the mapped problem, and what they cost."""

    values: Floats
    vectors: Floats
    residuals: Floats
    products: int
    converged: bool


def largest(
    apply: Callable[[Floats], Floats],
    start: Floats,
    n_wanted: int,
    *,
    accept: Callable[[Floats, Floats], bool],
    basis_size: int,
    max_products: int,
    fresh: Callable[[int], Floats],
    room: int,
    watch: Callable[[int], None] = lambda products: None,
) -> Krylov:
    """Largest ``n_wanted`` eigenpairs of a symmetric map.

    Parameters
    ----------
    apply
        The map, on a block of columns (N x b).
    start
        Orthonormal columns (N x b); b is the width of the block.
    n_wanted
        Eigenpairs wanted.
    accept
        Given the wanted Ritz values and the norms of their residuals, says whether they are good enough.
    basis_size
        Columns of the basis before a restart.
    max_products
        Products of the map with one column after which to give up.
    fresh
        Gives so many new random columns, for when the space closes.
    room
        Dimension of the space in which the map works: N without the trivial directions.
    watch
        Called with the number of products after each check.
    """
    size, width = start.shape
    capacity = min(basis_size, room)
    basis = np.empty((capacity + width, size))
    small = np.zeros((capacity, capacity))
    basis[:width] = start.T
    filled, products, since_check = 0, 0, 0
    while True:
        block = np.ascontiguousarray(basis[filled : filled + width].T)
        image = np.ascontiguousarray(apply(block).T)
        products += width
        filled += width
        coupling, remainder = _expand(basis, small, filled, width, image, fresh)
        basis[filled : filled + width] = remainder
        since_check += 1
        full = filled + width > capacity
        if not full and (since_check < 5 or filled < n_wanted + width):
            continue
        since_check = 0
        theta, rotation = linalg.eigh(small[:filled, :filled])
        theta, rotation = theta[::-1], rotation[:, ::-1]
        residuals = np.linalg.norm(coupling @ rotation[filled - width :], axis=0)
        watch(products)
        good = filled >= n_wanted and accept(theta[:n_wanted], residuals[:n_wanted])
        if good or products >= max_products:
            vectors = basis[:filled].T @ rotation[:, :n_wanted]
            return Krylov(theta[:n_wanted], vectors, residuals[:n_wanted], products, good)
        if full:
            filled = _restart(basis, small, theta, rotation, n_wanted, filled, width)
            basis[filled : filled + width] = remainder


def _expand(
    basis: Floats, small: Floats, filled: int, width: int, image: Floats, fresh: Callable[[int], Floats]
) -> tuple[Floats, Floats]:
    """Put the coefficients of a block's image into the small matrix; return its coupling to the rest, and the rest.

    The last two blocks hold nearly all of the image (the three-term recurrence): with them taken off first, one pass over the
    whole basis is the reorthogonalisation. A second follows where that pass took much, as after a restart.
    """
    found = basis[:filled]
    near = basis[max(0, filled - 2 * width) : filled]
    coefficients = np.zeros((filled, width))
    coefficients[filled - near.shape[0] :] = _take_off(near, image)
    for _ in range(3):
        before = np.linalg.norm(image, axis=1)
        coefficients += _take_off(found, image)
        if np.all(np.linalg.norm(image, axis=1) > 0.7 * before):
            break
    small[:filled, filled - width : filled] = coefficients
    small[filled - width : filled, :filled] = coefficients.T
    scale = float(np.abs(small[:filled, :filled]).max(initial=0.0))
    coupling = np.zeros((width, width))
    for c in range(width):
        done = image[:c]
        coupling[:c, c] = _take_off(done, image[c : c + 1])[:, 0]
        length = float(np.linalg.norm(image[c]))
        if length <= 1e-14 * scale:
            # The space is invariant in this direction: go on with a new one that nothing couples to.
            image[c] = fresh(1)[:, 0]
        else:
            coupling[c, c] = length
        image[c] /= np.linalg.norm(image[c])
        if length <= 1e-4 * scale:
            # A short remainder is only as orthogonal as its length allows.
            for _ in range(2):
                _take_off(found, image[c : c + 1])
                _take_off(done, image[c : c + 1])
                image[c] /= np.linalg.norm(image[c])
    return coupling, image


def _take_off(found: Floats, image: Floats) -> Floats:
    """Remove from the rows of ``image``, in place, their parts along the rows of ``found``, and return the coefficients.

    Row by row: for the narrow blocks used here BLAS is no faster on all of them at once.
    """
    coefficients = np.empty((found.shape[0], image.shape[0]))
    for c, row in enumerate(image):
        coefficients[:, c] = found @ row
        row -= coefficients[:, c] @ found
    return coefficients


def _restart(
    basis: Floats, small: Floats, theta: Floats, rotation: Floats, n_wanted: int, filled: int, width: int
) -> int:
    """Keep the best Ritz vectors, more than wanted so that the next ones are not lost, and return how many."""
    keep = min(n_wanted + max(width, (filled - n_wanted) // 2), filled - width)
    basis[:keep] = rotation[:, :keep].T @ basis[:filled]
    small[:] = 0.0
    small[range(keep), range(keep)] = theta[:keep]
    return keep
