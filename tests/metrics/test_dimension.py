"""Intrinsic dimension of shapes whose dimension is known."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from lowdim.errors import InputError
from lowdim.metrics import estimate_dimension

METHODS = ("mle", "two-nn", "local-pca")


def turned(points, columns=20, seed=0):
    """Points turned into a space of more columns."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((columns, columns)))[0]
    return points @ turn[: points.shape[1]]


def cube(d, n=1500, noise=0.0, seed=0):
    generator = np.random.default_rng(seed)
    return turned(generator.random((n, d))) + noise * generator.standard_normal((n, 20))


def sphere(d, n=1500, seed=0):
    points = np.random.default_rng(seed).standard_normal((n, d + 1))
    return turned(points / np.linalg.norm(points, axis=1, keepdims=True))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.every(2)
def test_cubes(method, d):
    value = estimate_dimension(cube(d), method=method)[method]
    # Ten dimensions have edges everywhere, where half of a neighbourhood is missing.
    assert (0.76 if d == 10 else 0.87) * d < value < 1.05 * d


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.every(2)
def test_spheres(method, d):
    assert estimate_dimension(sphere(d), method=method)[method] == pytest.approx(d, rel=0.1)


@pytest.mark.parametrize(("d", "expected"), [(1, 1), (2, 2), (5, 5)])
def test_the_methods_agree_where_the_scale_does_not_matter(d, expected):
    for points in (cube(d), sphere(d)):
        found = estimate_dimension(points)
        assert found.dimension == expected
        assert found.agree
        assert found.value == np.median([float(found[method]) for method in METHODS])


def test_the_swiss_roll_is_a_sheet(roll):
    found = estimate_dimension(roll[0], n_neighbors=12)
    assert found.dimension == 2
    assert found["local-pca"] == pytest.approx(2, abs=0.1)


def test_noise_counts_at_the_smallest_scale_and_not_above_it():
    found = estimate_dimension(cube(2, n=3000, noise=2e-3), n_neighbors=60)
    assert found.dimension == 2
    assert found["two-nn"] > 4
    assert not found.agree
    assert "disagree" in str(found)
    assert "disagree" not in str(estimate_dimension(cube(2)))


@given(
    seed=st.integers(0, 99), scale=st.sampled_from([1e-160, 1e-4, 1.0, 1e8, 1e160]), shift=st.floats(-5, 5)
)
@settings(max_examples=10, deadline=None)
def test_position_turn_and_scale_do_not_matter(seed, scale, shift):
    points = np.random.default_rng(seed).standard_normal((120, 3))
    turn = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((3, 3)))[0]
    plain = estimate_dimension(points, n_neighbors=10)
    moved = estimate_dimension(scale * (points @ turn + shift), n_neighbors=10)
    for method in METHODS:
        assert moved[method] == pytest.approx(plain[method], rel=1e-6)
        assert moved[method].low == pytest.approx(plain[method].low, rel=1e-6)


def test_maximum_likelihood_is_its_formula():
    points = cube(3, n=200)
    distances = np.sort(squareform(pdist(points)), axis=1)[:, 1:11]
    inverses = [np.mean(np.log(row[9] / row[:9])) for row in distances]
    found = estimate_dimension(points, method="mle", n_neighbors=10)
    assert found["mle"] == pytest.approx(1 / np.mean(inverses), rel=1e-12)


def test_two_nearest_is_its_formula():
    points = cube(3, n=200)
    distances = np.sort(squareform(pdist(points)), axis=1)
    x = np.sort(np.log(distances[:, 2] / distances[:, 1]))[:180]
    y = -np.log(1 - np.arange(1, 181) / 200)
    expected = np.linalg.lstsq(x[:, None], y, rcond=None)[0][0]
    assert estimate_dimension(points, method="two-nn")["two-nn"] == pytest.approx(expected, rel=1e-12)


