"""The envelope of a model file: in the safetensors format, and no byte of it can change unnoticed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.errors import FileError, FormatError
from lowdim.store import container
from lowdim.store.container import MOST_HEADER, open_container, write_container

METADATA = {"version": "1", "model": "{}"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small model file."""
    X = np.random.default_rng(0).normal(size=(5, 3))
    path = tmp_path_factory.mktemp("small") / "model.lowdim"
    return lowdim.save(lowdim.PCA(2).fit(X), path).read_bytes()


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    with open_container(path) as file:
        return file.arrays()


def with_header(path: Path, header: Any, data: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def test_every_type_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {dtype.name: rng.integers(0, 2, (3, 4)).astype(dtype) for dtype in container.NAMES}
    arrays |= {"empty": np.zeros((0, 3)), "number": np.array(2.5), "big": np.arange(5, dtype=">i4")}
    write_container(tmp_path / "a", arrays, METADATA)
    found = arrays_of(tmp_path / "a")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("<")
        assert found[name].flags.aligned
        assert found[name].flags.writeable


def test_the_reference_library_reads_the_same(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    X = np.random.default_rng(0).normal(size=(50, 3))
    path = lowdim.save(lowdim.LaplacianEigenmaps(search="approximate").fit(X), tmp_path / "model.safetensors")
    found = arrays_of(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(found)
        assert file.metadata()["format"] == "lowdim-model"
        for name in file.keys():  # noqa: SIM118 - it is no dictionary
            np.testing.assert_array_equal(file.get_tensor(name), found[name])


def test_no_arrays_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_container(tmp_path / "a", {}, METADATA)
    assert arrays_of(tmp_path / "a") == {}
    monkeypatch.setattr(container, "MAPPED_FROM", 0)
    assert arrays_of(tmp_path / "a") == {}


def test_long_arrays_have_a_digest_of_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "PIECE", 100)
    monkeypatch.setattr(container, "MAPPED_FROM", 500)
    write_container(tmp_path / "a", {"x": np.arange(1000)}, METADATA)
    np.testing.assert_array_equal(arrays_of(tmp_path / "a")["x"], np.arange(1000))
    broken = bytearray((tmp_path / "a").read_bytes())
    broken[-350] ^= 1
    (tmp_path / "a").write_bytes(broken)
    with pytest.raises(FormatError, match="its arrays are not those that were saved"):
        arrays_of(tmp_path / "a")


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_single_byte_is_watched(step: int, small: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.lowdim"
    rng = np.random.default_rng(0)
    for place, bit in list(enumerate(rng.integers(0, 8, len(small))))[::step]:
        changed = bytearray(small)
        changed[place] ^= 1 << int(bit)
        path.write_bytes(changed)
        with pytest.raises(FormatError):
            lowdim.load(path)


@given(data=st.data())
def test_cut_and_pasted_files_are_refused(
    small: bytes, tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    first = data.draw(st.integers(0, len(small)))
    last = data.draw(st.integers(first, len(small)))
    put = data.draw(st.one_of(st.binary(max_size=40), st.just(small[first // 2 : last // 2])))
    changed = small[:first] + put + small[last:]
    path = tmp_path_factory.getbasetemp() / "pasted.lowdim"
    path.write_bytes(changed)
    if changed != small:
        with pytest.raises(FormatError):
            lowdim.load(path)


@given(text=st.binary(max_size=200))
def test_whatever_follows_a_length_is_refused(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = with_header(tmp_path_factory.getbasetemp() / "noise.lowdim", b"{" + text)
    with pytest.raises(FormatError):
        lowdim.load(path)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (b"", "is empty"),
        (b"\x80\x04\x95", "a pickle, which can run code"),
        (b"PK\x03\x04" + b"\0" * 20, "a zip archive"),
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"x,y\n1,2\n3,4\n", "is no model file. Name"),
        ((MOST_HEADER + 1).to_bytes(8, "little") + b"{}", "is no model file"),
        ((2**63).to_bytes(8, "little") + b"{}", "is no model file"),
        ((100).to_bytes(8, "little") + b"{}", "ends within its header"),
        ((0).to_bytes(8, "little") + b"{", "cannot be read"),
    ],
)
def test_other_files_are_told_apart(first: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(first)
    with pytest.raises(FormatError, match=words):
        lowdim.load(path)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        lowdim.load(tmp_path / "nothing")
    with pytest.raises(FileError, match="no plain file"):
        lowdim.load(tmp_path)
    with pytest.raises(FileError, match="no name of a file"):
        lowdim.load("a\0b")
    with pytest.raises(FileError, match="cannot be read"):
        lowdim.load(tmp_path / ("a" * 300))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no plain file"):
        lowdim.load(tmp_path / "pipe")


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.lowdim"
    write_container(path, {"x": np.arange(10**5)}, METADATA)
    with open_container(path) as file:
        os.truncate(path, 10**5)
        with pytest.raises(FormatError, match="became shorter"):
            file.arrays()


def headers() -> list[tuple[Any, str]]:
    good = {"format": "lowdim-model", "version": "1", "model": "{}", "header": "0" * 64, "data": "0" * 64}
    return [
        (b'{"a":' + b"[" * 100_000, "header cannot be read"),
        (b'{"a":' + b"9" * 5000 + b"}", "header cannot be read"),
        (b'{"a":[' + b"0," * (1 << 22) + b"0]}", "more parts than any model"),
        (b'{"a":"\xff"}', "header cannot be read"),
        ({}, "not of a lowdim model"),
        ({"__metadata__": []}, "not of a lowdim model"),
        ({"__metadata__": {"format": "pt"}}, "not of a lowdim model"),
        ({"__metadata__": {**good, "model": 3}}, "lacks an entry"),
        ({"__metadata__": {**good, "data": "\ud800"}}, "digests cannot be read"),
        ({"__metadata__": good}, "header is not the one that was saved"),
    ]


@pytest.mark.parametrize(("header", "words"), headers())
def test_strange_headers(header: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=words):
        lowdim.load(with_header(tmp_path / "model", header))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ([], "entry of the array 'x' cannot be read"),
        ({"dtype": "F64", "shape": [2]}, "entry of the array 'x'"),
        ({"dtype": "O", "shape": [2], "data_offsets": [0, 16]}, "entry of the array 'x'"),
        ({"dtype": ["F64"], "shape": [2], "data_offsets": [0, 16]}, "entry of the array 'x'"),
        ({"dtype": "F64", "shape": 2, "data_offsets": [0, 16]}, "shape or the place"),
        ({"dtype": "F64", "shape": [-2], "data_offsets": [0, 16]}, "shape or the place"),
        ({"dtype": "F64", "shape": [True, 2], "data_offsets": [0, 16]}, "shape or the place"),
        ({"dtype": "F64", "shape": [1] * 9, "data_offsets": [0, 8]}, "shape or the place"),
        ({"dtype": "F64", "shape": [0, 1 << 60], "data_offsets": [0, 0]}, "shape or the place"),
        ({"dtype": "F64", "shape": [2], "data_offsets": [0, 16, 16]}, "another size"),
        ({"dtype": "F64", "shape": [1 << 40], "data_offsets": [0, 16]}, "another size"),
        ({"dtype": "F64", "shape": [1], "data_offsets": [8, 16]}, "does not begin where"),
        ({"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}, "should take 8 bytes and there are 16"),
    ],
)
def test_entries_must_fit_the_file(
    entry: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry of an array is swapped for another; the digest of the header agrees."""
    real = json.dumps

    def swapped(entries: dict[str, Any], **options: Any) -> str:
        return real(entries | ({"x": entry} if "x" in entries else {}), **options)

    monkeypatch.setattr(container.json, "dumps", swapped)
    write_container(tmp_path / "model", {"x": np.zeros(2)}, METADATA)
    monkeypatch.undo()
    with pytest.raises(FormatError, match=words):
        lowdim.load(tmp_path / "model")


def test_arrays_must_not_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = json.dumps
    both = {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}
    monkeypatch.setattr(container.json, "dumps", lambda e, **o: real(e | {"x": both, "y": both}, **o))
    write_container(tmp_path / "model", {"x": np.zeros(2)}, METADATA)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="'y' does not begin where"):
        lowdim.load(tmp_path / "model")


def test_too_many_parts_are_refused_on_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="too many parts"):
        write_container(tmp_path / "a", {}, {**METADATA, "model": "," * (1 << 23)})
    with pytest.raises(FileError, match="too many parts"):
        write_container(tmp_path / "a", {}, {**METADATA, "model": "x" * (1 << 26)})
