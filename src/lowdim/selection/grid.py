"""The points of a grid: names and values as the user gave them, and the estimator that each stands for."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..affinities import Entropic
from ..core.messages import in_python, setting
from ..core.messages import named as marked
from ..core.messages import value as quoted
from ..core.rules import Whole
from ..errors import InputError
from ..estimators.base import Estimator
from ..solvers.named import LANDMARK_SOLVERS

Grid = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]]

PERPLEXITY = "perplexity"
INSIDE = {"n_landmarks": ("solver", "n_landmarks"), "n_landmark_neighbors": ("solver", "n_neighbors")}
GRAPH = ("n_neighbors", "radius", "metric", "search")
"""Parameters that decide who is whose neighbour."""
OWNERS = ("solver", "affinity")
_EXAMPLE = in_python("Write, for example, {'n_neighbors': [5, 10, 20]}.", "Give each parameter some values.")
_APART = "Put them into two mappings: [{'affinity': ...}, {'perplexity': ...}]."
_SEPARATE = ", or sweep solvers without landmarks in a mapping of their own"


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid. Points of one ``family`` differ in ``n_components`` alone."""

    named: Mapping[str, Any]
    family: tuple[int, ...]

    def __str__(self) -> str:
        """The point as its stage is called: n_neighbors=5, bandwidth=2."""
        return ", ".join(f"{name}={value!r}" for name, value in self.named.items())


def expand(estimator: Estimator, grid: Any) -> tuple[Point, ...]:
    """Every combination of the values of each mapping, in the order given, with its names checked."""
    mappings = [grid] if isinstance(grid, Mapping) else grid
    if isinstance(mappings, str) or not isinstance(mappings, Sequence) or not mappings:
        raise InputError(
            f"{marked('grid', 'sweep')} must be a mapping of parameter names to values, or a list of such mappings; "
            f"got {quoted(grid)}. {_EXAMPLE}"
        )
    points: list[Point] = []
    for place, mapping in enumerate(mappings):
        if not isinstance(mapping, Mapping) or not mapping:
            raise InputError(
                f"{marked('grid', 'sweep')} must name at least one parameter in each mapping; got {quoted(mapping)}. "
                f"{_EXAMPLE}"
            )
        points += _combinations(place, mapping)
    known = names_of(estimator)
    for point in points:
        _check_names(estimator, point.named, known)
    return tuple(points)


def configure(estimator: Estimator, named: Mapping[str, Any], **other: Any) -> Estimator:
    """A new estimator like the given one, with the named parameters and ``other`` ones set.

    It is made from the same parameter objects, not from copies of them: landmarks that all fits hold are one array.
    """
    parameters = estimator.get_params(deep=False)
    own = {name: value for name, value in named.items() if name in parameters}
    parameters |= {**own, **other}
    for name, value in named.items():
        if name in own:
            continue
        if name == PERPLEXITY:
            parameters["affinity"] = Entropic(value)
        else:
            owner, field = _inside(name)
            parameters[owner] = replace(_resolved(owner, parameters[owner]), **{field: value})
    return type(estimator)(**parameters)


def own_value(estimator: Estimator, name: str) -> Any:
    """What the estimator itself has under a name of a grid; None where it has nothing."""
    parameters = estimator.get_params(deep=False)
    if name in parameters:
        return parameters[name]
    owner, field = ("affinity", PERPLEXITY) if name == PERPLEXITY else _inside(name)
    return getattr(_resolved(owner, parameters.get(owner)), field, None)


def widest(estimator: Estimator, points: Iterable[Point], n_rows: int) -> int:
    """The largest number of neighbours that any point can ask of so many rows; 0 where none says."""
    asked = [point.named.get("n_neighbors", getattr(estimator, "n_neighbors", None)) for point in points]
    return max((int(k) for k in asked if Whole(1).allows(k) and k < n_rows), default=0)