def test_local_pca_counts_eigenvalues_of_covariances():
    points = cube(4, n=150)
    order = np.argsort(squareform(pdist(points)), axis=1)[:, 1:16]
    counts = []
    for neighbors in order:
        values = np.linalg.eigvalsh(np.cov(points[neighbors].T))
        counts.append(np.sum(values > 0.05 * values[-1]))
    found = estimate_dimension(points, method="local-pca", n_neighbors=15)
    assert found["local-pca"] == pytest.approx(np.mean(counts), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mle", "two-nn"])
@pytest.mark.parametrize("sample", ["all", 300])
def test_intervals_cover_what_other_draws_give(method, sample):
    found = [
        estimate_dimension(
            np.random.default_rng(seed).random((600, 1)), method=method, sample=sample, n_neighbors=10
        )[method]
        for seed in range(60)
    ]
    values = np.array([float(one) for one in found])
    rate = np.mean([one.low <= values.mean() <= one.high for one in found])
    assert 0.85 <= rate <= 1.0
    # About four standard errors wide, and not much wider: each distance is seen from both of its ends.
    assert 3 < np.mean([one.high - one.low for one in found]) / values.std() < 7


def test_copies_are_left_out():
    points = cube(2, n=400)
    copied = np.concatenate((points, points[:250], points[:250]))
    found, plain = estimate_dimension(copied), estimate_dimension(points)
    assert found.n_collapsed == 500
    assert found.n_points == found.n_rows == 400
    assert found.estimates == plain.estimates
    assert "(500 copies left out)" in str(found)
    assert estimate_dimension(copied, sample=700).n_rows == 400


@pytest.mark.parametrize("held", [csr_array, np.float32, np.int32, np.asfortranarray])
def test_any_form_of_the_data(held):
    points = np.where(cube(2, n=500) * 1000 < 100, 0, (cube(2, n=500) * 1000).round())
    plain, found = estimate_dimension(points), estimate_dimension(held(points))
    for method in METHODS:
        assert found[method] == pytest.approx(plain[method], rel=1e-6)


def test_memory_maps_are_read(tmp_path):
    points = cube(3, n=300)
    np.save(tmp_path / "x.npy", points)
    assert estimate_dimension(np.load(tmp_path / "x.npy", mmap_mode="r")) == estimate_dimension(points)


def test_whole_numbers_of_a_fine_grain():
    found = estimate_dimension((sphere(2) * 10_000).round().astype(np.int64))
    assert found.dimension == 2
    assert found.agree


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_metrics_and_their_distances(metric):
    points = cube(2, n=300) + 1.0
    table = squareform(pdist(points, {"manhattan": "cityblock"}.get(metric, metric)))
    table = np.sqrt(table) if metric == "cosine" else table
    found, expected = (
        estimate_dimension(points, metric=metric),
        estimate_dimension(table, metric="precomputed"),
    )
    for method in METHODS:
        assert found[method] == pytest.approx(expected[method], rel=1e-6)


@pytest.mark.parametrize("metric", ["cosine", "correlation", "sqeuclidean"])
def test_squares_of_lengths_are_seen_as_lengths(metric):
    points = np.random.default_rng(0).standard_normal((400, 4))
    lengths = points - points.mean(axis=1, keepdims=True) * (metric == "correlation")
    if metric != "sqeuclidean":
        lengths /= np.linalg.norm(lengths, axis=1, keepdims=True)
    found, expected = estimate_dimension(points, metric=metric), estimate_dimension(lengths)
    for method in METHODS:
        assert found[method] == pytest.approx(expected[method], rel=1e-6)


def test_copies_in_a_table_of_distances():
    points = cube(2, n=200)
    copied = np.concatenate((points, points[:50]))
    found = estimate_dimension(squareform(pdist(copied)), metric="precomputed")
    assert found.n_collapsed == 50
    assert found["mle"] == pytest.approx(estimate_dimension(points)["mle"])


def test_rows_at_no_distance_are_noted():
    points = cube(2, n=300) + 1.0
    scaled = np.concatenate((points, 2 * points[:40]))
    found = estimate_dimension(scaled, metric="cosine", method="mle")
    assert "80 points with another at distance zero" in found.notes[0]
    assert found["mle"] == pytest.approx(estimate_dimension(points, metric="cosine")["mle"], rel=0.2)
    with pytest.raises(InputError, match="apart from each other"):
        estimate_dimension(np.concatenate((points, 2 * points)), metric="cosine")


def test_a_grid_has_no_nearest_neighbour():
    grid = np.stack(np.meshgrid(np.arange(25), np.arange(25)), axis=-1).reshape(-1, 2)
    found = estimate_dimension(grid)
    assert set(found.estimates) == {"mle", "local-pca"}
    assert found.dimension == 2
    assert "two-nn gave nothing" in str(found)
    with pytest.raises(InputError, match="'two-nn', but the nearest neighbours are equally far"):
        estimate_dimension(grid, method="two-nn")
    with pytest.raises(InputError, match="'mle', but the nearest neighbours are equally far"):
        estimate_dimension(np.eye(40), method="mle")


def test_sampled_points_look_among_all():
    points = cube(3, n=4000)
    whole, part = estimate_dimension(points), estimate_dimension(points, sample=1000)
    assert part.n_rows == 1000
    for method in METHODS:
        assert part[method] == pytest.approx(whole[method], rel=0.06)
    assert part["mle"].high - part["mle"].low > whole["mle"].high - whole["mle"].low
    assert estimate_dimension(points, sample=1000, n_jobs=1) == part
    assert estimate_dimension(points, sample=1000, random_state=1) != part
    assert estimate_dimension(cube(1, n=5100), method="mle").n_rows == 5000


def test_the_record_is_easy_to_use():
    found = estimate_dimension(cube(2, n=300))
    assert json.loads(json.dumps(found.as_dict()))["dimension"] == found.dimension == 2
    assert pickle.loads(pickle.dumps(found)) == found
    assert "Intrinsic dimension about 2: 300 points, all of them, 30 neighbours" in str(found)
    with pytest.raises(KeyError, match="gave no estimate; there are mle, two-nn, local-pca"):
        found["pca"]


BAD = {
    "nan": ({"X": np.full((50, 3), np.nan)}, "X of estimate_dimension must hold finite numbers"),
    "flat": ({"X": np.arange(50.0)}, "X must have two dimensions"),
    "constant": ({"X": np.ones((50, 3))}, "must hold different points"),
    "few different": ({"X": np.repeat(np.eye(20), 3, axis=0)}, "20 distinct points .40 duplicates"),
    "many neighbours": ({"n_neighbors": 50}, "n_neighbors must be less than"),
    "few neighbours": ({"n_neighbors": 2}, "n_neighbors of estimate_dimension must be a whole number >= 3"),
    "method": ({"method": "twonn"}, "method of estimate_dimension must be one of.*Did you mean 'two-nn'"),
    "large sample": ({"sample": 51}, "sample of estimate_dimension must be at most"),
    "metric": ({"metric": "cosin"}, "Did you mean 'cosine'"),
    "not square": ({"metric": "precomputed"}, "square matrix"),
    "confidence": ({"confidence": 1.0}, "confidence of estimate_dimension"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_named(case):
    changes, message = BAD[case]
    with pytest.raises(InputError, match=message):
        estimate_dimension(**({"X": cube(2, n=50)} | changes))
