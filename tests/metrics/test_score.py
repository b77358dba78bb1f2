"""The measures of an embedding against their definitions, scikit-learn and SciPy."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

from lowdim.errors import InputError, NumericalError
from lowdim.metrics import neighbor_accuracy, score
from lowdim.metrics.score_results import MEASURES


def made(n=300, d=8, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) * np.linspace(3, 0.3, d)
    return X, X[:, :2] + 0.3 * generator.standard_normal((n, 2)), (X[:, 0] > 0) + 2 * (X[:, 1] > 0)


def ranks_of(given, shown):
    """Ranks, from 1, of all others: shown ones with ties by index, given ones with ties as shown."""
    n = len(given)
    seen, true = np.zeros((n, n), int), np.zeros((n, n), int)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        order = others[np.argsort(shown[i, others], kind="stable")]
        seen[i, order] = np.arange(1, n)
        true[i, order[np.argsort(given[i, order], kind="stable")]] = np.arange(1, n)
    return true, seen


def by_definition(true, seen, k):
    n = len(true)
    worst = k * (2 * n - 3 * k - 1) / 2 if 2 * k < n else (n - k) * (n - k - 1) / 2
    off = ~np.eye(n, dtype=bool)
    kept = [np.sum((true <= j) & (seen <= j) & off) / (n * j) for j in range(1, n - 1)]
    j = np.arange(1, n - 1)
    beyond = ((n - 1) * np.array(kept) - j) / (n - 1 - j)
    return {
        "trustworthiness": 1 - np.sum((true - k)[(seen <= k) & (true > k) & off]) / worst / n,
        "continuity": 1 - np.sum((seen - k)[(true <= k) & (seen > k) & off]) / worst / n,
        "neighbor_recall": np.sum((true <= k) & (seen <= k) & off) / (n * k),
        "recall_area": np.sum(beyond / j) / np.sum(1 / j),
    }


@pytest.mark.parametrize("k", [1, 5, 15, 90, 149])
def test_trustworthiness_is_that_of_sklearn_both_ways(k):
    X, E, _ = made()
    found = score(X, E, n_neighbors=k, sample="all")
    assert found.trustworthiness == pytest.approx(trustworthiness(X, E, n_neighbors=k), abs=1e-12)
    assert found.continuity == pytest.approx(trustworthiness(E, X, n_neighbors=k), abs=1e-12)


@pytest.mark.parametrize("k", [1, 7, 20, 38])
@pytest.mark.parametrize("tied", [False, True])
def test_every_rank_measure_is_its_definition(k, tied):
    X, E, _ = made(40, 4)
    if tied:
        X, E = X.round(), E.round()
        X[5:9] = X[4]
        E[30:33] = E[29]
    true, seen = ranks_of(squareform(pdist(X)), squareform(pdist(E)))
    found = score(X, E, n_neighbors=k)
    for name, value in by_definition(true, seen, k).items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


def test_with_all_others_as_neighbours_nothing_can_be_wrong():
    X, E, _ = made(20)
    found = score(X, E, n_neighbors=19)
    assert found.trustworthiness == found.continuity == found.neighbor_recall == 1.0


def test_the_curve_goes_through_its_values():
    X, E, _ = made(120)
    true, seen = ranks_of(squareform(pdist(X)), squareform(pdist(E)))
    found = score(X, E, n_neighbors=13)
    curve = found.recall_curve
    off = ~np.eye(120, dtype=bool)
    expected = [np.sum((true <= k) & (seen <= k) & off) / (120 * k) for k in curve.k]
    np.testing.assert_allclose(curve.recall, expected, atol=1e-12)
    np.testing.assert_array_equal(curve.low, curve.high)
    np.testing.assert_allclose(curve.chance, curve.k / 119)
    assert curve.recall[curve.k == 13] == found.neighbor_recall
    assert curve.k[0] == 1
    assert curve.k[-1] == 118


def test_correlations_are_those_of_numpy_and_scipy():
    X, E, _ = made()
    given, shown = pdist(X), pdist(E)
    found = score(X, E)
    assert found.pearson == pytest.approx(np.corrcoef(given, shown)[0, 1], abs=1e-12)
    assert found.spearman == pytest.approx(spearmanr(given, shown)[0], abs=1e-12)
    assert found.residual_variance == pytest.approx(1 - np.corrcoef(given, shown)[0, 1] ** 2, abs=1e-12)
    assert found.n_pairs == 300 * 299 // 2


def test_distance_correlation_is_by_its_definition():
    X, E, _ = made(60)
    n, tables = 60, []
    for table in (squareform(pdist(X)), squareform(pdist(E))):
        rows, total = table.sum(axis=1), table.sum()
        centred = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if i != j:
                    centred[i, j] = table[i, j] - (rows[i] + rows[j]) / (n - 2) + total / ((n - 1) * (n - 2))
        tables.append(centred)
    A, B = tables
    expected = np.sqrt(np.sum(A * B) / np.sqrt(np.sum(A * A) * np.sum(B * B)))
    assert score(X, E).distance_correlation == pytest.approx(expected, abs=1e-12)


def test_distance_correlation_sees_no_dependence_where_there_is_none():
    generator = np.random.default_rng(0)
    X, E = generator.standard_normal((400, 30)), generator.standard_normal((400, 2))
    assert score(X, E, measures="distance_correlation")["distance_correlation"] < 0.15


def test_spearman_shares_the_ranks_of_equal_distances():
    X, E, _ = made(60)
    X, E = X.round(), E.round()
    assert score(X, E).spearman == pytest.approx(spearmanr(pdist(X), pdist(E))[0], abs=1e-12)


def test_accuracy_is_that_of_the_function(digits):
    X, labels = digits[0][:300], digits[1][:300]
    E = X[:, 20:23]
    assert score(X, E, labels, n_neighbors=7).neighbor_accuracy == neighbor_accuracy(E, labels, 7)


def test_a_similar_picture_is_perfect_and_noise_is_not():
    X, _, _ = made(200, 3)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    same = score(X, 1e-3 * X @ turn + 7)
    for name in same:
        assert same[name] == pytest.approx(0.0 if name == "residual_variance" else 1.0, abs=1e-12), name
    noise = score(X, np.random.default_rng(2).standard_normal((200, 2)))
    assert noise.trustworthiness < 0.6
    assert abs(noise.recall_area) < 0.02
    assert abs(noise.pearson) < 0.1


@given(
    seed=st.integers(0, 999), n=st.integers(25, 60), scale=st.sampled_from([1e-150, 1e-3, 1.0, 1e6, 1e150])
)
@settings(max_examples=20, deadline=None)
def test_position_turn_scale_and_order_of_points_do_not_matter(seed, n, scale):
    generator = np.random.default_rng(seed)
    X, E, labels = made(n, 4, seed)
    order = generator.permutation(n)
    turn = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    plain = score(X, E, labels, n_neighbors=5)
    moved = score((scale * (X @ turn + 2.0))[order], scale * E[order], labels[order], n_neighbors=5)
    for name in plain:
        assert moved[name] == pytest.approx(plain[name], abs=1e-9), name


@pytest.mark.parametrize(
    "form", ["csr", "coo", "float32", "int16", "fortran", "memmap", "list", "frame", "bool", "object"]
)
def test_any_form_of_the_data(form, tmp_path):
    X, E, labels = made(80, 6)
    X = np.where(np.abs(X) < 0.8, 0, (X * 4).round())
    if form == "bool":
        X = X > 0
    if form == "memmap":
        np.save(tmp_path / "x.npy", X)
        held = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif form == "frame":
        held = pytest.importorskip("pandas").DataFrame(X)
    else:
        held = {
            "csr": csr_array, "coo": coo_array, "float32": np.float32, "int16": np.int16, "bool": np.asarray,
            "object": lambda values: values.astype(object),
            "fortran": np.asfortranarray, "list": np.ndarray.tolist,
        }[form](X)  # fmt: skip
    plain, found = score(X.astype(float), E, labels), score(held, E, labels)
    for name in plain:
        assert found[name] == pytest.approx(plain[name], abs=1e-12), name


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "sqeuclidean", "chebyshev"])
@pytest.mark.parametrize("held", [np.asarray, csr_array])
def test_other_metrics_are_the_same_as_their_distances(metric, held):
    X, E, labels = made(90, 6)
    X = np.where(np.abs(X) < 0.3, 0, X)
    X[:, 0] += 0.1
    table = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    np.fill_diagonal(table, 0)
    table = (table + table.T) / 2
    found, expected = score(held(X), E, labels, metric=metric), score(table, E, labels, metric="precomputed")
    for name in expected:
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name
    assert found.metric == metric


def test_a_function_may_be_the_metric():
    X, E, _ = made(40)

    def furthest(a, b):
        return np.abs(a - b).max()

    found, expected = score(X, E, metric=furthest), score(X, E, metric="chebyshev")
    assert found["trustworthiness"] == expected["trustworthiness"]
    assert found.metric == "furthest"
    with pytest.raises(InputError, match=r"metric=<lambda> must .* >= 0; it gave -.*metric='precomputed'"):
        score(X, E, metric=lambda a, b: a[0] - b[0])
    for value in (np.nan, np.inf):
        with pytest.raises(NumericalError, match=r"metric '<lambda>' gave .* not finite.*see to the metric"):
            score(X, E, metric=lambda a, b, value=value: value)


def test_distances_beyond_what_a_number_holds_are_named():
    X, E, _ = made(40)
    with pytest.raises(InputError, match=r"distances between the points gave .* not finite"):
        score(1e200 * X, E, metric="sqeuclidean")
    assert score(1e200 * X, E).pearson == pytest.approx(score(X, E).pearson)


def test_the_smallest_data_and_samples_have_scores():
    X, E, _ = made(4)
    for n, size in ((3, 2), (3, 3), (4, 2), (4, 3)):
        found = score(X[:n], E[:n], n_neighbors=1, sample=size)
        assert all(found[name].low <= found[name] <= found[name].high for name in found)
        assert all(np.isfinite([found[name].low, found[name].high]).all() for name in found)


def test_threads_and_blocks_do_not_show(monkeypatch):
    X, E, labels = made(500)
    whole = score(X, E, labels, sample=333, n_jobs=1)
    assert score(X, E, labels, sample=333, n_jobs=3).as_dict() == whole.as_dict()
    monkeypatch.setattr("lowdim.metrics.distance_tables.TABLE_ENTRIES", 500 * 9)
    assert score(X, E, labels, sample=333, n_jobs=2).as_dict() == whole.as_dict()


def test_copies_that_are_drawn_apart_cost_nothing():
    generator = np.random.default_rng(0)
    X = np.repeat(generator.standard_normal((20, 3)), 30, axis=0)
    E = X[:, :2] + 1e-6 * generator.standard_normal((600, 2))
    found = score(X, E, n_neighbors=15)
    assert found.trustworthiness == found.continuity == found.neighbor_recall == 1.0


def test_points_drawn_on_top_of_each_other_gain_nothing():
    X, _, _ = made(300)
    found = score(X, np.repeat([[0.0, 0.0], [1.0, 1.0]], 150, axis=0))
    assert found.trustworthiness < 0.65
    assert found.neighbor_recall < 0.1


def test_ties_cost_little_beside_sklearn(digits):
    X = digits[0][:600]
    centred = X - X.mean(axis=0)
    E = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    excess = score(X, E).trustworthiness - trustworthiness(X, E, n_neighbors=15)
    assert 0 < excess < 1e-3


def test_only_what_was_asked_for():
    X, E, labels = made(60)
    whole = score(X, E, labels)
    assert whole.keys() == tuple(MEASURES)
    assert set(score(X, E)) == set(MEASURES) - {"neighbor_accuracy"}
    for name in MEASURES:
        alone = score(X, E, labels, measures=name)
        assert alone.keys() == (name,)
        assert alone[name] == whole[name]
        assert (alone.recall_curve is not None) == ("recall" in name)
    assert score(X, E, measures=["pearson", "continuity"]).keys() == ("continuity", "pearson")


def test_equal_distances_cannot_correlate():
    X = np.eye(30)
    E = np.random.default_rng(0).standard_normal((30, 2))
    found = set(score(X, E))
    assert {"trustworthiness", "continuity", "neighbor_recall", "recall_area"} <= found
    assert found.isdisjoint(("pearson", "residual_variance", "spearman", "distance_correlation"))
    parallel = np.outer(2.0 ** np.arange(30), [1.0, 2.0])
    assert "pearson" not in score(parallel, E, metric="cosine")
    for name in ("pearson", "spearman", "distance_correlation"):
        with pytest.raises(InputError, match=f"got '{name}', but all distances"):
            score(X, E, measures=name)


def test_the_record_is_easy_to_use():
    X, E, labels = made(400)
    found = score(X, E, labels, sample=100)
    assert found["pearson"] is found.pearson
    assert found.pearson.low < found.pearson < found.pearson.high
    assert dict(found)["continuity"] == found.continuity
    assert "spearman" in found
    assert "nothing" not in found
    assert len(found) == len(MEASURES)
    assert json.loads(json.dumps(found.as_dict()))["measures"]["pearson"]["low"] == found.pearson.low
    copy = pickle.loads(pickle.dumps(found))
    assert copy.as_dict() == found.as_dict()
    with pytest.raises(KeyError, match="Did you mean 'trustworthiness'"):
        found["trustworthy"]
    with pytest.raises(AttributeError):
        found.pearson = 1.0
    with pytest.raises(AttributeError):
        found.pearson.low = 1.0
    assert repr(found.pearson).startswith("Estimate(0.")
    assert str(found.pearson).endswith(f"to {found.pearson.high:.4g})")
    assert f"{found.pearson:.3f}" == f"{float(found.pearson):.3f}"


def test_the_table_is_aligned_and_says_what_was_done():
    X, E, labels = made(400)
    lines = str(score(X, E, labels, sample=100, n_neighbors=7)).splitlines()
    assert lines[0] == "Scores of an embedding of 400 points, 100 of them sampled, 7 neighbours"
    assert "95 % interval" in lines[1]
    assert len(lines) == 2 + len(MEASURES)
    assert len({line.index(" to ") for line in lines[2:]} | {lines[1].index("% interval") + 3}) == 1
    assert any("share of the 7 nearest kept" in line for line in lines)
    exact = str(score(X, E, labels))
    assert "all of them" in exact
    assert "interval" not in exact


BAD = {
    "lengths differ": ({"embedding": np.ones((49, 2))}, "embedding of score must have one row for each row of X"),
    "flat embedding": ({"embedding": np.arange(50.0)}, r"embedding\.reshape\(-1, 1\)"),
    "sparse embedding": ({"embedding": csr_array(np.eye(50))}, "dense array"),
    "constant embedding": ({"embedding": np.ones((50, 2))}, "all 50 rows are equal"),
    "nan embedding": ({"embedding": np.full((50, 2), np.nan)}, "embedding of score must hold finite numbers; 50 rows"),
    "nan data": ({"X": np.where(np.eye(50, 3), np.inf, 0)}, "X of score must hold finite numbers; 3 rows .* 0, 1, 2"),
    "nan sparse": ({"X": csr_array(np.where(np.eye(50, 3), np.nan, 0))}, "3 rows hold NaN"),
    "words": ({"X": np.full((50, 2), "a")}, "must hold numbers; got text"),
    "complex": ({"X": np.full((50, 2), 1j)}, "must hold real numbers; got complex128"),
    "flat data": ({"X": np.arange(50.0)}, "X must have two dimensions"),
    "images": ({"X": np.zeros((50, 3, 3))}, r"X\.reshape\(50, -1\)"),
    "no columns": ({"X": np.zeros((50, 0))}, "a minimum of 1 is required"),
    "two points": ({"X": np.eye(2), "embedding": np.eye(2)}, "at least 3 rows"),
    "constant data": ({"X": np.ones((50, 3))}, "X of score must hold different points"),
    "many neighbours": ({"n_neighbors": 50}, "n_neighbors must be less than the number of points.*<= 49"),
    "no neighbours": ({"n_neighbors": 0}, "n_neighbors of score must be a whole number >= 1; got 0"),
    "half a neighbour": ({"n_neighbors": 2.5}, "n_neighbors of score must be a whole number"),
    "short y": ({"y": np.arange(49) % 2}, r"one label for each of the 50 points; got shape \(49,\)"),
    "nan y": ({"y": np.full(50, np.nan)}, "y of score .* 50 are missing, the first at place 0"),
    "mixed y": ({"y": np.array(["a", 1] * 25, dtype=object)}, "labels of one type.* got int, str"),
    "one class": ({"y": np.ones(50)}, "at least two classes"),
    "numbers for y": ({"y": np.arange(50.0)}, "must hold class labels; got 50 different values"),
    "large sample": ({"sample": 51}, "sample of score must be at most the number of points, 50; got 51"),
    "small sample": ({"sample": 1}, "sample of score must be one of 'auto', 'all', or a whole number >= 2; got 1"),
    "unknown sample": ({"sample": "al"}, "Did you mean 'all'"),
    "unknown measure": ({"measures": "trustworthyness"}, "measures of score .* Did you mean 'trustworthiness'"),
    "one unknown": ({"measures": ["pearson", "spearmint"]}, "Did you mean 'spearman'"),
    "no measure": ({"measures": []}, "at least one measure"),
    "no labels": ({"measures": "neighbor_accuracy"}, "y of score must hold the labels"),
    "confidence": ({"confidence": 95}, "confidence of score must be a finite number > 0 and < 1; got 95"),
    "unknown metric": ({"metric": "euclidian"}, "Did you mean 'euclidean'"),
    "graph": ({"metric": "graph"}, "metric of score must be one of"),
    "not square": ({"metric": "precomputed"}, "square matrix of distances"),
    "sparse distances": ({"metric": "precomputed", "X": csr_array(np.eye(50))}, "dense array"),
    "negative distances": ({"metric": "precomputed", "X": np.eye(50) - 1}, "distances >= 0"),
    "one-sided distances": ({"metric": "precomputed", "X": np.triu(np.ones((50, 50)), 1)}, "symmetric"),
    "seed": ({"random_state": "x"}, "random_state"),
    "threads": ({"n_jobs": 0}, "n_jobs of score"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_named(case):
    X, E, _ = made(50, 3)
    changes, message = BAD[case]
    with pytest.raises(InputError, match=message):
        score(**({"X": X, "embedding": E} | changes))
