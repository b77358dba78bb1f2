"""The family from t-SNE through UMAP to Laplacian eigenmaps: its ends, its frames, new points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

import lowdim
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.metrics.procrustes import procrustes
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.negative_t_sne import NegativeTSNE
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import STUDENT, SampledLogarithm, ShiftedStudent
from lowdim.objectives.t_sne import TSNE

N = 240


@pytest.fixture(scope="module")
def points():
    return lowdim.datasets.swiss_roll(N, random_state=0).data


@pytest.fixture(scope="module")
def family(points):
    return lowdim.NeighborSpectrum(perplexity=12, positions=5, position=0.5, max_iter=80).fit(points)


def test_frames_and_the_chosen_one(family):
    np.testing.assert_array_equal(family.positions_, [0.0, 0.5, 1.0, 1.5, 2.0])
    assert [position for position, _ in family.frames_] == list(family.positions_)
    np.testing.assert_array_equal(dict(family.frames_)[0.5], family.embedding_)
    assert family.report_.figures["position"] == 0.5
    widths = [frame.std() for _, frame in family.frames_[:-1]]
    assert widths == sorted(widths, reverse=True)


def test_the_last_is_laplacian_eigenmaps_of_the_same_graph(points, family):
    exact = lowdim.LaplacianEigenmaps(2, n_neighbors=36, affinity=lowdim.Entropic(12)).fit(points).embedding_
    last = family.frames_[-1][1]
    angles = subspace_angles(last - last.mean(axis=0), exact - exact.mean(axis=0))
    assert np.rad2deg(angles).max() < 0.1


@pytest.mark.slow
def test_near_position_0_the_objective_is_t_sne():
    """Value, gradient and curvature come to t-SNE's as s goes to 1 and the normaliser is let free."""

    run, rng = Run.of(0, 1), np.random.default_rng(0)
    X = 3.0 * rng.normal(size=(40, 2))
    P = np.triu(rng.uniform(size=(40, 40)) < 0.2, 1).astype(float)

    P = csr_array((P + P.T) / (2 * P.sum()))
    tsne = TSNE(Attraction(P, STUDENT, run), Exact().start(STUDENT, 40, 2, run))
    some = np.arange(5)
    for b in (1e-2, 1e-4):
        engine = Exact().start(SampledLogarithm(1 + b), 40, 2, run)
        family = NegativeTSNE(Attraction(P, ShiftedStudent(1 + b), run), engine, negatives=4.0, fixed=b)
        found, wanted = family.evaluate(X), tsne.evaluate(X)
        assert found.value == pytest.approx(wanted.value - np.log(40**2 / 4.0), rel=3 * b)
        largest = np.abs(wanted.gradient).max()
        np.testing.assert_allclose(found.gradient, wanted.gradient, atol=3 * b * largest)
        blocks = tsne.blocks(X, some)
        np.testing.assert_allclose(family.blocks(X, some), blocks, atol=5 * b * np.abs(blocks).max())


@pytest.mark.parametrize(
    "kernel", [SampledLogarithm(3.0), ShiftedStudent(3.0)], ids=lambda kernel: kernel.name
)
def test_slopes(kernel):
    D = np.geomspace(1e-3, 1e3, 50)
    for order in (0, 1):
        slope = (kernel.slope(D * (1 - 1e-5), order) - kernel.slope(D * (1 + 1e-5), order)) / (2e-5 * D)
        np.testing.assert_allclose(slope, kernel.slope(D, order + 1), rtol=1e-4)


@pytest.mark.parametrize("b", [1.0, 0.3])
def test_value_gradient_and_curvature(b):

    run, rng = Run.of(0, 1), np.random.default_rng(1)
    P = np.triu(rng.uniform(size=(15, 15)), 1)
    P, X, s, counts = (P + P.T) / (2 * P.sum()), rng.normal(size=(15, 2)), 3.0, 1.0 + (np.arange(15) % 4 == 0)
    engine = Exact().start(SampledLogarithm(s), 15, 2, run)
    objective = NegativeTSNE(
        Attraction(csr_array(P), ShiftedStudent(s), run), engine, 0.6, counts, negatives=4.0, fixed=b
    )
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    pairs = np.outer(counts, counts) - np.diag(counts)
    R = (pairs * np.log((s + D) / (1 + D))).sum() / (s - 1)
    value = (P * np.log(s + D)).sum() + 0.6 * ((R * 4 / counts.sum() ** 2) ** b - 1) / b
    found = objective.evaluate(X)
    assert found.value == pytest.approx(value)
    step = 1e-6
    for place in ((0, 0), (4, 1), (9, 0)):
        moved = np.zeros_like(X)
        moved[place] = step
        ahead = objective.evaluate(X + moved).value - objective.evaluate(X - moved).value
        assert found.gradient[place] == pytest.approx(ahead / (2 * step), rel=1e-5, abs=1e-9)
    assert (objective.curvature(X)(X - X.mean(axis=0)) * (X - X.mean(axis=0))).sum() > 0


