"""Models come back from their files equal to the last bit."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from model_zoo import POINTS, ZOO, assert_same, fitted, forged, taken_apart, with_first
from sklearn.base import clone

import lowdim
from lowdim.core.run import Run
from lowdim.errors import FileError, FormatError, InputError, InputTypeError, LowdimWarning
from lowdim.models import describe, files
from lowdim.neighbors.geometry import Geometry
from lowdim.store import container


@pytest.mark.parametrize("name", sorted(ZOO))
@pytest.mark.every(3)
def test_models_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    model, new = fitted(name)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(path)
    assert_same(files.without(model, files.FOUND_AGAIN), again)
    assert path.read_bytes() == lowdim.save(again, tmp_path / "again.lowdim").read_bytes()
    assert_same(model.get_params(), again.get_params())
    if new is not None:
        expected = model.transform(new)
        assert expected.tobytes() == again.transform(new).tobytes()
        assert expected.tobytes() == again.transform(new).tobytes()
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(new), again.predict(new))
    assert str(model.report_) == str(again.report_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(clone(again).fit(ZOO[name]()[1]).embedding_, again.embedding_)


@pytest.mark.slow
def test_every_repulsion_and_search_is_in_the_zoo(tmp_path: Path) -> None:
    """A class of the registry that no model of the zoo stores would be untested."""
    from lowdim.store import registry

    seen = set()
    for name in ZOO:
        document, _ = taken_apart(lowdim.save(fitted(name)[0], tmp_path / "model.lowdim", force=True))
        seen |= {entry[0] for entry in document["objects"]}
    # These are tried on their own below, or are parameters that need no fit.
    others = {
        "FlatSearcher",
        "TreeSearcher",
        "DescentSearcher",
        "ApproximateIndex",
        "Sketch",
        "Pipeline",
        "Attempt",
        "Solution",
        "Exact",
    }
    others |= {"Annealing", "Backtracking", "ConjugateGradient", "DiagonalHessian", "FixedPoint"}
    others |= {"GradientDescent", "PartialHessian"}
    assert set(registry.NAMES) - seen <= others


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_are_views_that_never_change_the_file(
    mapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mapped:
        monkeypatch.setattr(container, "MAPPED_FROM", 0)
    model, new = fitted("Isomap")
    path = lowdim.save(model, tmp_path / "model.lowdim")
    kept = path.read_bytes()
    again = lowdim.load(path)
    assert not again.embedding_.flags.owndata
    assert again.embedding_.flags.aligned
    path.unlink()
    path.write_bytes(b"")
    assert model.transform(new).tobytes() == again.transform(new).tobytes()
    again.eigenvalues_ += 1
    np.testing.assert_array_equal(again.eigenvalues_, model.eigenvalues_ + 1)
    path.write_bytes(kept)
    np.testing.assert_array_equal(lowdim.load(path).eigenvalues_, model.eigenvalues_)


def test_a_shared_array_is_stored_once(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(500, 40))
    model = lowdim.Isomap().fit(X)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    _, arrays = taken_apart(path)
    assert sum(array.nbytes == X.nbytes for array in arrays.values()) == 1
    assert path.stat().st_size < 2.1 * X.nbytes


def test_strings_of_numpy_are_strings(tmp_path: Path) -> None:
    model = lowdim.PCA(2, memory_limit=np.str_("4 GB")).fit(POINTS)
    assert lowdim.load(lowdim.save(model, tmp_path / "model.lowdim")).memory_limit == "4 GB"


def test_frames_and_names_of_columns_survive(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["länge", "breite", "höhe"])
    model = lowdim.Isomap().set_output(transform="pandas").fit(frame)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    pandas.testing.assert_frame_equal(again.transform(frame[:7]), model.transform(frame[:7]))
    assert again.feature_names_in_.tolist() == ["länge", "breite", "höhe"]
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame[:7].rename(columns={"länge": "weite"}))


def test_partial_fit_goes_on_where_it_was(tmp_path: Path) -> None:
    model = lowdim.PCA(2).partial_fit(POINTS[:50])
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    model.partial_fit(POINTS[50:])
    again.partial_fit(POINTS[50:])
    assert_same(model, again)
    np.testing.assert_array_equal(model.inverse_transform([[1, 2]]), again.inverse_transform([[1, 2]]))


@pytest.mark.parametrize(
    "bits",
    [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64],
)
def test_generators_go_on_where_they_were(bits: type, tmp_path: Path) -> None:
    generator = np.random.Generator(bits(7))
    generator.random(3, np.float32)
    generator.spawn(2)
    model = lowdim.PCA(2, random_state=generator).fit(POINTS)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim")).random_state
    assert type(again.bit_generator) is bits
    assert generator.spawn(1)[0].random() == again.spawn(1)[0].random()
    assert generator.random(9, np.float32).tolist() == again.random(9, np.float32).tolist()


def test_old_and_odd_generators(tmp_path: Path) -> None:
    old = np.random.RandomState(3)
    old.normal()
    path = lowdim.save(lowdim.PCA(2, random_state=old).fit(POINTS), tmp_path / "old.lowdim")
    assert old.normal(size=5).tolist() == lowdim.load(path).random_state.normal(size=5).tolist()
    odd = np.random.Generator(np.random.PCG64(_Seed()))
    path = lowdim.save(lowdim.PCA(2, random_state=odd).fit(POINTS), tmp_path / "odd.lowdim")
    assert odd.random() == lowdim.load(path).random_state.random()


class _Seed(np.random.bit_generator.ISeedSequence):
    """A seed of somebody's own."""

    def generate_state(self, n_words: int, dtype: type = np.uint32) -> np.ndarray:
        return np.arange(n_words, dtype=dtype)


