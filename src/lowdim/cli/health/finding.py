"""What a check has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GOOD, NOTE, WRONG = "good", "note", "wrong"
"""All is well; something to know, with which lowdim works; something that is to be mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing of an installation: how it is, and where it is not good what to do."""

    name: str
    state: str
    says: str
    advice: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "name": self.name,
            "state": self.state,
            "says": self.says,
            "advice": self.advice,
            "figures": dict(self.figures),
        }
