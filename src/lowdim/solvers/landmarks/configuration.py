"""What a user sets of a landmark solver, the same for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import subspace_angles

from ...core.messages import named, setting
from ...core.records import PlannedStage
from ...core.rules import Either, Nothing, OneOf, Real, Rule, Whole
from ...core.run import Run
from ...errors import InputError
from ...methods.base import Embedded, Method, Part, Size, Solver, WayOverShards
from ...methods.embed import embed
from ...neighbors.points import Points
from ...validation import check_parameters
from ..exact import Exact

CHOICES = ("random", "k-means", "farthest", "thinned")
MOST_NEIGHBORS = 15


@dataclass(frozen=True, eq=False, repr=False)
class LandmarkSolver:
    """Solve a spectral problem on L landmarks that carry all points.

    Parameters
    ----------
    n_landmarks
        Number L of landmarks; all points where there are fewer.
    n_neighbors
        K_Z: landmarks that rebuild each point. None: ``n_components + 3``, at most 15.
    choose
        ``"random"`` (uniform), ``"k-means"`` (centres), ``"farthest"`` (each the farthest from those before) or
        ``"thinned"`` (1.2 L at random, less one of each closest pair).
    landmarks
        Landmarks of your own instead: indices of rows (one dimension) or points (two).
    reg
        Ridge of the reconstruction weights, as a share of the trace of each local Gram matrix.
    smooth
        Steps that spread the landmark weights along the graph, Z <- (I - B^-1 A / rho) Z with rho at least the largest
        eigenvalue of B^-1 A: 2 for Laplacians with B = D.
    polish
        Degree of the Chebyshev filter that refines the solution on all points; 0: none.
    tolerance
        With ``polish``: repeat the filter until every residual is below this.
    certify
        Points of a subsample on which the exact solution is computed too, to report the angle to it; 0: none.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0).data
    >>> for solver in (lowdim.LLL(100), lowdim.LandmarkZ(100), lowdim.Nystrom(100), lowdim.VariationalNystrom(100)):
    ...     model = lowdim.LaplacianEigenmaps(solver=solver).fit(roll)
    ...     print(solver.name, model.embedding_.shape)
    lll (500, 2)
    landmark-z (500, 2)
    nystrom (500, 2)
    variational-nystrom (500, 2)
    """

    name: ClassVar[str] = ""
    places_by_weights: ClassVar[bool] = True
    """Whether points follow their landmarks by reconstruction weights, and not by the map of the method."""
    restricts: ClassVar[bool] = False
    """Whether the whole problem is formed and restricted to the span of Z: what ``smooth`` and ``polish`` need."""
    takes_dense: ClassVar[bool] = True
    """Whether it saves work on a dense matrix too."""

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_landmarks": Whole(2),
        "n_neighbors": Either(Whole(1), Nothing()),
        "choose": OneOf(*CHOICES),
        "reg": Real(0, closed=True),
        "smooth": Whole(0),
        "polish": Whole(0),
        "tolerance": Either(Real(0), Nothing()),
        "certify": Whole(0),
    }

    n_landmarks: int = 1000
    _: KW_ONLY
    n_neighbors: int | None = None
    choose: str = "random"
    landmarks: Any = None
    reg: float = 1e-3
    smooth: int = 0
    polish: int = 0
    tolerance: float | None = None
    certify: int = 0

    @property
    def is_nested(self) -> bool:
        """Whether the first coordinates of a fit are those of a fit with fewer: not where K_Z or a filter follow d."""
        return self.n_neighbors is not None and not self.polish

    def way_over_shards(self, method: Method) -> WayOverShards | None:
        """How it embeds rows that are never in memory together; None: it cannot."""
        return None

    def works_alone(self, method: Method, points: Points) -> bool:
        """Whether it embeds landmarks alone, so that the graph of all points is never formed."""
        return False

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """Coordinates of the points of a part, and the map for new ones."""
        raise AssertionError(f"{type(self).__name__} must say how it embeds")

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The stages of a fit, with their estimated seconds and bytes."""
        raise AssertionError(f"{type(self).__name__} must say what it costs")

    def for_component(self, n_points: int) -> Solver:
        """The exact solution of a component with no more points than landmarks, since it costs no more."""
        count = self.n_landmarks if self.landmarks is None else len(self.landmarks)
        return self if n_points > count else Exact()

    def certified(self, embedded: Embedded, method: Method, points: Points, run: Run) -> Embedded:
        """With the largest angle to the exact solution of a random subsample, where ``certify`` asks for it."""
        if not self.certify or embedded.certificate is None:
            return embedded
        angle = run.stage("certify", self._angle, method, points, kept=float)
        return replace(embedded, certificate=replace(embedded.certificate, angle=angle))

    def _angle(self, method: Method, points: Points, run: Run) -> float:
        """Largest angle, in radians, between the landmark and the exact solution of a random subsample."""
        if not self.n_landmarks < self.certify:
            raise InputError(
                f"certify of {type(self).__name__} must be more than {named('n_landmarks')}, or the two solutions are "
                f"one; got {setting('certify', self.certify)} with {setting('n_landmarks', self.n_landmarks)}. Raise "
                "certify."
            )
        members = np.arange(points.n_points)
        if self.certify < members.size:
            rng = run.anew().random("solve")
            members = np.sort(rng.choice(members.size, self.certify, replace=False))
        sample = Points(points.at(members), points.metric)
        solvers = (Exact(), replace(self, certify=0, landmarks=None))
        parts = [embed(method, sample, solver, run.anew()).coordinates for solver in solvers]
        return float(subspace_angles(*(X - X.mean(axis=0) for X in parts)).max())

    def __repr__(self) -> str:
        """What was set, without what was left as it is."""
        parts = [repr(self.n_landmarks)] if self.landmarks is None else []
        others = (part for part in fields(self) if part.name != "n_landmarks")
        parts += [
            f"{part.name}={getattr(self, part.name)!r}"
            for part in others
            if getattr(self, part.name) is not part.default
        ]
        return f"{type(self).__name__}({', '.join(parts)})"

    def check(self) -> None:
        """Raise an InputError for the first setting that cannot be used."""
        owner = type(self).__name__
        check_parameters(owner, {part.name: getattr(self, part.name) for part in fields(self)}, self._rules)
        if self.tolerance is not None and not self.polish:
            raise InputError(
                f"{named('tolerance', owner)} is what polish works towards; got "
                f"{setting('tolerance', self.tolerance, owner)} with {setting('polish', 0, owner)}. Set polish too, "
                f"for example {setting('polish', 20, owner)}."
            )
        if not self.restricts and (self.smooth or self.polish):
            raise InputError(
                f"smooth and polish of {owner} must be 0: it never forms the problem of all points; got "
                f"{setting('smooth', self.smooth, owner)}, {setting('polish', self.polish, owner)}. Use LLL or "
                "VariationalNystrom."
            )

    def neighbors_for(self, n_components: int, n_landmarks: int) -> int:
        """K_Z for so many coordinates and landmarks, or an InputError where there are not so many landmarks."""
        if n_landmarks < n_components + 1:
            raise InputError(
                f"{type(self).__name__} needs at least {named('n_components')} + 1 = {n_components + 1} landmarks; "
                f"got {n_landmarks}. Raise {named('n_landmarks')}, or lower {named('n_components')}."
            )
        if self.n_neighbors is None:
            return min(n_components + 3, MOST_NEIGHBORS, n_landmarks)
        if self.n_neighbors > n_landmarks:
            raise InputError(
                f"{named('n_neighbors', type(self).__name__)} must be at most the number of landmarks; got "
                f"{setting('n_neighbors', self.n_neighbors, type(self).__name__)} with {n_landmarks} landmarks. "
                f"Lower it, or raise {named('n_landmarks')}."
            )
        return self.n_neighbors
