"""A method and the values of its parameters: the estimator that they stand for, and the lines that make it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.messages import value as quoted
from ..errors import InputError
from ..selection.grid import configure
from ..solvers.named import LANDMARK_SOLVERS
from .catalogue import METHODS, class_of, name_of
from .controls import LANDMARKS, Control, controls_of

MANY_ROWS = 5_000
"""Rows from which on a spectral method is explored by landmarks, which answer while a slider moves."""
LONGEST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Setting:
    """A method with the values of its parameters that are not the defaults."""

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def checked(cls, method: Any, parameters: Any) -> Setting:
        """What a page has sent; an InputError names what is no method or no value of a parameter."""
        if not isinstance(method, str) or method not in METHODS:
            raise InputError(
                f"method must be one of {', '.join(METHODS)}; got {quoted(str(method)[:LONGEST_TEXT])}."
            )
        if not isinstance(parameters, dict):
            raise InputError(
                "parameters must be a table of names and values. Send one, empty for the defaults."
            )
        known = {control.name: control for control in controls_of(method)}
        values = {}
        for name, value in parameters.items():
            if name not in known:
                raise InputError(
                    f"{method} has no parameter {quoted(str(name)[:LONGEST_TEXT])}. It has {', '.join(known)}."
                )
            values[name] = _checked(known[name], value)
        return cls(method, _counting(known, values))

    @classmethod
    def usual(cls, method: str, n_rows: int) -> Setting:
        """The defaults, by landmarks where there are many rows."""
        words = next((c.words for c in controls_of(method) if c.name == "solver"), ())
        if n_rows <= MANY_ROWS or "lll" not in words:
            return cls(method)
        return cls(method, {"solver": "lll", LANDMARKS: 1000})

    @classmethod
    def of(cls, estimator: Any) -> Setting:
        """That of an estimator; what no control can say is left to the defaults."""
        method = name_of(estimator)
        if method is None:
            raise InputError(
                f"{type(estimator).__name__} cannot be explored. Explore one of {', '.join(METHODS)}."
            )
        given = estimator.get_params(deep=False)
        solver = given.get("solver")
        if type(solver) in LANDMARK_SOLVERS.values():
            given |= {"solver": solver.name, LANDMARKS: solver.n_landmarks}
        values = {}
        for control in controls_of(method):
            value = given.get(control.name, control.default)
            if isinstance(value, int | float | str | None) and value != control.default:
                values[control.name] = value
        return cls.checked(method, values)

    def estimator(self, **other: Any) -> Any:
        """A new estimator, not fitted."""
        return configure(class_of(self.method)(), self.parameters, **other)

    def call(self) -> str:
        """The estimator as it is written in Python."""
        values = dict(self.parameters)
        count = values.pop(LANDMARKS, None)
        parts = [f"{name}={value!r}" for name, value in values.items() if name != "solver"]
        if "solver" in values:
            kind = LANDMARK_SOLVERS.get(values["solver"])
            is_counted = kind is not None and count is not None
            parts.append(
                f"solver=lowdim.{kind.__name__}({LANDMARKS}={count!r})"
                if kind is not None and is_counted
                else f"solver={values['solver']!r}"
            )
        return f"lowdim.{METHODS[self.method]}({', '.join(parts)})"

    def options(self, flag_of: Callable[[str], str]) -> str:
        """The same as options of ``lowdim embed``."""
        words = ["--method", self.method]
        for name, value in self.parameters.items():
            flag = flag_of(name)
            if isinstance(value, bool):
                words.append(flag if value else f"--no-{flag.removeprefix('--')}")
            else:
                words += [
                    flag,
                    "none" if value is None else f"{value!r}" if not isinstance(value, str) else value,
                ]
        return shlex.join(words)


def _checked(control: Control, value: Any) -> Any:
    """A value of the kind that a control has; bounds are for the estimator to judge."""
    wrong = InputError(
        f"{control.name} must be a {'number' if control.kind == 'number' else control.kind}; got "
        f"{quoted(str(value)[:LONGEST_TEXT])}."
    )
    if control.kind == "switch":
        if isinstance(value, bool):
            return value
        raise wrong
    if control.kind == "choice":
        if isinstance(value, str) and value in control.words:
            return value
        raise wrong
    if control.automatic and value in (None, control.auto):
        return control.auto
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong
    if not -1e15 < value < 1e15:
        raise wrong
    if control.whole:
        if float(value) != int(value):
            raise wrong
        return int(value)
    return float(value)


def _counting(known: Mapping[str, Control], values: dict[str, Any]) -> dict[str, Any]:
    """The values that are not the defaults and that count beside the others, in the order of the controls."""
    kept = {}
    for name, control in known.items():
        if name not in values:
            continue
        if control.needs is not None:
            owner, allowed = control.needs
            if values.get(owner, known[owner].default) not in allowed:
                continue
            kept[name] = values[name]
        elif values[name] != control.default:
            kept[name] = values[name]
    return kept
