"""Files that once did harm: what ``python -m torture fuzz`` found in the readers, and what building it brought up."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import zipfile

import numpy as np
import pytest

from lowdim.data.files import read, read_embedding, sniff, stream
from lowdim.errors import FormatError, InputError, InputTypeError, MemoryLimitError

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def saved(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Matrix Market: SciPy's reader ended the process.


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix array double symmetric\r\n1 3\r\n1.852\r\n-0.037\r\n3.118 ",
        "%%MatrixMarket matrix array integer general\n % " + "x" * 2000 + "\n3 3\n1\n2\n",
        "%%MatrixMarket matrix coordinate real hermitian\n\n% about\n3 5 4\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n1 2 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n",
        "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1180591620717411303424\n",
        "%%MatrixMarket matrix array pattern general\n1 1\n1\n",
        "%%MatrixMarket matrix array real general\n1 1\n1\n2\n",
        "%%MatrixMarket matrix array real general\n2 1\n1\n",
        "%%MatrixMarket matrix array real general\n2 1\n" + "1" * 2_000_000,
        "%%MatrixMarket matrix vector real general\n2 1\n1\n2\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 9999999999999999999999\n1 1 1\n",
    ],
)
def test_matrices_that_crashed_scipy(tmp_path, text):
    with pytest.raises(FormatError, match=r"X\.mtx: .*damaged"):
        read(saved(tmp_path / "X.mtx", text))


@pytest.mark.parametrize(
    ("symmetry", "below", "expected"),
    [
        ("symmetric", [1.0, 2.0, 3.0], [[1, 2], [2, 3]]),
        ("hermitian", [1.0, 2.0, 3.0], [[1, 2], [2, 3]]),
        ("skew-symmetric", [5.0], [[0, -5], [5, 0]]),
    ],
)
def test_matrices_of_which_half_is_stored(tmp_path, symmetry, below, expected):
    text = f"%%MatrixMarket matrix array real {symmetry}\n2 2\n" + "\n".join(map(str, below))
    np.testing.assert_array_equal(read(saved(tmp_path / "X.mtx", text)).X, expected)
    places = [(i + 1, j + 1) for j in range(2) for i in range(j, 2) if expected[i][j]]
    entries = "\n".join(f"{i} {j} {expected[i - 1][j - 1]}" for i, j in places)
    text = f"%%MatrixMarket matrix coordinate real {symmetry}\n2 2 {len(places)}\n{entries}\n"
    np.testing.assert_array_equal(read(saved(tmp_path / "Y.mtx", text)).X.toarray(), expected)


def test_entries_may_be_spaced_and_commented(tmp_path):
    text = BANNER + "\n% sizes\n3   2\t2\n\n% entries\n  1 1\t5 \n\n3 2 1e3\n%end\n"
    X = read(saved(tmp_path / "X.mtx", text)).X
    np.testing.assert_array_equal(X.toarray(), [[5, 0], [0, 0], [0, 1000]])
    text = "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n%\n1 1 18446744073709551615\n"
    assert read(saved(tmp_path / "Y.mtx", text)).X.data.tolist() == [2**64 - 1]


# Text.


def test_a_last_row_of_missing_values_is_not_dropped(tmp_path):
    for text in ("5\n6\nNA\n", "1,2\n3,4\nNA,\n\n"):
        with pytest.raises(FormatError, match=r"values are missing .* at line 3"):
            read(saved(tmp_path / "X.csv", text))
    for end in ("\n", "\r\n", "\r"):
        for count in (0, 1, 4):
            assert len(read(saved(tmp_path / "X.csv", f"1,2{end}3,4{end * count}")).X) == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"label": "9" * 5000}, InputError),
        ({"id": ("x", "y")}, InputTypeError),
        ({"drop": [("x",)]}, InputTypeError),
        ({"delimiter": "\0"}, InputError),
        ({"delimiter": "\x7f"}, InputError),
    ],
)
def test_strange_requests_are_named(tmp_path, options, error):
    path = saved(tmp_path / "X.csv", "x,y\n1,2\n")
    with pytest.raises(error, match=f"^{next(iter(options))}: ") as told:
        read(path, **options)
    assert len(str(told.value)) < 1000


def wide(n_columns, *rows, header=True):
    lines = [",".join(f"x{k + 1}" for k in range(n_columns))] if header else []
    return "\n".join([*lines, *rows])


def test_wide_tables(tmp_path):
    n = 5000
    values = np.random.default_rng(0).normal(size=(3, n))
    rows = [",".join(map(repr, row.tolist())) for row in values]
    for text in (wide(n, *rows), wide(n, *rows, "", ""), wide(n, *rows, header=False)):
        table = read(saved(tmp_path / "X.csv", text))
        np.testing.assert_array_equal(table.X, values)
    # The names were searched for one after the other among all others: an hour for a million.
    coordinates, _ = read_embedding(saved(tmp_path / "E.csv", wide(n, *rows)))
    np.testing.assert_array_equal(coordinates, values)
    table = read(
        saved(tmp_path / "X.csv", wide(n, rows[0], '"7",' + rows[1].partition(",")[2])), label="x1", id=3
    )
    assert table.labels.tolist() == [values[0, 0], 7.0]
    assert table.X.shape == (2, n - 2)
    assert len(read(saved(tmp_path / "Y.csv", wide(n, *rows, "", "")), label="x1").X) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1," * 4998 + "1", "line 62 has 4999 cells, and 5000 are expected"),
        ("1," * 4999 + "x", "line 62, column 'x5000': 'x' is no number"),
        ("1," * 4999 + "NA", "values are missing in column 'x5000', the first at line 62"),
        ("1," * 4999 + "1e999", "line 62, column 'x5000': the number is infinite"),
        ("", "line 62 is empty"),
        (b"1," * 4999 + b"\xff", "not UTF-8"),
        ("1," * 4999 + '"1', "cannot be read as a table|is no number|cells, and"),
    ],
)
def test_wide_tables_that_are_wrong(tmp_path, monkeypatch, row, message):
    monkeypatch.setattr(stream, "HEAD", 30_000)  # the first lines are looked at, the others only read
    good = ",".join("1" * 5000)
    row = row if isinstance(row, bytes) else row.encode()
    text = wide(5000, *[good] * 60).encode() + b"\n" + row + b"\n" + (good + "\n").encode() * 20
    with pytest.raises(FormatError, match=rf"X\.csv: .*({message})"):
        read(saved(tmp_path / "X.csv", text))


def test_more_columns_than_any_table_has(tmp_path, monkeypatch):
    monkeypatch.setattr(sniff, "MOST_COLUMNS", 100)
    for text in ("," * 200, "1,2\n" + "," * 200 + "\n"):
        with pytest.raises(FormatError, match=r"X\.csv.gz: a line has more than 100 columns"):
            read(saved(tmp_path / "X.csv.gz", gzip.compress(text.encode())))


def test_a_long_name_is_not_a_long_message(tmp_path):
    for text in (f"{'x' * 3000},b\na,b\n", f"{'x' * 3000},{'x' * 3000}\n1,2\n", f"{'x' * 3000},b\n1,2\n,4\n"):
        with pytest.raises(FormatError) as told:
            read(saved(tmp_path / "X.csv", text))
        assert len(str(told.value)) < 1000


def test_a_line_that_never_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "HEAD", 1 << 10)
    monkeypatch.setattr(stream, "LONGEST", 1 << 12)
    with pytest.raises(FormatError, match="no line ends within"):
        read(saved(tmp_path / "X.csv.gz", gzip.compress(b"1" * 100_000)))


# Arrays.


def npy(header, body=b"", version=1):
    text = header.encode("latin1") + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + body


def test_a_header_of_any_length_is_not_read(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy("x" * 3_000_000, version=2))
    with pytest.raises(FormatError, match=r"X\.npz \[X\]: its header .* would have 3000001 bytes"):
        read(saved(tmp_path / "X.npz", packed.getvalue()))
    with pytest.raises(FormatError, match=r"X\.npy: its header") as told:
        read(saved(tmp_path / "X.npy", npy("9" * 5000)))
    assert len(str(told.value)) < 500


def test_headers_of_python_2_and_impossible_sizes(tmp_path, recwarn):
    body = np.arange(12.0).tobytes()
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L)}"
    np.testing.assert_array_equal(
        read(saved(tmp_path / "X.npy", npy(text, body))).X, np.arange(12).reshape(3, 4)
    )
    assert not recwarn.list
    for shape in ("(True, 12)", "(" + "1," * 40 + "12)", "(0, -12)"):
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
        with pytest.raises(FormatError, match=r"X\.npy: declares the shape .* which cannot be"):
            read(saved(tmp_path / "X.npy", npy(text, body)))


def test_a_header_with_a_tail(tmp_path, recwarn):
    """NumPy takes it for one of Python 2, and warns."""
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}\n\tC"
    with pytest.raises(FormatError, match=r"X\.npy: its header cannot be read"):
        read(saved(tmp_path / "X.npy", npy(text, bytes(96))))
    assert not recwarn.list


def test_names_of_members_that_differ(tmp_path):
    """The name in the directory is short, that before the member takes in the numbers: it was all in the message."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "X.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}", bytes(5000))
        )
    data = bytearray(packed.getvalue())
    data[26:28] = struct.pack("<H", 3000)
    with pytest.raises(FormatError, match=r"X\.npz: the archive is damaged") as told:
        read(saved(tmp_path / "X.npz", bytes(data)))
    assert len(str(told.value)) < 500


