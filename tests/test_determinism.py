"""Same seed, same bits: over threads, processes, and to the stated tolerance over the threads of BLAS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from torture import determinism
from torture.catalogue import Points, methods

ITERATIONS = 3


@pytest.mark.parametrize("method", methods(ITERATIONS))
@pytest.mark.every(3)
def test_threads_change_no_bit(method):
    """600 points are three blocks of rows or more, nearly everywhere; `make torture` tries more threads."""
    named = {method: methods(ITERATIONS)[method]}
    assert not list(determinism.across_jobs(named, Points.draw(600), jobs=(1, 4)))


@pytest.mark.parametrize(
    "method", ["neighbours blocked", "neighbours forest", "LLE lll farthest", "TSNE exact"]
)
def test_threads_change_no_bit_of_larger_blocks(method):
    named = {method: methods(ITERATIONS)[method]}
    assert not list(determinism.across_jobs(named, Points.draw(4000), jobs=(1, 4)))


@pytest.mark.slow
def test_another_process_changes_no_bit(tmp_path):
    assert not list(determinism.across_processes(250, 0, ITERATIONS, (1,), tmp_path))


@pytest.mark.slow
def test_blas_threads_change_no_more_than_stated(tmp_path):
    assert not list(determinism.across_processes(600, 0, ITERATIONS, (2,), tmp_path))


LOCAL_MATRICES = """
import hashlib, sys
import numpy as np
from lowdim import kernels
if "parts first" in sys.argv:
    eigen, patches = kernels.affinities.small_eigen, kernels.affinities.local_patches
    five = [np.empty(5) for _ in range(3)]
    eigen.unit_scale(np.eye(5))
    eigen.tridiagonalise(np.eye(5), *five)
    eigen.implicit_ql(np.ones(5), np.zeros(5), np.eye(5), True)
    eigen.decompose(np.eye(5))
    patches.centre(np.eye(5))
    patches.orthonormalise(np.eye(5), 2)
    patches.subtract_projection(np.eye(5), 2, np.ones(25))
    patches.tangent_basis(np.eye(5).ravel(), 5, 2, np.empty((3, 5)))
points = np.random.default_rng(0).normal(size=(50, 12, 5))
grams = (points @ points.transpose(0, 2, 1)).ravel()
local = np.empty_like(grams)
kernels.affinities.local_patches.alignment_block(grams, np.arange(51) * 12, np.arange(51) * 144, 2, local)
print(hashlib.sha256(local.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_kernels_loaded_before_change_no_bit():
    """Found as LTSA that differed by 1e-13: of two compiled copies of a kernel, the one that was loaded first ran."""
    said = [
        subprocess.run(
            [sys.executable, "-c", LOCAL_MATRICES, how], capture_output=True, text=True, check=True
        )
        for how in ("alone", "parts first")
    ]
    assert said[0].stdout == said[1].stdout
    assert len(said[0].stdout) == 65


def test_every_method_has_a_tolerance_and_every_tolerance_a_method():
    assert {name.split()[0] for name in methods(1)} == set(determinism.TOLERANCES)


def test_a_difference_is_seen():
    one = {"embedding": np.arange(6.0).reshape(3, 2), "labels": np.arange(3)}
    other = one | {"embedding": np.nextafter(one["embedding"], 9)}
    (found,) = determinism.compare("PCA", one, other, "here", 0.0)
    assert (found.array, 0 < found.size < 1e-15) == ("embedding", True)
    assert not list(determinism.compare("PCA", one, other, "here", 1e-12))
    assert str(found).startswith("PCA: embedding differs by")
    for changed in ({"labels": np.arange(3)}, one | {"embedding": np.zeros((2, 2))}):
        (found,) = determinism.compare("PCA", one, changed, "here", 1.0)
        assert found.size == np.inf
