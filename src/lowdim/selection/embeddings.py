"""The embeddings of a sweep: every point of its grid fitted to all rows, for small multiples and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import validation
from ..core.messages import DATA
from ..core.places import Place
from ..core.records import Floats
from ..core.run import Store
from ..core.shared import Shared
from ..errors import InputError, LowdimError
from ..metrics.procrustes import procrustes
from .grid import Point, configure, widest

if TYPE_CHECKING:
    from .result import Sweep


def embeddings_of(sweep: Sweep, X: Any, n_components: int) -> dict[str, Floats]:
    """See `Sweep.embeddings`."""
    rows = validation.check_block(X, DATA)
    if rows.shape != sweep.shape:
        raise InputError(
            f"X must be the data of the sweep, {sweep.shape[0]} x {sweep.shape[1]}; got {rows.shape[0]} x "
            f"{rows.shape[1]}. Give the same rows."
        )
    points = tuple(Point(named, (place,)) for place, named in enumerate(sweep.points))
    shared = Shared(widest(sweep.estimator, points, rows.n_rows))
    found: dict[str, Floats] = {}
    for point in points:
        fitted = configure(sweep.estimator, point.named, random_state=sweep.seeds[0])
        try:
            fitted._fit(rows.values, Store(Place(), shared))
        except LowdimError:
            # The sweep's table says why it failed.
            continue
        found[str(point)] = fitted.embedding_[:, :n_components]
    return _aligned(found)


def _aligned(found: dict[str, Floats]) -> dict[str, Floats]:
    """Each turned onto the one before it, so that points go short ways."""
    made: dict[str, Floats] = {}
    last: Floats | None = None
    for name, points in found.items():
        is_alike = last is not None and last.shape == points.shape
        made[name] = procrustes(points, last).aligned if is_alike and last is not None else points
        last = made[name]
    return made
