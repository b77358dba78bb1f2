"""Messages of the library in the words of the command line: options instead of parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PYTHON_ONLY = (
    "a function of two rows, ",
    "Generator, RandomState, ",
    ", or a configured object of lowdim.optimize",
    ", or Exact, BarnesHut, FFT with their own tolerance",
)
"""Phrases of docstrings about what cannot be typed."""

RENAMED = {"random_state": "seed", "n_jobs": "threads", "n_landmarks": "landmarks"}
"""Parameters that have a shorter name here."""


READING = {
    name: f"--{name}" for name in ("label", "id", "drop", "layer", "obsm", "key", "header", "delimiter")
}
"""Options about how to read a file, by their names in `lowdim.data.files.read`."""


def flag_of(parameter: str, owner: str = "") -> str:
    """The option of a parameter, or of a field of a configured object that a parameter takes."""
    if owner and parameter not in RENAMED:
        return f"--{owner}-{parameter.replace('_', '-')}"
    return "--" + RENAMED.get(parameter, parameter).replace("_", "-")


def in_options(text: str, flags: Mapping[str, str]) -> str:
    """A message with the options in place of the parameters that it names.

    Names with an underscore can mean nothing else; plain words are replaced only where a value or 'must' follows.
    """
    for name, flag in sorted(flags.items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<![\w-]){name}=(?:'([^']*)'|\"([^\"]*)\")", rf"{flag} \1\2", text)
        text = re.sub(rf"(?<![\w-]){name}=(?=[\w.+-])", f"{flag} ", text)
        text = re.sub(rf"(?<![\w-]){name} of \w+ (?=must)", f"{flag} ", text)
        text = re.sub(rf"^{name}(?=:| must| belongs| needs| cannot)", flag, text)
        if "_" in name:
            text = re.sub(rf"(?<![\w-]){name}(?![\w=])", flag, text)
    text = re.sub(r"\b(or|got) None\b", r"\1 none", text)
    return text.replace("True or False", "true or false")


def help_text(text: str, flags: Mapping[str, str], default: object) -> str:
    """The description of a parameter for the help, with its default."""
    text = re.sub(r"`+([^`]*)`+", r"\1", text)
    for phrase in _PYTHON_ONLY:
        text = text.replace(phrase, "")
    text = in_options(text, flags)
    text = re.sub(r'"([^"]*)"', r"\1", text)
    if default is None:
        return re.sub(r"\b[Nn]one:", "default:", text)
    return text if "(default)" in text else f"{text.rstrip('.')} (default: {default})"
