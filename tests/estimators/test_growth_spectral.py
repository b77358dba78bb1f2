"""Spectral, landmark and linear models that take in more rows."""

from __future__ import annotations

import numpy as np
import pytest
from registry import LANDMARKED, make
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim.errors import InputError

EXACT = [
    "KernelPCA",
    "Isomap",
    "LLE",
    "LLE-ltsa",
    "LaplacianEigenmaps",
    "DiffusionMap",
    "ClassicalMDS-manhattan",
]
ROLL = lowdim.datasets.swiss_roll(190, random_state=0).data
OLD, NEW = ROLL[:160], ROLL[160:]


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_solution_is_solved_again_and_points_as_before(name):
    model = make(name).fit(OLD)
    before = model.embedding_.copy()
    grown, whole = model.update(NEW), make(name).fit(ROLL)
    np.testing.assert_array_equal(model.embedding_, before)
    signs = np.sign((grown.embedding_ * whole.embedding_).sum(axis=0))
    scale = np.abs(whole.embedding_).max()
    np.testing.assert_allclose(grown.embedding_, signs * whole.embedding_, atol=1e-6 * scale)
    centred = grown.embedding_[:160] - grown.embedding_[:160].mean(axis=0)
    assert ((before - before.mean(axis=0)) * centred).sum(axis=0).min() >= 0.0
    np.testing.assert_allclose(grown.transform(NEW), signs * whole.transform(NEW), atol=1e-6 * scale)
    assert grown.report_.figures["rows_added"] == 30


@pytest.mark.parametrize("name", EXACT)
def test_fewer_rows_are_solved_again(name):
    model, gone = make(name).fit(ROLL), np.arange(160, 190)
    smaller, whole = model.remove(gone), make(name).fit(OLD)
    np.testing.assert_allclose(
        np.abs(smaller.embedding_), np.abs(whole.embedding_), atol=1e-6 * np.abs(whole.embedding_).max()
    )


@pytest.mark.parametrize("name", LANDMARKED)
def test_landmarks_place_more_rows_and_move_none(name):
    model = make(name).fit(OLD)
    grown = model.update(NEW)
    np.testing.assert_array_equal(grown.embedding_[:160], model.embedding_)
    np.testing.assert_array_equal(grown.embedding_[160:], model.transform(NEW))
    np.testing.assert_array_equal(grown.transform(ROLL), model.transform(ROLL))
    assert model.embedding_.shape[0] == 160
    np.testing.assert_array_equal(grown.remove(np.arange(160, 190)).embedding_, model.embedding_)


@pytest.mark.parametrize("name", LANDMARKED)
def test_partial_fit_of_landmarks_places(name):
    model = make(name)
    model.partial_fit(OLD)
    whole = make(name).fit(OLD)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    model.partial_fit(NEW)
    np.testing.assert_array_equal(model.embedding_, whole.transform(NEW))
    np.testing.assert_array_equal(model.transform(ROLL), whole.transform(ROLL))


def test_without_landmarks_partial_fit_says_what_to_use():
    for name in ("TSNE", "LLE", "Isomap", "MDS"):
        assert not hasattr(make(name), "partial_fit")
        with pytest.raises(AttributeError, match="Use update"):
            make(name).partial_fit(OLD)
    model = lowdim.LLE(solver=lowdim.LLL(30))
    model.solver = "exact"
    model.fit(OLD)
    model.solver = lowdim.LLL(30)
    with pytest.raises(InputError, match="fitted without landmarks"):
        model.partial_fit(NEW)


def test_pca_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)) * np.linspace(3, 0.1, 12)
    for whiten in (False, True):
        model = lowdim.PCA(12, whiten=whiten).fit(X[:200])
        before = model.embedding_.copy()
        grown, whole = model.update(X[200:]), lowdim.PCA(12, whiten=whiten).fit(X)
        np.testing.assert_array_equal(model.embedding_, before)
        np.testing.assert_allclose(grown.mean_, whole.mean_, atol=1e-10)
        np.testing.assert_allclose(grown.explained_variance_, whole.explained_variance_, rtol=1e-8)
        # All components are kept, so that the old rows are known whole.
        np.testing.assert_allclose(np.abs(grown.embedding_), np.abs(whole.embedding_), atol=1e-6)
        np.testing.assert_allclose(grown.transform(X), grown.embedding_, atol=1e-8)
        assert (grown.components_ * model.components_).sum(axis=1).min() >= 0.0
        assert grown.n_samples_seen_ == 300
    assert grown.update(X[:5]).n_samples_seen_ == 305


def test_a_matrix_between_points_and_equal_rows_are_refused():
    apart = np.sqrt(((OLD[:, None] - OLD) ** 2).sum(axis=2))
    model = lowdim.Isomap(metric="precomputed").fit(apart)
    with pytest.raises(InputError, match="matrix between points"):
        model.update(apart[:3])
    twice = lowdim.Isomap().fit(np.concatenate([OLD, OLD[:3]]))
    with pytest.raises(InputError, match="holds 160 of its 163 rows"):
        twice.update(NEW)
    with pytest.raises(InputError, match="holds 0 of its 160 rows"):
        lowdim.ClassicalMDS().fit(OLD).update(NEW)


def test_a_model_without_its_embedding_is_refused(tmp_path):
    lowdim.save(lowdim.PCA(2).fit(OLD), tmp_path / "a.lowdim", embedding=False)
    with pytest.raises(InputError, match="saved without embedding_"):
        lowdim.load(tmp_path / "a.lowdim").update(NEW)


def test_the_last_step_of_a_pipeline_grows():
    pipeline = make_pipeline(lowdim.PCA(3), lowdim.LLE()).fit(OLD)
    grown = pipeline[-1].update(pipeline[:-1].transform(NEW))
    assert grown.embedding_.shape == (190, 2)
