"""Curvature against finite differences of the gradient; points placed again against the full loss."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import lowdim
from lowdim.core.records import Sparse
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.objectives import elastic, force_atlas, negative_t_sne, pacmap, sne, symmetric_sne, t_sne, umap
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import (
    Gaussian,
    Logarithm,
    OffsetLogarithm,
    Power,
    RoundedLogarithm,
    SampledLogarithm,
    Saturating,
    ShiftedStudent,
    Student,
)
from lowdim.reliability.lists import Lists
from lowdim.reliability.placing import directions

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.leave_one_out import LeaveOneOut

RUN = Run.of(n_jobs=1)
N = 24
PRESETS = ("LargeVis", "ForceAtlas2", "PaCMAP")


def weights():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((N, N)) * (rng.random((N, N)) < 0.4), 1)
    W[0, 1:4] = 0.5
    return Sparse((W + W.T) / W.sum() / 2)


def objective(name, d, masses):
    def parts(attractive, repulsive):
        return Attraction(weights(), attractive, RUN), Exact().start(repulsive, N, d, RUN)

    charges = np.random.default_rng(3).random(N) + 0.5
    power = Power(1.5, 0.9), RoundedLogarithm.cut(1.5, 0.9, 1.0)
    return {
        "t-SNE": lambda: t_sne.TSNE(*parts(Student(), Student()), 0.7, masses),
        "symmetric SNE": lambda: symmetric_sne.SymmetricSNE(*parts(Gaussian(), Gaussian()), 0.7, masses),
        "SNE": lambda: sne.SNE(*parts(Gaussian(), Gaussian()), 0.7, masses),
        "elastic": lambda: elastic.ElasticEmbedding(*parts(Gaussian(), Gaussian()), 0.01, masses),
        "elastic with distances": lambda: elastic.ElasticEmbedding(
            *parts(Gaussian(), Gaussian()), 0.01, masses, data=np.random.default_rng(1).normal(size=(N, 4))
        ),
        "Neg-t-SNE": lambda: negative_t_sne.NegativeTSNE(
            *parts(ShiftedStudent(1.4), SampledLogarithm(1.4)), 0.7, masses
        ),
        "Neg-t-SNE, normaliser not fixed": lambda: negative_t_sne.NegativeTSNE(
            *parts(ShiftedStudent(1.4), SampledLogarithm(1.4)), 0.7, masses, fixed=0.4
        ),
        "UMAP": lambda: umap.UMAP(*parts(*power), 1.0, masses),
        "faithful UMAP": lambda: umap.UMAP(*parts(*power), 1.0, masses, faithful=True),
        "LargeVis": lambda: umap.UMAP(*parts(Student(), OffsetLogarithm()), 7.0, masses, noise=charges),
        "ForceAtlas2": lambda: force_atlas.ForceAtlas2(
            *parts(Gaussian(), Logarithm(0.5)), 0.7, masses, charges=charges
        ),
        "ForceAtlas2, strong": lambda: force_atlas.ForceAtlas2(
            *parts(Gaussian(), Logarithm(0.5)), 0.7, masses, charges=charges, gravity=2.0, strong=True
        ),
        "PaCMAP": lambda: pacmap.PaCMAP(
            *parts(Saturating(10.0), ShiftedStudent(2.0)),
            1.0,
            masses,
            middle=Attraction(weights(), Saturating(10000.0), RUN),
        ),
        "PaCMAP, early": lambda: pacmap.PaCMAP(
            *parts(Saturating(10.0), ShiftedStudent(2.0)),
            1.0,
            masses,
            middle=Attraction(weights(), Saturating(10000.0), RUN),
        ).with_parts((2.0, 300.0)),
    }[name]()


@pytest.mark.covering
@pytest.mark.parametrize(
    "name",
    [
        "t-SNE",
        "symmetric SNE",
        "SNE",
        "elastic",
        "elastic with distances",
        "Neg-t-SNE",
        "Neg-t-SNE, normaliser not fixed",
        "UMAP",
        "faithful UMAP",
        "LargeVis",
        "ForceAtlas2",
        "ForceAtlas2, strong",
        "PaCMAP",
        "PaCMAP, early",
    ],
)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_blocks_are_second_derivatives(name, d):
    X = np.random.default_rng(d).standard_normal((N, d))
    rows, step = np.array([3, 0, 17]), 1e-5
    for masses in (None, np.random.default_rng(2).integers(1, 4, N).astype(float)):
        made = objective(name, d, masses)
        wanted = np.empty((rows.size, d, d))
        for place, row in enumerate(rows):
            for axis in range(d):
                there, back = X.copy(), X.copy()
                there[row, axis] += step
                back[row, axis] -= step
                slopes = [made.evaluate(points).gradient[row] for points in (there, back)]
                wanted[place, :, axis] = (slopes[0] - slopes[1]) / (2 * step)
        np.testing.assert_allclose(made.blocks(X, rows), wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())


def mixture(n=300, seed=0):
    """Three clusters in eight dimensions, near enough that some points lie between two."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, 8)) * 2.2
    return np.concatenate([rng.normal(size=(n // 3, 8)) + centre for centre in centres])


@pytest.mark.slow
def test_points_land_where_the_full_loss_places_them():
    X, perplexity = mixture(), 15.0
    model = lowdim.TSNE(perplexity=perplexity, repulsion="exact").fit(X)
    Y = np.asarray(model.embedding_)
    found = lowdim.trust(X, Y, model)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    length = 0.5 * np.median(np.sort(distances, axis=1)[:, found.scales[0]])
    reference, some = LeaveOneOut(X, Y, perplexity), range(0, 300, 10)
    moves = [sign * length * axis for axis in directions(Rows(X)) for sign in (-1, 1)]
    wanted = [max(np.linalg.norm(reference.place(i, X[i] + move) - Y[i]) for move in moves) for i in some]
    assert spearmanr(wanted, found.perturbation[list(some)]).statistic > 0.9


def test_what_has_no_place_to_rest_is_singular():
    X = mixture()
    model = lowdim.TSNE(perplexity=15, repulsion="exact").fit(X)
    found = lowdim.trust(X, model.embedding_, model)
    assert np.isfinite(found.singularity).all()
    assert np.median(found.singularity) == pytest.approx(1.0)
    early = lowdim.TSNE(perplexity=15, repulsion="exact", max_iter=3).fit(X)
    assert not np.isfinite(lowdim.trust(X, early.embedding_, early).singularity).all()


@pytest.mark.parametrize("name", ["PCA", "LaplacianEigenmaps", "UMAP", "SNE", "MDS", *PRESETS])
def test_every_kind_of_model_says_what_it_can(name, tmp_path):
    X = mixture(150)
    kind = getattr(lowdim, name)
    model = (
        kind(n_components=2, max_iter=30).fit(X)
        if name in ("UMAP", "SNE", "MDS", *PRESETS)
        else kind(n_components=2).fit(X)
    )
    found = lowdim.trust(X, model.embedding_, model)
    assert np.isfinite(found.perturbation).all()
    assert ("singularity" in found) == (name in ("UMAP", "SNE", *PRESETS))
    assert bool(found.axes) == (name == "LaplacianEigenmaps")
    if "singularity" not in found:
        assert f"does not apply to {name}" in " ".join(found.notes)
    if found.axes:
        values = model.eigenvalues_
        assert found.axes[0].gap == pytest.approx(abs(values[0] - values[1]))
        assert found.axes[0].angle < 1e-3
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.trust(X, model.embedding_, lowdim.load(tmp_path / "model.lowdim"))
    np.testing.assert_array_equal(again.perturbation, found.perturbation)


def test_a_linear_map_is_torn_nowhere():
    X = mixture()
    model = lowdim.PCA(2).fit(X)
    assert not lowdim.trust(X, model.embedding_, model).doubtful.any()


def test_what_is_not_known_is_said():
    X = mixture(150)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = lowdim.TSNE(perplexity=10, metric="precomputed", max_iter=30).fit(D)
    found = lowdim.trust(D, model.embedding_, model)
    assert found.perturbation is None
    assert "can be moved" in " ".join(found.notes)
    model = lowdim.UMAP(max_iter=20).fit(X, np.repeat([0, 1, 2], 50))
    assert "fitted to targets" in " ".join(lowdim.trust(X, model.embedding_, model).notes)


def test_copies_share_their_scores():
    X = np.concatenate([mixture(120), mixture(120)[:30]])
    model = lowdim.TSNE(perplexity=10, max_iter=50).fit(X)
    found = lowdim.trust(X, model.embedding_, model)
    np.testing.assert_allclose(found.singularity[120:], found.singularity[:30])
    assert np.isfinite(found.perturbation).all()


def test_neighbours_that_are_known_stand_in_for_a_search(monkeypatch):
    X = mixture()
    model = lowdim.TSNE(perplexity=15, max_iter=60).fit(X)
    known = lowdim.trust(X, model.embedding_, model)
    monkeypatch.setattr(Lists, "without_copies", lambda lists: None)
    searched = lowdim.trust(X, model.embedding_, model)
    np.testing.assert_allclose(known.singularity, searched.singularity, rtol=1e-6)
    np.testing.assert_allclose(known.perturbation, searched.perturbation, rtol=1e-3, atol=1e-4)
