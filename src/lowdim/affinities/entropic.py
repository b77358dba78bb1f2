"""Entropic affinities: a perplexity instead of a bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.messages import named, setting
from ..core.records import Floats, Neighbors, Sparse
from ..core.rules import Either, Nothing, Real
from ..core.run import Run
from ..errors import DataWarning, InputError
from ..neighbors.symmetrize import Symmetry
from .weights import check_parameter, check_symmetry, directed, symmetric

USUAL_PERPLEXITY = 30.0
NEIGHBORS_PER_PERPLEXITY = 3
"""Neighbours for each unit of the perplexity: those beyond have next to no weight (van der Maaten 2014, sect. 4.1)."""


@dataclass(frozen=True)
class Entropic:
    """p_j|i ~ exp(-beta_i d_ij^2) with entropy log K for each i, made symmetric as (P + P') / 2.

    K is the perplexity, the effective number of neighbours (Hinton & Roweis 2003; Vladymyrov & Carreira-Perpinan 2013,
    entropic affinities). Each row of P sums to 1, so that the symmetric weights sum to N.

    Parameters
    ----------
    perplexity
        K, at least 1 and below the number of neighbours of every row. None: 30, or a third of the neighbours of the
        row that has the fewest.
    symmetrize
        "average": (P + P') / 2; "union": the larger of p_i|j and p_j|i; "mutual": the same where both are neighbours.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0).data
    >>> lowdim.LaplacianEigenmaps(n_neighbors=30, affinity=lowdim.Entropic(perplexity=10)).fit_transform(roll).shape
    (300, 2)
    """

    perplexity: float | None = None
    symmetrize: Symmetry = "average"

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        check_parameter(self, "perplexity", Either(Real(1, closed=True), Nothing()), "5 to 50 is usual.")
        check_symmetry(self)

    def fit(self, neighbors: Neighbors, run: Run) -> FittedEntropic:
        """Check that the neighbours allow the perplexity."""
        self.check()
        perplexity = _usual(neighbors, run) if self.perplexity is None else float(self.perplexity)
        _check(perplexity, neighbors)
        return FittedEntropic(perplexity, self.symmetrize)


@dataclass(frozen=True)
class FittedEntropic:
    """Entropic affinities, ready for training and new rows: every row finds its own beta."""

    perplexity: float
    symmetrize: Symmetry

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        return symmetric(neighbors, self.conditional(neighbors, run), self.symmetrize, run)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Affinities p_j|i of new rows to the training points; each row sums to 1."""
        return directed(neighbors, self.conditional(neighbors, run))

    def conditional(self, neighbors: Neighbors, run: Run) -> Floats:
        """p_j|i at the places of the neighbour lists; the evaluations of the entropy go out as an event."""
        _check(self.perplexity, neighbors)
        values = np.empty_like(neighbors.distances)

        def solve(rows: slice) -> tuple[int, int]:
            result: tuple[int, int] = kernels.affinities.entropic.solve_rows(
                neighbors.indptr, neighbors.distances, self.perplexity, rows.start, rows.stop, values
            )
            return result

        evaluations, rootless = np.sum(run.map(solve, neighbors.n_rows) or [(0, 0)], axis=0)
        run.events.emit(
            "iteration",
            f"{evaluations / max(1, neighbors.n_rows):.2f} evaluations of the entropy a row",
            evaluations=int(evaluations),
            rows_without_root=int(rootless),
        )
        if rootless:
            run.warned(
                f"{rootless} of {neighbors.n_rows} rows have at least {setting('perplexity', self.perplexity)} "
                "neighbours at one and the same smallest distance: their weights are uniform on these. Collapse "
                f"duplicate rows, or give a larger {named('perplexity')}.",
                DataWarning,
            )
        return values


def _usual(neighbors: Neighbors, run: Run) -> float:
    """The perplexity that nobody asked for otherwise."""
    fewest = int(neighbors.counts.min())
    perplexity = max(1.0, min(USUAL_PERPLEXITY, fewest / NEIGHBORS_PER_PERPLEXITY))
    why = "the default" if perplexity == USUAL_PERPLEXITY else f"a third of {fewest} neighbours"
    run.chosen("perplexity", f"{perplexity:.4g}", why)
    return perplexity


def _check(perplexity: float, neighbors: Neighbors) -> None:
    if not perplexity >= 1:
        raise InputError(f"{named('perplexity')} must be at least 1: got {perplexity!r}; 5 to 50 is usual")
    short = neighbors.counts <= perplexity
    if short.any():
        others = neighbors.n_points - 1
        fewer = max(1, others // NEIGHBORS_PER_PERPLEXITY)
        cure = (
            f"There are only {others} other points; the most that is usual is a third of them: "
            f"{setting('perplexity', fewer)}."
            if perplexity >= others
            else f"Raise {named('n_neighbors')}, at best to three times the perplexity, or lower {named('perplexity')}."
        )
        raise InputError(
            f"{named('perplexity')} must be below the number of neighbours of every row: got "
            f"{setting('perplexity', perplexity)}, and {np.count_nonzero(short)} of {neighbors.n_rows} rows have no "
            f"more neighbours than that, the fewest {neighbors.counts.min()}. {cure}"
        )
