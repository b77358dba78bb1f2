"""Affinities by name, and the check of those that come as objects."""

from __future__ import annotations

import difflib

from ..core.rules import Either, Instance, OneOf
from ..errors import InputError
from .binary import Binary
from .entropic import Entropic
from .fuzzy import Fuzzy
from .gaussian import Gaussian
from .self_tuning import SelfTuning
from .weights import Affinity

NAMES: dict[str, type[Binary] | type[Entropic] | type[Fuzzy] | type[Gaussian] | type[SelfTuning]] = {
    "binary": Binary,
    "entropic": Entropic,
    "fuzzy": Fuzzy,
    "gaussian": Gaussian,
    "self-tuning": SelfTuning,
}
"""Words for affinities with their default parameters."""
AFFINITY_RULE = Either(OneOf("auto", "precomputed", *NAMES), Instance(*NAMES.values()))
"""What the parameter ``affinity`` of an estimator may be."""


def resolve_affinity(value: str | Affinity) -> Affinity:
    """The affinity of a name, or one that came as an object, its parameters checked.

    Raises
    ------
    InputError
        If the name is not one of `NAMES`, or a parameter of the affinity cannot be used.
    """
    if isinstance(value, str):
        if value not in NAMES:
            close = difflib.get_close_matches(value, NAMES, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InputError(
                f"affinity must be one of {', '.join(map(repr, NAMES))}, or an affinity such as Gaussian(2.0); got "
                f"{value!r}.{hint}"
            )
        return NAMES[value]()
    value.check()
    return value
