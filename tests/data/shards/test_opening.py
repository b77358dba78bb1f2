"""Every source of rows gives the same rows for any range, reads no more than it must, and says early what is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

import lowdim
from lowdim import validation
from lowdim.data.shards import InMemory, Shards, as_shards
from lowdim.errors import FileError, FormatError, InputError, InputTypeError, NotFiniteError

ROWS = np.random.default_rng(0).normal(size=(47, 3)).astype(np.float32)
NAMES = ["a", "b", "c"]
PARTS = (slice(0, 20), slice(20, 21), slice(21, 47))


def table(rows: np.ndarray = ROWS, **others: Any) -> pa.Table:
    return pa.table({name: rows[:, place] for place, name in enumerate(NAMES)} | others)


def _npy(folder: Path) -> Any:
    np.save(folder / "x.npy", ROWS)
    return folder / "x.npy"


def _npy_folder(folder: Path) -> Any:
    (folder / "rows").mkdir()
    for place, part in zip((2, 9, 10), PARTS, strict=True):  # 10 comes after 9
        np.save(folder / "rows" / f"part-{place}.npy", ROWS[part])
    (folder / "rows" / "_README.npy").write_text("no rows")
    return folder / "rows"


def _parquet_pattern(folder: Path) -> Any:
    for place, part in enumerate(PARTS):
        parquet.write_table(table(ROWS[part]), folder / f"{place}.parquet", row_group_size=7)
    return str(folder / "*.parquet")


def _parquet_list(folder: Path) -> Any:
    _parquet_pattern(folder)
    return [folder / f"{place}.parquet" for place in range(3)]


def _parquet_lists(folder: Path) -> Any:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 3)
    parquet.write_table(pa.table({"vector": lists}), folder / "x.parquet", row_group_size=10)
    return folder / "x.parquet"


def _zarr(folder: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "x.zarr", data=ROWS, chunks=(10, 2))
    return folder / "x.zarr"


def _zarr_object(folder: Path) -> Any:
    return pytest.importorskip("zarr").open(_zarr(folder), mode="r")


def _zarr_in_memory(folder: Path) -> Any:
    return pytest.importorskip("zarr").create_array({}, data=ROWS, chunks=(10, 2))


def _zarr_group(folder: Path) -> Any:
    group = pytest.importorskip("zarr").open_group(folder / "g.zarr", mode="w")
    group.create_array("points", data=ROWS)
    return folder / "g.zarr"


def _h5ad(folder: Path) -> Any:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "x.h5ad", "w") as file:
        file.create_dataset("X", data=ROWS, chunks=(8, 3), compression="gzip")
    return folder / "x.h5ad"


def _h5ad_sparse(folder: Path) -> Any:
    h5py, sparse = pytest.importorskip("h5py"), pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array(ROWS)
    with h5py.File(folder / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", ROWS.shape
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(matrix, part))
    return folder / "x.h5ad"


def _dask(folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(ROWS, chunks=((5, 30, 12), (2, 1)))


def _dask_frame(folder: Path) -> Any:
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    return frames.from_pandas(pandas.DataFrame(ROWS, columns=NAMES), npartitions=4)


def _arrow_table(folder: Path) -> Any:
    return pa.concat_tables([table(ROWS[part]) for part in PARTS])


def _arrow_dataset(folder: Path) -> Any:
    dataset.write_dataset(
        table(), folder / "set", format="parquet", max_rows_per_group=9, max_rows_per_file=20
    )
    return dataset.dataset(folder / "set", format="parquet")


def _feather(folder: Path) -> Any:
    for place, part in enumerate(PARTS):
        feather.write_feather(table(ROWS[part]), str(folder / f"{place}.arrow"), compression="uncompressed")
    return folder


def _hugging_face(folder: Path) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"vector": ROWS.tolist()}).with_format("numpy")


def _hugging_face_folder(folder: Path) -> Any:
    whole = pytest.importorskip("datasets").Dataset.from_dict(
        {name: ROWS[:, k] for k, name in enumerate(NAMES)}
    )
    whole.save_to_disk(str(folder / "saved"), num_shards=3)
    return folder / "saved"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: ROWS,
    **{
        make.__name__.lstrip("_"): make
        for make in (
            _npy, _npy_folder, _parquet_pattern, _parquet_list, _parquet_lists, _zarr, _zarr_object, _zarr_in_memory,
            _zarr_group, _h5ad, _h5ad_sparse, _dask, _dask_frame, _arrow_table, _arrow_dataset, _feather,
            _hugging_face, _hugging_face_folder,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.filterwarnings("ignore")  # what libraries say of each other
@pytest.mark.every(2)
def test_every_source_gives_the_rows_of_any_range(kind: str, tmp_path: Path) -> None:
    source = lowdim.shards(SOURCES[kind](tmp_path))
    assert source.shape == ROWS.shape
    again = pickle.loads(pickle.dumps(source))
    for start, stop in ((0, 47), (0, 0), (19, 22), (3, 4), (40, 47), (46, 47), (47, 47), (5, 40)):
        for each in (source, again):
            found = each.rows(start, stop)
            np.testing.assert_allclose(found, ROWS[start:stop], rtol=1e-7)
            assert found.dtype == source.dtype
            assert found.flags.c_contiguous
    assert source.digest() == again.digest() == source.digest()
    np.testing.assert_allclose(np.asarray(source), ROWS, rtol=1e-7)
    assert source.where(30).startswith("row ")


def test_only_the_chunks_that_are_asked_for_are_computed() -> None:
    array = pytest.importorskip("dask.array")
    seen = []

    def watched(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        seen.append(block_info[0]["chunk-location"][0])
        return block

    lazy = array.from_array(ROWS, chunks=(10, 3)).map_blocks(watched, dtype=ROWS.dtype, meta=ROWS[:0])
    source = lowdim.shards(lazy)
    assert seen == []
    source.rows(12, 18)
    assert seen == [1]


def test_what_lies_outside_of_memory_is_told(tmp_path: Path) -> None:
    array, xarray = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    lazy = array.from_array(ROWS)
    assert isinstance(as_shards(lazy), Shards)
    assert isinstance(as_shards(xarray.DataArray(lazy)), Shards)
    assert as_shards(ROWS) is None
    assert as_shards(table()) is None
    whole = InMemory.of(ROWS)
    assert as_shards(whole) is whole


def test_columns_are_chosen_by_name_or_number(tmp_path: Path) -> None:
    words = pa.array(["x"] * len(ROWS))
    parquet.write_table(table(word=words), tmp_path / "x.parquet")
    with pytest.raises(FormatError, match=r"column 'word' holds string.*drop='word'"):
        lowdim.shards(tmp_path / "x.parquet")
    assert lowdim.shards(tmp_path / "x.parquet", drop="word").columns == ("a", "b", "c")
    some = lowdim.shards(tmp_path / "x.parquet", columns=["c", 0])
    assert some.columns == ("c", "a")
    np.testing.assert_array_equal(some.rows(0, 5), ROWS[:5, [2, 0]])
    with pytest.raises(InputError, match="no column 'd'"):
        lowdim.shards(tmp_path / "x.parquet", columns="d")
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]}), npartitions=1)
    with pytest.raises(InputError, match="column 'word' is of type"):
        lowdim.shards(frame)
    assert lowdim.shards(frame, drop="word").shape == (2, 1)


def test_files_with_other_columns_are_refused_before_any_row_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", ROWS)
    np.save(tmp_path / "1.npy", ROWS[:, :2])
    with pytest.raises(InputError, match=r"same columns: .*1\.npy has 2, and .*0\.npy has 3"):
        lowdim.shards(str(tmp_path / "*.npy"))
    parquet.write_table(table(), tmp_path / "0.parquet")
    parquet.write_table(table().select(["b", "a"]), tmp_path / "1.parquet")
    with pytest.raises(InputError, match=r"1\.parquet has no 'c'"):
        lowdim.shards(str(tmp_path / "*.parquet"))
    parquet.write_table(table().select(["c", "b", "a"]), tmp_path / "1.parquet")
    found = lowdim.shards(str(tmp_path / "*.parquet"))
    np.testing.assert_array_equal(found.rows(47, 94), ROWS)  # by name, whatever their order


def test_what_cannot_be_read_is_said_early(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed").mkdir()
    np.save(tmp_path / "mixed" / "0.npy", ROWS)
    parquet.write_table(table(), tmp_path / "mixed" / "1.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for source, kind, words in (
        ("empty", FileError, "no file in it that ends in"),
        ("mixed", InputError, r"several kinds \(.npy, .parquet\)"),
        ("bad.parquet", FormatError, "damaged or cut off"),
        ("missing.npy", FileError, "does not exist"),
        ("missing", FileError, "does not exist"),
        ("missing.zarr", FileError, "does not exist"),
        ("*.nothing", FileError, "no file has such a name"),
        ("x.csv", FileError, "its suffix is none of"),
    ):
        with pytest.raises(kind, match=words):
            lowdim.shards(tmp_path / source)
    with pytest.raises(InputTypeError, match="must be a dask array"):
        lowdim.shards(3)
    with pytest.raises(InputError, match="obsm: does not apply to"):
        lowdim.shards(ROWS, obsm="X_pca")


def test_dask_arrays_that_cannot_be_cut_are_refused() -> None:
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(ROWS, chunks=(10, 3))
    with pytest.raises(InputError, match=r"compute_chunk_sizes\(\)"):
        lowdim.shards(lazy[lazy[:, 0] > 0])
    with pytest.raises(InputError, match="two dimensions"):
        lowdim.shards(lazy[:, 0])
    with pytest.raises(InputError, match="real numbers"):
        lowdim.shards(lazy.astype("U3"))
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(InputTypeError, match="must be NumPy arrays"):
        lowdim.shards(lazy.map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0))))


def test_sparse_matrices_whose_rows_cannot_be_read_alone_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csc_matrix", (3, 3)
    with pytest.raises(InputError, match=r"stored by columns.*obsm='X_pca'"):
        lowdim.shards(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (1, 30_000)
        for part, length in (("data", 1), ("indices", 1), ("indptr", 2)):
            group.create_dataset(part, data=np.zeros(length, np.int32))
    with pytest.raises(InputError, match=r"30000 columns.*at most 8192"):
        lowdim.shards(tmp_path / "x.h5ad")


def test_lists_of_other_lengths_are_refused_by_row(tmp_path: Path) -> None:
    ragged = pa.table({"vector": [[1.0, 2.0], [1.0], [1.0, 2.0, 3.0]]})
    parquet.write_table(ragged, tmp_path / "x.parquet")
    source = lowdim.shards(tmp_path / "x.parquet")
    with pytest.raises(FormatError, match=r"x\.parquet: row 1 .*has 1 numbers in column 'vector'"):
        source.rows(0, 3)
    parquet.write_table(pa.table({"a": [1.0, None]}), tmp_path / "x.parquet")
    with pytest.raises(FormatError, match=r"x\.parquet: row 1 .*no value in column 'a'"):
        lowdim.shards(tmp_path / "x.parquet").rows(0, 2)


def test_a_number_that_is_none_is_named_by_file_and_row(tmp_path: Path) -> None:
    other = ROWS.copy()
    other[5, 1] = np.nan
    np.save(tmp_path / "0.npy", ROWS)
    np.save(tmp_path / "1.npy", other)
    source = lowdim.shards(tmp_path)
    assert validation.check_shard(source, 0, 50).shape == (50, 3)
    with pytest.raises(NotFiniteError, match=r"row 5 of .*1\.npy is NaN in column 1"):
        validation.check_shard(source, 40, 60)
    with pytest.raises(InputError, match="at most 1e"):
        validation.check_shard(InMemory.of(np.full((2, 2), 1e200)), 0, 2)


def test_a_chunk_that_says_a_negative_length_is_damage(tmp_path):
    zarr, codecs = pytest.importorskip("zarr"), pytest.importorskip("numcodecs")
    path = tmp_path / "rows.zarr"
    zarr.create_array(
        str(path), data=np.ones((6, 4)), chunks=(3, 4), zarr_format=2, compressors=codecs.Blosc()
    )
    chunk = path / "1.0"
    stored = bytearray(chunk.read_bytes())
    stored[4:8] = (-5).to_bytes(4, "little", signed=True)  # the length of what is packed
    chunk.write_bytes(stored)
    with pytest.raises(FormatError, match="damaged"):
        lowdim.shards(path).rows(0, 6)
