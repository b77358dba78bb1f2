"""The classes that a model file may name, each with its home. A class that is not here is never made.

A frozen record is stored by its fields. Of what has a state of its own, such as an index of neighbours, `rebuilding`
says what is stored, and how it is made again.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, cast, get_type_hints

from .. import _HOMES as HOMES

PACKAGE = __name__.split(".", maxsplit=1)[0]

ESTIMATORS = {
    name: module.removeprefix("estimators.")
    for name, module in HOMES.items()
    if module.startswith("estimators.") and name[0].isupper()
}
"""Estimators, and their modules in the package of the same name."""

RECORDS = {
    "core.records": ("Attempt", "Certificate", "Choice", "Report", "Solution", "Stage"),
    "data.rows": ("Rows",),
    "neighbors.lookup": ("Lookup",),
    "neighbors.centred_points": ("Frame",),
    "neighbors.projection": ("Projection",),
    "neighbors.metrics.general": ("GeneralMetric",),
    "affinities.gaussian": ("Gaussian", "FittedGaussian"),
    "affinities.entropic": ("Entropic", "FittedEntropic"),
    "affinities.fuzzy": ("Fuzzy", "FittedFuzzy"),
    "affinities.binary": ("Binary", "FittedBinary"),
    "affinities.scaled_nearest": ("FittedScaledNearest",),
    "affinities.self_tuning": ("SelfTuning", "FittedSelfTuning"),
    "spectral.kernel_functions": ("Kernel",),
    "spectral.preimage": ("Preimage",),
    "spectral.linear.streaming": ("Sketch",),
    "solvers.landmarks.lll": ("LLL",),
    "solvers.landmarks.landmark_z": ("LandmarkZ",),
    "solvers.landmarks.nystrom": ("Nystrom",),
    "solvers.landmarks.variational_nystrom": ("VariationalNystrom",),
    "objectives.density": ("FrozenDensity",),
    "objectives.repulsion.exact": ("Exact",),
    "objectives.repulsion.barnes_hut": ("BarnesHut",),
    "objectives.repulsion.fft": ("FFT",),
    "objectives.gravity": ("CentralField",),
    "optimize.schedules": ("Annealing",),
    "optimize.momentum": ("Momentum",),
    "optimize.descent": ("DirectedDescent",),
    "optimize.outcome": ("History",),
    "optimize.line_search": ("Backtracking", "StrongWolfe"),
    "optimize.directions.conjugate_gradient": ("ConjugateGradient",),
    "optimize.directions.diagonal_hessian": ("DiagonalHessian",),
    "optimize.directions.fixed_point": ("FixedPoint",),
    "optimize.directions.gradient": ("GradientDescent",),
    "optimize.directions.limited_memory": ("LimitedMemory",),
    "optimize.directions.partial_hessian": ("PartialHessian",),
    "optimize.directions.spectral": ("SpectralDirection",),
    "maps.linear": ("LinearMap",),
    "maps.locally_linear": ("LocallyLinearMap",),
    "maps.extension": ("ExtensionMap",),
    "maps.nystrom": ("NystromMap", "NeighborAffinities", "GivenAffinities"),
    "maps.base": ("NearestMap", "ColumnsMap", "ComponentsMap"),
    "maps.unit_rows": ("ConstantMap", "UnitRowsMap", "NormalizedRowsMap", "PlacedRowsMap"),
    "maps.pairwise": ("SquaredDistances", "GivenDistances", "KernelValues", "GivenValues"),
    "maps.stress": ("StressMap",),
    "maps.geodesic": ("SquaredGeodesics", "GeodesicsToLandmarks"),
    "methods.given": ("WithoutPoints",),
}
"""Modules, and their records that are stored by their fields."""

REBUILT = {
    "neighbors.metrics.base": ("MappedMetric",),
    "neighbors.geometry": ("Geometry",),
    "neighbors.euclidean": ("EuclideanIndex",),
    "neighbors.all_pairs": ("GenericIndex", "PrecomputedIndex"),
    "neighbors.approximate": ("ApproximateIndex",),
    "neighbors.graph": ("GraphIndex",),
    "neighbors.searchers.blocked": ("BlockedSearcher",),
    "neighbors.searchers.projected": ("ProjectedSearcher",),
    "neighbors.searchers.sparse": ("SparseSearcher",),
    "neighbors.searchers.tree": ("TreeSearcher",),
    "neighbors.searchers.forest": ("ForestSearcher",),
    "neighbors.searchers.descent": ("DescentSearcher",),
    "objectives.similarities.base": ("Similarity",),
    "objectives.repulsion.exact": ("ExactField",),
    "objectives.repulsion.barnes_hut": ("BarnesHutField",),
    "objectives.repulsion.fft": ("FourierField",),
    "maps.fixed_embedding": ("FixedEmbeddingMap",),
}
"""Modules, and their classes that `rebuilding` takes apart and makes again."""

PIPELINE = "Pipeline"
"""scikit-learn's class, which `models.pipelines` takes apart."""

