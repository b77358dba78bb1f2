"""Landmark weights Z against a dense reference, and the properties that define them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_swiss_roll

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DataWarning, InputError
from lowdim.maps.locally_linear import LocallyLinearMap
from lowdim.neighbors.lookup import Lookup
from lowdim.solvers.landmarks import weights as weights_module
from lowdim.solvers.landmarks.choosing import Landmarks, choose_landmarks
from lowdim.solvers.landmarks.configuration import LandmarkSolver
from lowdim.solvers.landmarks.weights import LandmarkWeights, landmark_weights

ROLL = make_swiss_roll(1500, random_state=0)[0]
DIGITS = load_digits().data


def weigh(
    values, landmarks, k, *, metric="euclidean", pairwise=False, run=None, **options
) -> LandmarkWeights:
    """Weights on landmarks given as points or as places among the values."""
    if isinstance(landmarks, np.ndarray) and landmarks.dtype.kind == "i":
        chosen = values[landmarks]
        chosen = Landmarks(Rows(chosen[:, landmarks] if pairwise else chosen), landmarks)
    else:
        chosen = Landmarks(Rows(landmarks), None)
    return landmark_weights(
        Rows(values), chosen, k, metric=metric, pairwise=pairwise, **options, run=run or Run.of(0)
    )


def drawn(n_rows: int, count: int, seed: int = 0) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).choice(n_rows, count, replace=False))


def dense_weights(values, points, k, reg=1e-3, metric="euclidean") -> np.ndarray:
    """The definition, row by row, from distances alone."""
    Z = np.zeros((len(values), len(points)))
    to, between = cdist(values, points, metric), cdist(points, points, metric)
    for row, lengths in enumerate(to):
        near = np.sort(np.argsort(lengths, kind="stable")[:k])
        if lengths[near].min() < 1e-12:
            Z[row, near[np.argmin(lengths[near])]] = 1
            continue
        squares = np.square(lengths[near])
        G = (squares[:, None] + squares[None, :] - np.square(between[np.ix_(near, near)])) / 2
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(k), np.ones(k))
        Z[row, near] = w / w.sum()
    return Z


@pytest.mark.parametrize(("data", "k"), [("roll", 5), ("roll", 3), ("digits", 5), ("digits", 15)])
def test_weights_are_those_of_a_dense_solve(data: str, k: int) -> None:
    values = ROLL if data == "roll" else DIGITS
    places = drawn(len(values), 120)
    found = weigh(values, places, k)
    np.testing.assert_allclose(found.Z.toarray(), dense_weights(values, values[places], k), atol=1e-8)
    assert found.Z.shape == (len(values), 120)
    assert found.Z.nnz == k * len(values)
    assert found.Z.has_sorted_indices
    assert np.all(np.diff(found.Z.indices.reshape(-1, k), axis=1) > 0)
    assert found.n_neighbors == k
    assert found.index.n_points == 120


def triangles(values, points, metric) -> np.ndarray:
    """Rows that make a triangle with their two nearest landmarks."""
    to, between = cdist(values, points, metric), cdist(points, points, metric)
    first, second = np.argsort(to, axis=1, kind="stable")[:, :2].T
    rows = np.arange(len(values))
    short, long, apart = to[rows, first], to[rows, second], between[first, second]
    return (apart < short + long) & (apart > long - short)


@pytest.mark.parametrize("metric", ["cosine", "cityblock"])
def test_other_metrics_weigh_by_their_distances(metric: str) -> None:
    places = drawn(len(DIGITS), 100)
    Z = weigh(DIGITS, places, 2, metric=metric).Z.toarray()
    expected = dense_weights(DIGITS, DIGITS[places], 2, metric=metric)
    # The cosine distance breaks the triangle inequality: what is then no Gram matrix is not weighed by its definition.
    proper = triangles(DIGITS, DIGITS[places], metric)
    assert proper.mean() > 0.7
    np.testing.assert_allclose(Z[proper], expected[proper], atol=1e-7)
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-9)


def test_a_metric_of_the_data_takes_its_parameters_from_all_points() -> None:
    places = drawn(1500, 60)
    squeezed = ROLL * [1.0, 50.0, 1.0]
    found = weigh(squeezed, places, 4, metric="seuclidean")
    scaled = squeezed / squeezed.std(axis=0)
    np.testing.assert_allclose(found.Z.toarray(), weigh(scaled, places, 4).Z.toarray(), atol=1e-6)


def test_precomputed_distances_weigh_as_points_do() -> None:
    places = drawn(1500, 150)
    table = cdist(ROLL, ROLL)
    by_points = weigh(ROLL, places, 5)
    by_table = weigh(table, places, 5, metric="precomputed", pairwise=True)
    np.testing.assert_allclose(by_table.Z.toarray(), by_points.Z.toarray(), atol=1e-6)
    assert by_table.index.metric == "precomputed"
    new = make_swiss_roll(50, random_state=9)[0]
    coordinates = np.random.default_rng(0).normal(size=(150, 2))
    maps = [LocallyLinearMap(Lookup(found.index, 5), coordinates) for found in (by_points, by_table)]
    np.testing.assert_allclose(
        maps[1].transform(Rows(cdist(new, ROLL[places])), Run.of()),
        maps[0].transform(Rows(new), Run.of()),
        atol=1e-6,
    )


@pytest.mark.parametrize("form", ["uint8", "float32", "int64", "sparse", "memory map", "fortran"])
def test_every_form_of_rows_gives_the_same_weights(form: str, tmp_path) -> None:
    places = drawn(len(DIGITS), 90)
    expected = weigh(DIGITS, places, 6).Z
    values = {
        "sparse": csr_array,
        "memory map": lambda array: mapped(array, tmp_path),
        "fortran": np.asfortranarray,
    }.get(form, lambda array: array.astype(form))(DIGITS)
    assert abs(weigh(values, places, 6).Z - expected).max() < 1e-9


def mapped(array: np.ndarray, folder) -> np.ndarray:
    stored = np.memmap(folder / "rows", dtype=np.float32, mode="w+", shape=array.shape)
    stored[:] = array
    return stored


def test_sparse_rows_meet_dense_landmarks() -> None:
    centres = choose_landmarks(
        Rows(csr_array(DIGITS)),
        LandmarkSolver(n_landmarks=60, choose="k-means"),
        metric="euclidean",
        pairwise=False,
        run=Run.of(0),
    )
    found = landmark_weights(
        Rows(csr_array(DIGITS)), centres, 5, metric="euclidean", pairwise=False, run=Run.of(0)
    )
    expected = dense_weights(DIGITS, centres.rows.values, 5)
    np.testing.assert_allclose(found.Z.toarray(), expected, atol=1e-8)


def test_a_landmark_is_itself_alone() -> None:
    places = drawn(1500, 200)
    Z = weigh(ROLL, places, 5).Z
    np.testing.assert_array_equal(Z[places].toarray(), np.eye(200))


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore::lowdim.errors.DataWarning")
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
@pytest.mark.parametrize("batch", [1, 7, 501])
def test_any_batching_and_threading_gives_the_same_bits(metric: str, batch: int, monkeypatch) -> None:
    values = np.vstack((DIGITS[:600], DIGITS[:40] * 1e200, DIGITS[:40] * 1e-200))
    places = np.concatenate((drawn(600, 80), [610, 650]))
    whole = weigh(values, places, 6, metric=metric, run=Run.of(0, n_jobs=1))
    monkeypatch.setattr(weights_module, "BLOCK_NEIGHBORS", 6 * batch)
    parts = weigh(values, places, 6, metric=metric, run=Run.of(0, n_jobs=3))
    np.testing.assert_array_equal(whole.Z.indices, parts.Z.indices)
    np.testing.assert_array_equal(whole.Z.data, parts.Z.data)
    assert whole.far == parts.far


def test_the_map_of_new_points_agrees_with_the_weights_at_fit() -> None:
    places = drawn(1500, 100)
    found = weigh(ROLL, places, 5)
    coordinates = np.random.default_rng(0).normal(size=(100, 3))
    mapped = LocallyLinearMap(Lookup(found.index, 5), coordinates).transform(Rows(ROLL), Run.of())
    np.testing.assert_allclose(mapped, found.Z @ coordinates, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::lowdim.errors.DataWarning")
@settings(max_examples=40)
@given(
    n_columns=st.integers(1, 12),
    count=st.integers(1, 20),
    k=st.integers(1, 20),
    exponent=st.integers(-100, 100),
    seed=st.integers(0, 10_000),
)
def test_rows_sum_to_one_and_motions_change_nothing(n_columns, count, k, exponent, seed) -> None:
    rng = np.random.default_rng(seed)
    values, points = rng.normal(size=(25, n_columns)), rng.normal(size=(count, n_columns))
    k = min(k, count)
    first = weigh(values, points, k).Z
    np.testing.assert_allclose(first.sum(axis=1), 1, atol=1e-12)
    turn = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0]
    shift, scale = rng.normal(size=n_columns), 10.0**exponent
    second = weigh((values @ turn + shift) * scale, (points @ turn + shift) * scale, k).Z
    np.testing.assert_allclose(second.toarray(), first.toarray(), atol=1e-8)
    order = rng.permutation(25)
    third = weigh(values[order], points, k).Z
    np.testing.assert_array_equal(third.toarray(), first.toarray()[order])


@settings(max_examples=20)
@given(n_columns=st.integers(1, 5), seed=st.integers(0, 1000))
def test_an_affine_combination_is_rebuilt_where_landmarks_span(n_columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_columns + 1, n_columns))
    values = rng.dirichlet(np.ones(n_columns + 1), size=10) @ points
    Z = weigh(values, points, n_columns + 1, reg=1e-13).Z
    apart = np.linalg.norm(points - points[0], axis=1).max()
    worst = np.linalg.cond(points[1:] - points[0]) ** 2
    assert np.abs(Z @ points - values).max() < 1e-9 * apart * worst


@pytest.mark.parametrize("case", ["collinear", "more landmarks than columns", "lattice"])
@pytest.mark.parametrize("reg", [0.0, 1e-3])
def test_degenerate_landmarks_have_finite_weights_of_sum_one(case: str, reg: float) -> None:
    line = np.outer(np.arange(20.0), [1.0, 2.0, 3.0])
    points = {
        "collinear": line,
        "more landmarks than columns": np.random.default_rng(0).normal(size=(30, 1)),
        "lattice": np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3),
    }[case]
    values = np.vstack((points + 0.25, points[:5], points[:5] + np.full(points.shape[1], 0.5)))
    Z = weigh(values, points, 8, reg=reg).Z
    assert np.all(np.isfinite(Z.data))
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-9)
    assert np.abs(Z.data).max() < 1e3


def test_one_landmark_carries_all() -> None:
    found = weigh(ROLL[:20], np.array([4]), 1)
    np.testing.assert_array_equal(found.Z.toarray(), np.ones((20, 1)))
    assert found.far == 0


def test_more_neighbours_than_landmarks_is_an_error() -> None:
    with pytest.raises(InputError, match=r"n_neighbors=9.*between 1 and 8"):
        weigh(ROLL, drawn(1500, 8), 9)


def test_a_sparse_matrix_of_distances_is_refused() -> None:
    table = csr_array(cdist(ROLL[:30], ROLL[:30]))
    with pytest.raises(InputError, match="does not hold them all"):
        weigh(table, np.arange(5), 3, metric="precomputed", pairwise=True)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
def test_ordinary_data_has_hardly_any_far_points_and_outliers_are_counted(metric: str) -> None:
    places = drawn(1500, 150)
    assert weigh(ROLL, places, 5, metric=metric).far <= 1
    scale = 1e-5
    outliers = np.array([[300.0, 0, 0], [0, -400.0, 0]])
    values = np.vstack((ROLL, outliers)) * scale
    with pytest.warns(DataWarning, match=r"of 1502 points are far from every landmark.*more landmarks"):
        found = weigh(values, places, 5, metric=metric)
    assert 2 <= found.far <= 3


def test_a_cluster_without_a_landmark_is_far() -> None:
    rng = np.random.default_rng(0)
    values = np.vstack((rng.normal(size=(400, 4)), rng.normal(size=(100, 4)) + 40))
    with pytest.warns(DataWarning, match="100 of 500 points"):
        assert weigh(values, np.arange(50), 5).far == 100
    both = np.concatenate((np.arange(50), np.arange(400, 412)))
    assert weigh(values, both, 5).far == 0


def test_distances_alone_tell_what_is_far() -> None:
    values = np.vstack((ROLL[:500], [[0.0, 0.0, 900.0]]))
    with pytest.warns(DataWarning, match="far from every landmark"):
        found = weigh(cdist(values, values), drawn(500, 60), 5, metric="precomputed", pairwise=True)
    assert found.far >= 1


def test_progress_reaches_all_rows() -> None:
    said: list = []
    weigh(ROLL, drawn(1500, 50), 5, run=Run.of(0).heard_by(said.append))
    done = [event.data for event in said if event.kind == "progress"]
    assert done[-1]["done"] == done[-1]["total"] == 1500
    assert [event.data["what"] for event in said if event.kind == "chosen"] == ["neighbour search"]


@pytest.mark.slow
def test_real_images_have_hardly_any_far_points(data_folder) -> None:
    images = np.load(data_folder / "mnist.npz")["X"].reshape(-1, 784)[:20000]
    found = weigh(images, drawn(20000, 1000), 5)
    assert found.far <= 10
    np.testing.assert_allclose(found.Z.sum(axis=1), 1, atol=1e-9)