def repeats_graphs(points: Iterable[Point]) -> bool:
    """Whether points that are fitted on their own come with the same neighbours."""
    apart = {point.family: point for point in points}
    graphs = {tuple(repr(point.named.get(name)) for name in GRAPH) for point in apart.values()}
    return len(graphs) < len(apart)


def names_of(estimator: Estimator) -> list[str]:
    """Names that a grid may have for this estimator, beside the fields written as owner__field."""
    own = list(estimator.get_params(deep=False))
    inside = [name for name, (owner, _) in INSIDE.items() if owner in own]
    if "affinity" in own:
        inside.append(PERPLEXITY)
    return own + [name for name in inside if name not in own]


def _combinations(place: int, mapping: Mapping[str, Iterable[Any]]) -> list[Point]:
    values = {name: _values(name, given) for name, given in mapping.items()}
    points = []
    for places in itertools.product(*(range(len(column)) for column in values.values())):
        chosen = dict(zip(values, places, strict=True))
        family = (place, *(at for name, at in chosen.items() if name != "n_components"))
        points.append(Point({name: values[name][at] for name, at in chosen.items()}, family))
    return points


def _values(name: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(
            f"{marked(name)} of the grid must be a list of values; got {quoted(given)}. Write {quoted([given])}."
        )
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise InputError(
            f"{marked(name)} of the grid must have at least one value; got none. Leave it out, or give values."
        )
    return values


def _check_names(estimator: Estimator, named: Mapping[str, Any], known: list[str]) -> None:
    owner = type(estimator).__name__
    for name in named:
        if name == "random_state":
            raise InputError(
                f"{marked('random_state')} cannot be swept in the grid: it is no parameter to choose. Use "
                f"{marked('seeds', 'sweep')}."
            )
        if name == PERPLEXITY and name in known and {"affinity", PERPLEXITY} <= named.keys():
            raise InputError(
                f"{marked(PERPLEXITY)} stands for {marked('affinity')}{in_python('=Entropic(perplexity)')}, so the "
                f"grid must name only one of the two; got both. {in_python(_APART, 'Give one of them.')}"
            )
        if name not in known or name in INSIDE:
            _check_inside(estimator, name, named, known, owner)


def _check_inside(
    estimator: Estimator, name: str, named: Mapping[str, Any], known: list[str], owner: str
) -> None:
    """A name of a field inside ``solver`` or ``affinity``: the object must have that field at this point."""
    parameters = estimator.get_params(deep=False)
    if name in parameters:
        return
    home, field = _inside(name)
    if home not in OWNERS or home not in parameters:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {marked(close[0])}?" if close else ""
        raise InputError(
            f"{marked(name)} of the grid must be a parameter of {owner}: "
            f"{', '.join(marked(one) for one in known)}.{hint}"
        )
    holder = _resolved(home, named.get(home, parameters[home]))
    has = [field.name for field in fields(holder)] if is_dataclass(holder) else []
    if field not in has:
        advice = (
            f"Set {setting('solver', 'lll')} on the estimator{in_python(_SEPARATE)}."
            if home == "solver"
            else f"It has {', '.join(map(marked, has))}."
            if has
            else f"Set {marked('affinity')} to an object, such as Gaussian(1.0)."
        )
        raise InputError(
            f"{marked(name)} of the grid must be a field of {marked(home)}; got {setting(home, holder)}, which has no "
            f"such field. {advice}"
        )


def _inside(name: str) -> tuple[str, str]:
    """Which parameter holds the object that a name means, and the field of that object."""
    if name in INSIDE:
        return INSIDE[name]
    owner, _, field = name.partition("__")
    return owner, field


def _resolved(owner: str, value: Any) -> Any:
    """The object that a name of a landmark solver stands for; anything else as it is."""
    is_named = owner == "solver" and isinstance(value, str) and value in LANDMARK_SOLVERS
    return LANDMARK_SOLVERS[value]() if is_named else value