def test_position_0_is_t_sne():
    X = load_digits().data[:300]
    family = lowdim.NeighborSpectrum(perplexity=15, positions=3, max_iter=150).fit(X)
    tsne = lowdim.TSNE(perplexity=15).fit(X)
    ours, theirs = (
        float(lowdim.score(X, Y, measures=["neighbor_recall"]).neighbor_recall)
        for Y in (family.embedding_, tsne.embedding_)
    )
    assert ours > theirs - 0.03
    here = lowdim.TSNE(perplexity=15, init=family.embedding_, learning_rate=1e-9, max_iter=1).fit(X)
    assert here.kl_divergence_ < 1.05 * tsne.kl_divergence_
    np.testing.assert_array_equal(family.transform(X[:9]), family.embedding_[:9])
    moved = np.linalg.norm(family.transform(X + 1e-3) - family.embedding_, axis=1)
    assert np.median(moved) < 0.05 * family.embedding_.std()


def test_new_points(points, family):
    np.testing.assert_array_equal(family.transform(points[:9]), family.embedding_[:9])
    moved = points[:50] + 1e-3
    placed = family.transform(moved)
    np.testing.assert_array_equal(family.transform(moved[10:20]), placed[10:20])
    assert np.median(np.linalg.norm(placed - family.embedding_[:50], axis=1)) < 0.1 * family.embedding_.std()


def test_a_given_start_densities_targets_and_space(points):
    quick = {"perplexity": 12, "positions": [0.0, 1.0], "max_iter": 40}
    given = lowdim.NeighborSpectrum(init=points[:, :2], **quick).fit(points)
    np.testing.assert_array_equal(given.positions_, [0.0, 1.0])
    dense = lowdim.NeighborSpectrum(density=0.5, **quick).fit(points)
    assert dense.density_correlation_ > dense.report_.figures["density_correlation_without"]
    told = lowdim.NeighborSpectrum(target_weight=0.8, **quick).fit(points, (points[:, 1] > 10).astype(int))
    assert procrustes(told.embedding_, given.embedding_).error > 1e-3
    assert lowdim.NeighborSpectrum(3, **quick).fit(points).embedding_.shape == (N, 3)


def test_pieces_that_do_not_hang_together():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 3)) + shift for shift in (0.0, 100.0)])
    model = lowdim.NeighborSpectrum(perplexity=5, positions=3, max_iter=60).fit(X)
    first, second = model.embedding_[:40], model.embedding_[40:]
    apart = np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))
    assert apart > max(first.std(), second.std())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"position": 2.0}, "below 2"),
        ({"positions": [0.5, 3.0]}, "numbers from 0 to 2"),
        ({"positions": []}, "numbers from 0 to 2"),
        ({"record": 5}, "record must be 0"),
        ({"init": "random"}, "init of NeighborSpectrum"),
        ({"n_components": 240}, "n_components must be at most 239"),
    ],
)
def test_what_cannot_be_is_refused(points, parameters, message):
    with pytest.raises(InputError, match=message):
        lowdim.NeighborSpectrum(**{"max_iter": 2, "repulsion": "exact"} | parameters).fit(points)


def test_frames_are_drawn_side_by_side_and_move(family, tmp_path):
    figure = lowdim.plot(family.frames_, path=tmp_path / "family.png")
    assert [axes.get_title() for axes in figure.axes[:5]] == [f"position {at:g}" for at in family.positions_]
    assert lowdim.animate(family.frames_, path=tmp_path / "family.gif").stat().st_size > 1000
    page = lowdim.plot(family.frames_, path=tmp_path / "family.html")
    assert page.html.count('class="ld-frame"') == 1
