"""``transform`` of rows in shards: of every estimator, lazily, in any chunks, with the bits of the rows in memory."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from registry import EMBEDDINGS, ESTIMATORS, LANDMARKED, make

import lowdim
from lowdim.data.shards import InMemory, Shards, write
from lowdim.data.shards import writers as writing
from lowdim.errors import FileError, InputError, NotFiniteError

RNG = np.random.default_rng(0)
FITTED = RNG.normal(size=(70, 5)) + np.repeat(np.eye(5)[:2] * 3, 35, axis=0)
NEW = RNG.normal(size=(100, 5))
QUICK = ("PCA", "LLE", "TSNE", "LaplacianEigenmaps-lll")
NAMES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in (*ESTIMATORS, *EMBEDDINGS, *LANDMARKED)
]


@pytest.fixture(scope="module")
def pca() -> Any:
    return lowdim.PCA(2).fit(FITTED)


@pytest.mark.filterwarnings("ignore")  # graphs that fall apart, and fits that are cut short
@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_places_shards_as_it_places_rows(name: str) -> None:
    array = pytest.importorskip("dask.array")
    settings = {"on_disconnected": "connect"} if "on_disconnected" in make(name).get_params() else {}
    model = make(name, n_components=2, **settings).fit(FITTED)
    whole = model.transform(NEW)
    lazy = model.transform(array.from_array(NEW, chunks=(33, 3)))
    assert lazy.chunks == ((33, 33, 33, 1), (2,))
    in_shards = model.transform(InMemory.of(NEW))
    assert isinstance(in_shards, Shards)
    for found in (lazy.compute(scheduler="synchronous"), np.asarray(in_shards), in_shards.rows(0, 100)):
        np.testing.assert_allclose(found, whole, rtol=0, atol=1e-12 * np.abs(whole).max())
    np.testing.assert_array_equal(np.asarray(in_shards), whole)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(in_shards)).rows(3, 9), in_shards.rows(3, 9))


def test_nothing_is_computed_before_it_is_asked_for(pca: Any) -> None:
    array = pytest.importorskip("dask.array")
    seen: list[int] = []

    def watched(block: np.ndarray) -> np.ndarray:
        seen.append(len(block))
        return block

    lazy = pca.transform(array.from_array(NEW, chunks=(20, 5)).map_blocks(watched, meta=NEW[:0]))
    assert (seen, lazy.shape, lazy.dtype) == ([], (100, 2), np.float64)
    np.testing.assert_array_equal(lazy[40:60].compute(scheduler="synchronous"), pca.transform(NEW[40:60]))
    assert seen == [20]
    single = pca.transform(array.from_array(NEW.astype(np.float32)))
    assert single.dtype == np.float32


def test_the_model_goes_to_workers_without_its_coordinates() -> None:
    array = pytest.importorskip("dask.array")
    model = lowdim.PCA(2).fit(np.random.default_rng(0).normal(size=(100_000, 3)))
    found = model.transform(InMemory.of(NEW[:, :3]))
    assert len(pickle.dumps(found)) < 20_000
    assert len(pickle.dumps(model.transform(array.from_array(NEW[:, :3], chunks=5)))) < 60_000
    assert model.embedding_.shape == (100_000, 2)


def test_fit_transform_of_shards_is_lazy_too() -> None:
    array = pytest.importorskip("dask.array")
    lazy = lowdim.PCA(2).fit_transform(array.from_array(NEW, chunks=(30, 5)))
    np.testing.assert_allclose(lazy.compute(), lowdim.PCA(2).fit_transform(NEW), atol=1e-12)
    placed = lowdim.OrientedPCA(2).fit_transform(InMemory.of(NEW))
    np.testing.assert_allclose(np.asarray(placed), lowdim.OrientedPCA(2).fit_transform(NEW), atol=1e-12)


def test_columns_are_compared_before_the_work(pca: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="X has 4 features, but PCA is expecting 5"):
        pca.transform(InMemory.of(NEW[:, :4]))
    named = pa.table(list(FITTED.T), names=list("abcde"))
    model = lowdim.PCA(2).fit(named)
    with pytest.raises(InputError, match="same order"):
        model.transform(lowdim.shards(named.select(list("edcba"))))
    np.testing.assert_array_equal(
        model.transform(lowdim.shards(named)).rows(0, 9), model.transform(named)[:9]
    )


def test_what_is_no_number_is_named_by_its_row(pca: Any) -> None:
    array = pytest.importorskip("dask.array")
    wrong = NEW.copy()
    wrong[77, 2] = np.nan
    with pytest.raises(NotFiniteError, match="row 77 of the dask array X is NaN in column 2"):
        pca.transform(array.from_array(wrong, chunks=(30, 5))).compute(scheduler="synchronous")
    with pytest.raises(NotFiniteError, match="row 77 of X is NaN"):
        pca.transform(InMemory.of(wrong)).rows(50, 90)


def test_a_frame_is_not_made_of_shards() -> None:
    model = lowdim.PCA(2).set_output(transform="pandas").fit(FITTED)
    with pytest.raises(InputError, match="frame in memory"):
        model.transform(InMemory.of(NEW))


@pytest.mark.parametrize("suffix", [".npy", ".zarr", ".parquet"])
def test_coordinates_are_written_a_block_at_a_time(
    suffix: str, pca: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    monkeypatch.setattr(writing, "CHUNK", 30)
    path = tmp_path / f"y{suffix}"
    with lowdim.using(2):
        write(pca.transform(InMemory.of(NEW)), path)
    np.testing.assert_array_equal(np.asarray(lowdim.shards(path)), pca.transform(NEW))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    with pytest.raises(FileError, match="is there already"):
        write(pca.transform(InMemory.of(NEW)), path)
    wrong = NEW.copy()
    wrong[50] = np.inf
    with pytest.raises(NotFiniteError):
        write(pca.transform(InMemory.of(wrong)), path, force=True)
    np.testing.assert_array_equal(np.asarray(lowdim.shards(path)), pca.transform(NEW))  # the old one stays
    write(pca.transform(InMemory.of(NEW[:40])), path, force=True)
    assert lowdim.shards(path).n_samples == 40
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_targets_that_cannot_be_written_are_refused_before_the_work(pca: Any, tmp_path: Path) -> None:
    found = pca.transform(InMemory.of(NEW))
    (tmp_path / "folder.zarr").mkdir()
    for path, words in (
        (tmp_path / "y.csv", "must end in one of .npy, .zarr, .parquet"),
        (tmp_path / "missing" / "y.npy", "does not exist"),
        (tmp_path / "missing" / "y.zarr", "does not exist"),
    ):
        with pytest.raises((FileError, InputError), match=words):
            write(found, path)
    with pytest.raises(FileError, match="is no zarr"):
        write(found, tmp_path / "folder.zarr", force=True)
    np.save(tmp_path / "x.npy", NEW)
    with pytest.raises(FileError, match="an input is never written over"):
        write(found, tmp_path / "x.npy", force=True, inputs=[tmp_path / "x.npy"])
