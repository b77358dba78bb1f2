"""Targets of SNE and its kin: ignored unless they are asked for, and then followed as UMAP does."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError
from lowdim.metrics import neighbor_accuracy

KINDS = {
    "TSNE": lambda **other: lowdim.TSNE(perplexity=8, max_iter=150, **other),
    "SymmetricSNE": lambda **other: lowdim.SymmetricSNE(perplexity=8, homotopy=None, max_iter=60, **other),
    "SNE": lambda **other: lowdim.SNE(perplexity=8, homotopy=None, max_iter=60, **other),
    "ElasticEmbedding": lambda **other: lowdim.ElasticEmbedding(
        perplexity=8, homotopy=None, max_iter=60, **other
    ),
    "LargeVis": lambda **other: lowdim.LargeVis(perplexity=8, max_iter=80, **other),
}


def overlapping(seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], 60)
    return rng.normal(size=(120, 5)) + 1.5 * labels[:, None] * np.eye(5)[0], labels


@pytest.mark.parametrize("name", KINDS)
def test_they_are_ignored_unless_asked_for(name):
    X, labels = overlapping()
    plain = KINDS[name]().fit(X).embedding_
    np.testing.assert_array_equal(KINDS[name]().fit(X, labels).embedding_, plain)
    np.testing.assert_array_equal(KINDS[name](target_weight=0.9).fit(X).embedding_, plain)


@pytest.mark.parametrize("name", KINDS)
def test_labels_pull_their_points_together(name):
    X, labels = overlapping()
    some = np.where(np.arange(120) % 4 == 0, -1, labels)
    plain = KINDS[name]().fit(X).embedding_
    told = KINDS[name](target_weight=0.7).fit(X, some).embedding_
    before, after = (neighbor_accuracy(each, labels, k=5) for each in (plain, told))
    assert after > before + 0.02


def test_numbers_with_fractions_are_no_labels():
    X, labels = overlapping()
    for model in (lowdim.UMAP(), KINDS["TSNE"](target_weight=0.5)):
        with pytest.raises(InputError, match="target_metric='euclidean'"):
            model.fit(X, labels + 0.5)
    told = KINDS["TSNE"](target_weight=0.5, repulsion="exact")
    whole = told.fit(X, labels).embedding_
    np.testing.assert_array_equal(told.fit(X, labels.astype(float)).embedding_, whole)


def test_numbers_and_copies():
    X, _ = overlapping()
    values = np.random.default_rng(1).uniform(size=120)
    twice, both = np.vstack([X, X[:30]]), np.concatenate([values, values[:30]])
    for name in ("TSNE", "SNE"):
        model = KINDS[name](target_metric="euclidean", target_weight=0.8).fit(twice, both)
        plain = KINDS[name]().fit(twice)
        told, untold = (_smoothness(each.embedding_[:120], values) for each in (model, plain))
        assert told < 0.8 * untold
        np.testing.assert_array_equal(model.embedding_[120:], model.embedding_[:30])
        np.testing.assert_array_equal(model.transform(X[:5]), model.embedding_[:5])


def _smoothness(Y, values):
    """Mean difference of the values of nearest neighbours."""
    D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2) + 1e9 * np.eye(len(Y))
    return np.abs(values - values[D.argmin(axis=1)]).mean()


def test_densities_are_those_of_the_data_whatever_the_targets():
    X, labels = overlapping()
    model = KINDS["TSNE"](density=0.5, target_weight=0.5).fit(X, labels)
    assert model.density_correlation_ > 0.8


def test_too_few_targets_are_refused():
    X, labels = overlapping()
    with pytest.raises(InputError, match="y "):
        KINDS["TSNE"](target_weight=0.5).fit(X, labels[:-1])
