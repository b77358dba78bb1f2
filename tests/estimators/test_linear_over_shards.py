"""PCA and oriented PCA of rows in shards: the same bits for any chunks and workers, what the fit in memory finds."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import CheckpointError, InputError, InputTypeError, MemoryLimitError, NotFiniteError
from lowdim.estimators.shards import shard_moments

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(1500, 6)) @ RNG.normal(size=(6, 6)) + 100.0


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks and tasks of few rows."""
    monkeypatch.setattr(shard_moments, "block_rows_of", lambda dtype, n_columns: 16)


def bits(model: Any) -> list[bytes]:
    return [model.components_.tobytes(), model.mean_.tobytes()]


def chunkings(folder: Path) -> dict[str, Any]:
    array, zarr = pytest.importorskip("dask.array"), pytest.importorskip("zarr")
    for place, part in enumerate((slice(0, 11), slice(11, 1200), slice(1200, 1500))):
        np.save(folder / f"{place}.npy", ROWS[part])
    parquet.write_table(
        pa.table(list(ROWS.T), names=list("abcdef")), folder / "x.parquet", row_group_size=333
    )
    return {
        "memory": InMemory.of(ROWS),
        "dask": array.from_array(ROWS, chunks=(170, 4)),
        "dask, one chunk": array.from_array(ROWS, chunks=-1),
        "zarr": zarr.create_array(folder / "x.zarr", data=ROWS, chunks=(100, 4)),
        "npy": lowdim.shards(str(folder / "*.npy")),
        "parquet": lowdim.shards(folder / "x.parquet"),
    }


def test_the_bits_hang_on_neither_chunks_nor_workers(tmp_path: Path) -> None:
    sources = chunkings(tmp_path)
    found = {name: bits(lowdim.PCA(3).fit(source)) for name, source in sources.items()}
    for n_jobs in (1, 2, 4):
        with lowdim.using(n_jobs):
            found[f"{n_jobs} threads"] = bits(lowdim.PCA(3).fit(sources["npy"]))
    assert all(each == found["memory"] for each in found.values()), found.keys()


@pytest.mark.slow
def test_the_bits_hang_on_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    rows = np.random.default_rng(1).normal(size=(600_000, 3))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, lowdim.using(pool):
        elsewhere = bits(lowdim.PCA(2).fit(InMemory.of(rows)))
    assert elsewhere == bits(lowdim.PCA(2).fit(InMemory.of(rows)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("n_components", [2, 0.9, "mle", None])
def test_the_fit_is_that_of_all_rows_in_memory(
    dtype: Any, n_components: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # blocks of float32 are multiplied in float32: they must be the same in both
    rows = np.random.default_rng(2).gamma(3, 9, size=(9000, 5)).astype(dtype)
    whole = lowdim.PCA(n_components, solver="covariance").fit(rows)
    found = lowdim.PCA(n_components, whiten=True).fit(InMemory.of(rows))
    assert found.n_components_ == whole.n_components_
    scale = whole.explained_variance_[0]
    np.testing.assert_allclose(found.components_, whole.components_, atol=1e-10)
    np.testing.assert_allclose(found.mean_, whole.mean_, rtol=1e-10)
    np.testing.assert_allclose(found.explained_variance_, whole.explained_variance_, atol=1e-10 * scale)
    np.testing.assert_allclose(found.noise_variance_, whole.noise_variance_, atol=1e-10 * scale)


def test_one_pass_row_by_row_gives_the_bits_of_the_fit_in_memory() -> None:
    whole = lowdim.PCA(2, solver="streaming").fit(ROWS)
    found = lowdim.PCA(2, solver="streaming").fit(InMemory.of(ROWS))
    assert bits(found) == bits(whole)
    found.partial_fit(ROWS[:50])
    assert found.n_samples_seen_ == 1550


def test_oriented_pca_is_that_of_all_rows_in_memory() -> None:
    noise = np.random.default_rng(3).normal(size=(700, 6)) * np.arange(1, 7)
    whole = lowdim.OrientedPCA(2).fit(ROWS, noise=noise)
    for signal, against in (
        (InMemory.of(ROWS), InMemory.of(noise)),
        (InMemory.of(ROWS), noise),
        (ROWS, InMemory.of(noise)),
    ):
        found = lowdim.OrientedPCA(2).fit(signal, noise=against)
        np.testing.assert_allclose(found.components_, whole.components_, rtol=1e-9)
        np.testing.assert_allclose(found.ratios_, whole.ratios_, rtol=1e-9)
    white = lowdim.OrientedPCA(2).fit(InMemory.of(ROWS))
    np.testing.assert_allclose(white.components_, lowdim.OrientedPCA(2).fit(ROWS).components_, atol=1e-10)
    with pytest.raises(InputError, match="noise must have the columns of X; got 5"):
        lowdim.OrientedPCA(2).fit(InMemory.of(ROWS), noise=noise[:, :5])


def test_no_coordinates_are_kept_and_the_model_is_an_ordinary_one(tmp_path: Path) -> None:
    model = lowdim.PCA(2).fit(InMemory.of(ROWS))
    with pytest.raises(AttributeError, match=r"fitted to rows in shards.*transform the points"):
        _ = model.embedding_
    with pytest.raises(InputError, match="fitted to rows in shards"):
        model.update(ROWS)
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.transform(ROWS[:9]), model.transform(ROWS[:9]))
    assert model.report_.shape == (1500, 6)


def test_names_of_columns_are_remembered() -> None:
    model = lowdim.PCA(1).fit(lowdim.shards(pa.table({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 1.0]})))
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_what_cannot_be_done_is_said_before_any_row_is_read() -> None:
    class Unread(InMemory):
        def rows(self, start: int, stop: int) -> np.ndarray:
            raise AssertionError("read before it was refused")

    source = Unread.of(ROWS)
    with pytest.raises(
        InputError, match="'auto', 'covariance' or 'streaming' for rows in shards; got 'snapshot'"
    ):
        lowdim.PCA(2, solver="snapshot").fit(source)
    with pytest.raises(InputError, match="n_components"):
        lowdim.PCA(7).fit(source)
    with pytest.raises(InputError, match="needs all rows in memory"):
        lowdim.MDS().plan(source)
    with pytest.raises(MemoryLimitError, match="solver='streaming'"):
        lowdim.PCA(2, memory_limit=1000).fit(source)
    with pytest.raises(InputTypeError, match=r"comes in shards, 1500 x 6 .*numpy.asarray\(X\)"):
        lowdim.PCA(2).partial_fit(source)
    assert lowdim.PCA(2).plan(source).bytes == lowdim.PCA(2).plan(Unread.of(np.vstack([ROWS] * 9))).bytes


def test_what_is_no_number_is_named_by_its_row() -> None:
    rows = ROWS.copy()
    rows[1111, 3] = np.inf
    with pytest.raises(NotFiniteError, match="row 1111 of X is infinity in column 3"):
        lowdim.PCA(2).fit(InMemory.of(rows))


def test_a_checkpoint_goes_on_and_belongs_to_its_rows(tmp_path: Path) -> None:
    first = lowdim.PCA(2, checkpoint=tmp_path / "run").fit(InMemory.of(ROWS))
    again = lowdim.PCA(2, checkpoint=tmp_path / "run").fit(InMemory.of(ROWS))
    assert bits(first) == bits(again)
    with pytest.raises(CheckpointError):
        lowdim.PCA(2, checkpoint=tmp_path / "run").fit(InMemory.of(ROWS[:-1]))
