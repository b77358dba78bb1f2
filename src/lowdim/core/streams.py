"""Random numbers by the kind of stage that draws them."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from .messages import in_python, named
from .messages import value as quoted
from .places import State
from .rules import Whole

STREAMS = ("search", "landmarks", "solve", "links", "group", "pairs")
"""Kinds of random numbers: for the neighbour search, the choice of landmarks, the starts of solvers and optimisers, the
links of new points, the starts of k-means, and random pairs. A new one goes last, or all after it would draw other
numbers."""


class Streams:
    """Random numbers of each kind of stage apart, so that a stage that another fit has done changes no other.

    ``seed`` tells streams of one seed from others; those of a generator, which gives other numbers every time, are
    equal to none.
    """

    def __init__(self, random_state: Any = 0) -> None:
        is_seed = isinstance(random_state, numbers.Integral)
        self.seed: Hashable = random_state if is_seed else object()
        self._random_state = random_state
        if not is_seed:
            # What a generator gives depends on when it is asked: now, before anybody else draws from it.
            _ = self._generators

    @cached_property
    def _generators(self) -> dict[str, np.random.Generator]:
        """The streams, made when the first is used: a map for new points draws nothing, and must not wait for them."""
        return dict(zip(STREAMS, _split(make_generator(self._random_state)), strict=True))

    def __getitem__(self, name: str) -> np.random.Generator:
        """The stream of a kind of stage."""
        return self._generators[name]

    def anew(self) -> Streams:
        """The streams of the same seed from their beginning."""
        return Streams(self._random_state)

    def state(self) -> State:
        """Where each stream stands."""
        return {name: generator.bit_generator.state for name, generator in self._generators.items()}

    def restore(self, state: State) -> None:
        """Go on from where streams stood."""
        for name, generator in self._generators.items():
            generator.bit_generator.state = state[name]


def _split(generator: np.random.Generator) -> list[np.random.Generator]:
    """A generator for each kind of stage."""
    try:
        return generator.spawn(len(STREAMS))
    except TypeError:
        # A generator made of somebody's own seed, or by an old NumPy, has no seed that splits: it draws seeds itself.
        return [np.random.default_rng(generator.integers(1 << 63, size=4)) for _ in STREAMS]


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator of its own from a seed, a Generator, a RandomState or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1))
    if random_state is None or Whole(0).allows(random_state):
        return np.random.default_rng(random_state)
    raise InputError(
        f"{named('random_state')} must be a whole number >= 0{in_python(', a NumPy Generator or RandomState')}, or "
        f"{quoted(None)}; got {quoted(random_state)}."
    )
