"""k-means and its kin: as good as scikit-learn's, the same whatever the threads, and none of them left behind."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs

from lowdim.core.run import Run
from lowdim.spectral.grouping import assigned, cluster_qr, discretize, group

DIGITS = load_digits().data


def squares(points, centers):
    return np.square(points[:, None] - centers[None]).sum(axis=2)


@pytest.mark.parametrize("n_groups", [1, 2, 10, 40])
def test_as_good_as_the_reference(n_groups):
    found = group(DIGITS, n_groups, starts=5, run=Run.of(0))
    best = KMeans(n_groups, n_init=5, random_state=0).fit(DIGITS).inertia_
    assert found.spread <= 1.03 * best
    apart = squares(DIGITS, found.centers)
    assert np.array_equal(found.labels, apart.argmin(axis=1))
    assert found.spread == pytest.approx(apart.min(axis=1).sum())


def test_clear_groups_are_found_and_their_means_are_the_centers():
    points, truth = make_blobs(900, centers=6, cluster_std=0.05, random_state=1)
    found = group(points, 6, run=Run.of(0))
    for label in range(6):
        own = found.labels == label
        assert np.unique(truth[own]).size == 1
        assert found.centers[label] == pytest.approx(points[own].mean(axis=0))


def test_threads_change_no_bit():
    one, four = (group(DIGITS, 9, starts=3, run=Run.of(5, jobs)) for jobs in (1, 4))
    assert one.centers.tobytes() == four.centers.tobytes()
    assert np.array_equal(one.labels, four.labels)


def test_centers_given_are_the_start():
    start = np.array([[0.0], [1.0]])
    points = np.array([[0.0], [0.2], [0.9], [1.1]])
    found = group(points, 2, centers=start, run=Run.of(0))
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.centers.ravel() == pytest.approx([0.1, 1.0])


def test_a_center_without_points_moves_to_the_farthest_point():
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    found = group(points, 2, centers=np.array([[0.0], [50.0]]), run=Run.of(0))
    assert found.labels.tolist() == [0, 0, 0, 1]


def test_fewer_distinct_points_than_groups():
    found = group(np.repeat([[1.0, 2.0], [3.0, 4.0]], 5, axis=0), 4, run=Run.of(0))
    assert found.spread == 0
    assert np.unique(found.labels).size == 2
    assert np.isfinite(found.centers).all()


def rotated_indicators(noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 about four orthogonal directions, the first coordinate positive, and whose they are."""
    rng = np.random.default_rng(7)
    basis, _ = np.linalg.qr(np.column_stack((np.ones(4), rng.normal(size=(4, 3)))))
    truth = rng.integers(4, size=300)
    rows = (basis * np.sign(basis[:1, 0]))[truth] + noise * rng.normal(size=(300, 4))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), truth


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("way", [discretize, cluster_qr])
def test_directions_are_found_whatever_the_rotation(way, noise):
    points, truth = rotated_indicators(noise)
    found = way(points, run=Run.of(0))
    table = np.zeros((4, 4))
    np.add.at(table, (found.labels, truth), 1)
    assert np.count_nonzero(table) == 4
    assert found.centers @ found.centers.T == pytest.approx(np.eye(4), abs=1e-12)
    assert np.array_equal(found.labels, (points @ found.centers.T).argmax(axis=1))
    four = way(points, run=Run.of(0, 4))
    assert four.centers.tobytes() == found.centers.tobytes()


def test_more_starts_of_discretize_are_never_worse():
    points = DIGITS[:300, :8] - DIGITS[:300, :8].mean(axis=0) + 1e-3
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    spreads = [discretize(points, starts=starts, run=Run.of(3)).spread for starts in (1, 5, 20)]
    assert spreads == sorted(spreads, reverse=True)


def test_pivots_end_where_only_rounding_is_left():
    points = np.repeat([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]], 4, axis=0)
    found = cluster_qr(points, run=Run.of(0))
    assert found.labels.tolist() == [1] * 4 + [0] * 4
    assert found.centers.shape == (2, 3)


def test_a_point_belongs_to_the_nearest_centre():
    found = assigned(DIGITS, DIGITS[:5], Run.of(0, 3))
    assert np.array_equal(found.labels, squares(DIGITS, DIGITS[:5]).argmin(axis=1))
