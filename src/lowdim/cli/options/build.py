"""From options to an estimator."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from ..parser import given
from ..usage import UsageError
from .method import OWNERS, Chosen
from .table import Part
from .values import ArrayFile, load_array
from .wording import flag_of, shell


def build(chosen: Chosen, options: argparse.Namespace, **other: Any) -> Any:
    """The estimator that the options describe, its parameters checked; a UsageError names the option that is wrong."""
    import lowdim

    from ...errors import InputError, InputTypeError

    method = chosen.method
    parameters = {name: _resolved(name, value) for name, value in given(options, "own:").items()}
    fields = {owner: given(options, f"{owner}:") for owner in OWNERS}
    _move_landmarks(chosen, parameters, fields["solver"])
    try:
        for owner in OWNERS:
            if owner in parameters:
                parameters[owner] = make_part(
                    method.parts(owner).get(parameters[owner].lower()),
                    owner,
                    parameters[owner],
                    fields[owner],
                )
        estimator = getattr(lowdim, method.class_name)(**parameters, **other)
        estimator._check_parameters()
        check_parts(estimator)
    except (InputError, InputTypeError) as error:
        raise UsageError(error.said(shell)) from error
    return estimator


def make_part(part: Part | None, owner: str, name: str, fields: dict[str, Any]) -> Any:
    """The configured object that a name stands for, or the name itself where nothing of it is set."""
    import lowdim

    if part is None or (not fields and owner != "affinity"):
        return name.lower() if part else name
    fields = {field: _resolved(field, value) for field, value in fields.items()}
    if owner != "optimizer":
        return getattr(lowdim, part.class_name)(**fields)
    from ...optimize.named import named_optimizer

    usual: Any = named_optimizer(part.name)
    if type(usual).__name__ == part.class_name:
        return replace(usual, **fields)
    return replace(usual, direction=replace(usual.direction, **fields))


def check_parts(estimator: Any) -> None:
    """Let every configured object check itself, before the work."""
    for owner in OWNERS:
        check = getattr(getattr(estimator, owner, None), "check", None)
        if check is not None:
            check()


def read_extra(chosen: Chosen, options: argparse.Namespace) -> dict[str, Any]:
    """Further data for ``fit``, such as the noise of oriented PCA."""
    from ...data import files

    named = given(options, "data:")
    wanted = {p.name: named[p.name] for p in chosen.method.data if named.get(p.name)}
    return {name: files.read(path).X for name, path in wanted.items()}


def _move_landmarks(chosen: Chosen, parameters: dict[str, Any], fields: dict[str, Any]) -> None:
    """--landmarks is a number of landmarks or a file with them, of whichever solver was named."""
    part = chosen.method.parts("solver").get(chosen.parts.get("solver", ""))
    if part is not None and parameters.get("landmarks") is not None:
        landmarks = parameters.pop("landmarks")
        fields["n_landmarks" if isinstance(landmarks, int) else "landmarks"] = landmarks


def _resolved(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _resolved(key, part) for key, part in value.items()}
    return load_array(value, indices=name == "landmarks") if isinstance(value, ArrayFile) else value


def described(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator by their options, as text, where they are not what they would be anyway."""
    usual = type(estimator)().get_params(deep=False)
    return {
        flag_of(name): value if isinstance(value, int | float | str | None) else repr(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in ("callback", "verbose") and repr(value) != repr(usual[name])
    }
