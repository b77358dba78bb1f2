"""Kernel PCA against scikit-learn's: all components, a second word, and the way back to points."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import decomposition
from sklearn.exceptions import NotFittedError

import lowdim
from lowdim.errors import InputError


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 5))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_the_way_back_is_that_of_scikit_learn(rows, kernel, alpha) -> None:
    settings = {"kernel": kernel, "fit_inverse_transform": True, "alpha": alpha}
    ours = lowdim.KernelPCA(4, **settings).fit(rows)
    theirs = decomposition.KernelPCA(4, eigen_solver="dense", **settings).fit(rows)
    expected = theirs.inverse_transform(theirs.transform(rows))
    assert_allclose(ours.inverse_transform(ours.embedding_), expected, atol=1e-7)
    assert ours.gamma_ == theirs.gamma_


def test_without_having_learned_it_there_is_no_way_back(rows) -> None:
    model = lowdim.KernelPCA(2).fit(rows)
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        model.inverse_transform(model.embedding_)
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        model.set_params(fit_inverse_transform=True).inverse_transform(model.embedding_)
    with pytest.raises(NotFittedError):
        lowdim.KernelPCA(2, fit_inverse_transform=True).inverse_transform(model.embedding_)
    with pytest.raises(InputError, match="precomputed"):
        lowdim.KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(rows @ rows.T)
    learned = lowdim.KernelPCA(2, fit_inverse_transform=True).fit(rows)
    with pytest.raises(InputError, match="2 columns"):
        learned.inverse_transform(rows)
    with pytest.raises(InputError, match="finite"):
        learned.inverse_transform([[np.nan, 0.0]])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("error")
def test_none_keeps_all_components(rows, kernel) -> None:
    ours = lowdim.KernelPCA(None, kernel=kernel).fit(rows)
    theirs = decomposition.KernelPCA(None, kernel=kernel).fit(rows)
    assert ours.embedding_.shape == theirs.transform(rows).shape
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-7)
    assert_allclose(ours.transform(rows), ours.embedding_, atol=1e-8)
    assert len(ours.plan(rows).stages) > 0


def test_none_needs_all_points(rows) -> None:
    with pytest.raises(InputError, match="n_components"):
        lowdim.KernelPCA(None, landmarks=10).fit(rows)


def test_polynomial_is_another_word_for_poly(rows) -> None:
    one, other = (lowdim.KernelPCA(2, kernel=word).fit(rows) for word in ("poly", "polynomial"))
    assert_array_equal(one.embedding_, other.embedding_)
    assert_array_equal(one.transform(rows[:5]), other.transform(rows[:5]))


def test_the_way_back_is_saved_with_the_model(rows, tmp_path) -> None:
    model = lowdim.KernelPCA(2, kernel="polynomial", fit_inverse_transform=True).fit(rows)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    points = model.inverse_transform(model.embedding_)
    assert_allclose(again.inverse_transform(model.embedding_), points, rtol=1e-10, atol=1e-12)
