"""Principal components as a Gaussian density: y ~ N(mean, C), C = W' diag(l - s) W + s I (Tipping & Bishop 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.messages import named
from ...core.parallel import row_blocks
from ...core.records import Floats
from ...data.rows import Rows
from ...errors import InputError


@dataclass(frozen=True, slots=True)
class Density:
    """The density of rows with variance ``variances`` along orthonormal ``components`` and ``noise`` along all others.

    With the maximum-likelihood values C has the sample's variance along each component (Tipping & Bishop 1999, eq. 7),
    and the noise of the directions left out, their mean variance (eq. 8). Variances below the noise count as noise.
    """

    mean: Floats
    components: Floats
    variances: Floats
    noise: float

    @property
    def _along(self) -> Floats:
        return np.maximum(self.variances, self.noise)

    @property
    def _n_others(self) -> int:
        return self.mean.size - self.variances.size

    def covariance(self) -> Floats:
        """C = W' diag(l - s) W + s I, a D x D array."""
        weighted = (self._along - self.noise)[:, None] * self.components
        covariance = self.components.T @ weighted
        covariance.flat[:: covariance.shape[0] + 1] += self.noise
        return covariance

    def precision(self) -> Floats:
        """C^-1 = W' diag(1/l) W + (I - W'W) / s, a D x D array."""
        self._check_regular()
        along = self.components.T @ (self.components / self._along[:, None])
        if self._n_others == 0:
            return along
        others = -self.components.T @ self.components
        others.flat[:: others.shape[0] + 1] += 1.0
        return along + others / self.noise

    def log_density(self, rows: Rows) -> Floats:
        """-1/2 (D log 2 pi + log |C| + (y - mean)' C^-1 (y - mean)) of each row y (Tipping & Bishop 1999, eq. 4)."""
        self._check_regular()
        along = self._along
        log_determinant = float(np.sum(np.log(along)))
        if self._n_others > 0:
            log_determinant += self._n_others * np.log(self.noise)
        squares = np.empty(rows.n_rows)
        for part in row_blocks(rows.n_rows, rows.block_rows()):
            centred = rows.block(part) - self.mean
            inside = centred @ self.components.T
            squares[part] = np.sum(inside**2 / along, axis=1)
            if self._n_others > 0:
                # The rest of each row itself, since |y|^2 - |Wy|^2 would cancel.
                centred -= inside @ self.components
                squares[part] += np.einsum("ij,ij->i", centred, centred) / self.noise
        constant = self.mean.size * np.log(2 * np.pi) + log_determinant
        return np.asarray(-0.5 * (constant + squares))

    def _check_regular(self) -> None:
        if (self._n_others > 0 and self.noise <= 0) or self._along.min(initial=np.inf) <= 0:
            raise InputError(
                "The covariance of PCA is singular, so that rows have no density: some directions have no variance, "
                "and noise_variance_, the mean variance of the directions left out, is 0. Use fewer "
                f"{named('n_components')}, or more samples."
            )
