"""From what was typed to the value that a parameter takes."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .table import Parameter

_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """A file whose numbers are the value; it is read when the estimator is made."""

    path: str


def convert(text: str, parameter: Parameter) -> Any:
    """The value, by the types that the parameter's signature names.

    Whether the estimator can use it is for the estimator to say.
    """
    kinds = parameter.kinds
    takes_all = "Any" in kinds
    if "dict" in kinds and text.lower() != "none":
        return _table(text)
    if text.lower() == "none" and (takes_all or "None" in kinds):
        return None
    if "bool" in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if takes_all or kinds & {"int", "float"}:
        number = _number(text)
        if number is not None:
            return number
    if takes_all:
        return _numbers(text)
    if kinds <= {"int", "float", "None", "bool"}:
        raise argparse.ArgumentTypeError(
            f"must be {_expected(kinds)}; got {text!r}.{_several(text, parameter)}"
        )
    if kinds & {"int", "float"} and "auto" in parameter.choices and text not in parameter.choices:
        words = ", ".join(parameter.choices)
        raise argparse.ArgumentTypeError(
            f"must be {_expected(kinds)}, or one of {words}; got {text!r}.{_several(text, parameter)}"
        )
    return text


def _several(text: str, parameter: Parameter) -> str:
    """Where to give several values, when that is what came."""
    if "," not in text or None in map(_number, text.split(",")):
        return ""
    return f" 'lowdim sweep DATA --grid {parameter.name}={text}' tries each."


def _numbers(text: str) -> Any:
    """Numbers with commas, a file of them, or the text itself."""
    numbers = [_number(part) for part in text.split(",")]
    if None not in numbers:
        return numbers
    return ArrayFile(text) if _is_file(text) else text


def _table(text: str) -> dict[str, Any]:
    """``p=3`` or ``p=3,w=1,1,2``: names with a number, several with commas, or a file of them."""
    found: dict[str, str] = {}
    for part in text.split(","):
        name, is_new, value = part.partition("=")
        if is_new:
            found[name.strip()] = value
        elif found:
            found[next(reversed(found))] += f",{part}"
        else:
            raise argparse.ArgumentTypeError(
                f"must be NAME=VALUE, such as p=3 or w=weights.npy; got {text!r}."
            )
    return {
        name: _numbers(value) if (number := _number(value)) is None else number
        for name, value in found.items()
    }


def placeholder(parameter: Parameter) -> str:
    """What stands for the value in the help."""
    kinds = parameter.kinds
    if "PathLike" in kinds:
        return "FOLDER"
    if "dict" in kinds:
        return "NAME=VALUE"
    if "Any" in kinds or ("str" in kinds and kinds & {"int", "float"}):
        return "VALUE"
    if "float" in kinds:
        return "X"
    return "N" if "int" in kinds else "NAME"


def load_array(file: ArrayFile, *, indices: bool = False) -> Any:
    """The numbers in a file; with ``indices``, a single column of whole numbers has one dimension."""
    import numpy as np

    from ...data import files

    values: Any = files.read(file.path).X
    if indices and values.shape[1] == 1 and np.array_equal(values, np.round(values)):
        return np.asarray(values[:, 0], dtype=np.int64)
    return values


def _is_file(text: str) -> bool:
    try:
        return bool(Path(text).suffix) and Path(text).exists()
    except OSError:  # no name of a file is as long
        return False


def _number(text: str) -> int | float | None:
    # More digits than this are no size of anything, and Python refuses thousands of them.
    if _WHOLE.fullmatch(text.strip()) and len(text) < 400:
        return int(text)
    try:
        return float(text)
    except ValueError:
        return None


def _expected(kinds: set[str]) -> str:
    known = {"bool": "true, false", "float": "a number", "int": "a whole number", "None": "none"}
    return " or ".join(words for kind, words in known.items() if kind in kinds)
