"""How the gradient of a potential at a point changes where the others move, from sums of an engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.records import Floats


def bends_by_sums(sums: Callable[[Floats, int], Floats], X: Floats, charges: Floats) -> Floats:
    """sum_{m != n} (2 K_1 - 4 K_2 u u') c_m, u = x_n - x_m, for charges that are vectors (N x d).

    u is multiplied out; the points are centred, so that little cancels.

    Parameters
    ----------
    sums
        sum_{m != n} K_order(D_nm) c_m for each column of charges, and the order.
    X
        Points.
    charges
        c, of either sign.
    """
    x, d = X - X.mean(axis=0), X.shape[1]
    along = np.einsum("ni,ni->n", x, charges)[:, None]
    crossed = (x[:, :, None] * charges[:, None, :]).reshape(-1, d * d)
    second = sums(np.hstack([charges, crossed, x * along]), 2)
    plain, cross, square = second[:, :d], second[:, d : d + d * d].reshape(-1, d, d), second[:, d + d * d :]
    trace = np.einsum("nii->n", cross)
    there = (
        x * (np.einsum("ni,ni->n", x, plain) - trace)[:, None] - np.einsum("nij,nj->ni", cross, x) + square
    )
    return np.asarray(2.0 * sums(charges, 1) - 4.0 * there)
