"""What a parameter may be: rules that an estimator lists once and that speak for themselves in messages."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .messages import in_python
from .messages import value as quoted


class Rule(Protocol):
    """What a parameter may be."""

    @property
    def words(self) -> str:
        """The rule as the end of a sentence that begins with 'must be'."""
        ...

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, at least ``low``."""

    low: int | None = None

    @property
    def words(self) -> str:
        """The rule in words."""
        return "a whole number" if self.low is None else f"a whole number >= {self.low}"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
            return False
        return self.low is None or int(value) >= self.low


@dataclass(frozen=True, slots=True)
class Real:
    """A number above ``low`` (or equal to it, when ``closed``) and below ``high``; finite, unless ``endless``."""

    low: float = -np.inf
    closed: bool = False
    high: float = np.inf
    endless: bool = False

    @property
    def words(self) -> str:
        """The rule in words."""
        bound = "" if self.low == -np.inf else f" {'>=' if self.closed else '>'} {self.low:g}"
        above = "" if self.high == np.inf else f" and < {self.high:g}"
        return f"a number{bound} (inf: no bound)" if self.endless else f"a finite number{bound}{above}"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number of hundreds of digits
            return False
        inside = number >= self.low if self.closed else number > self.low
        if self.endless and number == np.inf:
            return True
        return np.isfinite(number).item() and inside and number < self.high


class Share:
    """A number from 0 to 1."""

    words = "a number from 0 to 1"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return Real(0, closed=True).allows(value) and not Real(1).allows(value)


class Jobs:
    """A number of threads, or a negative number that counts back from all cores."""

    words = "a whole number other than 0 (-1: every core)"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return Whole().allows(value) and value != 0


class OneOf:
    """One of a few words."""

    def __init__(self, *names: str) -> None:
        self.names = names

    @property
    def words(self) -> str:
        """The rule in words."""
        return ("one of " if len(self.names) > 1 else "") + ", ".join(map(quoted, self.names))

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return isinstance(value, str) and value in self.names


class ByItself(OneOf):
    """``"auto"``: the value is chosen from the data, by the first of some criteria; or by one: ``"auto:criterion"``."""

    def __init__(self, *criteria: str) -> None:
        super().__init__("auto", *(f"auto:{name}" for name in criteria))
        self.criteria = criteria


def is_open(value: object) -> bool:
    """Whether a parameter leaves its value to be chosen from the data: see `ByItself`."""
    return isinstance(value, str) and value.partition(":")[0] == "auto"


class Nothing:
    """None."""

    words = quoted(None)

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return value is None


class Truth:
    """True or False."""

    words = f"{quoted(True)} or {quoted(False)}"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return isinstance(value, bool | np.bool_)


class Function:
    """Anything that can be called."""

    words = "a function"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return callable(value)


class Array:
    """Numbers in any form that the gate for input takes, and says more of."""

    words = "an array of numbers"

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return value is not None and not isinstance(value, str | numbers.Number) and not callable(value)


class Instance:
    """An object of one of some classes."""

    def __init__(self, *classes: type) -> None:
        self.classes = classes

    @property
    def words(self) -> str:
        """The rule in words."""
        words = "an object of class " + " or ".join(kind.__name__ for kind in self.classes)
        return in_python(words, "a word") if str in self.classes else words

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return isinstance(value, self.classes)


class Either:
    """What any of some rules allows."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules

    @property
    def words(self) -> str:
        """The rule in words."""
        # Functions and arrays are for programs: nobody can type them.
        typed = [not isinstance(rule, Function) and not _is_object(rule) for rule in self.rules]
        first = typed.index(True) if any(typed) else 0
        words = self.rules[first].words
        for place, rule in enumerate(self.rules):
            if place != first:
                joined = f"{rule.words}, or " if place < first else f", or {rule.words}"
                joined = joined if typed[place] else in_python(joined)
                words = joined + words if place < first else words + joined
        return words

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return any(rule.allows(value) for rule in self.rules)


def _is_object(rule: Rule) -> bool:
    return isinstance(rule, Array) or (isinstance(rule, Instance) and str not in rule.classes)
