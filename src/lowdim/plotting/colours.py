"""Colours for labels: distinct ones for classes, a colour scale for quantities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers
from ..errors import InputError
from .labels import Named, classes_of, is_quantity
from .palette import DARK_MISSING, MISSING, palette, shapes, viridis

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

_LONGEST_NAME = 24
PLAIN = (0.25, 0.36, 0.52)
"""Of points without labels."""
DARK_PLAIN = (0.55, 0.68, 0.86)
_PART, _DARK_PART = (0.0, 0.59), (0.36, 1.0)
"""Of viridis, what stands out from a light and from a dark ground by 3:1."""
_TAIL = 0.01
_LOWEST = 0.08
_SKEWED = 2.0
"""How many times as wide as the middle 98 % all values are where the colours show that middle alone."""
_FEW = 20
"""Words that may be names of columns, given by mistake as labels."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a class looks: ``shape`` is a place among ``palette.SHAPES``."""

    name: str
    colour: tuple[float, float, float]
    shape: int = 0
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """What the colours of a quantity span, evenly or by logarithms; what is beyond has the colour of the end."""

    low: float
    high: float
    log: bool = False

    def places(self, values: Floats) -> Floats:
        """Where values lie between the ends, from 0 to 1."""
        ends = np.array([self.low, self.high])
        if self.log:
            values, ends = np.log(values), np.log(ends)
        span = ends[1] - ends[0]
        found: Floats = np.clip((values - ends[0]) / (span if span > 0 else 1.0), 0.0, 1.0)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """A colour for each point (N x 3), and what explains them: named ``classes`` or the ``spread`` of a scale.

    ``codes`` is the place among the classes of each point; ``missing`` tells which points have no label.
    """

    colours: Floats
    classes: tuple[Look, ...] = ()
    spread: Spread | None = None
    scale: str | None = None
    values: Floats | None = None
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
        few_words = 0 < labels.values.size <= _FEW and all(isinstance(word, str) for word in labels.values)
        name = f" A column is given by its name alone: labels={str(labels.values[0])!r}." if few_words else ""
        raise InputError(
            f"labels must hold one label for each of the {n_points} points; got {labels.values.size}. Give as many as "
            f"there are points, in their order.{name}"
        )
    if is_quantity(labels, continuous):
        return _scaled(as_numbers(labels), scale)
    return _classed(labels)


def as_numbers(labels: Named) -> Floats:
    """The values of a quantity."""
    assert labels.values is not None
    try:
        return labels.values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"labels must be numbers with continuous=True; {error}. Leave it out.") from error


def class_looks(names: list[str], *, dark: bool = False) -> tuple[Look, ...]:
    """How classes of these names look, in their order; an empty name is what is missing."""
    known = sum(name != "" for name in names)
    colours, kinds = palette(known, dark=dark), shapes(known)
    own = [Look(name, _triple(colours[at]), int(kinds[at])) for at, name in enumerate(filter(None, names))]
    grey = DARK_MISSING if dark else MISSING
    return tuple(own) if known == len(names) else (*own, Look("(missing)", grey, is_missing=True))


def scale_colours(places: Floats, scale: str | None, *, dark: bool = False) -> Floats:
    """Colours at places from 0 to 1 of a scale by its name, or of the part of viridis that the ground lets be seen."""
    if scale is None:
        low, high = _DARK_PART if dark else _PART
        return viridis(low + places * (high - low))
    from matplotlib import colormaps

    found: Floats = colormaps[scale](places)[:, :3]
    return found


def scale_of(tints: Colouring) -> Colormap:
    """The scale of a quantity as Matplotlib's colour bars take it."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(scale_colours(np.linspace(0.0, 1.0, 256), tints.scale).tolist())


def spread_of(values: Floats) -> Spread:
    """All values, or their middle where a few lie far out; by logarithms where even so most would have one colour.

    Each end is cut at its percentile (1 or 99) if all values span twice as much as those between the percentiles, and
    the values beyond this end half as much. Logarithms are those of positive values whose median lies in the lowest
    twelfth.
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return Spread(0.0, 1.0)
    parts: Floats = np.quantile(known, [0.0, _TAIL, 1.0 - _TAIL, 1.0])
    low, high = _cut(parts, parts)
    if parts[0] > 0 and np.median(known) - low < _LOWEST * (high - low):
        low, high = _cut(parts, np.log(parts))
        return Spread(low, high, log=True)
    return Spread(low, high)


def _cut(parts: Floats, places: Floats) -> tuple[float, float]:
    """Ends of the colours: some of the least value, two percentiles and the greatest, by their places on the scale."""
    below, middle, above = np.diff(places).tolist()
    if not middle > 0 or below + middle + above < _SKEWED * middle:
        return float(parts[0]), float(parts[3])
    return float(parts[int(below > middle / _SKEWED)]), float(parts[3 - int(above > middle / _SKEWED)])


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


def _scaled(values: Floats, scale: str | None) -> Colouring:
    known = np.isfinite(values)
    spread = spread_of(values)
    colours = np.tile(MISSING, (values.size, 1))
    colours[known] = scale_colours(spread.places(values[known]), scale)
    return Colouring(colours, spread=spread, scale=scale, values=values, missing=~known)
