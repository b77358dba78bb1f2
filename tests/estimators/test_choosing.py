"""Parameters that are left open: what is chosen where the truth is known, and that the fit is that of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import lowdim
from lowdim.core.records import Floats
from lowdim.errors import InputError
from lowdim.estimators.choosing import by_spectrum, criteria
from lowdim.estimators.choosing.curve import best_of
from lowdim.estimators.choosing.trials import Unheard
from lowdim.store import budget

ROLL = lowdim.datasets.swiss_roll(300, random_state=0).data


def low_rank(rank: int, noise: float, n_rows: int = 200, n_columns: int = 30) -> Floats:
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((n_rows, rank)) @ rng.standard_normal((rank, n_columns))
    return signal + noise * rng.standard_normal((n_rows, n_columns))


def blobs(count: int, size: int, apart: float = 12.0) -> Floats:
    rng = np.random.default_rng(2)
    return np.concatenate(
        [rng.standard_normal((size, 6)) + apart * rng.standard_normal(6) for _ in range(count)]
    )


def curve(model: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = model.report_.figures[f"{name}_curve"]
    return found


@pytest.mark.parametrize("word", ["auto", "auto:hard-threshold", "auto:mle"])
@pytest.mark.parametrize("rank", [1, 3, 7])
def test_pca_finds_the_rank_beneath_noise(word: str, rank: int) -> None:
    model = lowdim.PCA(word).fit(low_rank(rank, 0.3))
    assert model.n_components_ == rank == model.embedding_.shape[1]
    assert model.n_components == word


def test_pca_finds_the_rank_without_noise_and_without_columns_that_do_not_vary() -> None:
    X = np.column_stack([low_rank(3, 0.0), np.ones((200, 40))])
    assert lowdim.PCA("auto").fit(X).n_components_ == 3


def test_noise_alone_is_told_and_keeps_the_default() -> None:
    model = lowdim.PCA("auto").fit(np.random.default_rng(0).standard_normal((200, 30)))
    assert model.n_components_ == 2
    assert curve(model, "n_components")["flat"]
    assert "the default" in model.report_.choices[0].why


def test_the_hard_threshold_is_the_published_one() -> None:
    # Gavish & Donoho (2014): omega(1) = 2.858, and eq. 5 to within 0.02.
    assert by_spectrum._hard_threshold(1.0) == pytest.approx(2.858, abs=1e-3)
    for beta in (0.05, 0.2, 0.5, 0.8):
        cubic = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
        assert by_spectrum._hard_threshold(beta) == pytest.approx(cubic, abs=0.03)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.Isomap("auto"),
        lowdim.LaplacianEigenmaps("auto"),
        lowdim.DiffusionMap("auto"),
        lowdim.LLE("auto"),
        lowdim.MDS("auto", pivots=50),
    ],
    ids=repr,
)
def test_a_roll_has_two_dimensions(model: Any) -> None:
    model.fit(ROLL)
    assert model.n_components_ == 2 == model.embedding_.shape[1]


def test_a_square_sheet_has_two_dimensions_before_a_gap() -> None:
    X = np.random.default_rng(5).uniform(size=(300, 2)) @ np.eye(2, 4)
    assert lowdim.Isomap("auto:eigengap").fit(X).n_components_ == 2


@pytest.mark.parametrize("kind", [lowdim.ClassicalMDS, lowdim.KernelPCA])
def test_a_gap_tells_the_rank(kind: Any) -> None:
    assert kind("auto:eigengap").fit(low_rank(4, 0.1)).n_components_ == 4


@pytest.mark.parametrize("kind", [lowdim.LaplacianEigenmaps, lowdim.DiffusionMap])
def test_a_gap_tells_groups_from_each_other(kind: Any) -> None:
    model = kind("auto:eigengap", n_neighbors=10, on_disconnected="connect")
    with pytest.warns(lowdim.errors.DisconnectedWarning):
        model.fit(blobs(4, 40))
    assert model.n_components_ == 3


def test_without_a_gap_the_default_is_kept() -> None:
    model = lowdim.ClassicalMDS("auto:eigengap").fit(np.random.default_rng(0).standard_normal((300, 20)))
    assert (model.n_components_, curve(model, "n_components")["flat"]) == (2, True)


def test_the_divergence_finds_the_size_of_groups() -> None:
    model = lowdim.TSNE(perplexity="auto", max_iter=60).fit(blobs(6, 25))
    found = curve(model, "perplexity")
    assert found["criterion"] == "bic"
    assert (model.perplexity_, found["default"]) == (20.0, 30.0)
    assert found["values"] == [5.0, 10.0, 20.0, 30.0]


def test_neighbours_of_a_roll_do_not_reach_across_it() -> None:
    model = lowdim.Isomap(n_neighbors="auto").fit(lowdim.datasets.swiss_roll(250, random_state=1).data)
    assert model.n_neighbors_ < 10
    scores = dict(
        zip(curve(model, "n_neighbors")["values"], curve(model, "n_neighbors")["scores"], strict=True)
    )
    assert scores[model.n_neighbors_] == max(scores.values())


def test_as_few_neighbours_as_connect_the_graph() -> None:
    model = lowdim.Isomap(n_neighbors="auto:connected").fit(blobs(2, 20))
    assert model.n_neighbors_ == 20  # the 19 others of a group and one beyond
    assert curve(model, "n_neighbors")["scores"][-1] == 1.0
    assert np.unique(model.component_labels_).size == 1


def test_a_graph_that_stays_in_pieces_keeps_the_default() -> None:
    model = lowdim.UMAP(n_neighbors="auto:connected", max_iter=5).fit(blobs(2, 60))
    assert (model.n_neighbors_, curve(model, "n_neighbors")["flat"]) == (15, True)


MODELS: dict[str, tuple[Any, str]] = {
    "TSNE": (lowdim.TSNE(perplexity="auto:recall_area", max_iter=30), "perplexity"),
    "SymmetricSNE": (lowdim.SymmetricSNE(perplexity="auto", max_iter=10), "perplexity"),
    "ElasticEmbedding": (lowdim.ElasticEmbedding(perplexity="auto", max_iter=10), "perplexity"),
    "LargeVis": (lowdim.LargeVis(n_neighbors="auto", perplexity=10, max_iter=15), "n_neighbors"),
    "UMAP": (lowdim.UMAP(n_neighbors="auto", max_iter=30), "n_neighbors"),
    "PaCMAP": (lowdim.PaCMAP(n_neighbors="auto:trustworthiness", max_iter=18), "n_neighbors"),
    "ForceAtlas2": (lowdim.ForceAtlas2(n_neighbors="auto", max_iter=5), "n_neighbors"),
    "NeighborSpectrum": (
        lowdim.NeighborSpectrum(perplexity="auto", positions=2, max_iter=10),
        "perplexity",
    ),
    "SNE": (lowdim.SNE(perplexity="auto", max_iter=5, homotopy=None), "perplexity"),
    "LLE": (lowdim.LLE(n_neighbors="auto", variant="hessian"), "n_neighbors"),
    "SpectralClustering": (lowdim.SpectralClustering(3, n_neighbors="auto"), "n_neighbors"),
    "LaplacianEigenmaps-lll": (
        lowdim.LaplacianEigenmaps(n_neighbors="auto", solver=lowdim.LLL(30)),
        "n_neighbors",
    ),
}
SOME = ("TSNE", "UMAP")


@pytest.mark.parametrize(
    "case", [name if name in SOME else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
)
def test_the_fit_is_that_of_what_was_chosen(case: str) -> None:
    model, name = clone(MODELS[case][0]), MODELS[case][1]
    X = ROLL[:60]
    model.fit(X)
    given = clone(model).set_params(**{name: getattr(model, f"{name}_")}).fit(X)
    np.testing.assert_array_equal(model.embedding_, given.embedding_)
    assert str(getattr(model, name)).startswith("auto")
    np.testing.assert_array_equal(model.transform(X[:5] + 0.01), given.transform(X[:5] + 0.01))
    threads = clone(model).set_params(n_jobs=2).fit(X)
    np.testing.assert_array_equal(threads.embedding_, model.embedding_)
    assert curve(threads, name) == curve(model, name)


@pytest.mark.slow
def test_what_is_chosen_is_read_by_all_that_comes_after(tmp_path: Path) -> None:
    X, more = ROLL[:60], ROLL[60:66]
    model = lowdim.TSNE(perplexity="auto:recall_area", max_iter=10).fit(X)
    given = lowdim.TSNE(perplexity=model.perplexity_, max_iter=10).fit(X)
    lowdim.save(model, tmp_path / "model.lowdim")
    one = lowdim.load(tmp_path / "model.lowdim")
    assert (one.perplexity, one.perplexity_) == ("auto:recall_area", given.perplexity)
    grown, same = one.update(more), given.update(more)
    np.testing.assert_array_equal(grown.embedding_, same.embedding_)
    assert (grown.perplexity, grown.perplexity_) == ("auto:recall_area", given.perplexity)
    np.testing.assert_array_equal(grown.update(ROLL[70:71]).embedding_, same.update(ROLL[70:71]).embedding_)
    np.testing.assert_array_equal(one.remove([0, 1]).embedding_, given.remove([0, 1]).embedding_)
    np.testing.assert_array_equal(model.explain(range(20)).shift, given.explain(range(20)).shift)
    believed, as_given = (lowdim.trust(X, m.embedding_, m) for m in (model, given))
    np.testing.assert_array_equal(believed.singularity, as_given.singularity)


def test_isomap_grows_with_what_was_chosen() -> None:
    model = lowdim.Isomap("auto", n_neighbors="auto:connected").fit(ROLL[:80])
    grown = model.update(ROLL[80:90])
    given = (
        lowdim.Isomap(model.n_components_, n_neighbors=model.n_neighbors_).fit(ROLL[:80]).update(ROLL[80:90])
    )
    np.testing.assert_array_equal(grown.embedding_, given.embedding_)
    assert (grown.n_components_, grown.n_neighbors_) == (model.n_components_, model.n_neighbors_)


def test_a_new_fit_chooses_anew() -> None:
    model = lowdim.PCA("auto").fit(low_rank(3, 0.1))
    assert model.fit(low_rank(5, 0.1)).n_components_ == 5
    assert clone(model).get_params()["n_components"] == "auto"
    given = model.set_params(n_components=2).fit(low_rank(3, 0.1))
    assert "n_components_curve" not in given.report_.figures


@pytest.mark.parametrize("n_rows", [3, 5, 7, 12])
@pytest.mark.parametrize(
    "model",
    [
        lowdim.TSNE(perplexity="auto", max_iter=5),
        lowdim.UMAP(n_neighbors="auto", max_iter=5),
        lowdim.Isomap("auto", n_neighbors="auto"),
        lowdim.LaplacianEigenmaps("auto:eigengap", n_neighbors="auto:connected"),
        lowdim.PCA("auto"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_few_points_leave_little_to_choose(model: Any, n_rows: int) -> None:
    X = np.random.default_rng(3).standard_normal((n_rows, 4))
    found = clone(model).fit(X)
    assert found.embedding_.shape[0] == n_rows
    assert np.isfinite(found.embedding_).all()


def test_copies_of_rows_are_no_points_to_choose_from() -> None:
    X = np.repeat(np.random.default_rng(4).standard_normal((12, 3)), 10, axis=0)
    model = lowdim.TSNE(perplexity="auto", max_iter=5).fit(X)
    assert model.perplexity_ == 11 / 3
    assert "nothing to choose" in model.report_.choices[0].why
    assert lowdim.Isomap(n_neighbors="auto").fit(X).n_neighbors_ <= 11
    assert lowdim.Isomap(n_neighbors="auto:connected").fit(X).n_neighbors_ <= 11


def test_the_best_counts_only_where_it_is_clearly_better() -> None:
    def chosen(scores: list[float], default: int = 2) -> Any:
        return best_of(
            "k", "c", [1, 2, 3], scores, default, less_is_better=False, resolution=0.1, named="c", n_rows=9
        )

    assert (chosen([0.5, 0.6, 0.9]).chosen, chosen([0.5, 0.6, 0.9]).is_flat) == (3, False)
    assert "at the end" in chosen([0.5, 0.6, 0.9]).why
    assert (chosen([0.1, 0.6, 0.65]).chosen, chosen([0.1, 0.6, 0.65]).is_flat) == (2, True)
    assert "flat" in chosen([0.6, 0.61, 0.65]).why
    assert chosen([0.2, np.nan, 0.5]).chosen == 3
    assert (chosen([np.nan] * 3).chosen, chosen([np.nan] * 3).is_flat) == (2, True)


def test_of_many_rows_a_sample_is_tried_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criteria, "MOST_ROWS", 60)
    y = np.arange(200) % 3
    model = lowdim.UMAP(n_neighbors="auto", max_iter=5, init=ROLL[:200, :2]).fit(ROLL[:200], y)
    assert curve(model, "n_neighbors")["rows"] == 60
    assert "on a sample of 60 rows" in model.report_.choices[0].why
    distances = np.linalg.norm(ROLL[:200, None] - ROLL[None, :200], axis=2)
    given = lowdim.Isomap(n_neighbors="auto", metric="precomputed").fit(distances)
    assert given.n_neighbors_ == lowdim.Isomap(n_neighbors="auto").fit(ROLL[:200]).n_neighbors_


def test_a_checkpoint_keeps_the_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "PACE", budget.Pace(share=float("inf"), interval=0.0, worth=0.0))
    X, model = ROLL[:80], lowdim.UMAP(n_neighbors="auto", max_iter=5)
    plain = clone(model).fit(X)
    steps = []
    for _ in range(2):
        heard: list[Any] = []
        kept = clone(model).set_params(checkpoint=tmp_path / "kept", callback=heard.append).fit(X)
        np.testing.assert_array_equal(kept.embedding_, plain.embedding_)
        assert curve(kept, "n_neighbors") == curve(plain, "n_neighbors")
        steps.append(sum(e.kind == "progress" and e.stage == "choose n_neighbors" for e in heard))
    assert steps == [8, 0]  # the second time nothing is tried again


def test_a_sweep_takes_it_as_a_value() -> None:
    found = lowdim.sweep(lowdim.Isomap(), {"n_neighbors": ["auto:connected", 30]}, ROLL[:80])
    assert [row["status"] for row in found.rows] == ["ok", "ok"]


def test_a_plan_knows_what_a_choice_costs() -> None:
    for model in (
        lowdim.TSNE(perplexity="auto"),
        lowdim.PCA("auto"),
        lowdim.Isomap("auto", n_neighbors="auto"),
    ):
        usual = type(model)().plan(ROLL)
        plan = model.plan(ROLL)
        assert plan.seconds > usual.seconds
        names, others = ([s.name for s in found.stages if s.name != "check"] for found in (plan, usual))
        assert names[0].startswith("choose ")
        assert names[-len(others) :] == others


GRAPH = sparse.csr_array(np.ones((30, 30)) - np.eye(30))


@pytest.mark.parametrize(
    ("model", "X", "said"),
    [
        (
            lowdim.TSNE(perplexity="auto", metric="graph"),
            GRAPH,
            "perplexity of TSNE cannot be chosen: X holds no points",
        ),
        (
            lowdim.Isomap("auto:dimension", metric="graph"),
            GRAPH,
            "cannot be chosen by 'dimension': X holds no points.*auto:eigengap",
        ),
        (
            lowdim.Isomap(n_neighbors="auto:recall_area", metric="precomputed"),
            GRAPH,
            "distances of some pairs.*auto:connected",
        ),
        (lowdim.Isomap(n_neighbors="auto", radius=1.0), ROLL, "not both"),
        (lowdim.TSNE(perplexity="auto:bic", lam=0.5), ROLL, "lam=1.*auto:recall_area"),
        (lowdim.TSNE(perplexity="auto", affinity="binary"), ROLL, "perplexity belongs to affinity='auto'"),
        (lowdim.PCA("auto:mle"), ROLL[:2], "as many rows as columns"),
        (lowdim.PCA("auto:eigengap"), ROLL, "auto:hard-threshold"),
        (lowdim.UMAP(n_neighbors="auto:bic"), ROLL, "n_neighbors of UMAP must be"),
        (lowdim.TSNE("auto"), ROLL, "n_components of TSNE must be"),
    ],
)
def test_what_cannot_be_chosen_is_refused_before_the_work(model: Any, X: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        model.fit(X)


def test_a_series_needs_numbers() -> None:
    with pytest.raises(InputError, match=r"perplexity of TSNE must be a number for align.*perplexity_"):
        lowdim.align(lowdim.TSNE(perplexity="auto"), [ROLL[:50], ROLL[:50]])


def test_rows_in_shards_need_numbers() -> None:
    source = lowdim.shards(ROLL)
    for work in (lowdim.PCA("auto").fit, lowdim.PCA("auto").plan):
        with pytest.raises(InputError, match=r"must be a number for rows in shards.*n_components_"):
            work(source)


def test_the_first_criterion_that_suits_is_taken() -> None:
    model = lowdim.TSNE(perplexity="auto", lam=0.5, max_iter=5).fit(ROLL[:60])
    assert curve(model, "perplexity")["criterion"] == "recall_area"
    assert "n_neighbors_" not in vars(lowdim.Isomap(n_neighbors=8).fit(ROLL[:60]))


def test_who_interrupts_one_of_the_fits_means_all_of_them() -> None:
    with pytest.raises(KeyboardInterrupt):
        Unheard().warned("stopped", lowdim.errors.InterruptedWarning)
    Unheard().warned("not converged", lowdim.errors.ConvergenceWarning)
