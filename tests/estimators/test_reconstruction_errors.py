"""What the embeddings of Isomap and LLE leave, against scikit-learn's and against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import manifold
from sklearn.exceptions import NotFittedError

import lowdim


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