@pytest.mark.parametrize("search", ["tree", "generic"])
def test_other_searches_find_the_same(search: str, tmp_path: Path) -> None:
    from lowdim.data.rows import Rows
    from lowdim.maps.locally_linear import LocallyLinearMap
    from lowdim.neighbors import build_index
    from lowdim.neighbors.lookup import Lookup

    model = lowdim.LLE().fit(POINTS)
    index = build_index(Rows(POINTS), search=search, run=Run.of())
    model.map_ = LocallyLinearMap(Lookup(index, 7), model.embedding_)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    assert again.map_.lookup.index.backend == search
    assert model.transform(POINTS + 0.1).tobytes() == again.transform(POINTS + 0.1).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["manhattan", "seuclidean", "cosine"])
def test_a_descent_is_stored_before_it_is_built(metric: str, tmp_path: Path) -> None:
    pytest.importorskip("pynndescent")
    from lowdim.data.rows import Rows
    from lowdim.maps.locally_linear import LocallyLinearMap
    from lowdim.neighbors import build_index
    from lowdim.neighbors.lookup import Lookup

    model = lowdim.LLE().fit(POINTS)
    index = build_index(Rows(POINTS), metric, search="descent", run=Run.of())
    index.searcher.width = 31
    index.recall.known[3, True] = 0.5
    model.map_ = LocallyLinearMap(Lookup(index, 7), model.embedding_)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(path)
    assert_same(model, again)
    document, arrays = taken_apart(path)
    points = next(fields for name, fields in document["objects"] if name == "Rows")
    document = with_first(document, ["Rows", points])
    fields = next(fields for name, fields in document["objects"] if name == "DescentSearcher")
    fields["rows"] = {"object": 0}
    with pytest.raises(FormatError, match="other points than its own"):
        lowdim.load(forged(path, document, arrays))
    fields["width"] = 10**9
    with pytest.raises(FormatError, match="the seed or the width of a search"):
        lowdim.load(forged(path, document, arrays))


