"""Entropic affinities: derivatives, roots, ties, invariances, and scikit-learn's binary search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.manifold import TSNE
from sklearn.manifold._utils import _binary_search_perplexity
from sklearn.neighbors import NearestNeighbors

from lowdim import kernels
from lowdim.affinities import Entropic
from lowdim.core.events import Event, Events
from lowdim.core.records import Neighbors
from lowdim.core.run import Run
from lowdim.errors import DataWarning, InputError


def neighbors_of(points: np.ndarray, k: int) -> Neighbors:
    distances, indices = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    return Neighbors(np.arange(0, distances.size + 1, k), indices.ravel(), distances.ravel(), len(points))


def rows_of(distances: np.ndarray) -> Neighbors:
    n, k = distances.shape
    return Neighbors(
        np.arange(0, n * k + 1, k), np.tile(np.arange(k), n), np.sort(distances, axis=1).ravel(), k
    )


def conditional(neighbors: Neighbors, perplexity: float) -> np.ndarray:
    fitted = Entropic(perplexity).fit(neighbors, Run.of())
    return fitted.conditional(neighbors, Run.of()).reshape(neighbors.n_rows, -1)


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 5))


def test_derivatives_equal_finite_differences() -> None:
    squares = np.sort(np.random.default_rng(1).random(40))
    weights = np.empty(40)

    def terms(alpha: float) -> np.ndarray:
        return np.array(kernels.affinities.entropic.entropy_terms(squares, alpha, np.log(12.0), weights)[:3])

    step = 1e-5
    for alpha in (-1.0, 0.5, 2.0, 4.0):
        slopes = (terms(alpha + step) - terms(alpha - step)) / (2 * step)
        np.testing.assert_allclose(terms(alpha)[1:], slopes[:2], rtol=1e-7, atol=1e-9)


def test_value_is_the_entropy_of_the_weights() -> None:
    squares = np.sort(np.random.default_rng(2).random(40))
    weights = np.empty(40)
    value, _, _, z = kernels.affinities.entropic.entropy_terms(squares, 1.3, np.log(12.0), weights)
    p = np.exp(-np.exp(1.3) * squares)
    np.testing.assert_allclose(z, p.sum(), rtol=1e-14)
    np.testing.assert_allclose(value + np.log(12.0), entropy((p / p.sum())[None])[0], rtol=1e-13)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 29.9, 30.0, 80.0, 89.99])
def test_entropy_is_the_logarithm_of_the_perplexity(points: np.ndarray, perplexity: float) -> None:
    p = conditional(neighbors_of(points, 90), perplexity)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(entropy(p), np.log(perplexity), rtol=0, atol=1e-10)
    assert (np.diff(p, axis=1) <= 0).all()


@given(st.integers(0, 2**32 - 1), st.floats(-8, 8), st.floats(0.3, 6), st.floats(0.02, 0.98))
@settings(max_examples=80, deadline=None)
def test_entropy_on_distances_of_any_spread(seed: int, scale: float, spread: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 60))
    perplexity = 1.0 + share * (count - 1.0)
    p = conditional(rows_of(10.0**scale * np.exp(spread * rng.normal(size=(4, count)))), perplexity)
    np.testing.assert_allclose(entropy(p), np.log(perplexity), rtol=0, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_roots_lie_in_the_bracket_of_the_paper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 80))
    perplexity = float(rng.uniform(1.05, count - 0.5))
    squares, weights = np.empty(count), np.empty(count)
    ties = kernels.affinities.entropic.scaled_squares(
        np.sort(rng.random(count) ** rng.uniform(0.05, 2)), squares
    )
    numerator = kernels.affinities.entropic.upper_numerator(count, perplexity)
    excess = np.log(count / perplexity)
    low = np.log(max(count * excess / (count - 1), np.sqrt(8 * excess)))
    high = np.log(numerator / squares[1])
    at_low = kernels.affinities.entropic.entropy_terms(squares, low - 1e-9, np.log(perplexity), weights)[0]
    at_high = kernels.affinities.entropic.entropy_terms(squares, high + 1e-9, np.log(perplexity), weights)[0]
    assert ties == 1
    assert at_low >= -1e-12
    assert at_high <= 1e-12


def test_scale_changes_nothing(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 40)
    base = conditional(neighbors, 12.0)
    for scale in (2.0**-600, 2.0**-20, 2.0**30, 2.0**700):
        scaled = Neighbors(
            neighbors.indptr, neighbors.indices, neighbors.distances * scale, neighbors.n_points
        )
        np.testing.assert_allclose(conditional(scaled, 12.0), base, rtol=1e-12)


def test_agrees_with_scikit_learn_to_its_tolerance(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 90)
    squares = np.square(neighbors.distances).reshape(400, 90).astype(np.float32)
    np.testing.assert_allclose(
        conditional(neighbors, 30.0), _binary_search_perplexity(squares, 30.0, 0), rtol=2e-4, atol=1e-7
    )


def test_symmetric_weights_are_the_average(points: np.ndarray) -> None:
    neighbors = neighbors_of(points, 30)
    p = np.zeros((400, 400))
    np.put_along_axis(p, neighbors.indices.reshape(400, 30), conditional(neighbors, 10.0), axis=1)
    weights = Entropic(10.0).fit(neighbors, Run.of()).weights(neighbors, Run.of())
    np.testing.assert_array_equal(weights.toarray(), (p + p.T) / 2)
    assert weights.has_sorted_indices
    np.testing.assert_allclose(weights.sum(), 400, rtol=1e-12)


def test_more_ties_than_the_perplexity_give_uniform_weights_and_a_warning() -> None:
    distances = np.tile([0.5] * 6 + [1.0, 2.0, 3.0, 4.0], (3, 1))
    distances[2] = np.arange(1.0, 11.0)
    with pytest.warns(DataWarning, match="2 of 3 rows"):
        p = conditional(rows_of(distances), 5.0)
    np.testing.assert_array_equal(p[:2], np.tile([1 / 6] * 6 + [0.0] * 4, (2, 1)))
    np.testing.assert_allclose(entropy(p[2:]), np.log(5.0), atol=1e-10)


def test_fewer_ties_than_the_perplexity_still_have_a_root() -> None:
    near = 1.0 + np.array([0.0, 0.0, 0.0, 0.0, 1e-14, 1e-13, 1e-9, 1.0, 5.0, 9.0])
    p = conditional(
        rows_of(np.stack([near, np.array([0.0] * 4 + [1e-120, 1e-60, 1e-3, 1.0, 2.0, 3.0])])), 5.0
    )
    np.testing.assert_allclose(entropy(p), np.log(5.0), atol=1e-10)


@pytest.mark.parametrize("perplexity", [4.0, 5.0, 8.0, 12.5, 20.0, 30.0, 49.0])
def test_tables_with_ties(perplexity: float) -> None:
    """Iris is measured in tenths: several neighbours of a flower are equally near."""
    neighbors = neighbors_of(np.unique(load_iris().data, axis=0), int(3 * perplexity))
    lists = neighbors.distances.reshape(neighbors.n_rows, -1)
    ties = np.sum(lists == lists[:, :1], axis=1)
    p = conditional(neighbors, perplexity)
    np.testing.assert_allclose(entropy(p), np.log(np.maximum(perplexity, ties)), rtol=0, atol=1e-10)


def test_only_duplicates() -> None:
    with pytest.warns(DataWarning, match="uniform"):
        p = conditional(rows_of(np.zeros((2, 8))), 5.0)
    np.testing.assert_array_equal(p, np.full((2, 8), 1 / 8))


def test_perplexity_one_is_the_nearest_neighbour() -> None:
    with pytest.warns(DataWarning, match="perplexity"):
        p = conditional(rows_of(np.arange(1.0, 7.0)[None]), 1.0)
    np.testing.assert_array_equal(p, [[1.0, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("perplexity", "message"),
    [
        (10.0, "Raise n_neighbors, at best to three times"),
        (0.5, "number >= 1"),
        (np.nan, "number >= 1"),
    ],
)
def test_impossible_perplexity_is_refused(points: np.ndarray, perplexity: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Entropic(perplexity).fit(neighbors_of(points, 10), Run.of())


def test_threads_and_batches_change_nothing(points: np.ndarray) -> None:
    points = np.tile(points, (3, 1)) + np.random.default_rng(4).normal(size=(1200, 5)) * 0.1
    neighbors = neighbors_of(points, 30)
    fitted = Entropic(10.0).fit(neighbors, Run.of())
    one = fitted.conditional(neighbors, Run.of(n_jobs=1))
    np.testing.assert_array_equal(one, fitted.conditional(neighbors, Run.of(n_jobs=3)))
    new = fitted.to_new(neighbors, Run.of())
    for row in (0, 17, 1199):
        place = slice(30 * row, 30 * row + 30)
        single = Neighbors(np.array([0, 30]), neighbors.indices[place], neighbors.distances[place], 1200)
        alone = fitted.to_new(single, Run.of())
        np.testing.assert_array_equal(alone.toarray()[0], new[[row]].toarray()[0])


def test_evaluations_are_few_and_told(points: np.ndarray) -> None:
    heard: list[Event] = []
    neighbors = neighbors_of(points, 90)
    Entropic(30.0).fit(neighbors, Run.of()).weights(neighbors, Run(Events(heard.append)))
    told = [event.data["evaluations"] for event in heard if event.kind == "iteration"]
    assert len(told) == 1
    assert 2 * 400 < told[0] < 5 * 400


def test_clone_keeps_it_as_a_parameter_value() -> None:
    estimator = clone(TSNE(metric_params={"affinity": Entropic(12.0)}))
    assert estimator.metric_params == {"affinity": Entropic(12.0)}
