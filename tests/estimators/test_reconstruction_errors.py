"""What the embeddings of Isomap and LLE leave, against scikit-learn's and against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import manifold
from sklearn.exceptions import NotFittedError

import lowdim
from lowdim.errors import InputError, MemoryLimitError


@pytest.fixture(scope="module")
def roll() -> np.ndarray:
    return lowdim.datasets.swiss_roll(150, random_state=0).data


def test_isomap_is_that_of_scikit_learn(roll) -> None:
    ours = lowdim.Isomap(2, n_neighbors=8).fit(roll)
    theirs = manifold.Isomap(n_components=2, n_neighbors=8).fit(roll)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-8)
    assert ours.reconstruction_error() == ours.reconstruction_error_
    with pytest.raises(NotFittedError):
        lowdim.Isomap().reconstruction_error()


def test_isomap_counts_every_copy_of_a_row(roll) -> None:
    doubled = np.vstack((roll, roll[:40]))
    once = lowdim.Isomap(2, n_neighbors=8).fit(doubled)
    paths = manifold.Isomap(n_components=2, n_neighbors=8).fit(roll).dist_matrix_
    order = np.r_[np.arange(150), np.arange(40)]
    squared = paths[np.ix_(order, order)] ** 2
    centring = np.eye(190) - 1 / 190
    gram = -0.5 * centring @ squared @ centring
    embedding = once.embedding_
    expected = np.linalg.norm(gram - embedding @ embedding.T) / 190
    assert once.reconstruction_error() == pytest.approx(expected, rel=1e-6)


def test_lle_is_that_of_scikit_learn(roll) -> None:
    ours = lowdim.LLE(2, n_neighbors=8).fit(roll)
    theirs = manifold.LocallyLinearEmbedding(n_components=2, n_neighbors=8, eigen_solver="dense").fit(roll)
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-4)
    assert not hasattr(lowdim.LLE(), "reconstruction_error_")


def test_geodesics_are_those_of_scikit_learn_and_are_not_kept(roll) -> None:
    ours = lowdim.Isomap(2, n_neighbors=8).fit(roll)
    theirs = manifold.Isomap(n_components=2, n_neighbors=8).fit(roll).dist_matrix_
    np.testing.assert_allclose(ours.geodesics(roll), theirs, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(ours.geodesics(roll[:7]), ours.geodesics(roll)[:7])
    with pytest.raises(
        AttributeError, match=r"no attribute 'dist_matrix_': .* geodesics\(X\) finds them again"
    ):
        ours.dist_matrix_  # noqa: B018
    assert not hasattr(ours, "dist_matrix_")
    assert max(np.size(value) for value in vars(ours).values()) < roll.shape[0] ** 2


def test_geodesics_count_equal_rows_once_in_the_order_of_the_first(roll) -> None:
    shuffled = np.vstack((roll[:3], roll[:40], roll[3:]))
    model = lowdim.Isomap(2, n_neighbors=8).fit(shuffled)
    expected = lowdim.Isomap(2, n_neighbors=8).fit(roll).geodesics(roll)
    np.testing.assert_allclose(model.geodesics(roll), expected, rtol=1e-12, atol=1e-9)


def test_geodesics_that_a_model_cannot_give(roll) -> None:
    with pytest.raises(NotFittedError):
        lowdim.Isomap().geodesics(roll)
    with pytest.raises(
        InputError, match=r"this model does not hold\. Fit with solver='exact', without landmarks"
    ):
        lowdim.Isomap(landmarks=30, n_neighbors=8).fit(roll).geodesics(roll)
    model = lowdim.Isomap(2, n_neighbors=8).fit(roll)
    model.memory_limit = 1000
    with pytest.raises(MemoryLimitError, match="The table of geodesics, 150 x 150, needs at least 180 kB"):
        model.geodesics(roll)
