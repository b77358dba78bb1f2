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

from ..affinities import Affinity, Binary, Entropic, Gaussian, SelfTuning, degrees
from ..affinities.weights import SMALLEST, symmetric
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers, Neighbors, Operator, Sparse
from ..core.run import Run
from ..errors import InputError
from ..solvers.landmarks.galerkin import Reduced
from ..spectral.operators import Laplacian
from ..store.tasks import Arrays, TaskStore
from .layout import Layout
from .search import members_of

CHUNK = 1 << 15
"""Points of a cell whose rows of W Z are held at once."""
MANY_LANDMARKS = 2000
"""Landmarks from which A~ and B~ stay sparse: in full they would be the largest arrays of the fit."""


@dataclass(frozen=True)
class EdgeSums:
    """Leaves A~ and B~ of the edges of a cell, Z'D1, and what Z'(D - W)Z 1 should be.

    ``spare`` stands in for a local scale of 0; ``sigma`` is the bandwidth of a Gaussian affinity.
    """

    layout: Layout
    n_landmarks: int
    affinity: Affinity
    spare: float
    sigma: float
    name: str = "sums"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Sum over the edges of a cell."""
        run = Run.of(0, 1)
        graph, scales, Z = self._read(store, number)
        values = self._weights(graph, scales)
        W = symmetric(graph, values, self.affinity.symmetrize, run)  # type: ignore[attr-defined]
        D = degrees(W)
        A = triangle(csr_array(sparse.diags_array(D / 2) - sparse.triu(W, 1)), Z)
        store.put(self.name, number, sums(A, row_sums_of(Laplacian(W, D, 1), Z), Z, D))

    def _read(self, store: TaskStore, cell: int) -> tuple[Neighbors, Floats, Sparse]:
        """The edges of a cell among its own points, their local scales, and their weights on the landmarks."""
        members = members_of(self.layout, store, cell)
        starts, ends, values, scales, landmarks, shares = ([] for _ in range(6))
        before = 0
        for block in range(self.layout.n_blocks):
            carried = store.get("carry", block, cell)
            edges = store.get("merge", block, cell)
            scales.append(store.get("scales", block, cell)["scales"])
            starts.append(before + np.searchsorted(carried["places"], edges["from"]))
            ends.append(np.searchsorted(members, edges["to"]))
            values.append(edges["values"])
            landmarks.append(carried["landmarks"])
            shares.append(carried["shares"])
            before += len(carried["places"])
        begins = np.concatenate(starts)
        order = np.argsort(begins, kind="stable")
        indptr = np.concatenate(([0], np.cumsum(np.bincount(begins, minlength=before))))
        graph = Neighbors(indptr, np.concatenate(ends)[order], np.concatenate(values)[order], before)
        Z = weights_on_landmarks(np.concatenate(landmarks), np.concatenate(shares), self.n_landmarks)
        return graph, np.concatenate(scales), Z

    def _weights(self, graph: Neighbors, scales: Floats) -> Floats:
        """Weights of the edges, by their distances, or by what was made of these before."""
        if isinstance(self.affinity, Entropic):
            return graph.distances
        if isinstance(self.affinity, Binary):
            return np.ones_like(graph.distances)
        if isinstance(self.affinity, SelfTuning):
            scales = np.where(scales > 0, scales, self.spare)
            ratio = graph.distances / np.repeat(scales, graph.counts)
            values = np.exp(-ratio * (graph.distances / scales[graph.indices]))
        else:
            values = np.exp(-np.square(graph.distances / self.sigma))
        values[values < SMALLEST] = 0.0
        return values


def weights_on_landmarks(landmarks: Integers, shares: Floats, n_landmarks: int) -> Sparse:
    """Z of some points, as many entries in each row."""
    indptr = np.arange(len(landmarks) + 1, dtype=np.int32) * landmarks.shape[1]
    return csr_array((shares.ravel(), landmarks.ravel(), indptr), shape=(len(landmarks), n_landmarks))


def check_affinity(affinity: Affinity) -> None:
    """InputError for an affinity whose weights are not known an edge at a time."""
    affinity.check()
    if not isinstance(affinity, SelfTuning | Binary | Entropic | Gaussian):
        raise InputError(
            f"affinity: {type(affinity).__name__} needs the whole graph, which rows in shards never have. Use "
            "SelfTuning, Gaussian, Binary or Entropic."
        )
    if isinstance(affinity, Gaussian) and affinity.threshold is not None:
        raise InputError(
            "threshold of Gaussian may leave points without an edge, which rows in shards cannot mend. Leave it out, "
            "and lower n_neighbors instead."
        )


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
            A, B = A + _unpacked("A", part, shape), B + _unpacked("B", part, shape)
            constraint += part["constraint"]
            row_sums += part["row_sums"]
            mass += float(part["mass"])
            told(cell + 1)
        return cls(csr_array(A), csr_array(B), constraint, row_sums, mass)

    def reduced(self) -> Reduced:
        """A~ and B~, the rows of A~ summing to what they should: see `galerkin`."""
        A, B = (csr_array(matrix + sparse.triu(matrix, 1).T) for matrix in (self.A, self.B))
        lacking = self.row_sums - np.asarray(A @ np.ones(A.shape[0]))
        A = csr_array(A + sparse.diags_array(lacking))
        if A.shape[0] >= MANY_LANDMARKS:
            return Reduced(A, B, self.constraint[:, None])
        return Reduced(A.toarray(), B.toarray(), self.constraint[:, None])


def _unpacked(name: str, part: Arrays, shape: tuple[int, int]) -> Sparse:
    return csr_array(tuple(part[f"{name}.{each}"] for each in ("data", "indices", "indptr")), shape=shape)
