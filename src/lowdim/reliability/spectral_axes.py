"""How well each coordinate of a spectral method is told from the others: first-order perturbation of eigenvectors.

With A v_k = lambda_k v_k, a change dA turns v_k by

    dv_k = sum_{l != k} v_l (v_l' dA v_k) / (lambda_k - lambda_l),

so that what the gap lambda_k - lambda_l is to the size of the change decides how far two coordinates mix. The solver's
residual r_k = |A v_k - lambda_k v_k| is such a change: the angle between v_k and a true eigenvector is at most
r_k / gap_k (Davis & Kahan 1970).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.records import Report


@dataclass(frozen=True, slots=True)
class Axis:
    """A coordinate: its eigenvalue, the distance to the nearest other, that over the eigenvalues' range, the residual.

    ``angle`` is the largest turn of the coordinate that the solver's residual allows, in radians. ``gap`` is that among
    the eigenvalues that the model keeps; the one after the last is not among them.
    """

    place: int
    eigenvalue: float
    gap: float
    relative_gap: float
    residual: float
    angle: float

    def as_dict(self) -> dict[str, float]:
        """Everything, in types that JSON knows."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        """A line for people."""
        return (
            f"coordinate {self.place}: eigenvalue {self.eigenvalue:.4g}, gap {self.gap:.2g} "
            f"({100 * self.relative_gap:.2g} % of the largest), turned by the solver's residual by at most "
            f"{self.angle:.1g}"
        )


def axes_of(model: Any) -> tuple[Axis, ...]:
    """The coordinates of a model that has eigenvalues; none of one that has no more than one, or keeps none."""
    values, report = getattr(model, "eigenvalues_", None), getattr(model, "report_", None)
    if values is None or not isinstance(report, Report):
        return ()
    values = np.asarray(values, dtype=np.float64)
    residuals = np.asarray(report.figures.get("residuals", np.full(values.size, np.nan)), dtype=np.float64)
    if values.size < 2 or residuals.shape != values.shape:
        return ()
    apart = np.abs(values[:, None] - values[None, :])
    np.fill_diagonal(apart, np.inf)
    gaps, largest = apart.min(axis=1), float(np.abs(values).max()) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        angles = np.arcsin(np.minimum(1.0, residuals / gaps))
    found = zip(values.tolist(), gaps.tolist(), residuals.tolist(), angles.tolist(), strict=True)
    return tuple(
        Axis(place, value, gap, gap / largest, residual, angle)
        for place, (value, gap, residual, angle) in enumerate(found, start=1)
    )
