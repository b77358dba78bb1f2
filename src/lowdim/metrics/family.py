"""What a family of measures must be able to do."""

from __future__ import annotations

from typing import Any, Protocol

from ..core.records import Floats
from .sampling import Sample
from .views import View


class Family(Protocol):
    """Measures that follow from the same numbers of each row."""

    @property
    def names(self) -> tuple[str, ...]:
        """The measures, as `Scores` names them."""
        ...

    def of_rows(self, view: View) -> Floats:
        """The numbers of each row of a view, b x m."""
        ...

    def results(self, values: Floats, sample: Sample) -> dict[str, Any]:
        """Fields of `Scores` from the numbers of all sampled rows; a measure that does not apply is left out."""
        ...
