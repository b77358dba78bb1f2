"""Densities: what was dense in the data is dense in the picture, for every neighbour embedding, and for new points."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError

KINDS = {
    "UMAP": lambda **other: lowdim.UMAP(n_neighbors=10, max_iter=100, **other),
    "TSNE": lambda **other: lowdim.TSNE(perplexity=10, max_iter=150, **other),
    "SymmetricSNE": lambda **other: lowdim.SymmetricSNE(perplexity=10, homotopy=None, max_iter=80, **other),
    "SNE": lambda **other: lowdim.SNE(perplexity=10, homotopy=None, max_iter=80, **other),
    "ElasticEmbedding": lambda **other: lowdim.ElasticEmbedding(
        perplexity=10, homotopy=None, max_iter=80, **other
    ),
    "LargeVis": lambda **other: lowdim.LargeVis(perplexity=10, max_iter=100, **other),
}
STRENGTHS = {
    "UMAP": 2.0,
    "TSNE": 0.5,
    "SymmetricSNE": 0.5,
    "SNE": 0.5,
    "ElasticEmbedding": 30.0,
    "LargeVis": 2.0,
}


def mixture(n_each=60, seed=0):
    """Three groups, of which each is three times as wide as the one before."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n_each, 5)) * width + 40 * rng.normal(size=5) for width in (1, 3, 9)])


@pytest.mark.parametrize("name", KINDS)
def test_dense_groups_come_out_dense(name):
    model = KINDS[name](density=STRENGTHS[name]).fit(mixture())
    before = model.report_.figures["density_correlation_without"]
    assert model.density_correlation_ == model.report_.figures["density_correlation"]
    assert model.density_correlation_ > max(0.75, before + 0.05)
    groups = model.embedding_.reshape(3, 60, 2)
    widths = [np.median(np.linalg.norm(group - np.median(group, axis=0), axis=1)) for group in groups]
    # LargeVis pushes so hard that its groups are about as wide, whatever the radii within them.
    assert widths[0] < widths[2] if name == "LargeVis" else widths[0] < widths[1] < widths[2]


@pytest.mark.parametrize("name", KINDS)
def test_a_plan_knows_what_they_cost(name):
    X = np.zeros((4000, 5))
    plain, dense, late = (
        KINDS[name](**terms).plan(X)
        for terms in ({}, {"density": 1.0, "density_share": 0.8}, {"density": 1.0, "density_share": 0.2})
    )
    assert plain.seconds < late.seconds <= dense.seconds
    assert plain.bytes <= dense.bytes


@pytest.mark.parametrize("name", KINDS)
def test_none_is_what_there_was(name):
    X = mixture(20)
    plain, off = KINDS[name]().fit(X), KINDS[name](density=0, density_share=0.9).fit(X)
    np.testing.assert_array_equal(plain.embedding_, off.embedding_)
    assert not hasattr(plain, "density_correlation_")
    assert plain.map_.density is None


def test_new_points_keep_their_density_too():
    """New points of the wide group lie as widely as the fitted ones; the same without densities: hardly more."""
    X, new = mixture(), mixture(30, seed=1)
    new = np.vstack(
        [group + shift for group, shift in zip(new.reshape(3, 30, 5), _shifts(X, new), strict=True)]
    )
    model = KINDS["UMAP"](density=2.0).fit(X)
    placed = model.transform(new)
    dense, wide = (_width(model, X, placed[part]) for part in (slice(30), slice(60, 90)))
    assert wide > 3 * dense
    for rows in (slice(7), slice(7, 50), slice(50, None)):
        np.testing.assert_array_equal(model.transform(new[rows]), placed[rows])
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def _shifts(X, new):
    """From the centre of each new group to that of the fitted one."""
    return [a.mean(axis=0) - b.mean(axis=0) for a, b in zip(np.split(X, 3), np.split(new, 3), strict=True)]


def _width(model, X, placed):
    """Median squared distance of new points to their ten nearest fitted ones in the picture."""
    D = ((placed[:, None] - model.embedding_[None]) ** 2).sum(axis=2)
    return np.median(np.sort(D, axis=1)[:, :10].mean(axis=1))


def test_the_divergence_is_reported_without_the_densities():
    X = mixture(40)
    model = lowdim.TSNE(perplexity=10, max_iter=100, density=0.5).fit(X)
    from_there = lowdim.TSNE(perplexity=10, max_iter=1, init=model.embedding_, learning_rate=1e-9).fit(X)
    assert model.kl_divergence_ == pytest.approx(from_there.kl_divergence_, rel=0.05)


def test_copies_of_a_row_count_as_rows():
    X = mixture(30)
    model = KINDS["TSNE"](density=0.5).fit(np.vstack([X, X[:20]]))
    assert model.density_correlation_ > 0.75
    np.testing.assert_array_equal(model.embedding_[:20], model.embedding_[90:])


def test_distances_will_do_and_affinities_will_not():
    X = mixture(20)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    given = lowdim.UMAP(n_neighbors=8, max_iter=30, density=2.0, metric="precomputed", init="spectral").fit(D)
    assert given.density_correlation_ > 0.5
    with pytest.raises(InputError, match=r"density keeps how far.*affinities"):
        lowdim.TSNE(metric="graph", density=0.1).fit(np.exp(-D / 40) - np.eye(60))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"density": -1.0}, "density of UMAP must be"),
        ({"density_share": 1.5}, "density_share"),
        ({"density_shift": 0}, "shift"),
    ],
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        lowdim.UMAP(**parameters).fit(mixture(5))


def test_names_of_other_libraries():
    with pytest.raises(TypeError, match=r"'density' here\. densmap=True is density=2"):
        lowdim.UMAP(densmap=True)
