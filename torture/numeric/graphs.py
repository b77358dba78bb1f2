"""Graphs that numerical code stumbles over: affinities for some estimators, lengths for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

Graph = Callable[[int], Any]


def _tied(n: int, starts: Any, ends: Any, weights: Any = 1.0) -> sparse.csr_array:
    """An undirected graph of these edges."""
    starts, ends = np.asarray(starts), np.asarray(ends)
    data = np.broadcast_to(np.asarray(weights, dtype=np.float64), starts.shape)
    half = sparse.coo_array((data, (starts, ends)), shape=(n, n))
    return sparse.csr_array(half + half.T)


def chain(n: int, weights: Any = 1.0) -> sparse.csr_array:
    """A path of n nodes."""
    return _tied(n, np.arange(n - 1), np.arange(1, n), weights)


def _star(n: int, weights: Any = 1.0) -> sparse.csr_array:
    return _tied(n, np.zeros(n - 1, int), np.arange(1, n), weights)


def _complete(n: int) -> np.ndarray:
    """At most 150 nodes: a method of neighbourhoods of all nodes takes time in their fourth power."""
    return 1.0 - np.eye(min(n, 150))


def _web(n: int, spread: float) -> sparse.csr_array:
    """A ring with chords, connected, its weights over 10^-spread to 10^spread."""
    rng = np.random.default_rng(11)
    ring = np.arange(n)
    starts, ends = np.concatenate((ring, ring)), np.concatenate((np.roll(ring, 1), np.roll(ring, n // 3)))
    return _tied(n, starts, ends, 10.0 ** rng.uniform(-spread, spread, 2 * n))


def _isolated(n: int, count: int) -> sparse.csr_array:
    inner = chain(n - count).tocoo()
    return sparse.csr_array((inner.data, (inner.row, inner.col)), shape=(n, n))


def _two_parts(n: int) -> sparse.csr_array:
    return sparse.csr_array(sparse.block_diag((chain(n // 2), chain(n - n // 2)), format="csr"))


def _one_faint_edge(n: int) -> sparse.csr_array:
    """Two cliques held together by one edge of 1e-300."""
    n = min(n, 150)
    half = n // 2
    blocks = sparse.lil_array((n, n))
    blocks[:half, :half], blocks[half:, half:] = 1.0 - np.eye(half), 1.0 - np.eye(n - half)
    blocks[0, half] = blocks[half, 0] = 1e-300
    return sparse.csr_array(blocks)


def _self_loops(n: int) -> sparse.csr_array:
    return sparse.csr_array(chain(n) + sparse.eye_array(n) * 1e12)


def _faint_leaves(n: int) -> sparse.csr_array:
    weights = np.where(np.arange(n - 1) % 2 == 0, 1.0, 1e-300)
    return _star(n, weights)


GRAPHS: dict[str, Graph] = {
    "chain": chain,
    "ring": lambda n: _tied(n, np.arange(n), np.roll(np.arange(n), 1)),
    "star": _star,
    "complete": _complete,
    "complete 1e-30": lambda n: _complete(n) * 1e-30,
    "complete bipartite": lambda n: np.kron([[0.0, 1], [1, 0]], np.ones((n // 2, n // 2))),
    "isolated node": lambda n: _isolated(n, 1),
    "isolated nodes": lambda n: _isolated(n, 5),
    "no edges": lambda n: sparse.csr_array((n, n)),
    "two parts": _two_parts,
    "weights 1e-10 to 1e10": lambda n: _web(n, 10.0),
    "weights 1e-3 to 1e3": lambda n: _web(n, 3.0),
    "weights 1e30": lambda n: _web(n, 0.1) * 1e30,
    "weights 1e-30": lambda n: _web(n, 0.1) * 1e-30,
    "weights 1e-300": lambda n: _web(n, 0.1) * 1e-300,
    "one edge of 1e-300": _one_faint_edge,
    "leaves of 1e-300": _faint_leaves,
    "self-loops": _self_loops,
    "booleans": lambda n: chain(n).astype(bool),
    "integers": lambda n: chain(n, 3).astype(np.int64),
    "two nodes": lambda n: chain(2),
    "three nodes": lambda n: chain(3),
}
