"""Choosing landmarks: each way against its definition, every bad request with its reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_swiss_roll

from lowdim.core.run import Run
from lowdim.core.streams import Streams
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.solvers.landmarks.choosing import Landmarks, choose_landmarks, snap_to_points
from lowdim.solvers.landmarks.configuration import CHOICES, LandmarkSolver

ROLL = make_swiss_roll(900, random_state=0)[0]
DIGITS = load_digits().data


def choose(
    values, *, metric="euclidean", pairwise=False, places=None, seed=0, n_jobs=None, listeners=(), **settings
):
    return choose_landmarks(
        Rows(values),
        LandmarkSolver(**settings),
        metric=metric,
        pairwise=pairwise,
        place_of_row=places,
        run=Run.of(seed, n_jobs).heard_by(*listeners),
    )


def dense(rows: Rows) -> np.ndarray:
    return rows.block(slice(0, rows.n_rows))


@pytest.mark.parametrize("way", CHOICES)
def test_each_way_gives_as_many_different_points(way: str) -> None:
    found = choose(ROLL, n_landmarks=80, choose=way)
    assert found.size == 80
    assert found.rows.shape == (80, 3)
    assert len(np.unique(dense(found.rows), axis=0)) == 80
    if way == "k-means":
        assert found.indices is None
    else:
        assert np.all(np.diff(found.indices) > 0)
        np.testing.assert_array_equal(dense(found.rows), ROLL[found.indices])


@pytest.mark.parametrize("way", CHOICES)
def test_the_seed_decides_and_the_threads_do_not(way: str) -> None:
    first, second, other = (
        dense(choose(DIGITS, n_landmarks=100, choose=way, seed=seed, n_jobs=jobs).rows)
        for seed, jobs in ((3, 1), (3, 4), (4, 1))
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_random_landmarks_are_uniform() -> None:
    counts = np.zeros(20)
    for seed in range(600):
        counts[choose(np.arange(20.0)[:, None], n_landmarks=5, seed=seed).indices] += 1
    assert np.all(np.abs(counts - 150) < 5 * np.sqrt(150 * 0.75))


def farthest_by_definition(distances: np.ndarray, first: int, count: int) -> list[int]:
    chosen = [first]
    while len(chosen) < count:
        chosen.append(int(np.argmax(distances[:, chosen].min(axis=1))))
    return chosen


@pytest.mark.covering
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize("form", [np.float64, np.float32, np.uint8, np.int32, csr_array])
def test_farthest_points_are_those_of_the_definition(metric: str, form) -> None:
    values = (
        DIGITS[:300].astype(form)
        if isinstance(form, type) and issubclass(form, np.generic)
        else form(DIGITS[:300])
    )
    if metric == "cityblock" and form is csr_array:
        values = values.astype(np.float64)
    found = choose(values, n_landmarks=25, choose="farthest", metric=metric)
    first = int(Streams(0)["landmarks"].integers(300))
    table = cdist(DIGITS[:300], DIGITS[:300], metric)
    # Ties in the table may fall either way: what is defined is how far each new point is from those before it.
    order = farthest_by_definition(table, first, 25)
    reach = sorted(table[np.ix_(order[:k], [order[k]])].min() for k in range(1, 25))
    mine = farthest_order(table, found.indices, first)
    np.testing.assert_allclose(sorted(mine), reach, rtol=1e-9, atol=1e-12)


def farthest_order(table: np.ndarray, indices: np.ndarray, first: int) -> list[float]:
    assert first in indices
    chosen, left, reach = [first], set(indices.tolist()) - {first}, []
    while left:
        best = max(left, key=lambda place: table[place, chosen].min())
        reach.append(table[best, chosen].min())
        chosen.append(best)
        left.remove(best)
    return reach


def test_farthest_points_cover() -> None:
    """No point is farther from the landmarks than these are from each other: what makes them at most twice the best."""
    found = choose(ROLL, n_landmarks=60, choose="farthest")
    landmarks = dense(found.rows)
    assert cdist(ROLL, landmarks).min(axis=1).max() <= pdist(landmarks).min() + 1e-9


def test_farthest_points_of_a_matrix_are_those_of_the_points() -> None:
    table = cdist(ROLL, ROLL)
    of_points = choose(ROLL, n_landmarks=40, choose="farthest")
    of_matrix = choose(table, n_landmarks=40, choose="farthest", metric="precomputed", pairwise=True)
    np.testing.assert_array_equal(of_points.indices, of_matrix.indices)
    np.testing.assert_array_equal(dense(of_matrix.rows), table[np.ix_(of_matrix.indices, of_matrix.indices)])


def test_farthest_points_end_where_all_others_coincide() -> None:
    values, said = np.repeat(ROLL[:7], 5, axis=0), []
    found = choose(values, n_landmarks=20, choose="farthest", listeners=[said.append])
    assert found.size == 7
    assert "coincide" in [event for event in said if event.kind == "chosen"][-1].message


def test_large_and_small_values_do_not_disturb_farthest_points() -> None:
    plain = choose(ROLL, n_landmarks=30, choose="farthest").indices
    for scale in (2.0**600, 2.0**-600):
        np.testing.assert_array_equal(choose(ROLL * scale, n_landmarks=30, choose="farthest").indices, plain)


def thinned_by_definition(table: np.ndarray, drawn: np.ndarray, count: int) -> list[int]:
    left = drawn.tolist()
    while len(left) > count:
        part = table[np.ix_(left, left)].copy()
        part[np.tril_indices(len(left))] = np.inf
        left.pop(int(np.unravel_index(part.argmin(), part.shape)[1]))
    return left


@pytest.mark.parametrize("pairwise", [False, True])
def test_thinning_deletes_the_later_of_the_closest_pair(pairwise: bool) -> None:
    table = cdist(ROLL, ROLL)
    drawn = np.sort(Streams(5)["landmarks"].choice(900, 120, replace=False, shuffle=False))
    values, metric = (table, "precomputed") if pairwise else (ROLL, "euclidean")
    found = choose(values, n_landmarks=100, choose="thinned", seed=5, metric=metric, pairwise=pairwise)
    np.testing.assert_array_equal(found.indices, thinned_by_definition(table, drawn, 100))


def test_thinning_looks_beyond_its_lists_where_points_crowd() -> None:
    rng = np.random.default_rng(0)
    crowd = np.vstack((rng.normal(size=(40, 2)) * 1e-3, rng.normal(size=(200, 2)) * 100))
    found = choose(crowd, n_landmarks=200, choose="thinned")
    np.testing.assert_array_equal(
        found.indices, thinned_by_definition(cdist(crowd, crowd), np.arange(240), 200)
    )


def test_k_means_centres_are_near_the_best_known() -> None:
    found = choose(DIGITS, n_landmarks=50, choose="k-means")
    spread = np.square(cdist(DIGITS, dense(found.rows)).min(axis=1)).sum()
    best = KMeans(50, n_init=3, random_state=0).fit(DIGITS).inertia_
    drawn = np.square(cdist(DIGITS, DIGITS[choose(DIGITS, n_landmarks=50).indices]).min(axis=1)).sum()
    assert spread < 1.05 * best
    assert spread < 0.75 * drawn


def test_k_means_moves_centres_that_lost_their_points() -> None:
    """Two copies of each row: a random start holds equal centres, of which one gets no points."""
    values = np.repeat(ROLL[:60], 2, axis=0)
    found = dense(choose(values, n_landmarks=50, choose="k-means").rows)
    assert len(np.unique(found, axis=0)) == len(found) == 50
    assert np.all(np.isfinite(found))


def test_k_means_never_returns_equal_centres() -> None:
    values = np.repeat(np.arange(4.0)[:, None], 10, axis=0)
    found = dense(choose(values, n_landmarks=10, choose="k-means").rows)
    assert len(np.unique(found, axis=0)) == len(found) <= 10
    assert set(np.arange(4.0)) <= set(found.ravel())


@pytest.mark.parametrize("form", [np.uint8, np.float32, csr_array])
def test_k_means_takes_every_form_of_rows(form) -> None:
    expected = dense(choose(DIGITS, n_landmarks=30, choose="k-means").rows)
    values = form(DIGITS) if form is csr_array else DIGITS.astype(form)
    np.testing.assert_allclose(
        dense(choose(values, n_landmarks=30, choose="k-means").rows), expected, atol=1e-9
    )


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_k_means_of_directions_ignores_lengths(metric: str) -> None:
    lengths = np.random.default_rng(1).uniform(0.1, 10, size=(DIGITS.shape[0], 1))
    first, second = (
        dense(choose(values, n_landmarks=20, choose="k-means", metric=metric).rows)
        for values in (DIGITS, DIGITS * lengths)
    )
    np.testing.assert_allclose(first, second, atol=1e-9)


@pytest.mark.parametrize("way", CHOICES)
def test_no_more_points_than_landmarks_takes_all_of_them(way: str) -> None:
    said: list = []
    for count in (30, 31, 1000):
        found = choose(ROLL[:30], n_landmarks=count, choose=way, listeners=[said.append])
        np.testing.assert_array_equal(found.indices, np.arange(30))
    assert [event.data["choice"] for event in said if event.kind == "chosen"] == ["all 30 points"] * 3


def test_indices_given_are_rows_of_the_data() -> None:
    found = choose(ROLL, landmarks=[7, 3, 500])
    np.testing.assert_array_equal(found.indices, [3, 7, 500])
    np.testing.assert_array_equal(dense(found.rows), ROLL[[3, 7, 500]])
    for kind in (np.uint8, np.int32, np.uint64):
        np.testing.assert_array_equal(choose(ROLL, landmarks=np.array([3, 7], kind)).indices, [3, 7])


def test_indices_of_a_matrix_take_rows_and_columns() -> None:
    table = cdist(ROLL[:50], ROLL[:50])
    for values in (table, csr_array(table)):
        found = choose(values, landmarks=[40, 2, 9], metric="precomputed", pairwise=True)
        np.testing.assert_allclose(dense(found.rows), table[np.ix_([2, 9, 40], [2, 9, 40])])


def test_indices_go_through_collapsed_duplicates_and_parts() -> None:
    # Rows 0 and 4 of the data are equal, row 2 is in another part; the points are rows 0, 1 and 3.
    places = np.array([0, 1, -1, 2, 0])
    found = choose(ROLL[[0, 1, 3]], landmarks=[4, 2, 3], places=places)
    np.testing.assert_array_equal(found.indices, [0, 2])
    with pytest.raises(InputError, match="rows 0 and 4 of X are equal"):
        choose(ROLL[[0, 1, 3]], landmarks=[0, 4], places=places)
    with pytest.raises(InputError, match="none of this one"):
        choose(ROLL[[0, 1, 3]], landmarks=[2], places=places)


def test_points_given_are_taken_as_they_are() -> None:
    points = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    found = choose(ROLL, landmarks=points)
    assert found.indices is None
    np.testing.assert_array_equal(dense(found.rows), points)
    assert choose(csr_array(ROLL), landmarks=points).rows.is_sparse
    assert not choose(ROLL, landmarks=csr_array(points)).rows.is_sparse


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "at least one point"),
        (np.zeros((0, 3)), "at least one point"),
        ([3, 900], r"from 0 to 899; got 900"),
        ([-1, 4], r"from 0 to 899; got -1"),
        ([5, 2, 5], "row 5 more than once"),
        ([True, False], "whole numbers.*bool"),
        ([1.0, 2.0], "whole numbers.*float64"),
        (["a"], "must hold numbers; got text"),
        (np.zeros((2, 2, 3)), "3 dimensions"),
        (np.float64(3), "0 dimensions"),
        (np.zeros((2, 4)), "3 columns of X; got 4"),
        ([[0, 1, np.nan]], "finite"),
        ([[0, 1, np.inf]], "finite"),
        ([[0, 1, 2], [5, 5, 5], [0, 1, 2]], "points 0 and 2 of those given are equal"),
        ([["a", "b", "c"]], r"must hold (real )?numbers"),
        (np.full((2, 3), 1j), r"must hold (real )?numbers"),
    ],
)
def test_bad_landmarks_are_explained(given, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        choose(ROLL, landmarks=given)
    assert "landmarks" in str(caught.value)


def test_equal_rows_are_not_two_landmarks() -> None:
    values = np.vstack((ROLL[:5], ROLL[2:3]))
    with pytest.raises(InputError, match="rows 2 and 5 of X are equal"):
        choose(values, landmarks=[1, 2, 5])


def test_what_a_matrix_or_a_metric_cannot_have_is_refused() -> None:
    table = cdist(ROLL[:40], ROLL[:40])
    with pytest.raises(InputError, match=r"matrix between points.*'farthest' or 'random'"):
        choose(table, n_landmarks=5, choose="k-means", metric="precomputed", pairwise=True)
    with pytest.raises(InputError, match="Give one-dimensional indices"):
        choose(table, landmarks=table[:3], metric="precomputed", pairwise=True)
    with pytest.raises(InputError, match=r"metric='cityblock'.*'farthest' or 'random'"):
        choose(ROLL, n_landmarks=5, choose="k-means", metric="cityblock")
    for way in ("farthest", "thinned", "k-means"):
        with pytest.raises(InputError, match="sparse matrix that does not hold them all"):
            choose(csr_array(table), n_landmarks=5, choose=way, metric="graph", pairwise=True)
        assert choose(csr_array(table), n_landmarks=40, choose=way, metric="graph", pairwise=True).size == 40
    with pytest.raises(InputError, match="choose must be one of"):
        choose(ROLL, n_landmarks=5, choose="nearest")


def test_centres_of_very_wide_sparse_rows_are_refused() -> None:
    wide = csr_array((np.ones(300), (np.arange(300), np.arange(300) * 10_000)), shape=(300, 3_000_000))
    with pytest.raises(InputError, match=r"dense centres of sparse rows.*GB"):
        choose(wide, n_landmarks=100, choose="k-means")
    assert choose(wide, n_landmarks=100, choose="farthest").size == 100


def test_sparse_graphs_can_be_drawn_from() -> None:
    graph = csr_array(np.triu(np.ones((30, 30)), 1) + np.tril(np.ones((30, 30)), -1))
    found = choose(graph, n_landmarks=6, metric="graph", pairwise=True)
    assert found.rows.shape == (6, 6)
    assert found.rows.is_sparse


def test_a_memory_map_is_read_in_its_own_type(tmp_path) -> None:
    stored = np.memmap(tmp_path / "rows", dtype=np.uint8, mode="w+", shape=DIGITS.shape)
    stored[:] = DIGITS
    for way in CHOICES:
        expected = dense(choose(DIGITS, n_landmarks=20, choose=way).rows)
        np.testing.assert_allclose(
            dense(choose(stored, n_landmarks=20, choose=way).rows), expected, atol=1e-9
        )


def snapped(points: np.ndarray, rows: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    return snap_to_points(Landmarks(Rows(points), None), Rows(rows), metric=metric, run=Run.of(0))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "mahalanobis"])
def test_landmarks_snap_to_the_nearest_points(metric: str, monkeypatch) -> None:
    points = choose(ROLL, n_landmarks=60, choose="k-means").rows.values
    extra = {"VI": np.linalg.inv(np.cov(ROLL.T))} if metric == "mahalanobis" else {}
    expected = cdist(points, ROLL, metric, **extra).argmin(axis=1)
    assert len(set(expected)) == 60
    np.testing.assert_array_equal(snapped(points, ROLL, metric), expected)
    # The data indexed some rows at a time gives the same.
    monkeypatch.setattr("lowdim.solvers.landmarks.choosing.SEARCHED_ROWS", 250)
    np.testing.assert_array_equal(snapped(points, ROLL, metric), expected)


def test_landmarks_that_want_one_point_share_out_its_neighbours() -> None:
    line = np.arange(40.0)[:, None]
    wanting = 20.1 + np.arange(30)[:, None] * 1e-3
    found = snapped(wanting, line)
    assert len(set(found.tolist())) == 30
    assert found[0] == 20
    np.testing.assert_array_equal(np.sort(found), np.arange(6, 36))


def test_landmarks_that_are_points_stay() -> None:
    found = choose(ROLL, n_landmarks=10)
    np.testing.assert_array_equal(
        snap_to_points(found, Rows(ROLL), metric="euclidean", run=Run.of(0)), found.indices
    )


@settings(max_examples=25)
@given(
    n_rows=st.integers(1, 60),
    n_columns=st.integers(1, 6),
    count=st.integers(1, 70),
    way=st.sampled_from(CHOICES),
    seed=st.integers(0, 1000),
)
def test_any_size_gives_distinct_finite_landmarks(n_rows, n_columns, count, way, seed) -> None:
    values = np.random.default_rng(seed).integers(0, 4, size=(n_rows, n_columns)).astype(np.float64)
    values = np.unique(values, axis=0)
    found = choose(values, n_landmarks=count, choose=way, seed=seed)
    points = dense(found.rows)
    assert np.all(np.isfinite(points))
    assert len(np.unique(points, axis=0)) == found.size
    if way == "k-means":
        assert 1 <= found.size <= min(count, len(values))
    else:
        assert found.size == min(count, len(values))
        np.testing.assert_array_equal(points, values[found.indices])
