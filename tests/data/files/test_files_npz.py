"""Archives of NumPy: an array by its key with what belongs to it, and sparse matrices of SciPy."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from lowdim.data.files import checks, read
from lowdim.errors import FormatError, InputError, MemoryLimitError

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("name", ["X", "only"])
def test_features_and_columns(tmp_path, save, name):
    path = tmp_path / "data.npz"
    save(
        path,
        **{
            name: X,
            "y": np.array([0, 1, 1, 0], np.uint8),
            "word": np.array(["a", "b", "b", "c"]),
            "other": [1, 2],
        },
    )
    table = read(path, label="y")
    np.testing.assert_array_equal(table.X, X)
    assert list(table.columns) == ["y", "word"]
    assert table.label == "y"
    np.testing.assert_array_equal(table.labels, [0, 1, 1, 0])
    assert table.columns["word"].tolist() == ["a", "b", "b", "c"]
    assert table.columns["word"].dtype == object
    assert list(read(path, drop="word").columns) == ["y"]
    assert read(path).label is None


def test_the_array_is_chosen(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, first=X, second=2 * X)
    with pytest.raises(InputError, match=r"several arrays: 'first' \(4, 3\), 'second' \(4, 3\). Say which"):
        read(path)
    np.testing.assert_array_equal(read(path, key="second").X, 2 * X)
    with pytest.raises(InputError, match=r"has no array 'third'. It has 'first', 'second'"):
        read(path, key="third")
    with pytest.raises(InputError, match=r"no columns beside the features. Leave label out"):
        read(path, key="first", label="y")
    np.savez(path, other=X, data=2 * X)
    np.testing.assert_array_equal(read(path).X, 2 * X)


def test_objects_are_passed_by_unless_asked_for(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, names=np.array([{}, 1, "x", None], dtype=object))
    assert read(path).columns == {}
    with pytest.raises(FormatError, match=r"data\.npz \[names\]: holds Python objects"):
        read(path, key="names")
    np.savez(path, y=np.zeros(3))
    with pytest.raises(FormatError, match="two dimensions"):
        read(path)


@given(
    matrix=arrays.arrays(
        "float64",
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.sampled_from([0.0, 0.0, 1.5, -2.0]),
    ),
    kind=st.sampled_from(["csr", "csc", "coo", "bsr"]),
    compressed=st.booleans(),
)
def test_sparse_round_trip(matrix, kind, compressed, tmp_path_factory):
    path = tmp_path_factory.mktemp("npz") / "X.npz"
    sparse.save_npz(path, sparse.coo_array(matrix).asformat(kind), compressed=compressed)
    table = read(path)
    assert isinstance(table.X, sparse.csr_array)
    assert table.X.has_canonical_format
    np.testing.assert_array_equal(table.X.toarray(), matrix)


def parts(**changes):
    matrix = sparse.random_array((5, 4), density=0.5, rng=np.random.default_rng(0), format="csr")
    stored = {
        "format": b"csr",
        "shape": (5, 4),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }
    return {key: value for key, value in {**stored, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": np.full(10, 99)}, "sparse matrix is damaged"),
        ({"indices": np.full(10, -1)}, "sparse matrix is damaged"),
        ({"indptr": np.array([0, 9, 3, 4, 5, 10])}, "sparse matrix is damaged"),
        ({"indptr": np.array([0, 1])}, "sparse matrix is damaged"),
        ({"shape": (5, 4, 3)}, "declares the shape"),
        ({"shape": (5.0, 4.0)}, "declares the shape"),
        ({"shape": (-5, 4)}, "declares the shape"),
        ({"format": b"dia"}, "format 'dia'.*known formats are csr, csc, bsr, coo"),
        ({"indptr": None}, "format 'csr'"),
        ({"data": np.zeros(10, complex)}, "complex"),
        ({"data": np.zeros(10, object)}, "Python objects"),
        ({"format": b"coo", "row": np.full(10, 9), "col": np.zeros(10, int)}, "sparse matrix is damaged"),
        ({"format": b"coo", "row": np.full(10, -1), "col": np.zeros(10, int)}, "sparse matrix is damaged"),
        (
            {"format": b"coo", "row": np.zeros(10, int), "col": np.zeros(10, int), "shape": (10**15, 4)},
            "exhaust the memory",
        ),
    ],
)
def test_bad_sparse_matrices(tmp_path, changes, message):
    path = tmp_path / "X.npz"
    np.savez(path, **parts(**changes))
    with pytest.raises(FormatError, match=message):
        read(path)


@pytest.mark.parametrize("option", ["key", "label"])
def test_a_sparse_matrix_is_alone(tmp_path, option):
    np.savez(tmp_path / "X.npz", **parts())
    with pytest.raises(InputError, match="one sparse matrix"):
        read(tmp_path / "X.npz", **{option: "data"})


def header(shape, dtype="<f8") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path, content: bytes, **options) -> None:
    with zipfile.ZipFile(path, "w", **options) as file:
        file.writestr("readme.txt", "about")
        file.writestr("X.npy", content)


def test_sizes_that_disagree(tmp_path):
    path = tmp_path / "X.npz"
    archive(path, header((10**9, 10**6)) + bytes(80))
    with pytest.raises(FormatError, match=r"takes 8000000000000000 bytes, and the archive holds 80"):
        read(path)


def test_members_that_are_no_arrays(tmp_path):
    archive(tmp_path / "X.npz", b"nonsense and more of it")
    with pytest.raises(FormatError, match=r"X\.npz \[X\]: its header cannot be read"):
        read(tmp_path / "X.npz")


def test_bombs(tmp_path, monkeypatch):
    path = tmp_path / "X.npz"
    archive(path, header((4000, 1000)) + bytes(32_000_000), compression=zipfile.ZIP_LZMA)
    with pytest.raises(FormatError, match="made to exhaust the memory"):
        read(path)
    archive(path, header((4000, 1000)) + bytes(32_000_000), compression=zipfile.ZIP_DEFLATED)
    assert read(path).X.shape == (4000, 1000)
    monkeypatch.setattr(checks, "available_memory", lambda: 31_000_000)
    with pytest.raises(MemoryLimitError, match=r"needs 32.* MB in memory.*numpy.save"):
        read(path)
    monkeypatch.setattr(checks, "available_memory", lambda: None)
    assert read(path).X.shape == (4000, 1000)


def test_damage_anywhere(tmp_path):
    """Every cut and many single changes: the array comes as it was, or a FormatError, and nothing else."""
    path = tmp_path / "X.npz"
    np.savez_compressed(path, X=X)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    broken = [whole[:length] for length in range(4, len(whole), 7)]
    for place in rng.integers(4, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        broken.append(bytes(changed))
    failures = 0
    for content in broken:
        path.write_bytes(content)
        try:
            np.testing.assert_array_equal(read(path).X, X)
        except (FormatError, InputError):
            failures += 1
    assert failures > len(broken) / 2
