"""What a spectral method says of itself; solvers do the rest.

Every method is min (or max) tr X'AX s.t. X'BX = I on some points. It says how A and B come from these, how coordinates
come from eigenvectors, how new points are placed, and what that costs. How the problem is solved, exactly or by
landmarks, is the solver's: see `lowdim.solvers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from ..core.records import Certificate, Floats, Integers, PlannedStage, Problem, Solution
from ..core.run import Run
from ..data.rows import Rows
from ..maps.base import Map
from ..neighbors.neighborhood import Graph, Neighborhood
from ..neighbors.points import Points

WayOverShards = Literal["sums", "alone"]
"""Sums over cells of points that make the problem of all; or landmarks embedded alone, which place the others."""

Part = Points | Neighborhood
"""What a method works on: the points alone, or their neighbour graph, whole or a component of it."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a fit makes of its data: coordinates, the map for new points, and what was found on the way.

    ``attributes`` become fitted attributes of the estimator, ``figures`` lines of its report. ``landmarks`` are the
    coordinates of the landmarks, and ``certificate`` says what is known of them, where there were any.
    """

    coordinates: Floats
    map: Map
    solution: Solution | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    landmarks: Floats | None = None
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What a method tells of its exact solution beside the coordinates: fitted attributes and lines of the report."""

    attributes: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Size:
    """What costs depend on: rows and columns of the data, and the bytes that are allowed (None: what is free).

    ``rows`` are the data where there is any: how sparse it is counts too. ``looks``: a sample of them may be looked
    at, by ``n_jobs`` threads.
    """

    n_rows: int
    n_columns: int
    memory_limit: int | None = None
    rows: Rows | None = None
    looks: bool = False
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def searched(self) -> Rows | tuple[int, int]:
        """What neighbours are searched among: the rows, or as many of the same kind."""
        return self.shape if self.rows is None or self.rows.n_rows != self.n_rows else self.rows


@dataclass(frozen=True, slots=True)
class Costs:
    """The stages of a method with their estimated seconds and bytes, for the solvers to put together.

    ``forming`` are the stages that form the whole problem and ``by_blocks`` those that pass over it without holding it;
    ``solving`` are the stages of the exact solution. ``entries`` is the number of entries in a row of A, ``degree``
    that of neighbours of a point where there is a graph.
    """

    forming: list[PlannedStage]
    by_blocks: list[PlannedStage]
    solving: list[PlannedStage]
    entries: int
    degree: int = 0


class OnGraph(Protocol):
    """A method on a neighbour graph: a record with the graph among its fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def graph(self) -> Graph:
        """Who is a neighbour of whom."""
        ...


Same = TypeVar("Same", bound=OnGraph)


class LandmarkDistances(Protocol):
    """Squared distances from the landmarks of a method that cannot embed them alone: Isomap's need the whole graph."""

    def among(self, run: Run) -> Floats:
        """Those among the landmarks (L x L)."""
        ...

    def place(self, extension: Any, run: Run) -> Floats:
        """Coordinates of all points by their distances to the landmarks."""
        ...

    def profile(self) -> Any:
        """What gives the distances of new points to the landmarks."""
        ...


