"""Colours for labels: distinct ones for classes, a colour scale for quantities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers
from ..errors import InputError
from .labels import Named, classes_of, is_quantity
from .palette import MISSING, palette, shapes

_LONGEST_NAME = 24
PLAIN = (0.25, 0.36, 0.52)
"""Of points without labels."""
_SCALE = "viridis"


@dataclass(frozen=True, slots=True)
class Look:
    """How a class looks: ``shape`` is a place among ``palette.SHAPES``."""

    name: str
    colour: tuple[float, float, float]
    shape: int = 0
    is_missing: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """A colour for each point (N x 3), and what explains them: named ``classes`` or the ``limits`` of a scale.

    ``codes`` is the place among the classes of each point; ``missing`` tells which points have no label.
    """

    colours: Floats
    classes: tuple[Look, ...] = ()
    limits: tuple[float, float] | None = None
    scale: str = _SCALE
    codes: Integers | None = None
    missing: NDArray[np.bool_] | None = None

    @property
    def shapes(self) -> Integers | None:
        """The shape of each point, where there is more than one."""
        if self.codes is None or not any(look.shape for look in self.classes):
            return None
        return np.array([look.shape for look in self.classes])[self.codes]


def colouring(labels: Named, n_points: int, *, continuous: bool | None, scale: str | None) -> Colouring:
    """Colours for ``labels``; whole numbers and names are classes, other numbers and many values a scale."""
    if labels.values is None:
        return Colouring(np.tile(PLAIN, (n_points, 1)))
    if labels.values.shape != (n_points,):
        raise InputError(
            f"labels must hold one label for each of the {n_points} points; got {labels.values.size}. Give as many as "
            "there are points, in their order."
        )
    if is_quantity(labels, continuous):
        return _scaled(as_numbers(labels), scale or _SCALE)
    return _classed(labels)


def as_numbers(labels: Named) -> Floats:
    """The values of a quantity."""
    assert labels.values is not None
    try:
        return labels.values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"labels must be numbers with continuous=True; {error}. Leave it out.") from error


def class_looks(names: list[str]) -> tuple[Look, ...]:
    """How classes of these names look, in their order; an empty name is what is missing."""
    known = sum(name != "" for name in names)
    colours, kinds = palette(known), shapes(known)
    own = [Look(name, _triple(colours[at]), int(kinds[at])) for at, name in enumerate(filter(None, names))]
    return tuple(own) if known == len(names) else (*own, Look("(missing)", MISSING, is_missing=True))


def scale_colours(places: Floats, scale: str | None) -> Floats:
    """Colours of a scale at places from 0 to 1."""
    from matplotlib import colormaps

    found: Floats = colormaps[scale or _SCALE](places)[:, :3]
    return found


def hexadecimal(colours: Floats) -> list[str]:
    """Colours as browsers write them."""
    return ["#" + bytes(row).hex() for row in np.round(colours * 255).astype(np.uint8)]


def short_name(name: str) -> str:
    """A name that fits a legend."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _classed(labels: Named) -> Colouring:
    names, codes = classes_of(labels)
    looks = class_looks(names)
    colours = np.array([look.colour for look in looks])
    missing = codes == len(looks) - 1 if looks[-1].is_missing else None
    return Colouring(colours[codes], looks, codes=codes, missing=missing)


def _triple(colour: Floats) -> tuple[float, float, float]:
    red, green, blue = colour.tolist()
    return red, green, blue


def _scaled(values: Floats, scale: str) -> Colouring:
    known = np.isfinite(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 1.0)
    colours = np.tile(MISSING, (values.size, 1))
    span = high - low if high > low else 1.0
    colours[known] = scale_colours((values[known] - low) / span, scale)
    return Colouring(colours, limits=(float(low), float(low + span)), scale=scale, missing=~known)
