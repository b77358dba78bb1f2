"""Sammon's mapping."""

from __future__ import annotations

from ..base import parameters
from .stress_embedding import StressEmbedding


@parameters
class Sammon(StressEmbedding):
    """min sum (delta_ij - |x_i - x_j|)^2 / delta_ij: as metric scaling, with more weight on what is near.

    Sammon (1969), "A nonlinear mapping for data structure analysis". The same descent as `MDS`, of which it is
    ``weights=-1``; distances that are 0 count as the smallest that is not.

    Parameters
    ----------
    n_components
        Dimensions of the embedding. ``"auto"`` chooses them, by ``"auto:dimension"``: see docs/choosing.md.
    metric
        Name of a metric, a function of two rows, or ``"precomputed"`` (X holds all distances, dense; those that are not
        known are NaN, and do not count).
    metric_params, init, n_init, pivots, max_iter, tolerance
        As in `MDS`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components), centred, on its principal axes
    stress_ : float, Sammon's: the sum over that of delta
    n_components_ : int, what was chosen where ``n_components`` is ``"auto"``
    normalized_stress_, n_iter_, history_, pivots_, report_ : as in `MDS`

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.Sammon().fit_transform(roll.data).shape
    (300, 2)
    """

    @property
    def _power(self) -> float:
        return -1.0

    def _told(self, raw: float, share: float) -> float:
        return share
