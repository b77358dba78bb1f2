"""Trust: recall and ranks against brute force, nulls that are uniform, invariance, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import hypergeom

import lowdim
from lowdim.errors import InputError, InputTypeError
from lowdim.metrics import score
from lowdim.reliability.nulls import adjusted, recall_tail


def cloud(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [4, 3, 1, 0.5, 0.2]
    X[: n // 3] += 7.0
    return X


def distances(A):
    return np.sqrt(np.maximum(((A[:, None] - A[None]) ** 2).sum(axis=2), 0.0))


def brute(X, Y, k):
    """Recall and trustworthiness of each point, from all distances."""
    n = len(X)
    given, shown = distances(X), distances(Y)
    np.fill_diagonal(given, -1.0)
    np.fill_diagonal(shown, -1.0)
    ranks = np.argsort(np.argsort(given, axis=1), axis=1)
    near = np.argsort(shown, axis=1)[:, 1 : k + 1]
    own = np.take_along_axis(ranks, near, axis=1)
    worst = k * (2 * n - 3 * k - 1) / 2
    return (own <= k).mean(axis=1), 1 - np.maximum(0, own - k).sum(axis=1) / worst


@pytest.mark.parametrize("scales", [(15,), (3, 40, 99)])
def test_recall_and_trustworthiness_are_those_of_all_distances(scales):
    X = cloud()
    Y = X[:, :2] + np.random.default_rng(1).standard_normal((300, 2))
    found = lowdim.trust(X, Y, scales=scales)
    for place, k in enumerate(scales):
        recall, trusted = brute(X, Y, k)
        np.testing.assert_array_equal(found.recall_at[:, place], recall)
        np.testing.assert_allclose(found.trustworthiness_at[:, place], trusted, atol=1e-12)
    whole = score(X, Y, n_neighbors=scales[0])
    assert float(found.mean_recall) == pytest.approx(float(whole.neighbor_recall), abs=1e-12)
    assert float(found.mean_trustworthiness) == pytest.approx(float(whole.trustworthiness), abs=1e-12)


def test_ranks_by_references_are_near_the_exact_ones(monkeypatch):
    X = cloud(1500)
    Y = np.random.default_rng(1).standard_normal((1500, 2))
    exact = lowdim.trust(X, Y, scales=10).trustworthiness
    monkeypatch.setattr("lowdim.reliability.measure.ALL_ROWS", 1000)
    error = lowdim.trust(X, Y, scales=10).trustworthiness - exact
    assert 0 < np.abs(error).max() < 0.06
    assert abs(error.mean()) < 0.01


def test_a_random_place_has_uniform_p_values():
    rng = np.random.default_rng(0)
    n, k = 400, 40
    kept = np.concatenate(
        [
            np.rint(k * lowdim.trust(rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), scales=k).recall)
            for _ in range(5)
        ]
    ).astype(int)
    p = recall_tail(kept, k, n)
    np.testing.assert_allclose(p, hypergeom.sf(kept - 1, n - 1, k, k))
    # A discrete p-value is uniform once what is between two of its values is filled at random.
    filled = p - rng.random(kept.size) * hypergeom.pmf(kept, n - 1, k, k)
    shares = np.array([(filled <= level).mean() for level in (0.01, 0.05, 0.25, 0.5, 0.75)])
    np.testing.assert_allclose(shares, (0.01, 0.05, 0.25, 0.5, 0.75), atol=0.03)


def test_a_random_picture_is_not_believed_and_the_data_themselves_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    nothing, everything = lowdim.trust(X, rng.normal(size=(500, 2))), lowdim.trust(X, X)
    assert nothing.doubtful.mean() > 0.99
    assert not everything.doubtful.any()
    assert float(everything.mean_recall) == 1.0
    assert "100 % are shown" in everything.summary()


def test_adjusted_is_that_of_benjamini_and_hochberg():
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.9, 0.04])
    order, n = np.argsort(p), len(p)
    wanted = [min(1.0, *(p[order[j]] * n / (j + 1) for j in range(i, n))) for i in range(n)]
    np.testing.assert_allclose(adjusted(p)[order], wanted)


def test_rotation_scale_and_order_of_rows_change_nothing():
    X = cloud()
    Y = X[:, :2] + 0.5 * np.random.default_rng(1).standard_normal((300, 2))
    found = lowdim.trust(X, Y)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = lowdim.trust(X, 4.0 * Y @ turn + 3.0)
    order = np.random.default_rng(2).permutation(300)
    mixed = lowdim.trust(X[order], Y[order])
    for name in found:
        if name == "verdict":
            assert (found[name] == turned[name]).all()
            continue
        np.testing.assert_allclose(turned[name], found[name], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(mixed[name], found[name][order], rtol=1e-9, err_msg=name)


def test_threads_change_no_bit():
    X = cloud(600)
    model = lowdim.TSNE(max_iter=60).fit(X)
    one, two = (lowdim.trust(X, model.embedding_, model, n_jobs=jobs, labels=X[:, 0] > 0) for jobs in (1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    assert one.clusters.pairs == two.clusters.pairs


def test_known_neighbours_take_the_place_of_the_data():
    X = cloud()
    Y = X[:, :2]
    D = distances(X)
    near = np.argsort(D, axis=1)[:, 1:41]
    known = csr_array(
        (np.take_along_axis(D, near, axis=1).ravel(), near.ravel(), np.arange(0, 300 * 40 + 1, 40)),
        shape=(300, 300),
    )
    found = lowdim.trust(known, Y, metric="precomputed", scales=(15, 40))
    full = lowdim.trust(D, Y, metric="precomputed", scales=(15, 40))
    np.testing.assert_array_equal(found.recall_at, full.recall_at)
    assert found.trustworthiness is None
    assert "trustworthiness" not in found
    with pytest.raises(InputError, match="at least 41 distances"):
        lowdim.trust(known, Y, metric="precomputed", scales=(41,))


def test_a_sample_has_the_rows_of_all():
    X = cloud()
    Y = X[:, :2]
    whole, part = lowdim.trust(X, Y), lowdim.trust(X, Y, sample=100)
    some = part.looked_at
    assert some.sum() == part.n_rows == 100
    np.testing.assert_array_equal(part.recall_at[some], whole.recall_at[some])
    np.testing.assert_allclose(part.trustworthiness[some], whole.trustworthiness[some])
    assert part.mean_recall.low < whole.mean_recall < part.mean_recall.high
    assert (part.verdict[~some] == "").all()
    assert "by a sample of 100" in part.summary()


def test_the_record_reads_and_hands_on():
    X = cloud()
    found = lowdim.trust(X, X[:, :2], labels=np.repeat(["a", "b", "c"], 100))
    frame = found.to_frame()
    assert list(frame.columns) == found.column_names == list(dict(found))
    assert len(frame) == len(found) == 300
    text = str(found)
    assert "share of the 15 nearest shown near" in text
    assert "a – b" in text
    assert found.as_dict()["verdicts"]["believed"]["value"] > 0.95
    assert "<table" in found._repr_html_()
    with pytest.raises(KeyError, match="no column that was measured; there are recall"):
        found["stability"]
    with pytest.raises(AttributeError):
        found.level = 0.1


HELD = lowdim.KernelPCA(2).fit(cloud())


def bad(**changed):
    X = cloud()
    return {"X": X, "embedding": X[:, :2], **changed}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (bad(embedding=np.zeros((299, 2))), "299 rows for 300"),
        (bad(embedding=np.arange(300.0)), "embedding"),
        (bad(embedding=np.full((300, 2), np.nan)), "NaN"),
        (bad(X=np.full((300, 5), np.inf)), "NaN or infinite"),
        (bad(scales=(15, 299)), "scales of trust must be below the number of other points, 299; got 299"),
        (bad(scales=()), "scales of trust must be numbers"),
        (bad(scales=(2.5,)), "got 2.5"),
        (bad(scales=2.5), "got 2.5"),
        (bad(scales="15"), "got '15'"),
        (
            bad(X=cloud()[::-1], embedding=HELD.embedding_, model=HELD),
            "fitted to, in their order; row 0 is another",
        ),
        (bad(labels=np.arange(299)), "labels"),
        (bad(labels=np.zeros(300)), "2 to 200 different labels; got 1"),
        (bad(metric="graph"), "metric"),
        (bad(sample=301), "sample"),
        (bad(level=1.5), "level"),
        (bad(move=0.0), "move"),
        (bad(model="tsne"), "must be a fitted estimator of lowdim; got str"),
        (bad(model=lowdim.PCA(2)), "must be a fitted estimator of lowdim; got PCA"),
        (bad(model=lowdim.PCA(2).fit(cloud(200))), "an embedding of 200 x 2"),
        (bad(model=lowdim.PCA(2).fit(cloud()[:, :4])), "knows 4 columns"),
        (bad(model=lowdim.PCA(2).fit(cloud())), "its own coordinates are others"),
    ],
)
def test_bad_input_says_what_to_do(given, says):
    with pytest.raises(InputError, match=says):
        lowdim.trust(**given)


def test_a_model_in_the_place_of_its_picture_is_no_embedding():
    with pytest.raises(InputTypeError, match="Give its embedding_"):
        lowdim.trust(cloud(), HELD)
    with pytest.raises(InputTypeError, match=r"embeddings\['b'\]: .*Give its embedding_"):
        lowdim.compare(cloud(), {"a": HELD.embedding_, "b": HELD})


def test_one_dimension_and_copies_are_fine():
    X = np.repeat(cloud(60), 5, axis=0)
    found = lowdim.trust(X, X[:, :1], scales=(5, 20))
    assert found.dual.shape == (300, 1, 1)
    assert np.isfinite(found.recall).all()
    assert np.isnan(lowdim.trust(X, X[:, :1], scales=3).distortion).all()