def test_indices_that_are_no_whole_numbers(tmp_path, recwarn):
    parts = {
        "data": np.ones(2),
        "row": np.array([0.0, np.nan]),
        "col": np.array([0, 1]),
        "shape": np.array([2, 2]),
    }
    np.savez(tmp_path / "X.npz", format=np.array("coo"), **parts)
    with pytest.raises(
        FormatError, match=r"X\.npz: the 'row' of its sparse matrix are float64, not whole numbers"
    ):
        read(tmp_path / "X.npz")
    assert not recwarn.list


def test_columns_of_any_bytes(tmp_path):
    np.savez(tmp_path / "X.npz", X=np.eye(2), name=np.array([b"a", b"\xff"]))
    assert read(tmp_path / "X.npz").columns["name"].tolist() == ["a", "�"]


def test_arrays_that_lie_over_each_other(tmp_path, monkeypatch):
    """Members of an archive may share their bytes, and all of them together are more than it can hold."""
    from lowdim.data.files import checks, npz

    np.savez(tmp_path / "X.npz", X=np.zeros((100, 1)), **{f"c{k}": np.zeros(100) for k in range(20)})
    assert len(read(tmp_path / "X.npz").columns) == 20
    monkeypatch.setattr(checks, "SMALL", 9000)
    monkeypatch.setattr(checks, "RATIO", 0)
    monkeypatch.setattr(npz, "check_declared", lambda *_: None)
    with pytest.raises(FormatError, match=r"X\.npz: .*exhaust the memory"):
        read(tmp_path / "X.npz")


