"""The problem of a graph Laplacian restricted to landmarks, as sums over the edges of every cell.

With W = sum of the W_c that hold the edges of a cell c each, D_c their degrees and Z the weights on the landmarks,

    A~ = Z'(D - W)Z = sum_c Z_c'(D_c - W_c)Z_c        B~ = Z'DZ = sum_c Z_c'D_c Z_c

so that no task needs an edge of another cell, and nobody the degree of a point (Vladymyrov & Carreira-Perpinan 2013,
eq. 3, with the sums of the matrix products taken by edges).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from ..affinities import degrees
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers, Operator, Sparse
from ..solvers.landmarks.galerkin import Reduced, UpperTriangle
from ..spectral.operators import Laplacian, narrowed
from ..store.tasks import Arrays, TaskStore
from .cell_edges import CellEdges

CHUNK = 1 << 15
"""Points of a cell whose rows of W Z are held at once."""
MANY_LANDMARKS = 2000
"""Landmarks from which A~ and B~ stay sparse: in full they would be the largest arrays of the fit."""


@dataclass(frozen=True)
class EdgeSums:
    """Leaves A~ and B~ of the edges of a cell, Z'D1, and what Z'(D - W)Z 1 should be.

    The affinity of an edge is divided by the densities of its ends to the power ``alpha``, which are in the store in
    units of ``mean``.
    """

    edges: CellEdges
    n_landmarks: int
    alpha: float = 0.0
    mean: float = 1.0
    name: str = "sums"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Sum over the edges of a cell."""
        blocks = range(self.edges.layout.n_blocks)
        W = self.edges.affinities(store, number)
        if self.alpha:
            # Coifman & Lafon (2006), sect. 3.1: K = Q^-alpha W Q^-alpha.
            density = [store.get("densities", block, number)["densities"] for block in blocks]
            Q = sparse.diags_array((np.concatenate(density) / self.mean) ** -self.alpha)
            W = csr_array(Q @ W @ Q)
        carried = [store.get("carry", block, number) for block in blocks]
        landmarks, shares = (
            np.concatenate([part[name] for part in carried]) for name in ("landmarks", "shares")
        )
        Z = weights_on_landmarks(landmarks, shares, self.n_landmarks)
        D = degrees(W)
        A = triangle(csr_array(sparse.diags_array(D / 2) - sparse.triu(W, 1)), Z)
        store.put(self.name, number, sums(A, row_sums_of(Laplacian(W, D, 1), Z), Z, D))


def weights_on_landmarks(landmarks: Integers, shares: Floats, n_landmarks: int) -> Sparse:
    """Z of some points, as many entries in each row."""
    indptr = np.arange(len(landmarks) + 1, dtype=np.int32) * landmarks.shape[1]
    numbers = landmarks.ravel().astype(np.int32)
    return csr_array((shares.ravel(), numbers, indptr), shape=(len(landmarks), n_landmarks))


def triangle(U: Sparse, Z: Sparse) -> Sparse:
    """The upper triangle of Z'(U + U')Z, by chunks of points: U is the upper triangle of A with half its diagonal."""
    total = csr_array((Z.shape[1], Z.shape[1]))
    for rows in row_blocks(Z.shape[0], CHUNK):
        part = csr_array(Z[rows].T @ csr_array(U[rows] @ Z))
        total = csr_array(total + upper(csr_array(part + part.T)))
    return total


def upper(matrix: Sparse) -> Sparse:
    """Its upper triangle, columns sorted."""
    out = csr_array(sparse.triu(matrix))
    out.sort_indices()
    return out


def row_sums_of(operator: Operator, Z: Sparse) -> Floats:
    """What the rows of A~ = Z'AZ should sum to: Z'A(Z 1)."""
    ones: Floats = np.asarray(Z @ np.ones((Z.shape[1], 1)))
    return np.asarray(csr_array(Z.T) @ operator.apply(ones)).ravel()


def sums(A: Sparse, row_sums: Floats, Z: Sparse, mass: Floats) -> Arrays:
    """What a cell leaves: its A~ (upper triangle) with the sums of its rows, and what comes of B = diag(mass)."""
    by_landmark = csr_array(Z.T)
    B = upper(csr_array(by_landmark @ csr_array(sparse.diags_array(mass) @ Z)))
    return {
        **packed("A", A),
        **packed("B", B),
        "constraint": np.asarray(by_landmark @ mass),
        "row_sums": row_sums,
        "mass": np.array(mass.sum()),
    }


def packed(name: str, matrix: Sparse) -> Arrays:
    """A sparse matrix as arrays of the store."""
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices.astype(np.int32),
        f"{name}.indptr": matrix.indptr.astype(np.int64),
    }


@dataclass(frozen=True, slots=True)
class Total:
    """The sums of all cells: A~ and B~ (upper triangles), Z'D1, what A~ 1 should be, and the sum of all degrees."""

    A: Sparse
    B: Sparse
    constraint: Floats
    row_sums: Floats
    mass: float

    @classmethod
    def of(cls, store: TaskStore, n_cells: int, n_landmarks: int, told: Callable[[int], None]) -> Total:
        """Cell by cell, in their order."""
        shape = (n_landmarks, n_landmarks)
        A, B = csr_array(shape), csr_array(shape)
        constraint, row_sums, mass = np.zeros(n_landmarks), np.zeros(n_landmarks), 0.0
        for cell in range(n_cells):
            part = store.get("sums", cell)
            A, B = narrowed(A + _unpacked("A", part, shape)), narrowed(B + _unpacked("B", part, shape))
            constraint += part["constraint"]
            row_sums += part["row_sums"]
            mass += float(part["mass"])
            told(cell + 1)
        return cls(A, B, constraint, row_sums, mass)

    def over_mass(self) -> Total:
        """The same in units of the sum of all degrees, which is 1 then."""
        A, B = (csr_array(part / self.mass) for part in (self.A, self.B))
        return Total(A, B, self.constraint / self.mass, self.row_sums / self.mass, 1.0)

    def reduced(self) -> Reduced:
        """A~ and B~, the rows of A~ summing to what they should: see `galerkin`."""
        A, ones = UpperTriangle(self.A), np.ones((self.A.shape[0], 1))
        lacking = self.row_sums - A.times(ones)[:, 0]
        A = UpperTriangle(csr_array(self.A + sparse.diags_array(lacking)))
        reduced = Reduced(A, UpperTriangle(self.B), self.constraint[:, None])
        return reduced if reduced.size >= MANY_LANDMARKS else reduced.dense()


def _unpacked(name: str, part: Arrays, shape: tuple[int, int]) -> Sparse:
    return csr_array(tuple(part[f"{name}.{each}"] for each in ("data", "indices", "indptr")), shape=shape)