@pytest.mark.slow
def test_descent_is_built_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("pynndescent")
    X = np.random.default_rng(0).normal(size=(300, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lowdim.LaplacianEigenmaps(metric="manhattan", search="approximate", n_neighbors=35).fit(X)
        again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
        assert model.transform(X[:50] + 0.1).tobytes() == again.transform(X[:50] + 0.1).tobytes()


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lowdim.LaplacianEigenmaps(metric=_distance), "metric of LaplacianEigenmaps is a function"),
        (lowdim.KernelPCA(kernel=lambda a, b: float(a @ b)), "kernel of KernelPCA is a function"),
        (lowdim.LLE(solver=lowdim.LLL(25, landmarks=range(30))), "landmarks of LLE is of type range"),
        (lowdim.TSNE(init=POINTS[:, :2].astype(np.longdouble), max_iter=5), "init of TSNE is an array of"),
    ],
)
def test_what_a_file_cannot_hold_is_named(model: object, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        lowdim.save(model.fit(POINTS), tmp_path / "model.lowdim")
    assert list(tmp_path.iterdir()) == []


def test_a_callback_is_left_out_with_a_warning(tmp_path: Path) -> None:
    model = lowdim.PCA(2, callback=lambda event: None).fit(POINTS)
    with pytest.warns(LowdimWarning, match="callback of PCA was not saved"):
        path = lowdim.save(model, tmp_path / "model.lowdim")
    assert lowdim.load(path).callback is None
    assert model.callback is not None


def test_only_fitted_estimators_of_lowdim_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.lowdim"
    with pytest.raises(InputError, match="must be fitted"):
        lowdim.save(lowdim.PCA(2), path)
    with pytest.raises(InputTypeError, match="must be an estimator of lowdim"):
        lowdim.save(POINTS, path)
    model = lowdim.PCA(2).fit(POINTS)
    model.note = "mine"
    with pytest.raises(InputError, match="note of PCA is no attribute"):
        lowdim.save(model, path)
    assert not path.exists()


def test_files_are_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "model.lowdim"
    lowdim.save(lowdim.PCA(2).fit(POINTS), path)
    with pytest.raises(FileError, match="force"):
        lowdim.save(lowdim.PCA(1).fit(POINTS), path)
    assert lowdim.load(path).n_components == 2
    lowdim.save(lowdim.PCA(1).fit(POINTS), path, force=True)
    assert lowdim.load(path).n_components == 1
    assert [file.name for file in tmp_path.iterdir()] == ["model.lowdim"]


def test_newer_formats_are_refused_and_older_ones_brought_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lowdim.save(lowdim.PCA(2).fit(POINTS), tmp_path / "model.lowdim")
    monkeypatch.setattr(files, "FORMAT", 1)
    version = re.escape(lowdim.__version__)
    with pytest.raises(
        FormatError, match=rf"format 2 by lowdim {version}; this is lowdim {version}, .* up to 1"
    ):
        lowdim.load(path)
    monkeypatch.setattr(files, "FORMAT", 4)
    with pytest.raises(FormatError, match="format 2, which was never in use"):
        lowdim.load(path)

    def rename(document: dict) -> dict:
        for name, fields in document["objects"]:
            if name == "PCA":
                fields["parameters"]["dict"].append(["whiten", True])
        return document

    monkeypatch.setattr(files, "MIGRATIONS", {2: rename, 3: lambda document: document})
    assert lowdim.load(path).whiten is True


@pytest.mark.parametrize("method", [lowdim.LLE, lowdim.LaplacianEigenmaps])
def test_a_transform_changes_nothing_that_is_stored(method: type, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(600, 4))
    model = method(search="approximate", n_neighbors=8).fit(X)
    before = lowdim.save(model, tmp_path / "before.lowdim").read_bytes()
    model.transform(X[:50] + 0.01)
    assert lowdim.save(model, tmp_path / "after.lowdim").read_bytes() == before


def test_fields_and_classes_of_before_are_not_missed(tmp_path: Path) -> None:
    """Older files say how many threads an index has, and some have a search that is no more."""
    model, new = fitted("LLE-modified")
    document, arrays = taken_apart(lowdim.save(model, tmp_path / "model.lowdim"))
    for entry in document["objects"]:
        if entry[0] == "Geometry":
            entry[1]["n_jobs"] = 2
        if entry[0] == "BlockedSearcher":
            entry[0] = "FlatSearcher"
    again = lowdim.load(forged(tmp_path / "old.lowdim", document, arrays))
    assert again.map_.lookup.index.backend == "blocked"
    assert model.transform(new).tobytes() == again.transform(new).tobytes()


def test_a_model_is_built_again_by_its_own_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    made = Geometry.__init__
    monkeypatch.setattr(
        Geometry, "__init__", lambda self, *rest: (seen.append(rest[-1].n_jobs), made(self, *rest))[1]
    )
    for n_jobs in (3, None, -1):
        path = lowdim.save(lowdim.LLE(n_jobs=n_jobs).fit(POINTS), tmp_path / "model.lowdim", force=True)
        seen.clear()
        lowdim.load(path)
        assert seen == [n_jobs]


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [("minkowski", {"p": 3.0}), ("cityblock", {"w": np.array([0.5, 1.0, 2.0])}), ("minkowski", {"p": 2})],
)
def test_parameters_of_a_metric_come_back(metric: str, parameters: dict, tmp_path: Path) -> None:
    from lowdim.data.rows import Rows
    from lowdim.maps.locally_linear import LocallyLinearMap
    from lowdim.neighbors import build_index
    from lowdim.neighbors.lookup import Lookup

    X = np.random.default_rng(0).normal(size=(60, 3))
    model = lowdim.LLE().fit(X)
    index = build_index(Rows(X), metric, metric_params=parameters, run=Run.of())
    model.map_ = LocallyLinearMap(Lookup(index, 7), model.embedding_)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    assert model.transform(X + 0.1).tobytes() == again.transform(X + 0.1).tobytes()


