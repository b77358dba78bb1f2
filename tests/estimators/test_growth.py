"""Models that grow and shrink: what stays, what comes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from registry import make

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import InputError, InterruptedWarning, Stop
from lowdim.estimators.embedding_driver.embedding_growth import _relocated

GROWING = ["TSNE", "SymmetricSNE", "SNE", "ElasticEmbedding", "UMAP", "UMAP-symmetric"]
RNG = np.random.default_rng(0)
CENTRES = 6.0 * RNG.normal(size=(4, 5))
POINTS = CENTRES[RNG.integers(0, 4, 170)] + RNG.normal(size=(170, 5))
OLD, NEW = POINTS[:130], POINTS[130:]


def fitted(name, **parameters):
    return make(name, n_neighbors=15, **parameters).fit(OLD)


def held(model):
    """All that a fitted model holds, to compare."""
    return {
        "embedding": model.embedding_.copy(),
        "report": model.report_,
        "attributes": sorted(vars(model)),
        "new": model.transform(NEW),
    }


def unchanged(model, before):
    now = held(model)
    np.testing.assert_array_equal(now["embedding"], before["embedding"])
    np.testing.assert_array_equal(now["new"], before["new"])
    assert now["report"] is before["report"]
    assert now["attributes"] == before["attributes"]


@pytest.mark.parametrize("name", GROWING)
def test_update_is_a_new_model_and_leaves_the_old_one(name):
    model = fitted(name)
    before = held(model)
    grown = model.update(NEW)
    unchanged(model, before)
    assert type(grown) is type(model)
    assert grown.get_params() == model.get_params()
    assert grown.embedding_.shape == (170, 2)
    assert np.isfinite(grown.embedding_).all()
    assert grown.n_features_in_ == 5
    assert grown.report_.figures["rows_added"] == 40
    assert 0.0 <= grown.report_.figures["median_shift"] < 0.5
    # Rows of the fit come back from its map, those that were there and those that came.
    np.testing.assert_allclose(grown.transform(POINTS), grown.embedding_, atol=1e-9)


@pytest.mark.parametrize("name", GROWING)
def test_neighbour_lists_are_those_of_a_fit(name):
    grown, whole = fitted(name).update(NEW), make(name, n_neighbors=15).fit(POINTS)
    np.testing.assert_array_equal(grown.neighbor_lists_.indices, whole.neighbor_lists_.indices)
    np.testing.assert_allclose(grown.neighbor_lists_.distances, whole.neighbor_lists_.distances, rtol=1e-12)


@pytest.mark.parametrize("name", ["TSNE", "UMAP", "ElasticEmbedding"])
def test_old_points_stay_where_the_data_stay(name):
    # In one piece: groups without a tie to each other drift apart for as long as a picture is minimised.
    roll = lowdim.datasets.swiss_roll(152, random_state=0).data
    parameters = {"max_iter": None} if name != "ElasticEmbedding" else {"max_iter": 400}
    model = make(name, n_neighbors=15, **parameters).fit(roll[:150])
    grown = model.update(roll[150:])
    width = np.ptp(model.embedding_, axis=0).max()
    moved = np.linalg.norm(grown.embedding_[:150] - model.embedding_, axis=1) / width
    assert np.median(moved) < 0.02
    assert grown.report_.figures["median_shift"] == pytest.approx(np.median(moved), abs=1e-6)


def test_new_points_join_their_groups():
    labels = np.argmin(((POINTS[:, None] - CENTRES) ** 2).sum(axis=2), axis=1)
    grown = lowdim.TSNE(perplexity=10).fit(OLD).update(NEW)
    middle = np.stack([grown.embedding_[:130][labels[:130] == label].mean(axis=0) for label in range(4)])
    nearest = np.argmin(((grown.embedding_[130:, None] - middle) ** 2).sum(axis=2), axis=1)
    assert (nearest == labels[130:]).mean() > 0.95


def test_many_new_points_unfold_the_picture_again_and_few_do_not():
    model = lowdim.TSNE(perplexity=10).fit(OLD)
    many, few = model.update(NEW), model.update(NEW[:1])
    assert "relocate" in stages(few)
    assert "relocate" not in stages(many)
    assert (many.n_iter_, few.n_iter_) == (128, 105)
    assert few.report_.figures["median_shift"] < many.report_.figures["median_shift"] < 0.05


def stages(model):
    return [stage.name for stage in model.report_.stages]


def test_a_group_in_two_pieces_is_joined_by_new_points():
    """One group lies on both sides of the others in a picture that was never minimised."""
    labels = np.argmin(((POINTS[:, None] - CENTRES) ** 2).sum(axis=2), axis=1)
    first = np.flatnonzero(labels[:130] == 0)
    start = 8.0 * np.stack([labels[:130] - 1.5, RNG.normal(size=130)], axis=1)
    start[first] = (
        RNG.normal(size=(first.size, 2)) + [[0.0, 60.0]] * np.sign(np.arange(first.size) % 2 - 0.5)[:, None]
    )
    model = lowdim.TSNE(perplexity=10, max_iter=1, init=start).fit(OLD)
    grown = model.set_params(max_iter=None, init="auto").update(NEW)

    def spread(Y):
        return np.linalg.norm(Y[first] - Y[first].mean(axis=0), axis=1).mean() / np.ptp(Y, axis=0).max()

    assert spread(grown.embedding_) < 0.5 * spread(model.embedding_)


def test_a_picture_that_is_left_while_it_is_small_has_its_old_size():
    model = lowdim.TSNE(perplexity=10).fit(OLD)

    def enough(event):
        if event.kind == "iteration" and event.data.get("iteration", 0) >= 60:
            raise Stop

    grown = model.set_params(callback=enough).update(NEW)
    assert grown.n_iter_ == 60
    widths = [np.ptp(one.embedding_[:130], axis=0).max() for one in (model, grown)]
    assert widths[1] == pytest.approx(widths[0], rel=0.3)


@pytest.mark.parametrize("cut", [8, 60, 100])
def test_unfolding_goes_on_from_a_checkpoint_to_the_same_bits_at_any_thread_count(cut, tmp_path):
    whole = [lowdim.TSNE(perplexity=10, n_jobs=n).fit(OLD).update(NEW).embedding_ for n in (1, 2)]
    np.testing.assert_array_equal(*whole)
    model, heard = lowdim.TSNE(perplexity=10).fit(OLD), []

    def interrupt(event):
        if event.stage == "optimise" and event.data.get("iteration") == cut:
            raise KeyboardInterrupt

    model.set_params(checkpoint=tmp_path / "kept", callback=interrupt)
    with pytest.warns(InterruptedWarning):
        model.update(NEW)
    model.set_params(callback=lambda event: heard.append(event.data.get("iteration")))
    np.testing.assert_array_equal(model.update(NEW).embedding_, whole[0])
    assert min(one for one in heard if one is not None) >= cut


def test_many_updates_keep_every_row_in_its_place():
    model = lowdim.UMAP(n_neighbors=10, max_iter=40).fit(OLD)
    for first in range(130, 170, 10):
        model = model.update(POINTS[first : first + 10])
    np.testing.assert_allclose(model.transform(POINTS), model.embedding_, atol=1e-9)


def test_copies_of_old_and_new_rows_are_one_point():
    first = np.concatenate([OLD, OLD[:3]])
    more = np.concatenate([NEW, OLD[:2], NEW[:1]])
    model = lowdim.TSNE(perplexity=10, max_iter=60).fit(first)
    grown = model.update(more)
    assert grown.embedding_.shape == (133 + 43, 2)
    rows = np.concatenate([first, more])
    np.testing.assert_allclose(grown.transform(rows), grown.embedding_, atol=1e-9)
    assert grown.neighbor_lists_.n_rows == 170
    whole = lowdim.TSNE(perplexity=10, max_iter=60).fit(rows)
    np.testing.assert_array_equal(
        np.sort(grown.map_.affinities.weights), np.sort(whole.map_.affinities.weights)
    )


def test_only_copies():
    grown = lowdim.TSNE(perplexity=10, max_iter=40).fit(OLD).update(OLD[:5])
    np.testing.assert_array_equal(grown.embedding_[130:], grown.embedding_[:5])


@pytest.mark.parametrize("name", GROWING)
def test_same_bits_at_any_thread_count(name):
    one, two = (fitted(name, n_jobs=n).update(NEW).embedding_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_the_precision_stays():
    single = make("UMAP", n_neighbors=15).fit(OLD.astype(np.float32)).update(NEW)
    assert single.embedding_.dtype == np.float32


def test_more_neighbours_than_the_lists_have_are_searched_again():
    model = lowdim.TSNE(max_iter=40).fit(POINTS[:40])
    grown = model.update(POINTS[40:])
    assert grown.neighbor_lists_.counts.min() == 90
    assert grown.embedding_.shape == (170, 2)


@pytest.mark.parametrize("name", GROWING)
def test_remove_is_a_new_model_and_leaves_the_old_one(name):
    model = fitted(name)
    before = held(model)
    gone = np.array([0, 7, 129, 64])
    left = np.setdiff1d(np.arange(130), gone)
    smaller = model.remove(gone)
    unchanged(model, before)
    assert smaller.embedding_.shape == (126, 2)
    np.testing.assert_allclose(smaller.transform(OLD[left]), smaller.embedding_, atol=1e-9)
    whole = make(name, n_neighbors=15).fit(OLD[left])
    np.testing.assert_array_equal(smaller.neighbor_lists_.indices, whole.neighbor_lists_.indices)
    assert smaller.report_.figures["rows_removed"] == 4


def test_one_of_several_copies_is_removed():
    model = lowdim.TSNE(perplexity=10, max_iter=30).fit(np.concatenate([OLD, OLD[:2]]))
    smaller = model.remove([0])
    assert smaller.embedding_.shape == (131, 2)
    np.testing.assert_allclose(smaller.transform(OLD[:1]), smaller.embedding_[129:130], atol=1e-9)
    mask = np.zeros(132, bool)
    mask[[0, 130]] = True
    assert model.remove(mask).neighbor_lists_.n_rows == 129


def test_what_was_added_is_removed_again():
    model = fitted("UMAP")
    back = model.update(NEW).remove(np.arange(130, 170))
    np.testing.assert_array_equal(back.neighbor_lists_.indices, model.neighbor_lists_.indices)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "numbers of some rows"),
        ([130], "from 0 to 129; got 130"),
        ([-1], "got -1"),
        ([0.5], "whole numbers"),
        (np.zeros(7, bool), "each of the 130 rows; got 7"),
        (np.ones(130, bool), "leave at least 2"),
        (range(129), "leave at least 2"),
        ("some", "numbers of some rows"),
    ],
)
def test_rows_that_cannot_be_removed(rows, words):
    model = fitted("UMAP")
    before = held(model)
    with pytest.raises(InputError, match=words):
        model.remove(rows)
    unchanged(model, before)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (NEW[:, :3], "3 features"),
        (NEW[:0], "0 sample"),
        (np.full((2, 5), np.nan), "NaN|not finite|finite"),
        (NEW[0], "two dimensions"),
    ],
)
def test_bad_updates_leave_the_old_model(X, words):
    model = fitted("TSNE")
    before = held(model)
    with pytest.raises(ValueError, match=words):
        model.update(X)
    unchanged(model, before)


def test_what_a_model_needs_is_said():
    apart = np.sqrt(((OLD[:, None] - OLD) ** 2).sum(axis=2))
    for model in (
        lowdim.TSNE(metric="precomputed", max_iter=5).fit(apart),
        lowdim.UMAP(metric="graph", max_iter=5).fit(np.exp(-apart) * (1 - np.eye(130))),
    ):
        with pytest.raises(InputError, match="matrix between points"):
            model.update(apart[:3])
        with pytest.raises(InputError, match="matrix between points"):
            model.remove([0])
    with pytest.raises(InputError, match="fitted with y"):
        lowdim.UMAP(max_iter=5).fit(OLD, np.arange(130) % 3).update(NEW)
    model = lowdim.TSNE(max_iter=5).fit(np.r_[OLD, OLD[:3]])
    del model.point_of_row_
    with pytest.raises(InputError, match="copies of others"):
        model.update(NEW)
    with pytest.raises(Exception, match="not fitted"):
        lowdim.TSNE().update(NEW)


def test_methods_that_cannot_say_so():
    with pytest.raises(InputError, match="MDS cannot take in more rows"):
        lowdim.MDS().fit(OLD).update(NEW)
    with pytest.raises(InputError, match="PCA cannot leave rows out"):
        lowdim.PCA(2).fit(OLD).remove([0])
    with pytest.raises(InputError, match="SpectralClustering cannot take in"):
        lowdim.SpectralClustering(2, n_neighbors=60).fit(OLD).update(NEW)


def test_callbacks_hear_of_it_and_may_stop_it():
    heard = []
    model = fitted("TSNE", callback=heard.append)
    heard.clear()
    grown = model.update(NEW)
    assert {"neighbours", "place", "affinities", "optimise", "map"} <= {event.stage for event in heard}
    assert any(
        event.kind == "iteration" and event.data["embedding"].shape == (170, 2)
        for event in heard
        if "embedding" in event.data
    )
    assert grown.callback is model.callback

    def stop(event):
        if event.kind == "iteration" and event.data.get("iteration") == 2:
            raise Stop

    model.callback = stop
    cut = model.update(NEW)
    assert cut.report_.figures["stopped"] == "stopped by callback"
    assert cut.embedding_.shape == (170, 2)


def test_an_interrupt_keeps_the_best_so_far():
    model = fitted("TSNE")

    def interrupt(event):
        if event.kind == "iteration" and event.data.get("iteration") == 2:
            raise KeyboardInterrupt

    model.callback = interrupt
    with pytest.warns(Warning, match="nterrupt"):
        cut = model.update(NEW)
    assert cut.report_.figures["stopped"] == "interrupted"
    np.testing.assert_allclose(cut.transform(POINTS), cut.embedding_, atol=1e-9)


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path):
    model = lowdim.TSNE(perplexity=10, max_iter=200).fit(OLD)
    expected = model.update(NEW).embedding_
    model.checkpoint = tmp_path / "kept"

    def interrupt(event):
        if event.kind == "iteration" and event.data.get("iteration") == 20:
            raise KeyboardInterrupt

    model.callback = interrupt
    with pytest.warns(Warning, match="nterrupt"):
        model.update(NEW)
    model.callback = None
    np.testing.assert_array_equal(model.update(NEW).embedding_, expected)


@pytest.mark.parametrize("name", GROWING)
def test_a_loaded_model_grows_to_the_same_bits(name, tmp_path):
    model = make(name, n_neighbors=15).fit(np.concatenate([OLD, OLD[:2]]))
    again = lowdim.load(lowdim.save(model, tmp_path / "a.lowdim"))
    np.testing.assert_array_equal(again.update(NEW).embedding_, model.update(NEW).embedding_)
    np.testing.assert_array_equal(again.remove([3, 5]).embedding_, model.remove([3, 5]).embedding_)
    grown = model.update(NEW)
    loaded = lowdim.load(lowdim.save(grown, tmp_path / "b.lowdim"))
    np.testing.assert_array_equal(loaded.transform(NEW + 0.1), grown.transform(NEW + 0.1))
    bare = lowdim.load(lowdim.save(model, tmp_path / "c.lowdim", embedding=False))
    with pytest.raises(InputError, match=r"without embedding_|without the embedding"):
        bare.update(NEW)


@pytest.mark.parametrize("name", ["TSNE", "UMAP"])
def test_densities_are_kept(name):
    model = make(name, n_neighbors=15, density=2.0, max_iter=120).fit(OLD)
    grown = model.update(NEW)
    assert grown.embedding_.shape == (170, 2)
    assert grown.density_correlation_ > 0.5 * model.density_correlation_


def test_stuck_points_are_put_where_they_rest_lower():
    model = lowdim.TSNE(perplexity=10, repulsion="exact").fit(POINTS)
    run = Run.of(n_jobs=1)
    hood = model._neighborhood(Rows(POINTS), run)
    W, affinity = model._affinities(hood, run)
    objective = model._objective_of(hood, W, affinity, run)
    rest = np.array(model.embedding_)
    width = np.ptp(rest, axis=0).max()
    stuck = rest.copy()
    # One row of a group is put into the middle of another.
    labels = np.argmin(((POINTS[:, None] - CENTRES) ** 2).sum(axis=2), axis=1)
    row = int(np.flatnonzero(labels == labels[0])[0])
    stuck[row] = rest[labels != labels[row]][0] + 0.01
    found = _relocated(model, hood, objective, stuck, run)
    assert np.linalg.norm(found[row] - rest[row]) < 0.1 * width
    assert objective.evaluate(found).value < objective.evaluate(stuck).value
    others = np.arange(len(POINTS)) != row
    assert (found[others] == stuck[others]).all(axis=1).mean() > 0.9
