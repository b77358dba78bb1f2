"""How a neighbour embedding is tried along the values of a parameter that is left open."""

from __future__ import annotations

from math import ceil
from typing import Any, ClassVar, Self

from ...core.records import Floats, Integers
from ..choosing.candidates import MULTIPLES
from ..choosing.settled import with_values
from .embedding_parameters import CommonEmbedding


class EmbeddingTrials(CommonEmbedding):
    """What a choice asks of neighbour embeddings: see `lowdim.estimators.choosing`."""

    _goes_on: ClassVar[bool] = False
    """Whether a fit begins from the picture of another value; set on the estimator that is tried."""
    _goes_on_warm: ClassVar[bool] = True

    @property
    def _known_perplexity(self) -> float | None:
        """The perplexity whose affinities the neighbours carry; None: they carry others."""
        return None

    @property
    def _fewest_neighbors(self) -> int:
        perplexity = self._known_perplexity
        return 2 if perplexity is None else ceil(MULTIPLES[0] * perplexity)

    def _usual_neighbors(self: Any, n_points: int) -> int:
        usual = with_values(self, {"n_neighbors": None})
        return int(usual._wanted_neighbors(n_points)) + int(self._counts_itself)

    def _as_tried(self, chosen: Integers | None) -> dict[str, Any]:
        if chosen is None or isinstance(self.init, str):
            return {}
        return {"init": self.init[chosen]}

    def _widest(self: Any, name: str, value: Any, n_points: int) -> int:
        return int(with_values(self, {name: value})._wanted_neighbors(n_points))

    def _going_on(self, X: Floats) -> Self:
        if not self._goes_on_warm:
            return self
        at_once = {"homotopy": None} if hasattr(self, "homotopy") else {}
        return with_values(self, {"init": X, "_goes_on": True} | at_once)