def test_an_embedding_can_be_left_out(tmp_path: Path) -> None:
    model = lowdim.PCA(2).set_output(transform="default").fit(POINTS)
    path = lowdim.save(model, tmp_path / "model.lowdim", embedding=False)
    assert "embedding_" not in taken_apart(path)[1]
    again = lowdim.load(path)
    assert again.transform(POINTS).tobytes() == model.transform(POINTS).tobytes()
    assert again.get_feature_names_out().tolist() == ["pca0", "pca1"]
    with pytest.raises(AttributeError, match="has no embedding_: it was saved without"):
        _ = again.embedding_
    with pytest.raises(AttributeError, match="'PCA' object has no attribute 'places_'"):
        _ = again.places_
    info = describe(path)
    assert (info.n_samples, info.n_components) == (90, 2)
    assert path.read_bytes() == lowdim.save(again, tmp_path / "again.lowdim").read_bytes()
    again.partial_fit(POINTS[:30])
    assert lowdim.load(lowdim.save(again, path, force=True)).embedding_.shape == (30, 2)


@pytest.mark.parametrize("name", ["TSNE-exact", "affinity-Binary"])
def test_an_embedding_that_the_map_needs_stays(name: str, tmp_path: Path) -> None:
    model, new = fitted(name)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim", embedding=False))
    assert_same(model.embedding_, again.embedding_)
    assert not hasattr(again, "affinity_matrix_")
    assert again.transform(new).tobytes() == model.transform(new).tobytes()


@pytest.mark.parametrize("shape", [{"tuple": [90, 3]}, {"tuple": [0, 2]}, {"tuple": [90]}, None, 7])
def test_the_shape_of_an_embedding_is_checked(shape: object, tmp_path: Path) -> None:
    path = lowdim.save(lowdim.PCA(2).fit(POINTS), tmp_path / "model.lowdim", embedding=False)
    document, arrays = taken_apart(path)
    attributes = document["objects"][-1][1]["attributes"]["dict"]
    next(item for item in attributes if item[0] == "embedding_shape_")[1] = shape
    with pytest.raises(FormatError, match="the model file is damaged"):
        lowdim.load(forged(path, document, arrays))


def test_a_loaded_model_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact search on a sample, only to know the recall, would make the first row of a service wait."""
    from lowdim.neighbors import build
    from lowdim.neighbors.recall import Recall

    monkeypatch.setattr(build, "follow_seconds", lambda n_columns, n_queries: 0.0)
    X = np.random.default_rng(0).normal(size=(400, 4))
    models = [
        lowdim.TSNE(perplexity=8, max_iter=5).fit(X),
        lowdim.LaplacianEigenmaps(n_neighbors=8, search="approximate").fit(X),
    ]
    for model in models:
        again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim", force=True))
        index = again.map_.affinities.lookup.index
        assert index.backend == "forest"
        with monkeypatch.context() as served:
            served.setattr(Recall, "_furthest", None)
            again.transform(X[:1] + 0.01)
