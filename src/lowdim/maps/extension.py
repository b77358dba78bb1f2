"""New points for methods that diagonalise a centred Gram matrix: MDS, kernel PCA, Isomap.

With the centred Gram matrix B V = V Lam, the extension of Bengio et al. (2004, "Out-of-sample extensions for LLE,
Isomap, MDS, eigenmaps, and spectral clustering", eq. 3 to 5) is x = Lam^-1/2 V' b, where b holds the centred Gram
values between the new point and the fitted ones. Since V is orthogonal to the constant vector, every centring term
that does not depend on the fitted point drops out, and the map is affine in the profile p of the new point:

    x = P (p - mean p),   P = s Lam^-1/2 V' M

where p holds squared distances (s = -1/2; de Silva & Tenenbaum 2004, landmark MDS) or kernel values (s = 1), and M the
weights of the fitted points. At a fitted point this is its own coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..core.parallel import row_blocks
from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows


class Profile(Protocol):
    """What a new point is known by: its squared distances or kernel values to the fitted points."""

    def values(self, rows: Rows, run: Run) -> Floats:
        """One row of values for each new point, one column for each fitted point."""
        ...


@dataclass(frozen=True, slots=True)
class ExtensionMap:
    """x = P p - offset for the profile p of each new point."""

    profile: Profile
    projection: Floats
    offset: Floats

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone, by blocks that keep the profiles small."""
        coordinates = np.empty((rows.n_rows, self.offset.size))
        size = max(1, (1 << 24) // max(1, self.projection.shape[1]))
        for block in row_blocks(rows.n_rows, size):
            coordinates[block] = self.place(self.profile.values(Rows(rows.values[block]), run))
        return coordinates

    def place(self, profiles: Floats) -> Floats:
        """Coordinates of points whose profiles are known."""
        # A sum per entry in one fixed order: a matrix product would round by the number of rows in the block.
        return np.asarray(np.einsum("ij,kj->ik", profiles, self.projection) - self.offset)


def extension_map(
    profile: Profile,
    vectors: Floats,
    values: Floats,
    mean_profile: Floats,
    *,
    scale: float,
    weights: Floats | None = None,
) -> ExtensionMap:
    """The map from the eigenvectors of a centred Gram matrix.

    Directions whose eigenvalue is not positive carry no coordinates: they map every point to 0.
    """
    positive = values > np.finfo(np.float64).eps * max(1.0, vectors.shape[0]) * np.max(values, initial=0.0)
    inverse_roots = np.where(positive, 1 / np.sqrt(np.where(positive, values, 1.0)), 0.0)
    weighted = vectors if weights is None else vectors * weights[:, None]
    projection = np.ascontiguousarray((scale * inverse_roots * weighted).T)
    return ExtensionMap(profile, projection, projection @ mean_profile)
