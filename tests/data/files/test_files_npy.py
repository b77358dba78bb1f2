"""Arrays of NumPy are mapped, not loaded."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lowdim.data.files import read
from lowdim.errors import FormatError

NUMBERS = st.sampled_from(
    ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", ">f4", ">i8"]
)


@given(array=arrays.arrays(NUMBERS, st.tuples(st.integers(1, 6), st.integers(1, 5))), fortran=st.booleans())
def test_round_trip(array, fortran, tmp_path_factory):
    path = tmp_path_factory.mktemp("npy") / "X.npy"
    np.save(path, np.asfortranarray(array) if fortran else array)
    table = read(path)
    assert isinstance(table.X, np.memmap)
    assert not table.X.flags.writeable
    assert table.X.dtype == array.dtype
    np.testing.assert_array_equal(table.X, array)
    assert (table.ids, table.columns, table.label, table.labels, table.feature_names) == (
        None,
        {},
        None,
        None,
        None,
    )
    assert table.source == str(path)


def test_images_are_laid_out_flat_without_a_copy(tmp_path):
    images = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    np.save(tmp_path / "X.npy", images)
    X = read(tmp_path / "X.npy").X
    np.testing.assert_array_equal(X, images.reshape(2, 12))
    assert isinstance(X, np.memmap)
    assert isinstance(X.base, np.memmap)


def test_a_map_takes_no_memory(tmp_path):
    """A file of 8 GB with nothing in it, which a loaded copy would show at once."""
    path = tmp_path / "X.npy"
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (1_000_000, 1000)}
        np.lib.format.write_array_header_1_0(file, header)
        os.truncate(file.fileno(), file.tell() + 8_000_000_000)
    X = read(path).X
    assert X.shape == (1_000_000, 1000)
    assert X[999_999, 999] == 0.0


def raw(header: str, version: bytes = b"\x01\x00", data: bytes = b"") -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


def saved(array, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            saved(np.zeros((3, 4)))[:-1],
            "is cut off: its shape .3, 4. of float64 takes 96 B .96 bytes., and it holds 95",
        ),
        (saved(np.zeros((3, 4)))[:60], "header cannot be read"),
        (saved(np.zeros((3, 4)))[:7], "header cannot be read"),
        (saved(np.zeros((3, 4))) + b"x", "something after its end"),
        (saved(np.array([[{}]], dtype=object), allow_pickle=True), "Python objects"),
        (saved(np.zeros((3, 2), complex)), "complex numbers"),
        (saved(np.array([["a", "b"]])), "holds text"),
        (saved(np.zeros(3, [("a", float)])), "holds records"),
        (saved(np.zeros((3, 2), "M8[s]")), "datetime64"),
        (saved(np.zeros(3)), "two dimensions"),
        (saved(np.float64(3)), "two dimensions"),
        (saved(np.zeros((0, 3))), "nothing in it"),
        (saved(np.zeros((3, 0))), "nothing in it"),
        (saved(np.zeros((3, 4))).replace(b"(3, 4)", b"(9999999999999, 4)"), "cut off|header cannot be read"),
        (raw("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15, 4)}"), "header cannot be read"),
        (raw(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**15}, 4)}}"), "is cut off"),
        (
            raw("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, -4)}", data=bytes(96)),
            "which cannot be",
        ),
        (raw("{'descr': '<f8', 'fortran_order': 7, 'shape': (3, 4)}"), "header cannot be read"),
        (raw("[1, 2]"), "header cannot be read"),
        (raw("(" * 5000), "header cannot be read"),
        (raw("{'descr': 'nonsense', 'fortran_order': False, 'shape': (3, 4)}"), "header cannot be read"),
        (raw("", version=b"\x03\x00"), "version 3.0"),
        (raw("", version=b"\x09\x00"), "header cannot be read"),
        (b"PK\x03\x04 and more", r"is not a NumPy array \(.npy\); it looks like a zip archive"),
        (b"1,2,3\n", "does not begin like one"),
    ],
)
def test_bad_files(tmp_path, content, message):
    path = tmp_path / "X.npy"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"X\.npy: .*({message})"):
        read(path)


def test_long_headers(tmp_path):
    path = tmp_path / "X.npy"
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (1, 2)}
        np.lib.format.write_array_header_2_0(file, header)
        file.write(np.array([[1.0, 2.0]]).tobytes())
    np.testing.assert_array_equal(read(path).X, [[1.0, 2.0]])
