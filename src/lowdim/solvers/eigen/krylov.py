"""Block thick-restart Lanczos for the largest eigenvalues of a symmetric map, the engine of two solvers.

Every new block is orthogonalised against the whole basis, twice, so that no copy of a found eigenvector comes
back (Wu & Simon 2000; Stewart 2002). The block sees multiplicities up to its width, a second look from a new
start finds what it missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import linalg

from ... import kernels
from ...core.parallel import map_blocks
from ...core.records import Floats
from ...core.run import Run
from ...kernels.spectral.lanczos import ROUNDING, STRIP
from .common import lengths

CHECK_EVERY = 5
#: Length of a remainder, relative to the small matrix, below which it is cleaned before it is used.
SHORT = 1e-3
#: Entries of a basis from which the compiled loops are used (OpenBLAS would take threads, which spin), from which
#: threads pay.
_COMPILED = 9_000
_THREADED = 3_000_000
#: Multiply-adds of a matrix product that OpenBLAS leaves to one thread.
_ALONE = 200_000
Verdict = Literal["good", "go on", "hopeless"]


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
    judge: Callable[[Floats, Floats, int], Verdict],
    basis_size: int,
    trivial: Floats,
    room: int,
    second_look: int,
    resolution: float = 0.0,
    check_every: int = CHECK_EVERY,
    run: Run,
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
    judge
        Given all Ritz values, largest first, the norms of the residuals of the wanted ones and the products with one
        column so far, says whether they are good enough, or hopeless, or neither.
    basis_size
        Columns of the basis before a restart.
    trivial
        Orthonormal rows (t x N) off which the space lies that is searched; the map need not stay in it.
    run
        Events, workers and random numbers.
    room
        Dimension of that space.
    second_look
        Blocks to go on for from a new random start once all are good: the result stands if nothing larger
        turns up. 0: it stands at once.
    resolution
        What rounding alone may change a value by between the two looks.
    check_every
        Blocks from one judgement to the next, before the first that is good.
    """
    size, width = start.shape
    capacity = min(basis_size, room)
    basis = np.empty((capacity + width, size))
    small = np.zeros((capacity, capacity))
    basis[:width] = start.T
    filled, products, since = 0, 0, 0
    settled: Krylov | None = None

    def clean(rows: Floats, found: Floats) -> Floats:
        return _clean(rows, found, trivial, run)

    coupling = np.zeros((width, width))
    parts = np.empty((-(-size // STRIP), *basis.shape[:1], width)) if basis.size < _THREADED else None
    while True:
        image = apply(np.ascontiguousarray(basis[filled : filled + width].T)).T
        products, filled, since = products + width, filled + width, since + 1
        remainder = basis[filled : filled + width]
        remainder[:] = image
        if parts is None or not kernels.spectral.lanczos.expand(
            trivial, basis, small, filled, coupling, parts, SHORT
        ):
            block = np.array(image, order="C")
            coupling, remainder[:] = _expand(basis, small, filled, width, block, trivial, clean, run=run)
        full = filled + width > capacity
        if filled < n_wanted or (not full and since < (check_every if settled is None else second_look)):
            continue
        since = 0
        theta, rotation = linalg.eigh(small[:filled, :filled])
        theta, rotation = theta[::-1], rotation[:, ::-1]
        residuals = np.linalg.norm(coupling @ rotation[filled - width :], axis=0)
        wanted = theta[:n_wanted]
        verdict = judge(theta, residuals[:n_wanted], products)
        slack = max(1e-6 * np.abs(wanted).max(), resolution)
        unchanged = settled is not None and np.abs(wanted - settled.values).max() <= slack
        unchanged |= second_look == 0
        if verdict == "hopeless" or (verdict == "good" and unchanged):
            vectors = _turn(basis, rotation, np.empty((n_wanted, size))).T
            return Krylov(wanted, vectors, residuals[:n_wanted], products, verdict == "good")
        if settled is not None and unchanged:
            # Where one value is a million times the others its rounding errors hide theirs from a second look.
            return replace(settled, products=products)
        settled = None
        if verdict == "good":
            vectors = _turn(basis, rotation, np.empty((n_wanted, size))).T
            settled = Krylov(wanted.copy(), vectors, residuals[:n_wanted], products, True)
            # A Krylov space holds no more copies of a multiple eigenvalue than its block is wide: look again
            # from elsewhere. Only what has converged may stay, since the remainder that the rest couples to
            # is given up.
            filled = _restart(basis, small, theta, rotation, n_wanted)
            basis[filled : filled + width] = clean(
                run.random("solve").standard_normal((width, size)), basis[:filled]
            )
        elif full:
            filled = _restart(basis, small, theta, rotation, n_wanted + max(width, (filled - n_wanted) // 2))
            basis[filled : filled + width] = remainder


def _clean(rows: Floats, found: Floats, trivial: Floats, run: Run) -> Floats:
    """Orthonormal rows off the trivial ones, orthogonal to those found; random ones in place of zeros."""
    empty = ~rows.any(axis=1)
    rows[empty] = run.random("solve").standard_normal((int(empty.sum()), rows.shape[1]))
    for _ in range(3):
        for others in (trivial, trivial, found):
            _take_off(others, rows, run=run)
        rows = np.ascontiguousarray(np.linalg.qr(rows.T)[0].T)
    return rows


def _expand(
    basis: Floats,
    small: Floats,
    filled: int,
    width: int,
    image: Floats,
    trivial: Floats,
    clean: Callable[[Floats, Floats], Floats],
    run: Run,
) -> tuple[Floats, Floats]:
    """What the compiled `expand` does, on threads, and where the space closes; the coupling and the rest."""
    found = basis[:filled]
    near = basis[max(0, filled - 2 * width) : filled]
    coefficients = np.zeros((filled, width))
    coefficients[filled - near.shape[0] :] = _take_off(near, image, run=run)
    for _ in range(3):
        before = lengths(image)
        coefficients += _take_off(found, image, run=run)
        if np.all(lengths(image) > 0.7 * before):
            break
    small[:filled, filled - width : filled] = coefficients
    small[filled - width : filled, :filled] = coefficients.T
    scale = float(np.abs(small[:filled, :filled]).max(initial=0.0))
    _take_off(trivial, image, run=run)
    _take_off(trivial, image, run=run)
    coupling = np.zeros((width, width))
    for c in range(width):
        coupling[:c, c] = _take_off(image[:c], image[c : c + 1], run=run)[:, 0]
        length = float(lengths(image[c : c + 1])[0])
        if length > SHORT * scale:
            coupling[c, c] = length
            image[c] /= length
            continue
        # The space closes in this direction. What is left is rounding for the most part, and normalising it
        # would blow up whatever it holds of the basis and of the trivial span.
        if length <= ROUNDING * scale:
            image[c] = 0.0
        coupling[c, c] = length
        image[c] = clean(image[c : c + 1], np.concatenate((found, image[:c])))
    return coupling, image


def _take_off(found: Floats, block: Floats, run: Run) -> Floats:
    """Take off the rows of ``block``, in place, their parts along those of ``found``; return the coefficients."""
    if found.size < _COMPILED:
        coefficients: Floats = found @ block.T
        block -= coefficients.T @ found
        return coefficients
    size = block.shape[1]
    parts = np.empty((-(-size // STRIP), found.shape[0], block.shape[0]))

    def inner(strips: slice) -> None:
        kernels.spectral.basis.inner(found, block, parts, STRIP, strips.start, strips.stop)

    def subtract(strips: slice) -> None:
        kernels.spectral.basis.subtract(found, block, coefficients, STRIP, strips.start, strips.stop)

    is_large = found.size >= _THREADED
    n_jobs, at_once = run.n_jobs if is_large else 1, -(-len(parts) // 8) if is_large else len(parts)
    map_blocks(inner, len(parts), n_jobs=n_jobs, block_rows=at_once)
    coefficients = parts.sum(axis=0)
    map_blocks(subtract, len(parts), n_jobs=n_jobs, block_rows=at_once)
    return coefficients


def _restart(basis: Floats, small: Floats, theta: Floats, rotation: Floats, keep: int) -> int:
    """Keep the best Ritz vectors, and return how many."""
    keep = min(keep, theta.size)
    _turn(basis, rotation, basis[:keep])
    small[:] = 0.0
    small[range(keep), range(keep)] = theta[:keep]
    return keep


def _turn(basis: Floats, rotation: Floats, out: Floats) -> Floats:
    """The first Ritz vectors in rows, as many as ``out`` has, which may be the first of the basis."""
    filled, count = rotation.shape[0], out.shape[0]
    turn = np.ascontiguousarray(rotation[:, :count].T)
    # Strips so narrow that BLAS takes no threads for them: those spin, and on a busy machine cost ten times the work.
    step = max(64, _ALONE // (count * filled))
    for start in range(0, basis.shape[1], step):
        strip = slice(start, start + step)
        out[:, strip] = turn @ basis[:filled, strip]
    return out
