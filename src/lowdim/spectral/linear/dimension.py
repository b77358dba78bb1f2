"""How many principal components the rows themselves speak for: Minka's approximation of the evidence."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ...core.records import Floats


def likeliest_dimension(variances: Floats, n_samples: int) -> int:
    """The number k of components whose evidence is the largest, of all D ``variances``, largest first.

    Laplace's approximation for probabilistic PCA with k latent dimensions (Minka 2000, eq. 77):

        log p(Y|k) = log p(U) - N/2 sum_{i<=k} log l_i - N (D-k)/2 log v + (m+k)/2 log 2 pi
                     - 1/2 log |A_Z| - k/2 log N,

    with v the mean of the variances left out, m = D k - k (k+1) / 2. There must be no fewer samples than variances.
    """
    evidence = log_evidences(variances, n_samples)
    return 1 + int(np.argmax(evidence)) if evidence else variances.size


def log_evidences(variances: Floats, n_samples: int) -> list[float]:
    """log p(Y|k) for k = 1, 2, ... D - 1, but for a constant."""
    return [_log_evidence(variances, k, n_samples) for k in range(1, variances.size)]


def _log_evidence(variances: Floats, k: int, n_samples: int) -> float:
    epsilon = np.finfo(np.float64).eps
    if variances[k - 1] < epsilon * variances[0] or variances[0] <= 0:
        # A direction without variance explains nothing, and its logarithm would decide.
        return -np.inf
    n_columns = variances.size
    left_out = max(epsilon * variances[0], float(variances[k:].mean()))
    # Minka (2000), eq. 76: the uniform density of k orthonormal directions.
    halves = (n_columns - np.arange(k)) / 2
    prior = -k * np.log(2.0) + float(np.sum(gammaln(halves) - halves * np.log(np.pi)))
    free = n_columns * k - k * (k + 1) / 2
    fit = -n_samples / 2 * (np.sum(np.log(variances[:k])) + (n_columns - k) * np.log(left_out))
    # Minka (2000), eq. 73 and 74: |A_Z| over the pairs i <= k, i < j.
    model = np.where(np.arange(n_columns) < k, variances, left_out)
    first, second = np.triu_indices(k, 1, n_columns)
    curvature = (variances[first] - variances[second]) * (1 / model[second] - 1 / model[first])
    # Directions of equal variance turn freely: their posterior is the prior, which counts once already.
    log_determinant = float(np.sum(np.log(n_samples * curvature[curvature > epsilon])))
    occam = (free + k) / 2 * np.log(2 * np.pi) - log_determinant / 2 - k / 2 * np.log(n_samples)
    return float(prior + fit + occam)
