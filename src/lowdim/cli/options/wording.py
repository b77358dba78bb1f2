"""Messages of the library in the words of the command line: options instead of parameters."""

from __future__ import annotations

import shlex

from ...core.messages import Mention

RENAMED = {"random_state": "seed", "n_jobs": "threads", "n_landmarks": "landmarks", "y": "label"}
"""Parameters that have another name here."""
ARGUMENTS = {"X": "DATA", "embedding": "EMBEDDING"}
"""What is no option but a file."""
USUAL_WEIGHT = 0.5
"""What --target weighs unless it is said, also of methods that follow no targets as a rule."""


def flag_of(parameter: str, owner: str = "") -> str:
    """The option of a parameter, or of a field of a configured object that a parameter takes."""
    if owner and parameter not in RENAMED:
        return f"--{owner}-{parameter.replace('_', '-')}"
    return "--" + RENAMED.get(parameter, parameter).replace("_", "-")


def renamed(flag: str) -> str:
    """The option that is meant where somebody types a parameter that has another name here; empty for any other."""
    parameter = flag.removeprefix("--").removeprefix("solver-").replace("-", "_")
    return flag_of(parameter) if parameter in RENAMED else ""


def shell(mention: Mention) -> str:
    """The language of the command line: ``--n-neighbors``, ``--n-neighbors 30``, ``--no-whiten``, ``none``."""
    if not mention.parameter or mention.parameter in ARGUMENTS:
        return ARGUMENTS.get(mention.parameter, mention.text)
    from .table import owner_of, owner_of_field

    owner = owner_of(mention.owner) if mention.owner else owner_of_field(mention.parameter)
    flag = flag_of(mention.parameter, owner)
    if mention.kind == "name" or mention.code == "True":
        return flag
    if mention.code == "False":
        return f"--no-{flag.removeprefix('--')}"
    return f"{flag} {shlex.quote(mention.text)}"