@pytest.mark.parametrize(
    "told", [np.zeros((), "V4"), np.array(["csr", "csc"]), np.array(3), np.array([], "U3")]
)
def test_a_sparse_matrix_of_no_format(tmp_path, told):
    parts = {
        "data": np.ones(1),
        "indices": np.zeros(1, int),
        "indptr": np.array([0, 1]),
        "shape": np.array([1, 1]),
    }
    np.savez(tmp_path / "X.npz", format=told, **parts)
    with pytest.raises(FormatError, match=r"X\.npz: holds a sparse matrix of format"):
        read(tmp_path / "X.npz")


def test_a_member_that_ends_early(tmp_path):
    """Its checksum is that of what there is, its size that of what should be."""
    text = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}", bytes(48))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", text)
    size, more = struct.pack("<I", len(text)), struct.pack("<I", len(text) + 48)
    assert packed.getvalue().count(size) == 2
    with pytest.raises(FormatError, match=r"X\.npz: the archive is damaged .*cut off"):
        read(saved(tmp_path / "X.npz", packed.getvalue().replace(size, more)))


def test_no_memory_is_an_error_with_a_name(tmp_path, monkeypatch):
    from lowdim.data.files import npy as reader

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(reader, "read", fail)
    with pytest.raises(MemoryLimitError, match=r"X\.npy: reading it needs more memory"):
        read(tmp_path / "X.npy")


