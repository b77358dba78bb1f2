"""What a sweep refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.cli.options.wording import shell
from lowdim.errors import InputError
from lowdim.selection import Score, sweep

X = np.random.default_rng(0).standard_normal((40, 3))
Y = np.arange(40) % 2
GRID = {"n_neighbors": [5]}


def assert_refused(match, estimator=None, grid=GRID, data=X, **other):
    with pytest.raises(InputError, match=match):
        sweep(estimator or lowdim.LaplacianEigenmaps(), grid, data, **other)


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ({"n_neighbor": [5]}, "Did you mean n_neighbors"),
        ({"n_landmark": [5]}, "Did you mean n_landmarks"),
        ({"perplexitty": [5]}, "Did you mean perplexity"),
        (
            {"colour": [5]},
            "must be a parameter of LaplacianEigenmaps: affinity, .*, n_landmarks, n_landmark_neighbors, perplexity",
        ),
        ({}, "at least one parameter"),
        ([], "must be a mapping"),
        ([{}], "at least one parameter"),
        (["n_neighbors"], "at least one parameter in each mapping; got 'n_neighbors'"),
        ("n_neighbors", "must be a mapping"),
        (None, "must be a mapping"),
        ({"n_neighbors": []}, "at least one value; got none"),
        ({"n_neighbors": 5}, r"must be a list of values; got 5. Write \[5\]"),
        ({"metric": "cosine"}, r"Write \['cosine'\]"),
        ({"random_state": [0, 1]}, "Use seeds"),
        ({"affinity": ["auto"], "perplexity": [5]}, "only one of the two"),
        ({"n_landmarks": [10]}, "solver='auto', which has no such field. Set solver='lll'"),
        ({"solver": ["lll", "exact"], "n_landmarks": [10]}, "solver='exact', which has no such field"),
        ({"solver__n_landmark": [10], "solver": ["lll"]}, "which has no such field"),
        ({"affinity__sigma": [1.0]}, "Set affinity to an object"),
        ({"metric__p": [1.0]}, "must be a parameter of"),
    ],
)
def test_grids(grid, match):
    assert_refused(match, grid=grid)


def test_a_grid_is_refused_in_the_language_of_the_reader():
    with pytest.raises(InputError) as caught:
        sweep(lowdim.LaplacianEigenmaps(), {"n_landmarks": [10]}, X)
    assert "Set --solver lll" in caught.value.said(shell)
    with pytest.raises(InputError) as caught:
        sweep(lowdim.LaplacianEigenmaps(), {"n_neighbor": [10]}, X)
    assert caught.value.said(shell).endswith("Did you mean --n-neighbors?")


def test_names_that_an_estimator_does_not_have():
    assert_refused("must be a parameter of PCA", lowdim.PCA(), {"perplexity": [5]})
    assert_refused("must be a parameter of PCA", lowdim.PCA(), {"n_neighbors": [5]})


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"y": Y[:-1]}, r"y of sweep must hold one label for each of the 40 points; got shape \(39,\)"),
        ({"y": X[:, 0]}, "must hold classes.*truth instead"),
        ({"y": np.where(Y, np.nan, 1.0)}, "are missing, the first at place"),
        ({"y": np.array(["a", 1] * 20, dtype=object)}, "labels of one type"),
        ({"y": Y, "truth": X}, "got both"),
        ({"truth": X[:-1]}, r"truth of sweep must hold .* 40 rows of X; got shape \(39, 3\)"),
        ({"truth": np.full((40, 2), np.inf)}, "truth must hold finite numbers"),
        ({"truth": [["a", "b"]] * 40}, "must hold numbers"),
        ({"score": "labels"}, "needs labels"),
        ({"score": "truth"}, "needs the true coordinates"),
        ({"score": "trustworthines"}, "Did you mean 'trustworthiness'"),
        ({"score": 3}, "score of sweep must be one of 'auto'"),
        ({"score": []}, "at least one"),
        ({"score": ["auto", "quality"]}, "must stand alone"),
        ({"score": "quality", "truth": X}, "truth is used by score='truth' alone"),
        (
            {"score": Score(lambda *a: 1.0, better="bigger")},
            "better of Score must be one of 'higher', 'lower'",
        ),
        ({"test": 0.2}, "test hides labels"),
        ({"out_of_sample": 5}, "out_of_sample rows are judged by"),
        ({"y": Y, "test": 30, "out_of_sample": 9}, "leave at least 2 rows .* ask for 39 of the 40"),
        ({"y": Y, "test": 0.5, "out_of_sample": 0.6}, "leave at least 2 rows"),
        ({"y": Y, "test": 0, "out_of_sample": 0}, "must not both be 0"),
        ({"y": Y, "test": [0, 40]}, "indices of rows"),
        ({"y": Y, "test": -1}, "indices of rows"),
        ({"y": Y, "test": 1.5}, "indices of rows"),
        ({"y": Y, "test": [1, 2], "out_of_sample": [2]}, "named twice"),
        ({"y": Y, "test": [1, 1]}, "named twice"),
        ({"seeds": 0}, "seeds of sweep must be"),
        ({"seeds": []}, "seeds of sweep must be"),
        ({"seeds": [1, 1]}, "different whole numbers"),
        ({"seeds": "two"}, "seeds of sweep must be"),
        ({"verbose": -1}, "verbose of sweep"),
        ({"callback": 3}, "callback of sweep"),
    ],
)
def test_everything_else(other, match):
    assert_refused(match, **other)


def test_labels_that_numpy_makes_texts_of():
    assert len(sweep(lowdim.LaplacianEigenmaps(), GRID, X, ["a", 1] * 20, score="labels").rows) == 1


def test_estimators_of_others():
    from sklearn.manifold import Isomap

    assert_refused("must be an estimator of lowdim", Isomap())
    assert_refused("must be an estimator of lowdim", lowdim.PCA)


def test_quality_needs_points_or_distances():
    graph = np.abs(X @ X.T)
    assert_refused("compares distances", lowdim.LaplacianEigenmaps(affinity="precomputed"), data=graph)
    assert_refused("compares distances", lowdim.KernelPCA(kernel="precomputed"), {"n_components": [2]}, graph)


def test_bad_data():
    with pytest.raises(ValueError, match="NaN"):
        sweep(lowdim.PCA(), {"n_components": [2]}, np.full((10, 2), np.nan))


def test_two_scores_of_one_name():
    def error(fitted, X, y):
        return 1.0

    with pytest.warns(lowdim.errors.LowdimWarning, match="different names; got 'error' twice"):
        found = sweep(lowdim.PCA(), {"n_components": [2]}, X, score=[error, error])
    assert found.rows[0]["status"].startswith("Figures of two scores")


@pytest.mark.parametrize("value", ["high", None, True, {"a": "b"}])
def test_scores_are_numbers(value):
    with pytest.warns(lowdim.errors.LowdimWarning, match="must be a number"):
        sweep(lowdim.PCA(), {"n_components": [2]}, X, score=lambda fitted, X, y: value)
