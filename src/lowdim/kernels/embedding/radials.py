"""What compiled loops ask of a radial function, a similarity K(D) of the squared distance D of two points.

A loop takes the radial function as an argument, and its *type* says which code the loop is compiled with: `Gaussian`
and `Student` have code of their own, `Table` stands for every other function, given by its values. Loops import the
questions from here, so that they are compiled anew when an answer changes (`compiling.source_stamp`).

K_j = (-d/dD)^j K throughout, and f = -log K is the potential of the attraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from . import radial_gaussian, radial_student, radial_table
from .radial_gaussian import Gaussian
from .radial_student import Student, StudentNear
from .radial_table import Table

# Sums may be reordered, which vector instructions need; nothing is assumed about infinities or NaN.
REORDER = {"contract", "nsz", "reassoc"}


def by_kind(answers: dict[type, Callable[..., Any]]) -> Callable[..., Any]:
    """The function that is, for each type of its first argument, the one given for it.

    A loop has it in its own code, with its own rules of arithmetic: what several loops had copies of would be
    optimised apart in each (`compiling`).
    """

    def ask(radial: Any, *others: Any) -> Any:
        return answers[type(radial)](radial, *others)

    def choose(radial: Any, *others: Any) -> Callable[..., Any] | None:
        return answers.get(getattr(radial, "instance_class", object))

    overload(ask, inline="always", strict=False)(choose)
    return ask


def _by_name(name: str) -> Callable[..., Any]:
    """The function of this name of each module of a radial function."""
    homes = {Gaussian: radial_gaussian, Student: radial_student, Table: radial_table}
    return by_kind({kind: getattr(home, name) for kind, home in homes.items()})


energy = _by_name("energy")
"""weight f(D) of (radial, weight, D)."""

pull = _by_name("pull")
"""weight f'(D) of (radial, weight, D)."""

relief = _by_name("relief")
"""min(-weight f''(D), bound here there K_2(D)) of (radial, weight, bound, here, there, D).

It is how much the attraction takes from the curvature of an edge.
"""

slope = _by_name("slope")
"""K_order(D) of (radial, order, D)."""

relative = _by_name("relative")
"""K(D) but for a factor of the row, of (radial, D, least D of the row)."""

three_slopes = _by_name("three_slopes")
"""K_order, K_{order+1} and K_{order+2} of (radial, order, D)."""

first_slopes = _by_name("first_slopes")
"""K_0, K_1, K_2 and factor K_3 of (radial, factor, D)."""

charged = _by_name("charged")
"""c K_0 and c K_1 of (radial, c, D)."""

near = by_kind({Gaussian: radial_gaussian.near, StudentNear: radial_student.near, Table: radial_table.slope})
"""K_order(D) of (radial, order, D), of one pair of near points."""
