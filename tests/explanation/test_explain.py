"""`explain` of fitted models: what it says, of whom, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.errors import InputError


def table(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    X[: n // 3, 1] += 3.0
    return pd.DataFrame(X, columns=["length", "width", "colour", "weight"])


LABELS = np.repeat(["a", "b", "c"], 20)


@pytest.fixture(scope="module")
def model():
    return lowdim.SymmetricSNE(perplexity=10, max_iter=200).fit(table())


def test_the_feature_that_was_moved_is_found(model):
    found = model.explain("a", labels=LABELS)
    assert found.names[found.order()[0]] == "width"
    assert found.effect[1] > 2
    assert found.q_value[1] < 1e-6
    assert found.n_selected == 20
    assert found.n_against == 40
    assert "width" in found.summary()
    assert "width" in str(found).splitlines()[3]
    assert found.names[int(np.argmax(np.abs(found.shift)))] == "width"
    assert found.shift[1] > 0
    assert found.damping is not None


def test_all_forms_of_a_selection_are_the_same(model):
    mask = LABELS == "b"
    by_mask, by_rows, by_label = (
        model.explain(mask),
        model.explain(np.flatnonzero(mask)),
        model.explain(["b"], labels=LABELS),
    )
    for other in (by_rows, by_label):
        np.testing.assert_array_equal(other.effect, by_mask.effect)
        np.testing.assert_array_equal(other.shift, by_mask.shift)


def test_against_others_swapped_changes_the_sign(model):
    there = model.explain("a", against="b", labels=LABELS)
    back = model.explain("b", against="a", labels=LABELS)
    assert there.n_against == 20
    np.testing.assert_allclose(there.effect, -back.effect)
    assert there.distance == pytest.approx(back.distance)
    np.testing.assert_allclose(there.direction, -back.direction)


def test_columns_frames_and_json(model):
    found = model.explain("a", labels=LABELS)
    frame = found.to_frame()
    assert list(frame["feature"]) == ["length", "width", "colour", "weight"]
    assert set(found.keys()) <= set(frame.columns)
    assert json.loads(json.dumps(found.as_dict()))["features"][1] == "width"
    assert "<table" in found._repr_html_()
    assert len(found.table(2, by="stretch").splitlines()) == 3
    with pytest.raises(KeyError, match="effect"):
        found["nothing"]


def test_the_gradient_is_kept_where_it_is_asked_for(model):
    found = model.explain("a", labels=LABELS, gradient=True)
    assert found.gradient.shape == (60, 4)
    np.testing.assert_allclose(found.gradient[:20].sum(axis=0) * found.deviation, found.shift)


def test_of_linear_maps_shares_sum_to_one():
    found = lowdim.PCA(n_components=2).fit(table()).explain("a", table(), labels=LABELS)
    assert found.share.sum() == pytest.approx(1.0)
    assert found.stretch is None
    assert "exact" in found.notes[0]


@pytest.mark.parametrize(
    "estimator",
    [
        lowdim.Isomap(n_neighbors=10),
        lowdim.LaplacianEigenmaps(n_neighbors=10),
        lowdim.UMAP(n_neighbors=10, max_iter=50),
        lowdim.MDS(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_other_methods_are_explained_by_their_maps(estimator):
    X = table()
    found = estimator.fit(X).explain("a", X, labels=LABELS)
    assert np.isfinite(found.shift).all()
    assert found.shift.any()
    assert found.damping is None
    assert "map for new points" in found.notes[-1]


def test_the_slopes_of_a_map_are_those_of_a_known_one():
    """Classical MDS of points is PCA, whose slopes are known exactly."""
    X = table()
    exact = lowdim.PCA(n_components=2).fit(X).explain("a", X, labels=LABELS)
    by_map = lowdim.KernelPCA(n_components=2, kernel="linear").fit(X).explain("a", X, labels=LABELS)
    np.testing.assert_allclose(by_map.shift, exact.shift, rtol=1e-6)


def test_of_a_matrix_between_points_there_are_contrasts_alone():
    X = table()
    distances = np.linalg.norm(X.to_numpy()[:, None] - X.to_numpy()[None], axis=2)
    made = lowdim.SymmetricSNE(perplexity=10, metric="precomputed", max_iter=50).fit(distances)
    found = made.explain(LABELS == "a", X, columns=X.columns)
    assert found.names == tuple(X.columns)
    assert found.shift is None
    assert found.effect[1] > 2
    with pytest.raises(InputError, match="X of explain is needed"):
        made.explain(LABELS == "a")
    with pytest.raises(InputError, match="must be a column that was found"):
        found.table(by="shift")


def test_copies_of_rows_are_counted():
    X = table().to_numpy()
    X = np.concatenate([X, X[:5]])
    made = lowdim.SymmetricSNE(perplexity=10, max_iter=50).fit(X)
    found = made.explain(np.arange(65) < 20)
    assert found.n_selected == 20
    assert found.n_against == 45
    np.testing.assert_array_equal(found.effect, made.explain(np.arange(65) < 20, X).effect)


def test_a_model_from_a_file_explains_the_same(model, tmp_path):
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim").explain("a", labels=LABELS)
    first = model.explain("a", labels=LABELS)
    np.testing.assert_array_equal(again.effect, first.effect)
    np.testing.assert_allclose(again.shift, first.shift, rtol=1e-6)


@pytest.mark.parametrize(
    ("selection", "options", "message"),
    [
        ([], {}, "at least one of the 60 points; got none"),
        (np.zeros(60, bool), {}, "at least one of the 60 points; got none"),
        (np.ones(60, bool), {}, "leave some of the 60 points"),
        (np.ones(59, bool), {}, "truth value for each of the 60 rows; got 59"),
        ([3, 60], {}, "from 0 to 59; got 60"),
        ([-1], {}, "from 0 to 59; got -1"),
        ([0.5], {}, "numbers of rows"),
        ("a", {}, "with labels, a label"),
        ("z", {"labels": LABELS}, "one of the labels, a, b, c; got 'z'"),
        ("a", {"labels": LABELS[1:]}, "labels"),
        ("a", {"labels": LABELS, "against": "a"}, "20 are in both"),
        ([1], {"columns": ["one"]}, "each of the 4 features; got 1"),
        ([1], {"level": 2}, "level of explain"),
        ([1], {"X": np.zeros((59, 4))}, "60 rows of the fit; got 59"),
    ],
)
def test_what_cannot_be_meant_is_refused(model, selection, options, message):
    if "X" in options:
        made = lowdim.PCA(n_components=2).fit(table().to_numpy())
        with pytest.raises(InputError, match=message):
            made.explain(selection, **options)
        return
    with pytest.raises(InputError, match=message):
        model.explain(selection, **options)


def test_rows_in_another_order_are_refused(model):
    with pytest.raises(InputError, match=r"in their order; row 0 is another. Give the data of the fit"):
        model.explain([1, 2], table().iloc[::-1])


def test_a_model_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        lowdim.TSNE().explain([1])