SCALERS = ("MaxAbsScaler", "MinMaxScaler", "Normalizer", "RobustScaler", "StandardScaler")
"""Transformers of `sklearn.preprocessing` that may be steps of it: with the pipeline all that is not lowdim's own."""

FAMILIES = {
    "Similarity": {
        "objectives.similarities.gaussian": "Gaussian",
        "objectives.similarities.logarithm": "Logarithm",
        "objectives.similarities.logarithmic_spring": "LogarithmicSpring",
        "objectives.similarities.offset_logarithm": "OffsetLogarithm",
        "objectives.similarities.power": "Power",
        "objectives.similarities.rounded_logarithm": "RoundedLogarithm",
        "objectives.similarities.sampled_logarithm": "SampledLogarithm",
        "objectives.similarities.saturating": "Saturating",
        "objectives.similarities.shifted_student": "ShiftedStudent",
        "objectives.similarities.student": "Student",
    },
}
"""Names that several classes share in files, each with its module: what is stored tells them apart."""

OTHER_NAMES = {"Frame": "CentredPoints"}
"""Names in files of classes that were called so before."""

REPLACED = {"FlatSearcher": "BlockedSearcher"}
"""Names of classes that are no more, which older files may have, and those that are made of their fields instead."""

RETIRED = {
    "n_jobs": (
        "Geometry",
        "GenericIndex",
        "ApproximateIndex",
        "GraphIndex",
        "PrecomputedIndex",
        "LocallyLinearMap",
        "NeighborAffinities",
        "SquaredDistances",
        "KernelValues",
        "SquaredGeodesics",
        "GeodesicsToLandmarks",
        "FixedEmbeddingMap",
    ),
}
"""Fields that classes have no more, which older files may have: they are not read. Workers belong to the estimator."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a class is stored: its fields by ``take``, the object again by ``make``, which declares their types."""

    take: Callable[[Any], dict[str, Any]]
    make: Callable[..., Any]
    hints_of: Any

    @property
    def takes_run(self) -> bool:
        """Whether structures are built anew on loading, by the workers of a run."""
        return "run" in inspect.signature(self.make).parameters

    def fields(self) -> tuple[dict[str, Any], set[str]]:
        """The type of every field, and the names of those that must be there."""
        parameters = dict(inspect.signature(self.make).parameters)
        parameters.pop("run", None)
        hints = get_type_hints(self.hints_of)
        required = {name for name, part in parameters.items() if part.default is inspect.Parameter.empty}
        return {name: hints[name] for name in parameters}, required


def _places() -> dict[str, tuple[str, str]]:
    """Module and class of every name."""
    places = {name: (f"estimators.{module}", name) for name, module in ESTIMATORS.items()}
    for table in (RECORDS, REBUILT):
        for module, names in table.items():
            places |= {name: (module, OTHER_NAMES.get(name, name)) for name in names}
    places |= {name: ("models.preprocessing", name) for name in SCALERS}
    return places | {PIPELINE: ("models.pipelines", PIPELINE)}


NAMES = _places()
_BY_CLASS = {(f"{PACKAGE}.{module}", attribute): name for name, (module, attribute) in NAMES.items()}
_BY_CLASS |= {
    (f"{PACKAGE}.{module}", attribute): name
    for name, classes in FAMILIES.items()
    for module, attribute in classes.items()
}
_BY_CLASS["sklearn.pipeline", PIPELINE] = PIPELINE
_BY_CLASS |= {("sklearn.preprocessing._data", name): name for name in SCALERS}


def name_of(kind: type) -> str | None:
    """The name of a class in files; None where it has none."""
    return _BY_CLASS.get((kind.__module__, kind.__qualname__))


@cache
def find(name: str) -> Entry:
    """How the class of a name is stored."""
    module, attribute = NAMES[name]
    home: Any = import_module(f"{PACKAGE}.{module}")
    if name == PIPELINE:
        return cast("Entry", home.ENTRY)
    if name in SCALERS:
        return cast("Entry", home.entry(name))
    kind = getattr(home, attribute)
    if name in ESTIMATORS:
        return cast("Entry", import_module(f"{PACKAGE}.models.estimators").entry(kind))
    if name in REBUILT.get(module, ()):
        take, make = import_module(f"{PACKAGE}.models.rebuilding").REBUILDERS[name]
        return Entry(take, make, make)
    return Entry(_take_fields, kind, kind)


def _take_fields(record: Any) -> dict[str, Any]:
    return {part.name: getattr(record, part.name) for part in dataclasses.fields(record)}
