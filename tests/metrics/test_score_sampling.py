"""Sampled scores: intervals that cover the exact value as often as they say, and close on it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from lowdim.data.rows import Rows
from lowdim.metrics import score
from lowdim.metrics.sampling import Sample
from lowdim.metrics.score import _sampled_rows

SEEDS = range(100)


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(3)
    centres = 3 * generator.standard_normal((6, 10))
    labels = generator.integers(6, size=1200)
    X = centres[labels] + generator.standard_normal((1200, 10)) * np.linspace(2, 0.2, 10)
    return X, X[:, :2] + 0.2 * generator.standard_normal((1200, 2)), labels


@pytest.fixture(scope="module")
def exact(data):
    return score(*data)


@pytest.fixture(scope="module")
def sampled(data):
    """Scores of many small samples, by the confidence of their intervals."""

    @cache
    def at(confidence):
        return [score(*data, sample=150, confidence=confidence, random_state=seed) for seed in SEEDS]

    return at


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_intervals_cover_at_the_stated_rate(exact, sampled, confidence):
    # Four standard errors of a rate over so many seeds.
    slack = 4 * np.sqrt(confidence * (1 - confidence) / len(SEEDS))
    for name in exact:
        rate = np.mean([found[name].low <= exact[name] <= found[name].high for found in sampled(confidence)])
        assert abs(rate - confidence) < slack, name
    curves = [found.recall_curve for found in sampled(confidence)]
    true = exact.recall_curve.recall
    rates = np.mean([(curve.low <= true) & (true <= curve.high) for curve in curves], axis=0)
    assert abs(np.median(rates) - confidence) < slack


@pytest.mark.slow
def test_means_over_seeds_are_the_exact_values(exact, sampled):
    for name in exact:
        values = np.array([float(found[name]) for found in sampled(0.95)])
        assert abs(values.mean() - exact[name]) < 4 * values.std() / np.sqrt(len(SEEDS)) + 2e-3, name


@pytest.mark.slow
def test_intervals_close_as_the_sample_grows(data, exact):
    widths = [
        {name: found[name].high - found[name].low for name in found}
        for found in (score(*data, sample=size) for size in (50, 200, 800, 1199, 1200))
    ]
    for name in exact:
        falling = [width[name] for width in widths]
        assert falling == sorted(falling, reverse=True), name
        assert falling[-1] == 0.0
        assert falling[-2] < 0.1 * falling[0]


def test_all_rows_are_exact_in_any_order(data, exact):
    again = score(*data, sample="all", random_state=5)
    for name in exact:
        assert again[name] == pytest.approx(exact[name], abs=1e-12)
        assert again[name].low == again[name] == again[name].high


def test_the_same_seed_gives_the_same_sample(data):
    first, second = (score(*data, sample=90, random_state=4).as_dict() for _ in range(2))
    assert first == second
    assert score(*data, sample=90, random_state=5).as_dict() != first


def test_rank_correlation_looks_at_fewer_points(data, exact, monkeypatch):
    monkeypatch.setattr("lowdim.metrics.point_pairs.MOST_POINTS", 150)
    found = score(*data)
    assert found.n_pairs == 150 * 149 // 2
    assert found.spearman.low < exact.spearman < found.spearman.high
    assert found.pearson.low == found.pearson.high


def test_a_share_has_an_interval_even_where_all_hit():
    sample = Sample(np.arange(50), 1000, 0.95)
    all_hit = sample.share(np.ones(50))
    assert all_hit == all_hit.high == 1.0
    assert 0.9 < all_hit.low < 0.95
    none_hit = sample.share(np.zeros(50))
    assert none_hit.high == pytest.approx(1 - all_hit.low)
    assert Sample(np.arange(50), 50, 0.95).share(np.arange(50.0) < 20).low == pytest.approx(0.4)


def test_rows_by_the_number_of_points(data):
    sizes = 5001, 70_000, 200_000, 1_000_000
    assert [drawn_of(n, 50) for n in sizes] == [2000, 1428, 500, 500]
    X = np.random.default_rng(0).standard_normal((5001, 2))
    found = score(X, X, measures="pearson")
    assert found.n_rows == 2000
    assert found.pearson == pytest.approx(1.0)


def test_fewer_rows_are_drawn_where_rows_are_wide():
    drawn = [drawn_of(70_000, n_columns) for n_columns in (128, 384, 784, 1_628, 100_000)]
    assert drawn == [1428, 1220, 993, 714, 714]
    assert drawn_of(70_000, 70_000, "precomputed") == 1428


def drawn_of(n_points, n_columns, metric="euclidean"):
    """Rows that "auto" draws of so many points; they take no room."""
    return _sampled_rows(Rows(np.broadcast_to(np.zeros(1), (n_points, n_columns))), metric)
