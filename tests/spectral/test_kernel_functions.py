"""Kernels against scikit-learn's, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import pairwise_kernels

from lowdim.data.rows import Rows
from lowdim.spectral.kernel_functions import KERNELS, Kernel, cross_kernel, gram_matrix

USED = {
    "linear": (),
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "cosine": (),
    "laplacian": ("gamma",),
}


@pytest.fixture
def rows():
    generator = np.random.default_rng(0)
    values = generator.standard_normal((70, 9)) * (generator.random((70, 9)) < 0.6)
    values[3] = 0.0
    return values


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_kernels_are_those_of_scikit_learn(rows, name, form, gamma):
    parameters = {"gamma": gamma, "degree": 2, "coef0": 0.5}
    expected = pairwise_kernels(rows, metric=name, **{key: parameters[key] for key in USED[name]})
    kernel = Kernel(name, **parameters)
    found = gram_matrix(kernel, Rows(form(rows)), n_jobs=2)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    crossed = cross_kernel(kernel, Rows(form(rows[:11])), Rows(form(rows)))
    np.testing.assert_allclose(crossed, expected[:11], atol=1e-12)


def test_blocks_do_not_show(rows, monkeypatch):
    whole = gram_matrix(Kernel("rbf"), Rows(rows))
    monkeypatch.setattr("lowdim.spectral.kernel_functions._block_rows", lambda rows, n_rows: 32)
    done = []
    np.testing.assert_allclose(gram_matrix(Kernel("rbf"), Rows(rows), done=done.append), whole, atol=1e-14)
    np.testing.assert_allclose(cross_kernel(Kernel("rbf"), Rows(rows), Rows(rows)), whole, atol=1e-14)
    assert done == sorted(done)
    assert done[-1] == 70


def test_a_function_of_two_rows(rows):
    found = gram_matrix(Kernel(lambda a, b: float(np.minimum(a, b).sum())), Rows(rows[:12]))
    expected = np.minimum(rows[:12, None], rows[None, :12]).sum(axis=2)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_an_offset_does_not_spoil_the_gaussian(rows):
    shifted = rows + 2.0**26
    expected = gram_matrix(Kernel("rbf", gamma=0.5), Rows(shifted - 2.0**26))
    np.testing.assert_allclose(gram_matrix(Kernel("rbf", gamma=0.5), Rows(shifted)), expected, atol=1e-12)


def test_integers_are_cast_by_block():
    pixels = np.random.default_rng(1).integers(0, 256, (20, 5)).astype(np.uint8)
    np.testing.assert_allclose(
        gram_matrix(Kernel(), Rows(pixels)), pixels.astype(float) @ pixels.T.astype(float)
    )


def test_resolved_fills_in_gamma():
    assert Kernel("rbf").resolved(8).gamma == 1 / 8
    assert Kernel("rbf", gamma=2.0).resolved(8).gamma == 2.0


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e8, 1e30])
def test_a_row_is_at_no_distance_from_itself_whatever_the_scale(scale):
    rows = Rows(scale * np.random.default_rng(0).uniform(-1, 1, (50, 3)))
    kernel = Kernel("rbf", gamma=1.0)
    np.testing.assert_array_equal(np.diag(cross_kernel(kernel, rows, rows)), 1.0)
    one_by_one = [cross_kernel(kernel, Rows(rows.values[i : i + 1]), rows)[0, i] for i in range(50)]
    np.testing.assert_array_equal(one_by_one, 1.0)
