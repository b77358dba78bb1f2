"""Landmark MDS and landmark Isomap: the landmarks are scaled alone, the others placed by their distances to them.

de Silva & Tenenbaum (2004), "Sparse multidimensional scaling using landmark points", sect. 2. The placing is the
extension of `lowdim.mapping.extension` with landmarks in the place of the fitted points.
"""

from __future__ import annotations

import numpy as np

from ...events import Events
from ...mapping.extension import ExtensionMap, Profile, extension_map
from ...records import Floats, Solution
from ..recipes.gram import distance_problem, warn_of_empty_coordinates
from ..solvers import solve


def landmark_mds(
    squared: Floats,
    profile: Profile,
    n_components: int,
    *,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> tuple[Solution, ExtensionMap]:
    """Classical MDS of the landmarks, and the map that places points by their squared distances to them.

    Parameters
    ----------
    squared
        Squared distances among the landmarks (L x L).
    profile
        Gives the squared distances of other points to the landmarks.
    n_components
        Coordinates wanted.
    rng, events, n_jobs
        For the eigensolver.
    """
    problem, mean_profile = distance_problem(squared)
    solution = solve(problem, n_components, rng=rng, events=events, n_jobs=n_jobs)
    warn_of_empty_coordinates(solution, events)
    return solution, extension_map(profile, solution.vectors, solution.values, mean_profile, scale=-0.5)
