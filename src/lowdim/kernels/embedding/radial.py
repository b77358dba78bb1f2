"""What compiled loops ask of a radial function: a similarity K(D) of the squared distance D of two points.

A loop takes the radial function as an argument, and its *type* says which code the loop is compiled with: `Gaussian`
and `Student` have code of their own, `Table` stands for every other function, given by its values. The functions below
are the questions. They have no body: `implement` gives the answer for one type, and it becomes a part of every loop
that asks.

K_j = (-d/dD)^j K throughout, and f = -log K is the potential of the attraction. Coordinates are in columns: one
contiguous array for each. ``values`` are some numbers that are overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload

from ..compiling import OWN

Question = TypeVar("Question", bound=Callable[..., Any])

# Sums may be reordered, which vector instructions need; nothing is assumed about infinities or NaN.
REORDER = {"contract", "nsz", "reassoc"}
QUESTIONS: list[Callable[..., Any]] = []
"""All questions: what asks one may have its sums reordered."""


def question(function: Question) -> Question:
    """Mark a function as a question to radial functions."""
    QUESTIONS.append(function)
    return function


def implement(asked: Callable[..., Any], kind: type, **options: Any) -> Callable[[Question], Question]:
    """Answer a question for a type of radial functions, with Numba's ``options``."""

    def register(answer: Question) -> Question:
        def choose(radial: Any, *others: Any) -> Question | None:
            return answer if getattr(radial, "instance_class", None) is kind else None

        # Always inlined: an answer that several loops had copies of would be optimised apart in each (`compiling`).
        settings: Any = OWN | options | {"forceinline": True}
        overload(asked, jit_options=settings, strict=False)(choose)
        return answer

    return register


@question
def energy(radial: Any, weight: float, D: float) -> float:
    """weight f(D)."""
    raise NotImplementedError


@question
def pull(radial: Any, weight: float, D: float) -> float:
    """weight f'(D)."""
    raise NotImplementedError


@question
def relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """min(-weight f''(D), bound here there K_2(D)): how much the attraction takes from the curvature of an edge."""
    raise NotImplementedError


@question
def add_flat(radial: Any, x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Potential and two-dimensional force of points (x, y) at (a, b): sums of c K_0, and of c K_1 times (u, v)."""
    raise NotImplementedError


@question
def add_solid(
    radial: Any, x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """`add_flat` in three dimensions."""
    raise NotImplementedError


@question
def add_flat_cells(radial: Any, cells: Any, count: int, a: float, b: float) -> tuple[float, float, float]:
    """Potential and force of the first ``count`` cells at (a, b): see `cell_sums`."""
    raise NotImplementedError


@question
def add_solid_cells(
    radial: Any, cells: Any, count: int, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """`add_flat_cells` in three dimensions."""
    raise NotImplementedError


@question
def slopes(radial: Any, order: int, values: Any) -> None:
    """``values`` = K_order of the squared distances that they are."""
    raise NotImplementedError


@question
def three_slopes(radial: Any, order: int, values: Any, first: Any, second: Any) -> None:
    """`slopes`, with K_{order+1} and K_{order+2} in ``first`` and ``second``."""
    raise NotImplementedError


@question
def charged(radial: Any, charges: Any, own: int, values: Any) -> float:
    """The sum of c K_0, and ``values`` = c K_1, of the squared distances that the values are.

    The value at ``own`` counts as 0; none does where that is negative.
    """
    raise NotImplementedError


@question
def near(radial: Any, u: float, order: int) -> float:
    """K_order(u) of one pair."""
    raise NotImplementedError
