"""Lanczos on S itself, at the end where its eigenvalues lie apart: products only, no factor.

The largest eigenvalues of a Gram matrix, or the smallest of a graph Laplacian, which are the largest of |S| - S. Krylov
spaces do not see the shift, but at the small end the projected trivial directions, whose eigenvalue is 0, then lie at
the far end, and rounding cannot bring them back. The effort is bounded; where gaps are tiny the ladder moves on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ... import kernels
from ...core.records import Floats
from ...spectral.operators import CenteredGram
from . import krylov
from .common import Settings, SolverFailure, Standard, Trial

ROUGH = 1e-2
"""Tolerance from which a solution is only a start for something else, which does not miss what a second look finds."""

PATIENCE = 400
"""Products that Lanczos may take whatever a factor costs: its end comes suddenly."""
#: Residual relative to the values themselves, above which they may as well be zero.
_BLIND = 2.5
#: Columns of a wide block, and such blocks that are held before a restart: a dozen passes are enough for most.
_WIDE, _BLOCKS = 4, 12


def solve(
    standard: Standard,
    settings: Settings,
    *,
    max_products: int = 20_000,
    give_up: bool = False,
    trial: int = 0,
    reconsider: Callable[[], int] | None = None,
) -> Trial:
    """Wanted eigenvectors by block thick-restart Lanczos, within ``max_products`` products with one column.

    With ``give_up`` it stops as soon as it sees that they will not do, and after a ``trial`` of so many where they
    have not told one wanted eigenvalue from zero: those that will be found soon have shown by then. What took longer
    than most is worth a better forecast: ``reconsider`` then says how many products there may be at most. A block is
    two columns wide, or as many as a product takes for the price of one.
    """
    k = settings.n_components
    room = standard.room
    is_largest = standard.problem.end == "largest"
    wide = _wide(standard, settings)
    width = max(1, min(wide or 2, room))
    columns = max(basis_size(k), _BLOCKS * wide)
    if columns + width > room:
        raise SolverFailure(f"a Krylov basis of {columns} vectors does not fit a space of {room}")

    history: list[tuple[int, float]] = []
    # Where |S| is not known there is no shift, and it is the largest Ritz value of either sign that has been seen.
    seen, most, is_settled = standard, max_products, reconsider is None

    def judge(values: Floats, residuals: Floats, products: int) -> krylov.Verdict:
        nonlocal seen, most, is_settled
        settings.run.progress(min(products, most), most)
        if not standard.norm:
            seen = replace(seen, norm=max(seen.norm, abs(values[0]), abs(values[-1])))
        values = values[:k]
        bound = seen.bound(values - standard.norm, settings.tolerance)
        worst = float(residuals.max())
        if worst <= bound:
            return "good"
        history.append((products, worst / bound if bound > 0 else np.inf))
        if not is_settled and reconsider is not None and products >= PATIENCE:
            most, is_settled = min(most, reconsider()), True
        is_blind = products >= trial > 0 and worst > _BLIND * np.abs(values - standard.norm).max()
        stalls = give_up and (_stalls(history, most) or (is_blind and products < 2 * trial))
        return "hopeless" if stalls or products >= most else "go on"

    found = krylov.largest(
        _shifted(standard),
        standard.begin(settings, width),
        k,
        judge=judge,
        basis_size=columns,
        trivial=standard.trivial,
        room=room,
        # A block as wide as what is wanted misses no copy of a multiple eigenvalue that is.
        second_look=0 if settings.tolerance >= ROUGH or k <= width else 6 if is_largest else columns,
        resolution=standard.bound(np.zeros(1), 0.0),
        check_every=1 if wide else krylov.CHECK_EVERY,
        run=settings.run,
    )
    result = Trial(found.vectors, found.products, seen.norm)
    if not found.converged:
        worst = float(np.max(found.residuals)) / (seen.norm or 1.0)
        raise SolverFailure(f"residual {worst:.1e} |A| after {found.products} products", result)
    return result


def _shifted(standard: Standard) -> Callable[[Floats], Floats]:
    """|S| Y +- S Y as a function of Y, in the one new array."""
    sign = 1.0 if standard.problem.end == "largest" else -1.0

    def image(Y: Floats) -> Floats:
        if standard.rows is not None:
            compiled: Floats = kernels.spectral.lanczos.product(standard.rows, standard.norm, sign, Y)
            return compiled
        if not standard.norm:
            return standard.raw(Y)
        scaled = standard.norm * Y
        return (np.add if sign > 0 else np.subtract)(scaled, standard.raw(Y), scaled)

    return image


def _wide(standard: Standard, settings: Settings) -> int:
    """Columns of a block where a product takes several for the price of one; 0 where that is no gain or has no room.

    As many as are drawn for a block of two and its second look, which a block that is wider than what is wanted does
    not need: it misses no copy of a multiple eigenvalue.
    """
    is_dense = isinstance(standard.problem.operator, CenteredGram) and settings.tolerance < ROUGH
    has_room = settings.n_components < _WIDE and standard.room > (_BLOCKS + 1) * _WIDE
    return _WIDE if is_dense and has_room else 0


def basis_size(n_components: int) -> int:
    """Vectors that are held: more of them save few products, and no longer stay in cache."""
    return max(2 * n_components + 20, 24)


def _stalls(history: list[tuple[int, float]], max_products: int) -> bool:
    """Whether, after a third of the products, the residuals fall so slowly that three times those left would not do.

    Lanczos speeds up once the Ritz values have settled, hence the patience at the start and the factor of
    three.
    """
    products, now = history[-1]
    if products < max_products // 3:
        return False
    earlier = next(past for when, past in history if when >= products // 2)
    rate = np.log(max(earlier / now, 1.0)) / (products - products // 2)
    return bool(np.log(now) > 3 * rate * (max_products - products))
