"""Series of data sets whose pictures are held together by springs between related rows."""

from __future__ import annotations

import numpy as np
import pytest
from registry import make
from scipy.sparse import csr_array

import lowdim
from lowdim.core.records import Sparse
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.objectives import pacmap, t_sne
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.linked import Linked, Links
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import Saturating, ShiftedStudent, Student

RNG = np.random.default_rng(0)
CENTRES = 6.0 * RNG.normal(size=(4, 5))
LABELS = RNG.integers(0, 4, 120)
FIRST = CENTRES[LABELS] + RNG.normal(size=(120, 5))
SECOND = FIRST + 0.3 * RNG.normal(size=FIRST.shape)
METHODS = [
    "TSNE",
    "SymmetricSNE",
    "SNE",
    "ElasticEmbedding",
    "UMAP",
    "UMAP-symmetric",
    "LargeVis",
    "PaCMAP",
    "ForceAtlas2",
]
RUN = Run.of(n_jobs=1)


def part(kind, n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    W[0, 1:4] = 0.5
    W = Sparse(csr_array((W + W.T) / W.sum() / 2))
    if kind == "PaCMAP":
        engine = Exact().start(ShiftedStudent(2.0), n, 2, RUN)
        middle = Attraction(W, Saturating(10000.0), RUN)
        return pacmap.PaCMAP(Attraction(W, Saturating(10.0), RUN), engine, 0.7, middle=middle)
    return t_sne.TSNE(Attraction(W, Student(), RUN), Exact().start(Student(), n, 2, RUN), 0.7)


def linked(kind="t-SNE"):
    ends = np.array([[0, 12], [3, 14], [3, 20], [19, 25]])
    return Linked(
        [part(kind, 12, 0), part(kind, 9, 1), part(kind, 7, 2)], Links(ends, np.arange(1.0, 5.0), 28)
    )


@pytest.mark.parametrize("kind", ["t-SNE", "PaCMAP"])
def test_the_gradient_is_that_of_the_value(kind):
    made, X, step = linked(kind), np.random.default_rng(3).normal(size=(28, 2)), 1e-6
    made = made.with_lambda(0.5) if kind == "t-SNE" else made.with_parts((2.0, 30.0))
    found = made.evaluate(X).gradient
    for place in [(0, 0), (3, 1), (14, 0), (20, 1), (25, 0), (27, 1)]:
        there, back = X.copy(), X.copy()
        there[place] += step
        back[place] -= step
        slope = (made.evaluate(there).value - made.evaluate(back).value) / (2 * step)
        assert found[place] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_weights_hold_the_springs():
    made, X = linked(), np.random.default_rng(4).normal(size=(28, 2))
    bare = Linked(made.parts, Links(np.zeros((0, 2), np.int64), np.zeros(0), 28))
    W = made.weights - bare.weights
    laplacian = np.diag(np.asarray(W.sum(axis=1)).ravel()) - W.toarray()
    pull = made.evaluate(X).gradient - bare.evaluate(X).gradient
    np.testing.assert_allclose(4.0 * laplacian @ X, pull, atol=1e-12)
    springs = made.diagonal(X) - bare.diagonal(X)
    np.testing.assert_allclose(springs, 4.0 * np.repeat(np.diag(laplacian)[:, None], 2, axis=1), atol=1e-12)
    V = np.ones((28, 2))
    np.testing.assert_allclose(made.curvature(X)(V), bare.curvature(X)(V))


def test_pictures_of_any_size_have_one_mean_degree():
    made = linked()
    ones = [scale * float(one.degrees.mean()) for scale, one in zip(made.scales, made.parts, strict=True)]
    np.testing.assert_allclose(ones, ones[0])
    assert made.size == 12


@pytest.mark.parametrize("name", ["TSNE", "UMAP", "LargeVis"])
def test_without_springs_each_is_its_own_fit(name):
    series = [FIRST, SECOND[:100]]
    models = lowdim.align(
        make(name, n_neighbors=15), series, [np.arange(100).repeat(2).reshape(-1, 2)], strength=0
    )
    for model, X in zip(models, series, strict=True):
        alone = make(name, n_neighbors=15).fit(X)
        assert lowdim.procrustes(model.embedding_, alone.embedding_).error < 1e-3
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_strong_springs_lay_related_rows_on_each_other(name):
    gaps = []
    for strength in (0.01, 2.0):
        models = lowdim.align(make(name, n_neighbors=15, max_iter=80), [FIRST, SECOND], strength=strength)
        assert [model.embedding_.shape for model in models] == [(120, 2)] * 2
        apart = np.linalg.norm(models[0].embedding_ - models[1].embedding_, axis=1)
        width = np.ptp(models[0].embedding_, axis=0).max()
        assert models[0].report_.figures["median_gap"] == pytest.approx(np.median(apart) / width, rel=1e-6)
        gaps.append(np.median(apart) / width)
    assert gaps[1] < min(0.02, gaps[0])


def test_each_slice_is_a_model_like_any_other(tmp_path):
    models = lowdim.align(make("TSNE", n_neighbors=15), [FIRST, SECOND, SECOND[:, :3]])
    for model, X in zip(models, [FIRST, SECOND, SECOND[:, :3]], strict=True):
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
        loaded = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim", force=True))
        np.testing.assert_array_equal(loaded.transform(X[:5] + 0.01), model.transform(X[:5] + 0.01))
        assert "optimise" in [stage.name for stage in model.report_.stages]
    assert models[0].update(SECOND[:10]).embedding_.shape == (130, 2)


def test_all_forms_of_relations_are_one():
    order = RNG.permutation(120)
    later = SECOND[order]
    back = np.argsort(order)
    forms = [
        [dict(enumerate(back.tolist()))],
        [np.column_stack([np.arange(120), back])],
        [back],
    ]
    found = [
        lowdim.align(make("TSNE", n_neighbors=15, max_iter=30), [FIRST, later], form)[1] for form in forms
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.embedding_, found[0].embedding_)
    some = np.where(np.arange(120) < 60, back, -1)
    assert lowdim.align(make("TSNE", n_neighbors=15, max_iter=30), [FIRST, later], [some])[0].n_iter_ > 0


def test_threads_change_no_bit_and_the_estimator_stays():
    estimator = make("TSNE", n_neighbors=15, max_iter=30)
    one, two = (
        lowdim.align(estimator.set_params(n_jobs=jobs), [FIRST, SECOND], strength=0.1) for jobs in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.embedding_, b.embedding_)
    assert not hasattr(estimator, "embedding_")


def test_copies_share_their_springs():
    twice = np.concatenate([FIRST, FIRST[:5]])
    models = lowdim.align(make("TSNE", n_neighbors=15, max_iter=30), [twice, twice])
    np.testing.assert_array_equal(models[0].embedding_[:5], models[0].embedding_[120:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"series": [FIRST]}, "two data sets or more; got 1"),
        ({"series": FIRST}, "must be a list of data sets.*got one table"),
        ({"series": {"one": FIRST}}, "must be a list of data sets"),
        ({"series": None}, "must be a list of data sets.*got None"),
        ({"series": [FIRST, SECOND[:0]], "relations": [{0: 0}]}, r"series\[1\]: .*0 sample"),
        ({"series": [FIRST, SECOND[:50]]}, "different numbers of rows; they have 120, 50"),
        ({"relations": []}, "one entry fewer than there are data sets, 1; got 0"),
        ({"relations": {0: 1}}, "must be a list with 1 entries"),
        ({"relations": [{0: 120}]}, "rows of data set 1 from 0 to 119; got 120"),
        ({"relations": [{-1: 0}]}, "rows of data set 0 from 0 to 119; got -1"),
        ({"relations": [{0: 0.5}]}, "must hold whole numbers"),
        ({"relations": [{}]}, "relates no rows"),
        ({"relations": [np.zeros(7, int)]}, "must relate rows to rows"),
        ({"relations": [np.full(120, -1)]}, "relates no rows"),
        ({"strength": -1.0}, "strength"),
        ({"estimator": lowdim.PCA()}, "must be a neighbour embedding"),
        ({"estimator": "tsne"}, "must be a neighbour embedding"),
        ({"estimator": lowdim.NeighborSpectrum()}, "must be a neighbour embedding"),
        ({"estimator": lowdim.TSNE(density=1.0)}, "density"),
        ({"estimator": lowdim.TSNE(init=FIRST[:, :2])}, "init.*starts"),
        ({"starts": "pca"}, "starts.*must be a list"),
        ({"starts": [None]}, "starts.*each of the 2 data sets; got 1"),
        (
            {"starts": [None, FIRST[:50, :2]]},
            r"starts\[1\] must have a row for each row of series\[1\].*120, 2",
        ),
        ({"starts": [None, FIRST[:, :2] * np.nan]}, r"starts\[1\]"),
    ],
)
def test_what_cannot_be_aligned_is_said(change, words):
    given = {
        "estimator": lowdim.TSNE(),
        "series": [FIRST, SECOND],
        "relations": None,
        "strength": 0.1,
    } | change
    with pytest.raises(InputError, match=words):
        lowdim.align(given.pop("estimator"), given.pop("series"), given.pop("relations"), **given)


def test_starts_of_ones_own_are_taken_as_they_are():
    rng, seen = np.random.default_rng(1), []
    starts = [100.0 * rng.normal(size=(120, 2)) for _ in range(2)]

    def first(event):
        if "embedding" in event.data:
            seen.append(event.data["embedding"])

    estimator = make("TSNE", n_neighbors=15, max_iter=1, callback=first)
    models = lowdim.align(estimator, [FIRST, SECOND], strength=0.1, starts=starts)
    for rows, start in ((slice(0, 120), starts[0]), (slice(120, 240), starts[1])):
        assert lowdim.procrustes(start, seen[-1][rows]).error < 0.05
    same = lowdim.align(estimator, [FIRST, SECOND], strength=0.1, starts=iter(starts))
    for one, other in zip(models, same, strict=True):
        np.testing.assert_array_equal(one.embedding_, other.embedding_)
    half = lowdim.align(estimator, [FIRST, SECOND], strength=0.1, starts=[starts[0], None])
    assert lowdim.procrustes(starts[0], half[0].embedding_).error < 0.05
    assert not np.array_equal(half[1].embedding_, models[1].embedding_)
