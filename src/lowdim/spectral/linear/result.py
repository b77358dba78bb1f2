"""What every solver of principal components returns, and the conventions that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ...core.messages import named, setting
from ...core.records import Floats
from ...errors import InputError
from ..signs import leading_signs
from .dimension import likeliest_dimension

Components: TypeAlias = int | float | Literal["mle"] | None
"""How many components: a count, a share of the variance in (0, 1), Minka's estimate, or None for all."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """Principal components: orthonormal rows ``components`` (d x D), largest variance first, signs fixed.

    ``explained_variance`` is the sample variance (divisor N - 1) along each of them, ``total_variance`` that of all
    columns together, ``noise_variance`` the mean variance of the directions left out (Tipping & Bishop 1999, eq. 8).
    ``residuals`` are |C e - lambda e| / lambda_1 with the covariance C where the solver is iterative, else None.
    """

    mean: Floats
    components: Floats
    explained_variance: Floats
    total_variance: float
    n_samples: int
    residuals: Floats | None = None
    passes: int = 1

    @property
    def explained_variance_ratio(self) -> Floats:
        """Share of the total variance along each component; zero where the data do not vary."""
        if self.total_variance <= 0:
            return np.zeros_like(self.explained_variance)
        return self.explained_variance / self.total_variance

    @property
    def singular_values(self) -> Floats:
        """Singular values of the centred data."""
        return np.sqrt(self.explained_variance * max(self.n_samples - 1, 1))

    @property
    def noise_variance(self) -> float:
        """Mean variance of the directions left out."""
        left_out = min(self.n_samples, self.mean.size) - self.explained_variance.size
        if left_out <= 0:
            return 0.0
        return max(self.total_variance - float(self.explained_variance.sum()), 0.0) / left_out


def assemble(
    mean: Floats,
    components: Floats,
    variances: Floats,
    total: float,
    n_samples: int,
    *,
    residuals: Floats | None = None,
    passes: int = 1,
) -> LinearFit:
    """A fit from raw eigenpairs: rounding noise set to zero variance, signs fixed."""
    epsilon = np.finfo(np.float64).eps
    # Below this lies what the rounding of the largest variance, or of the mean itself, leaves behind.
    floor = max(
        max(n_samples, mean.size) * epsilon * variances.max(initial=0.0), 4 * epsilon**2 * float(mean @ mean)
    )
    variances = np.where(variances > floor, variances, 0.0)
    return LinearFit(mean, fix_signs(components), variances, float(total), n_samples, residuals, passes)


def fix_signs(components: Floats) -> Floats:
    """The rows with their largest absolute entry positive."""
    return np.ascontiguousarray(components * leading_signs(components.T)[:, None])


def needs_spectrum(n_components: Components) -> bool:
    """Whether the number of components is known from all variances only."""
    return not isinstance(n_components, int | np.integer)


def components_to_compute(n_components: Components, shape: tuple[int, int]) -> int:
    """How many components an exact solver computes: all that there are where the number is known only from them."""
    if isinstance(n_components, int | np.integer):
        return min(int(n_components), shape[1])
    return min(shape)


def resolve_components(variances: Floats, total: float, n_components: Components, n_samples: int) -> int:
    """Number of components to keep of all ``variances``, largest first.

    A share in (0, 1) keeps the fewest whose variance together exceeds it, as scikit-learn does; ``"mle"`` the number
    that explains the rows best (Minka 2000).
    """
    if n_components is None:
        return variances.size
    if isinstance(n_components, int | np.integer):
        return min(int(n_components), variances.size)
    if n_components == "mle":
        return likeliest_dimension(variances, n_samples)
    if total <= 0:
        return min(1, variances.size)
    # Summed as who reads `explained_variance_ratio_` sums: a share taken from there is met to the last digit.
    shares = np.cumsum(variances / total)
    return min(int(np.searchsorted(shares, n_components, side="right")) + 1, variances.size)


def require_count(n_components: Components, solver: str) -> int:
    """The count as an int, for solvers that must know it before they start."""
    if isinstance(n_components, int | np.integer):
        return int(n_components)
    raise InputError(
        f"{named('n_components')}: {setting('solver', solver)} needs a whole number, got {n_components!r}; give "
        f"one, or use {setting('solver', 'covariance')} or 'snapshot', which see the whole spectrum"
    )
