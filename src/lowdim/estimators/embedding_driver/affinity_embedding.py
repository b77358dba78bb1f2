"""What neighbour embeddings of entropic affinities share: a perplexity, or another affinity in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from math import ceil
from typing import Any, ClassVar

from ...affinities import (
    AFFINITY_RULE,
    Affinity,
    Binary,
    Entropic,
    FittedAffinity,
    resolve_affinity,
    weigh,
)
from ...affinities.entropic import NEIGHBORS_PER_PERPLEXITY, USUAL_PERPLEXITY
from ...core.messages import in_python, named, setting
from ...core.records import Sparse
from ...core.rules import Rule, is_open
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...neighbors.neighborhood import Neighborhood
from ..base import parameters
from ..choosing.words import perplexity_rule
from ..graphs import check_affinity_input
from .embedding_parameters import COMMON_EMBEDDING_RULES
from .neighbor_embedding import NeighborEmbedding

FEWEST_NEIGHBORS = 5
"""Neighbours below which a perplexity says nothing."""

AFFINITY_EMBEDDING_RULES: Mapping[str, Rule] = {
    **COMMON_EMBEDDING_RULES,
    "perplexity": perplexity_rule(),
    "affinity": AFFINITY_RULE,
}


@parameters
class AffinityEmbedding(NeighborEmbedding):
    """Base of the neighbour embeddings that take a perplexity or any affinity."""

    _: KW_ONLY
    perplexity: float | str | None = None
    affinity: str | Affinity = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = AFFINITY_EMBEDDING_RULES
    _leading: ClassVar[tuple[str, ...]] = ("perplexity",)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.perplexity is not None and self.affinity != "auto":
            inside = "" if is_open(self.perplexity) else in_python(f", as in Entropic({self.perplexity})")
            raise InputError(
                f"{named('perplexity')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('perplexity', self.perplexity)} with {setting('affinity', self.affinity)}. Put it into "
                f"the affinity{inside}."
            )

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    @property
    def _takes_graph(self) -> bool:
        return super()._takes_graph or (isinstance(self.affinity, str) and self.affinity == "precomputed")

    def _wanted_neighbors(self, n_rows: int) -> int:
        if self._n_neighbors is not None:
            return self._n_neighbors
        perplexity = self._perplexity
        if perplexity is None:
            perplexity = self.affinity.perplexity if isinstance(self.affinity, Entropic) else None
        return ceil(min(NEIGHBORS_PER_PERPLEXITY * (perplexity or USUAL_PERPLEXITY), max(1, n_rows - 1)))

    @property
    def _known_perplexity(self) -> float | None:
        """The perplexity whose affinities the neighbours carry; None: they carry others."""
        if isinstance(self.affinity, Entropic):
            return self.affinity.perplexity or self._usual_perplexity
        return (self._perplexity or self._usual_perplexity) if self.affinity == "auto" else None

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """Symmetric affinities, and what gives those of new points (None: they come given)."""
        if hood.points.metric == "graph":
            return weigh(hood.neighbors, None, run)
        is_auto = isinstance(self.affinity, str) and self.affinity == "auto"
        affinity = self._default_affinity(hood, run) if is_auto else resolve_affinity(self.affinity)
        return weigh(hood.neighbors, affinity, run)

    def _default_affinity(self, hood: Neighborhood, run: Run) -> Affinity:
        fewest = int(hood.neighbors.counts.min())
        if self._perplexity is not None:
            return Entropic(self._perplexity)
        if fewest < FEWEST_NEIGHBORS:
            run.chosen("affinity", "Binary", f"{hood.n_points} points are too few for a perplexity")
            return Binary()
        return Entropic()
