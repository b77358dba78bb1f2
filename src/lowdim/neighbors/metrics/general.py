"""Every other metric of SciPy and scikit-learn by its name, and any Python function of two rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.messages import DATA, in_python, named, setting, shape
from ...core.messages import value as quoted
from ...core.parallel import row_blocks
from ...core.records import Floats
from ...core.rules import Real
from ...data.rows import Rows
from ...errors import InputError
from ...validation import read_array
from .haversine import HAVERSINE

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
FUNCTION_NANOSECONDS = 4000.0
"""Time of a call of a Python function."""
OWN = {metric.name: metric for metric in (HAVERSINE,)}
"""Metrics by functions of two blocks that are here, and not SciPy's."""
NAMES = tuple(sorted((*ALIASES, *BOOLEAN, *OTHERS, *OWN, "seuclidean")))

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
UNWEIGHTED = (*OWN, "jensenshannon", "mahalanobis", "nan_euclidean", "seuclidean", "yule")
"""Metrics that take no weights of the columns."""


def parameters_of(name: str) -> tuple[str, ...]:
    """Names of the parameters that a metric takes: ``w`` weighs the columns."""
    weights = () if name in UNWEIGHTED else ("w",)
    return (*OWN_PARAMETERS.get(name, ()), *weights)


@dataclass(frozen=True, slots=True, eq=False)
class GeneralMetric:
    """A metric of which all that is known is how to compare two blocks; itself a function of two rows.

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

    def __eq__(self, other: object) -> bool:
        """Whether it is the same function with the same parameters: fits that share results ask."""
        return isinstance(other, GeneralMetric) and self._content == other._content

    def __hash__(self) -> int:
        """By its content."""
        return hash(self._content)

    @property
    def _content(self) -> tuple[Any, ...]:
        arrays = sorted((key, np.asarray(value)) for key, value in self.parameters.items())
        return self.function, *((key, array.shape, array.tobytes()) for key, array in arrays)

    def __call__(self, left: Floats, right: Floats) -> float:
        """Distance of two rows."""
        return float(self.pairwise(left[None], right[None])[0, 0])

    def pair_seconds(self, n_columns: int) -> float:
        """Processor seconds of one distance between rows of so many columns."""
        if not isinstance(self.function, str):
            return FUNCTION_NANOSECONDS * 1e-9
        if (own := OWN.get(self.function)) is not None:
            return (own.pair_nanoseconds + own.column_nanoseconds * n_columns) * 1e-9
        if self.function == "mahalanobis":
            return USUAL_NANOSECONDS * n_columns**2 * 1e-9
        return (2 + COLUMN_NANOSECONDS.get(self.function, USUAL_NANOSECONDS) * n_columns) * 1e-9

    def pairwise(self, left: Floats, right: Floats) -> Floats:
        """Distances of every row of one block to every row of another."""
        if not isinstance(self.function, str):
            return self._by_function(self.function, left, right)
        if (own := OWN.get(self.function)) is not None:
            return own.pairwise(left, right)
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
            f"{setting('metric', 'precomputed')}."
        )


def general_metric(metric: str | Callable[..., float], parameters: Mapping[str, Any]) -> GeneralMetric:
    """A metric by SciPy's or scikit-learn's name, or a function of two rows, with its parameters bound."""
    if isinstance(metric, str):
        checked = {key: _checked(metric, key, value) for key, value in parameters.items()}
        return GeneralMetric(metric, metric, checked)
    _check_signature(metric, parameters)
    return GeneralMetric(metric_name(metric), metric, dict(parameters))


def metric_name(metric: str | Callable[..., float]) -> str:
    """What messages and reports call a metric."""
    if isinstance(metric, GeneralMetric):
        return metric.name
    return metric if isinstance(metric, str) else getattr(metric, "__name__", type(metric).__name__)


def _check_signature(metric: Callable[..., float], parameters: Mapping[str, Any]) -> None:
    """Raise an InputError where a function does not take two rows and these parameters; some do not tell."""
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        given = f" and {', '.join(parameters)} of metric_params" if parameters else ""
        raise InputError(
            f"metric={metric_name(metric)} must be a function of two rows, called with them{given}: {error}. Its "
            f"signature is {signature}."
        ) from None


def _checked(metric: str, key: str, value: Any) -> Any:
    """A parameter of a metric, as SciPy takes it."""
    known = parameters_of(metric)
    if key not in known:
        allowed = f"takes {', '.join(known)}" if known else "takes no parameters"
        raise InputError(
            f"{named('metric_params')} has {key!r}, and {setting('metric', metric)} {allowed}. Leave {key!r} out."
        )
    name = _spoken(key)
    if key == "p":
        rule = Real(0, endless=True)
        if not rule.allows(value):
            raise InputError(f"{name} must be {rule.words}; got {quoted(value)}. 2 is usual.")
        return float(value)
    if np.ndim(value) == 0:
        raise InputError(f"{name} must hold a number for each column of {DATA}; got {quoted(value)}.")
    array = read_array(value, name, flat=True).block(slice(None))
    if key == "VI":
        form, is_right = "a matrix of finite numbers", bool(np.isfinite(array).all())
    else:
        array = array.reshape(-1) if 1 in array.shape else array
        form, are_right = {
            "V": ("a variance > 0 for each column (inf: the column counts for nothing)", array > 0),
            "w": ("a finite number >= 0 for each column", np.isfinite(array) & (array >= 0)),
        }[key]
        is_right = array.ndim == 1 and bool(np.all(are_right))
    if not is_right:
        raise InputError(f"{name} must be {form}; got {_described(array)}.")
    return array


def _spoken(key: str) -> str:
    """A parameter of a metric in a message."""
    return in_python(f"metric_params[{key!r}]", f"{key} of --metric-params")


def _described(array: Floats) -> str:
    return f"shape {shape(array.shape)}, from {array.min():g} to {array.max():g}"


def check_columns(metric: GeneralMetric, n_columns: int) -> None:
    """Raise an InputError where the metric, or a parameter of it, is for another number of columns."""
    if isinstance(metric.function, str) and (own := OWN.get(metric.function)) is not None:
        own.check_columns(n_columns)
    for key, value in metric.parameters.items():
        if isinstance(metric.function, str) and isinstance(value, np.ndarray):
            expected = (n_columns,) * value.ndim
            if value.shape != expected:
                raise InputError(
                    f"{_spoken(key)} must be of shape {shape(expected)}, for the {n_columns} "
                    f"columns of {DATA}; got {shape(value.shape)}."
                )


def parameters_from_data(metric: str | Callable[..., float], rows: Rows) -> dict[str, Any]:
    """Parameters that SciPy would otherwise take from whatever rows it is shown: they belong to the indexed points."""
    if metric == "seuclidean":
        mean, covariance = _moments(rows)
        variances = np.diag(covariance)
        # A column that does not vary counts for nothing, as the pseudo-inverse has it for Mahalanobis; its variance is
        # the rounding of its mean.
        noise = np.square(8 * np.finfo(np.float64).eps * mean)
        return {"V": np.where(variances > noise, variances, np.inf)}
    if metric == "mahalanobis":
        return {"VI": np.linalg.pinv(_moments(rows)[1])}
    return {}


def _moments(rows: Rows) -> tuple[Floats, Floats]:
    """Mean and covariance of the columns."""
    blocks = list(row_blocks(rows.n_rows, rows.block_rows()))
    mean = np.sum([rows.block(block).sum(axis=0) for block in blocks], axis=0) / rows.n_rows
    total = np.zeros((rows.n_columns, rows.n_columns))
    for block in blocks:
        centred = rows.block(block) - mean
        total += centred.T @ centred
    return mean, total / max(1, rows.n_rows - 1)
