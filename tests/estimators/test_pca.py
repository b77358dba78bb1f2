"""PCA against scikit-learn's: what is fitted, the density, whitening, and going on with new rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import lowdim
from lowdim.errors import InputError


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((600, 12)) * 0.8 ** np.arange(12) @ rng.standard_normal((12, 12)) + 3.0


def both(rows: np.ndarray, n_components, **other):
    return (
        lowdim.PCA(n_components, **other).fit(rows),
        decomposition.PCA(n_components, svd_solver="full", **other).fit(rows),
    )


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 5, 12, None, 0.8, "mle"])
def test_what_is_fitted_is_that_of_scikit_learn(rows, n_components, whiten) -> None:
    ours, theirs = both(rows, n_components, whiten=whiten)
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_seen_ == theirs.n_samples_
    for name in ("mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, err_msg=name)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9, atol=1e-12)
    signs = np.sign(np.einsum("ij,ij->i", ours.components_, theirs.components_))
    assert_allclose(ours.components_ * signs[:, None], theirs.components_, atol=1e-8)
    assert_allclose(ours.transform(rows) * signs, theirs.transform(rows), atol=1e-8)
    back = ours.inverse_transform(ours.embedding_)
    assert_allclose(back, theirs.inverse_transform(theirs.transform(rows)), atol=1e-8)


@pytest.mark.parametrize("n_components", [1, 5, 12])
def test_the_density_is_that_of_scikit_learn(rows, n_components) -> None:
    ours, theirs = both(rows[:400], n_components)
    new = rows[400:]
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8, atol=1e-9)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-8)
    assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-8)
    assert_allclose(ours.score_samples(csr_array(new)), theirs.score_samples(new), rtol=1e-8)
    assert ours.score(new) == pytest.approx(theirs.score(new))


def test_the_density_does_not_depend_on_whitening(rows) -> None:
    plain, white = lowdim.PCA(4).fit(rows), lowdim.PCA(4, whiten=True).fit(rows)
    assert_allclose(plain.get_covariance(), white.get_covariance())
    assert plain.score(rows) == white.score(rows)


def test_the_likelihood_chooses_among_numbers_of_components(rows) -> None:
    scores = [cross_val_score(lowdim.PCA(count), rows, cv=3).mean() for count in (1, 6, 12)]
    assert scores[0] < scores[1] < scores[2]


def test_a_density_needs_a_fit_and_variance(rows) -> None:
    with pytest.raises(NotFittedError):
        lowdim.PCA(2).score(rows)
    with pytest.raises(InputError, match="fewer n_components"):
        lowdim.PCA(5).fit(rows[:5]).score(rows)


@pytest.mark.parametrize("n_components", [0, -1, 1.0, 1.5, "most", True])
def test_other_numbers_of_components_are_refused(rows, n_components) -> None:
    with pytest.raises(InputError, match="n_components"):
        lowdim.PCA(n_components).fit(rows)


@pytest.mark.parametrize("solver", ["streaming", "covariance", "auto"])
def test_partial_fit_goes_on_from_a_fit(rows, solver) -> None:
    model = lowdim.PCA(3, solver=solver).fit(rows[:500]).partial_fit(rows[500:550])
    whole = lowdim.PCA(3).fit(rows[:550])
    assert model.n_samples_seen_ == 550
    assert model.embedding_.shape == (50, 3)
    assert_allclose(model.mean_, whole.mean_, atol=1e-12)
    total = model.explained_variance_[0] / model.explained_variance_ratio_[0]
    assert total == pytest.approx(rows[:550].var(axis=0, ddof=1).sum(), rel=1e-10)
    accuracy = 1e-8 if solver == "streaming" else 0.05
    assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=accuracy)
    assert_allclose(model.components_, whole.components_, atol=max(accuracy, 1e-8))


def test_a_model_of_one_pass_goes_on_after_it_was_saved(rows, tmp_path) -> None:
    model = lowdim.PCA(3, solver="streaming").fit(rows[:500])
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    assert_allclose(again.partial_fit(rows[500:]).components_, model.partial_fit(rows[500:]).components_)


def test_a_new_fit_begins_anew(rows) -> None:
    model = lowdim.PCA(3, solver="streaming").fit(rows[:500]).partial_fit(rows[500:])
    assert model.fit(rows[:100]).n_samples_seen_ == 100


def test_a_share_of_the_variance_that_a_fit_told_is_exceeded():
    """Summed otherwise, the same shares differ in their last digit, and one component is kept too few or too many."""
    rng = np.random.default_rng(0)
    for columns in range(3, 12):
        X = rng.normal(size=(30, columns)) * rng.uniform(0.1, 5.0)
        told = lowdim.PCA(n_components=None).fit(X).explained_variance_ratio_.cumsum()
        kept = [lowdim.PCA(n_components=share).fit(X).n_components_ for share in told[:-1]]
        assert kept == list(range(2, columns + 1))