def test_a_damaged_schema(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "X.parquet"
    parquet.write_table(pa.table({"quite_a_name": [1.0, 2.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"quite_a_name", b"\x87uite_a_name"))
    with pytest.raises(FormatError, match=r"X\.parquet: is damaged"):
        read(path)


# HDF5.

h5py = pytest.importorskip("h5py")


@pytest.fixture
def annotated(tmp_path):
    """An .h5ad of three points, and what no file may reach."""
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = np.full((3, 2), 7.0)
        file.create_group("obs")
    (tmp_path / "secret.bin").write_bytes(np.full((3, 2), 7.0).tobytes())
    os.mkfifo(tmp_path / "fifo")
    path = tmp_path / "X.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.ones((3, 2))
        obs = file.create_group("obs")
        obs["a"], obs["_index"] = np.arange(3), ["p", "q", "r"]
        obs.attrs["column-order"] = ["a"]
    return path


def changed(path, change):
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def without(name, make):
    def change(file):
        del file[name]
        make(file)

    return change


def _virtual(file):
    layout = h5py.VirtualLayout((3, 2), "f8")
    layout[:] = h5py.VirtualSource("secret.h5", "X", (3, 2))
    file.create_virtual_dataset("X", layout)


OUT = {
    "link": without("X", lambda file: file.__setitem__("X", h5py.ExternalLink("secret.h5", "/X"))),
    "pipe": without("X", lambda file: file.__setitem__("X", h5py.ExternalLink("fifo", "/X"))),
    "obs": without("obs", lambda file: file.__setitem__("obs", h5py.ExternalLink("secret.h5", "/obs"))),
    "column": without(
        "obs/a", lambda file: file["obs"].__setitem__("a", h5py.ExternalLink("secret.h5", "/X"))
    ),
    "storage": without(
        "X", lambda file: file.create_dataset("X", (3, 2), "f8", external=[("secret.bin", 0, 48)])
    ),
    "virtual": without("X", _virtual),
    "circle": without("X", lambda file: file.__setitem__("X", h5py.SoftLink("/X"))),
}


@pytest.mark.parametrize("way", OUT)
def test_no_way_out_of_an_h5ad(annotated, way, monkeypatch):
    monkeypatch.chdir(annotated.parent)
    with pytest.raises(FormatError, match=r"X\.h5ad: .*Only the file that was named is opened"):
        read(changed(annotated, OUT[way]))


def test_links_within_an_h5ad(annotated):
    def link(file):
        file.create_group("obsm")["E"] = h5py.SoftLink("/X")
        file["obsm"]["F"] = h5py.SoftLink("../nowhere")
        file["obs"].attrs["column-order"] = ["a", "a", "/obs/a", "./a", "a/b", "/X/b"]

    path = changed(annotated, link)
    table = read(path, obsm="E")
    np.testing.assert_array_equal(table.X, np.ones((3, 2)))
    assert list(table.columns) == ["a", "/obs/a", "./a"]
    with pytest.raises(FormatError, match="damaged"):
        read(path, obsm="F")


def test_a_chunk_is_no_larger_than_the_file_bears_out(annotated):
    make = {"maxshape": (None, None), "chunks": (9000, 9000), "compression": "gzip"}
    path = changed(annotated, without("X", lambda file: file.create_dataset("X", (3, 2), "f8", **make)))
    with pytest.raises(FormatError, match="exhaust the memory"):
        read(path)


def test_names_that_share_their_bytes(annotated, monkeypatch):
    from lowdim.data.files import annotated as reader
    from lowdim.data.files import checks

    def copy(file):
        names = [f"c{k}" for k in range(500)]
        for name in names:
            file["obs"][name] = file["obs/_index"]
        file["obs"].attrs["column-order"] = names

    assert len(read(changed(annotated, copy)).columns) == 500
    monkeypatch.setattr(checks, "SMALL", 1000)
    monkeypatch.setattr(checks, "RATIO", 0)
    monkeypatch.setattr(reader, "check_declared", lambda *_: None)
    with pytest.raises(FormatError, match="exhaust the memory"):
        read(annotated)


# zarr.

zarr = pytest.importorskip("zarr")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "X.zarr"
    zarr.create_array(str(path), data=np.ones((4, 2)), chunks=(2, 2), zarr_format=2)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "secret").write_bytes(np.full(4, 7.0).tobytes())
    return path


@pytest.mark.parametrize(
    ("target", "message"),
    [("../secret", "leads out of the folder"), ("../fifo", "leads out of the folder"), ("/etc", "leads out")],
)
def test_no_way_out_of_a_zarr(folder, target, message):
    (folder / "0.0").unlink()
    (folder / "0.0").symlink_to(target)
    with pytest.raises(FormatError, match=rf"X\.zarr: 0\.0 {message}"):
        read(folder)


def test_a_pipe_in_a_zarr_is_not_waited_for(folder):
    (folder / "0.0").unlink()
    os.mkfifo(folder / "0.0")
    with pytest.raises(FormatError, match=r"X\.zarr: 0\.0 is no plain file"):
        read(folder)


def test_links_within_a_zarr(folder):
    (folder / "1.0").unlink()
    (folder / "1.0").symlink_to("0.0")
    (folder / "loop").symlink_to(".")
    np.testing.assert_array_equal(read(folder).X, np.ones((4, 2)))


@pytest.mark.parametrize("name", ["pickle", "numcodecs.pickle", "\\u0070ickle"])
def test_pickles_in_a_zarr_are_never_opened(folder, name):
    """Releases of numcodecs before 0.16.4 ran what such a chunk says."""
    text = (folder / ".zarray").read_text()
    metadata = json.loads(text) | {
        "compressor": {"id": "NAME"},
        "filters": [{"id": "vlen-utf8"}],
        "dtype": "|O",
    }
    (folder / ".zarray").write_text(json.dumps(metadata).replace("NAME", name))
    with pytest.raises(FormatError, match=r"X\.zarr: asks for a Python pickle"):
        read(folder)


def test_metadata_of_any_length_is_not_read(folder, monkeypatch):
    from lowdim.data.files import zarr as reader

    monkeypatch.setattr(reader, "_LONGEST", 10)
    with pytest.raises(FormatError, match="longer than metadata can be"):
        read(folder)


def test_numbers_that_were_never_written(folder):
    metadata = json.loads((folder / ".zarray").read_text()) | {"shape": [2_000_000, 1000]}
    (folder / ".zarray").write_text(json.dumps(metadata))
    with pytest.raises(FormatError, match="exhaust the memory"):
        read(folder)
