"""Effect sizes and tests against SciPy and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from lowdim.data.rows import Rows
from lowdim.explanation.contrasts import contrast


def sides(n, count):
    inside = np.zeros(n, bool)
    inside[:count] = True
    return inside, ~inside


def test_p_values_are_those_of_welch_and_effects_those_of_hedges():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * [1, 2, 3, 4, 5] + 100.0
    X[:20, 1] += 3.0
    inside, outside = sides(60, 20)
    found = contrast(Rows(X), inside, outside, 0.95)
    wanted = stats.ttest_ind(X[inside], X[outside], equal_var=False)
    np.testing.assert_allclose(found.p_value, wanted.pvalue, rtol=1e-9)
    pooled = np.sqrt((19 * X[inside].var(axis=0, ddof=1) + 39 * X[outside].var(axis=0, ddof=1)) / 58)
    effect = (1 - 3 / (4 * 60 - 9)) * (X[inside].mean(axis=0) - X[outside].mean(axis=0)) / pooled
    np.testing.assert_allclose(found.effect, effect, rtol=1e-9)
    np.testing.assert_allclose(found.q_value, stats.false_discovery_control(found.p_value), rtol=1e-9)
    assert (found.low < effect).all()
    assert (found.high > effect).all()


def test_intervals_hold_as_often_as_they_say():
    """Over 2,000 features of a known difference of half a deviation."""
    rng = np.random.default_rng(1)
    inside, outside = sides(60, 30)
    X = rng.standard_normal((60, 2000)) + 0.5 * inside[:, None]
    found = contrast(Rows(X), inside, outside, 0.9)
    held = np.mean((found.low <= 0.5) & (found.high >= 0.5))
    assert 0.88 < held < 0.92


def test_without_a_difference_few_are_found():
    rng = np.random.default_rng(2)
    inside, outside = sides(80, 15)
    found = contrast(Rows(rng.standard_normal((80, 2000)) * 1e3), inside, outside, 0.95)
    assert np.mean(found.p_value < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(found.q_value < 0.05) < 0.005


def test_constants_are_no_difference_or_a_sure_one():
    X = np.zeros((12, 3))
    X[:, 0] = 0.1
    X[:4, 1] = 1.0
    X[:, 2] = np.arange(12)
    inside, outside = sides(12, 4)
    found = contrast(Rows(X), inside, outside, 0.95)
    assert found.effect[0] == 0.0
    assert found.p_value[0] == 1.0
    assert found.effect[1] == np.inf
    assert found.low[1] == np.inf
    assert found.p_value[1] == 0.0
    assert np.isfinite([found.low[2], found.high[2], found.p_value[2]]).all()


def test_one_point_alone_is_tested_as_one_of_the_others():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 4))
    inside, outside = sides(30, 1)
    for one, rest in ((inside, outside), (outside, inside)):
        found = contrast(Rows(X), one, rest, 0.95)
        wanted = stats.ttest_ind(
            X[:1], X[1:]
        )  # with one point on a side the pooled deviation is that of the other
        np.testing.assert_allclose(found.p_value, wanted.pvalue, rtol=1e-9)
        assert np.isfinite(found.effect).all()
    found = contrast(Rows(rng.standard_normal((30, 4000))), inside, outside, 0.95)
    assert np.mean(found.p_value < 0.05) == pytest.approx(0.05, abs=0.015)


def test_of_two_single_points_nothing_is_known():
    X = np.array([[0.0, 1.0], [3.0, 1.0]])
    found = contrast(Rows(X), *sides(2, 1), 0.95)
    np.testing.assert_array_equal(found.p_value, 1.0)


def test_sparse_rows_have_the_same_contrasts():
    X = np.random.default_rng(4).poisson(0.3, (50, 6)).astype(float)
    inside, outside = sides(50, 12)
    dense, held = (contrast(Rows(form), inside, outside, 0.95) for form in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(held.effect, dense.effect, rtol=1e-12)
