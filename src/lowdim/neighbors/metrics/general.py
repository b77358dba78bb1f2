"""Every other metric of SciPy and scikit-learn by its name, and any Python function of two rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.messages import setting
from ...core.parallel import row_blocks
from ...core.records import Floats
from ...core.rules import Real
from ...data.rows import Rows
from ...errors import InputError

# Data has no gaps here, and then scikit-learn's nan_euclidean is the Euclidean distance.
ALIASES = {"manhattan": "cityblock", "l1": "cityblock", "nan_euclidean": "euclidean"}
BOOLEAN = frozenset({"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"})
OTHERS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "hamming",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
)
COLUMN_NANOSECONDS = {
    "braycurtis": 0.8,
    "canberra": 1.0,
    "dice": 1.0,
    "jaccard": 2.0,
    "jensenshannon": 18.0,
    "minkowski": 20.0,
    "russellrao": 1.5,
    "sokalsneath": 1.5,
    "yule": 3.0,
}
"""Time of a column of a pair where it is not about USUAL_NANOSECONDS, as measured on one core of a 2024 server."""
USUAL_NANOSECONDS = 0.5
FUNCTION_NANOSECONDS, HAVERSINE_NANOSECONDS = 4000.0, 60.0
"""Time of a call of a Python function, and of one angle with its trigonometry."""
NAMES = tuple(sorted((*ALIASES, *BOOLEAN, *OTHERS, "haversine", "seuclidean")))

ROUNDING = 1e-6
"""Share of the largest distance by which values of a function may miss what a distance must be."""
_TURNED = 2
"""Rows of each block for which a function is asked both ways."""


OWN_PARAMETERS = {
    "minkowski": ("p",),
    "seuclidean": ("V",),
    "mahalanobis": ("VI",),
}
"""Parameters that a metric has of its own, besides the weights of the columns."""
UNWEIGHTED = ("haversine", "jensenshannon", "mahalanobis", "nan_euclidean", "seuclidean", "yule")
"""Metrics that take no weights of the columns."""


def parameters_of(name: str) -> tuple[str, ...]:
    """Names of the parameters that a metric takes: ``w`` weighs the columns."""
    weights = () if name in UNWEIGHTED else ("w",)
    return (*OWN_PARAMETERS.get(name, ()), *weights)


@dataclass(frozen=True, slots=True)
class GeneralMetric:
    """A metric of which all that is known is how to compare two blocks.

    Parameters
    ----------
    name
        What the user typed, or the name of the function.
    function
        SciPy's or scikit-learn's name, or a function of two rows.
    parameters
        Passed on with every comparison.
    """

    name: str
    function: str | Callable[..., float]
    parameters: Mapping[str, Any]

    def pair_seconds(self, n_columns: int) -> float:
        """Processor seconds of one distance between rows of so many columns."""
        if not isinstance(self.function, str):
            return FUNCTION_NANOSECONDS * 1e-9
        if self.function == "haversine":
            return HAVERSINE_NANOSECONDS * 1e-9
        if self.function == "mahalanobis":
            return USUAL_NANOSECONDS * n_columns**2 * 1e-9
        return (2 + COLUMN_NANOSECONDS.get(self.function, USUAL_NANOSECONDS) * n_columns) * 1e-9

    def pairwise(self, left: Floats, right: Floats) -> Floats:
        """Distances of every row of one block to every row of another."""
        if self.function == "haversine":
            return _haversine(left, right)
        if not isinstance(self.function, str):
            return self._by_function(self.function, left, right)
        from scipy.spatial.distance import cdist

        if self.function in BOOLEAN:
            left, right = left.astype(bool), right.astype(bool)
        function: Any = ALIASES.get(self.function, self.function)
        return np.asarray(cdist(left, right, function, **self.parameters), dtype=np.float64)

    def _by_function(self, function: Callable[..., float], left: Floats, right: Floats) -> Floats:
        """The same by a function of two rows, whose values must be distances."""
        out = np.empty((left.shape[0], right.shape[0]))
        for i, a in enumerate(left):
            for j, b in enumerate(right):
                value = function(a, b, **self.parameters)
                try:
                    out[i, j] = value
                except (TypeError, ValueError):
                    raise self._refused(
                        f"a number; it gave a {type(value).__name__}: {value!r:.60}"
                    ) from None
        if not np.isfinite(out).all():
            return out  # which the stage that asked refuses by name, as it does for any metric
        greatest = out.max(initial=0.0)
        if out.size and out.min() < -ROUNDING * greatest:
            raise self._refused(f"a number >= 0; it gave {out.min():g}")
        # A few pairs turned round tell a function that is no distance from one that is only rounded.
        for i in range(min(len(left) if right.size else 0, _TURNED)):
            j = int(out[i].argmax())
            back = float(function(right[j], left[i], **self.parameters))
            if not abs(back - out[i, j]) <= ROUNDING * max(greatest, abs(back)):
                raise self._refused(
                    f"the same for (a, b) and (b, a); it gave {out[i, j]:g} and {back:g} for one pair"
                )
        return np.maximum(out, 0.0)

    def _refused(self, reason: str) -> InputError:
        return InputError(
            f"metric={self.name} must be a distance: it must give {reason}. Mend the function, or give distances as "
            "metric='precomputed'."
        )


def general_metric(metric: str | Callable[..., float], parameters: Mapping[str, Any]) -> GeneralMetric:
    """A metric by SciPy's or scikit-learn's name, or a function of two rows, with its parameters bound."""
    if not isinstance(metric, str):
        return GeneralMetric(getattr(metric, "__name__", type(metric).__name__), metric, dict(parameters))
    return GeneralMetric(
        metric, metric, {key: _checked(metric, key, value) for key, value in parameters.items()}
    )


def _checked(metric: str, key: str, value: Any) -> Any:
    """A parameter of a metric, as SciPy takes it."""
    known = parameters_of(metric)
    if key not in known:
        allowed = f"takes {', '.join(known)}" if known else "takes no parameters"
        raise InputError(f"metric_params has {key!r}, and metric={metric!r} {allowed}. Leave {key!r} out.")
    if key == "p":
        rule = Real(0, endless=True)
        if not rule.allows(value):
            raise InputError(f"p in metric_params must be {rule.words}; got {value!r}. 2 is usual.")
        return float(value)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{key} in metric_params must be an array of numbers; got {value!r}.") from error
    is_right = array.ndim == (2 if key == "VI" else 1) and bool(np.isfinite(array).all())
    if not is_right or (key != "VI" and array.min(initial=0.0) < 0):
        form = "a square matrix of finite numbers" if key == "VI" else "a number >= 0 for each column"
        raise InputError(f"{key} in metric_params must be {form}; got an array of shape {array.shape}.")
    return array


def check_columns(metric: GeneralMetric, n_columns: int) -> None:
    """Raise an InputError where a parameter is for another number of columns."""
    for key, value in metric.parameters.items():
        if isinstance(metric.function, str) and isinstance(value, np.ndarray):
            expected = (n_columns,) * value.ndim
            if value.shape != expected:
                raise InputError(
                    f"{key} in metric_params must be of shape {expected}, for the {n_columns} columns of X; got "
                    f"{value.shape}."
                )


def parameters_from_data(metric: str | Callable[..., float], rows: Rows) -> dict[str, Any]:
    """Parameters that SciPy would otherwise take from whatever rows it is shown: they belong to the indexed points."""
    if metric == "seuclidean":
        return {"V": np.diag(_covariance(rows)).copy()}
    if metric == "mahalanobis":
        return {"VI": np.linalg.pinv(_covariance(rows))}
    return {}


def _haversine(left: Floats, right: Floats) -> Floats:
    """Angles on the sphere between (latitude, longitude) in radians.

    scikit-learn's own changes the warning filters of the process while it checks, and blocks come in several threads.
    """
    if left.shape[1] != 2:
        raise InputError(
            f"{setting('metric', 'haversine')} needs two columns, latitude and longitude in radians; got "
            f"{left.shape[1]}."
        )
    half = np.sin((left[:, None] - right[None]) / 2) ** 2
    latitudes = np.cos(left[:, :1]) * np.cos(right[:, 0])
    return np.asarray(2 * np.arcsin(np.sqrt(np.minimum(half[..., 0] + latitudes * half[..., 1], 1.0))))


def _covariance(rows: Rows) -> Floats:
    blocks = list(row_blocks(rows.n_rows, rows.block_rows()))
    mean = np.sum([rows.block(block).sum(axis=0) for block in blocks], axis=0) / rows.n_rows
    total = np.zeros((rows.n_columns, rows.n_columns))
    for block in blocks:
        centred = rows.block(block) - mean
        total += centred.T @ centred
    return total / max(1, rows.n_rows - 1)