class Solver(Protocol):
    """A way to solve the problem of any method: exactly, or by landmarks."""

    @property
    def n_landmarks(self) -> int | None:
        """Landmarks that it takes; None: it is exact."""
        ...

    @property
    def is_nested(self) -> bool:
        """Whether the first coordinates of a fit are those of a fit with fewer."""
        ...

    def way_over_shards(self, method: Method) -> WayOverShards | None:
        """How it embeds rows that are never in memory together; None: it cannot."""
        ...

    def works_alone(self, method: Method, points: Points) -> bool:
        """Whether it embeds landmarks alone, so that the graph of all points is never formed."""
        ...

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """Coordinates of the points of a part, and the map for new ones."""
        ...

    def for_component(self, n_points: int) -> Solver:
        """The solver for a component of so many points: exact where these are no more than its landmarks."""
        ...

    def certified(self, embedded: Embedded, method: Method, points: Points, run: Run) -> Embedded:
        """The same with what else the solver was asked to find out about it."""
        ...

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The stages of a fit, with their estimated seconds and bytes."""
        ...


class Method(ABC):
    """A spectral method with its parameters.

    Attributes
    ----------
    n_components
        Eigenvectors wanted.
    metric
        Metric of the points, or ``"precomputed"`` or ``"graph"`` where the data is a matrix between them.
    """

    if TYPE_CHECKING:  # in Python a property here would be taken for the default of a subclass's field

        @property
        @abstractmethod
        def n_components(self) -> int:
            """Eigenvectors wanted."""

        @property
        @abstractmethod
        def metric(self) -> Any:
            """Metric of the points, or what the data is instead."""

    @property
    def width(self) -> int:
        """Coordinates that it makes."""
        return self.n_components

    @property
    def fewest_points(self) -> int:
        """Points that it needs at least."""
        return self.width + 1

    def parts(self, points: Points, run: Run) -> Part:
        """What it works on: the points, or their neighbour graph."""
        return points

    @abstractmethod
    def problem(self, part: Any, run: Run) -> Problem:
        """A, B and the trivial solutions of a part."""

    def problem_by_blocks(self, part: Any, run: Run) -> Problem:
        """The same problem in a form that never holds an N x N matrix."""
        return self.problem(part, run)

    def scaled(self, X: Floats, values: Floats) -> Floats:
        """Eigenvectors, or their values at the landmarks, on the scale of the coordinates."""
        return X

    def coordinates(self, X: Floats, values: Floats, problem: Problem) -> Floats:
        """Coordinates from eigenvectors, or from the values of these at the landmarks."""
        return self.scaled(X, values)

    def told(self, solution: Solution) -> Solution | None:
        """What is told of a solution: all of it, or nothing where no coordinate comes from it."""
        return solution

    @abstractmethod
    def map(self, part: Any, problem: Problem, solution: Solution, run: Run) -> Map:
        """The map for new points that the method has by itself."""

    def through(self, map_: Map, problem: Problem | None) -> Map:
        """A map that gives scaled eigenvectors, turned into one that gives what `coordinates` makes of them.

        Without a ``problem`` it is a map that gives combinations of coordinates.
        """
        return map_

    @property
    def takes_affinities(self) -> bool:
        """Whether the entries of a graph that is given tie its points the more the larger they are."""
        return False

    def embed_components(self, hood: Neighborhood, state: str, solver: Solver, run: Run) -> Embedded | None:
        """Components put together in a way of the method's own, which needs no distance between them.

        ``state`` says in words what they are. None: it has no such way, and they can only stand side by side.
        """
        return None

    def figures(self, solution: Solution, run: Run) -> Mapping[str, Any]:
        """What the report tells of a solution, exact or by landmarks; and warnings of what is amiss with it."""
        return {}

    def findings(self, part: Any, problem: Problem, coordinates: Floats, run: Run) -> Findings:
        """What else is told of an exact solution."""
        return Findings()

    def for_landmarks(self, n_landmarks: int, run: Run) -> Method:
        """The method for the landmarks alone."""
        return self

    @property
    def falls_into_sums(self) -> bool:
        """Whether A and B are sums over edges or over neighbourhoods, which cells of points can make one by one."""
        return False

    @property
    def embeds_landmarks_alone(self) -> bool:
        """Whether it can embed landmarks without the other points."""
        return True

    @property
    def extends_landmarks(self) -> bool:
        """Whether its own map, fitted on the landmarks alone, is the Nystrom extension to the other points."""
        return True

    @property
    def has_landmark_distances(self) -> bool:
        """Whether its landmarks are scaled by distances that run through all points, as those of landmark Isomap."""
        return False

    def landmark_distances(self, part: Any, landmarks: Integers, run: Run) -> LandmarkDistances:
        """The distances of all points to the landmarks, of a method that has them."""
        raise AssertionError(f"{type(self).__name__} has no distances of its own to landmarks")

    @abstractmethod
    def costs(self, size: Size) -> Costs:
        """Estimated cost of its stages."""


def fewer_neighbors(method: Same, n_landmarks: int, run: Run) -> Same:
    """A method on a neighbour graph for landmarks: no more neighbours than there are other landmarks."""
    graph = method.graph
    if graph.n_neighbors is None or graph.n_neighbors < n_landmarks:
        return method
    run.chosen("n_neighbors", str(n_landmarks - 1), "all other landmarks")
    fewer = replace(graph, n_neighbors=n_landmarks - 1)
    return replace(method, graph=fewer)
