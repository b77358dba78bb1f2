"""Gaussian, binary and self-tuning affinities, for training and new rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors

from lowdim.affinities import (
    AFFINITY_RULE,
    Affinity,
    Binary,
    Entropic,
    Gaussian,
    SelfTuning,
    degrees,
    resolve_affinity,
)
from lowdim.affinities.names import NAMES
from lowdim.affinities.weights import SMALLEST
from lowdim.core.events import Event, Events
from lowdim.core.records import Neighbors
from lowdim.core.run import Run
from lowdim.errors import DataWarning, InputError
from lowdim.validation import check_parameters

AFFINITIES = [
    Gaussian(),
    Gaussian(0.7),
    Gaussian(alpha=0.5, threshold=2.0),
    Gaussian(symmetrize="mutual"),
    Gaussian(symmetrize="average"),
    Binary(),
    Binary("average"),
    SelfTuning(),
    SelfTuning(3, "mutual"),
    Entropic(4.0),
    Entropic(4.0, "union"),
]


def neighbors_of(points: np.ndarray, k: int, new: np.ndarray | None = None) -> Neighbors:
    distances, indices = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(new)
    return Neighbors(np.arange(0, distances.size + 1, k), indices.ravel(), distances.ravel(), len(points))


def dense(neighbors: Neighbors) -> tuple[np.ndarray, np.ndarray]:
    """Distances and the mask of the directed neighbour lists."""
    distances = np.zeros((neighbors.n_rows, neighbors.n_points))
    mask = np.zeros(distances.shape, bool)
    rows = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)
    distances[rows, neighbors.indices] = neighbors.distances
    mask[rows, neighbors.indices] = True
    return distances, mask


def weights_of(affinity: Affinity, neighbors: Neighbors) -> np.ndarray:
    return affinity.fit(neighbors, Run.of()).weights(neighbors, Run.of()).toarray()


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(120, 3))


@pytest.mark.parametrize("affinity", AFFINITIES, ids=str)
def test_contract_of_training_weights(affinity: Affinity, points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 10)
    fitted = affinity.fit(neighbors, Run.of())
    weights = fitted.weights(neighbors, Run.of(n_jobs=1))
    assert weights.shape == (120, 120)
    assert (weights.toarray() == weights.toarray().T).all()
    assert (weights.diagonal() == 0).all()
    assert np.isfinite(weights.data).all()
    assert (weights.data > 0).all()
    for row in range(120):
        assert (np.diff(weights.indices[weights.indptr[row] : weights.indptr[row + 1]]) > 0).all()
    again = fitted.weights(neighbors, Run.of(n_jobs=4))
    np.testing.assert_array_equal(weights.data, again.data)


@pytest.mark.parametrize("affinity", AFFINITIES, ids=str)
@pytest.mark.every(2)
def test_new_rows_depend_on_themselves_alone(affinity: Affinity, points: np.ndarray) -> None:
    new = np.random.default_rng(1).normal(size=(30, 3))
    fitted = affinity.fit(neighbors_of(points, 10), Run.of())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        together = fitted.to_new(neighbors_of(points, 10, new), Run.of())
        alone = [fitted.to_new(neighbors_of(points, 10, row[None]), Run.of()) for row in new]
    assert together.shape == (30, 120)
    np.testing.assert_array_equal(together.toarray(), np.vstack([row.toarray() for row in alone]))


@pytest.mark.parametrize("affinity", AFFINITIES, ids=str)
def test_clone_and_equality(affinity: Affinity) -> None:
    class Holder(BaseEstimator):
        def __init__(self, affinity: object = None) -> None:
            self.affinity = affinity

    assert clone(Holder(affinity)).affinity == affinity


def test_gaussian_has_no_half_in_its_exponent(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 6)
    distances, mask = dense(neighbors)
    one_way = np.where(mask, np.exp(-((distances / 0.9) ** 2)), 0.0)
    np.testing.assert_allclose(
        weights_of(Gaussian(0.9), neighbors), np.maximum(one_way, one_way.T), rtol=1e-14
    )
    np.testing.assert_allclose(
        weights_of(Gaussian(0.9, symmetrize="average"), neighbors), (one_way + one_way.T) / 2, rtol=1e-14
    )
    np.testing.assert_allclose(
        weights_of(Gaussian(0.9, symmetrize="mutual"), neighbors),
        np.where(mask & mask.T, one_way, 0.0),
        rtol=1e-14,
    )


def test_gaussian_chooses_the_median_distance_and_says_so(points: np.ndarray) -> None:
    neighbors, heard = neighbors_of(points, 6), list[Event]()
    fitted = Gaussian().fit(neighbors, Run(Events(heard.append)))
    assert fitted.sigma == np.median(neighbors.distances.reshape(120, 6)[:, -1])
    assert [event.data["what"] for event in heard] == ["sigma"]


def test_gaussian_chooses_a_positive_bandwidth_among_duplicates() -> None:
    twins = np.repeat(5 * np.arange(10.0)[:, None], 4, axis=0)
    assert Gaussian().fit(neighbors_of(twins, 3), Run.of()).sigma == 1.0
    twins[-1] = 300.0
    assert Gaussian().fit(neighbors_of(twins, 3), Run.of()).sigma == 5.0


def test_alpha_and_threshold(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 6)
    distances, mask = dense(neighbors)
    tau = float(np.median(neighbors.distances))
    one_way = np.where(mask & (distances <= tau), np.exp(-2.5 * distances**2), 0.0)
    with pytest.warns(DataWarning, match="isolated"):
        weights = weights_of(Gaussian(alpha=2.5, threshold=tau), neighbors)
    np.testing.assert_allclose(weights, np.maximum(one_way, one_way.T), rtol=1e-13)


@pytest.mark.parametrize(
    "wrong",
    [
        Gaussian(1.0, alpha=1.0),
        Gaussian(0.0),
        Gaussian(-1.0),
        Gaussian(alpha=np.nan),
        Gaussian("a"),
        Gaussian(1.0, threshold=[2.0]),
        Gaussian(symmetrize="both"),
        SelfTuning(0),
        SelfTuning(2.5),
        SelfTuning(symmetrize=None),
        Entropic(np.nan),
        Entropic("30"),
        Entropic(np.inf),
        Entropic(5.0, "error"),
        Binary("error"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_named(wrong: Affinity, points: np.ndarray) -> None:
    with pytest.raises(InputError, match=type(wrong).__name__):
        wrong.fit(neighbors_of(points, 5), Run.of())
    with pytest.raises(InputError, match=type(wrong).__name__):
        resolve_affinity(wrong)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_affinities_by_name(name: str) -> None:
    assert resolve_affinity(name) == NAMES[name]()
    assert AFFINITY_RULE.allows(name)


def test_a_slip_gets_the_nearest_word() -> None:
    with pytest.raises(InputError, match=r"'self-tuning'.*got 'gausian'. Did you mean 'gaussian'"):
        resolve_affinity("gausian")
    with pytest.raises(InputError, match=r"affinity of X must be .*Did you mean 'gaussian'"):
        check_parameters("X", {"affinity": "gausian"}, {"affinity": AFFINITY_RULE})


def test_underflow_keeps_the_nearest_edge_and_warns(points: np.ndarray) -> None:
    points[0] = 1e4
    neighbors = neighbors_of(points, 6)
    fitted = Gaussian(1.0).fit(neighbors, Run.of())
    with pytest.warns(DataWarning, match=r"1 of 120 rows.*larger sigma"):
        weights = fitted.weights(neighbors, Run.of())
    row = weights[[0]]
    assert row.nnz == 1
    assert row.indices[0] == neighbors.indices[0]
    assert row.data[0] == SMALLEST
    assert (np.asarray(weights.sum(axis=1)) > 0).all()
    with pytest.warns(DataWarning):
        halved = Gaussian(1.0, symmetrize="average").fit(neighbors, Run.of()).weights(neighbors, Run.of())
    assert halved.data.min() >= np.finfo(float).tiny


def test_binary_is_the_graph(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 5)
    mask = dense(neighbors)[1]
    np.testing.assert_array_equal(weights_of(Binary(), neighbors), (mask | mask.T).astype(float))
    np.testing.assert_array_equal(weights_of(Binary("mutual"), neighbors), (mask & mask.T).astype(float))


def test_self_tuning_uses_the_scales_of_both_ends(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 10)
    distances, mask = dense(neighbors)
    scales = neighbors.distances.reshape(120, 10)[:, 6]
    one_way = np.where(mask, np.exp(-(distances**2) / np.outer(scales, scales)), 0.0)
    np.testing.assert_allclose(
        weights_of(SelfTuning(), neighbors), np.maximum(one_way, one_way.T), rtol=1e-13
    )
    last = SelfTuning(50).fit(neighbors, Run.of()).scales
    np.testing.assert_array_equal(last, neighbors.distances.reshape(120, 10)[:, -1])


def test_self_tuning_with_duplicates_is_finite() -> None:
    points = np.concatenate(
        [np.zeros((9, 2)), np.ones((3, 2)), np.random.default_rng(2).normal(size=(20, 2))]
    )
    neighbors = neighbors_of(points, 8)
    weights = weights_of(SelfTuning(3), neighbors)
    assert np.isfinite(weights).all()
    assert weights[1, 0] == 1.0 or weights[0].max() == 1.0
    assert (weights.sum(axis=1) > 0).all()


def test_self_tuning_gives_a_training_point_its_own_scale_again(points: np.ndarray) -> None:
    fitted = SelfTuning(4).fit(neighbors_of(points, 8), Run.of())
    weights = fitted.weights(neighbors_of(points, 8), Run.of())
    new = fitted.to_new(neighbors_of(points, 9, points), Run.of()).toarray()
    np.testing.assert_allclose(np.diag(new), 1.0)
    np.fill_diagonal(new, 0.0)
    shared = (new > 0) & (weights.toarray() > 0)
    assert shared.sum() == 120 * 8
    np.testing.assert_allclose(new[shared], weights.toarray()[shared], rtol=1e-9)


def test_rows_without_neighbours_are_empty() -> None:
    neighbors = Neighbors(np.array([0, 1, 2, 2]), np.array([1, 0]), np.array([0.5, 0.5]), 3)
    for affinity in (Gaussian(), Binary(), SelfTuning()):
        weights = weights_of(affinity, neighbors)
        assert (weights[2] == 0).all()
        assert weights[0, 1] > 0


def test_degrees() -> None:
    W = np.random.default_rng(0).random((30, 30)) * (np.random.default_rng(1).random((30, 30)) < 0.2)
    np.testing.assert_allclose(degrees(csr_array(W)), W.sum(axis=1), rtol=1e-14)
