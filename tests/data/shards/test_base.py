"""Rows in shards: any range, the same numbers, and an identity that changes with the source."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from lowdim.data.shards import InMemory, MemoryMapped, Shards
from lowdim.errors import FileError, FormatError, InputError

VALUES = np.random.default_rng(0).normal(size=(23, 3)).astype(np.float32)


@pytest.fixture(params=["memory", "npy", "fortran"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Shards:
    if request.param == "memory":
        return InMemory.of(np.asfortranarray(VALUES))
    np.save(tmp_path / "x.npy", np.asfortranarray(VALUES) if request.param == "fortran" else VALUES)
    return MemoryMapped.of(tmp_path / "x.npy")


@pytest.mark.parametrize("part", [(0, 23), (0, 0), (5, 6), (20, 23), (0, 10)])
def test_any_range_gives_its_rows(source: Shards, part: tuple[int, int]) -> None:
    found = source.rows(*part)
    np.testing.assert_array_equal(found, VALUES[slice(*part)])
    assert found.flags.c_contiguous
    assert found.dtype == source.dtype == np.float32
    assert source.shape == (23, 3)


def test_blocks_cover_the_rows_in_order(source: Shards) -> None:
    assert list(source.blocks(10)) == [slice(0, 10), slice(10, 20), slice(20, 23)]


def test_a_source_goes_to_another_process_by_value(source: Shards) -> None:
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.rows(3, 9), VALUES[3:9])
    assert again.digest() == source.digest()


def test_a_mapped_source_holds_no_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((100_000, 3)))
    assert len(pickle.dumps(MemoryMapped.of(tmp_path / "x.npy"))) < 2_000


def test_the_digest_changes_with_the_source(tmp_path: Path) -> None:
    other = VALUES.copy()
    other[7, 1] += 1
    assert InMemory.of(VALUES).digest() != InMemory.of(other).digest()
    np.save(tmp_path / "x.npy", VALUES)
    before = MemoryMapped.of(tmp_path / "x.npy")
    os.utime(tmp_path / "x.npy", ns=(0, before.written + 1))
    assert MemoryMapped.of(tmp_path / "x.npy").digest() != before.digest()


def test_a_file_that_changed_its_shape_is_an_error(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", VALUES)
    source = MemoryMapped.of(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", VALUES[:20])
    with pytest.raises(FileError, match="when the work began"):
        source.rows(0, 5)


def test_what_is_no_table_of_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="table of numbers"):
        InMemory.of(np.array([["a"]]))
    with pytest.raises(InputError, match="rows and columns"):
        InMemory.of(np.zeros(3))
    (tmp_path / "x.npy").write_bytes(b"nothing")
    with pytest.raises(FormatError):
        MemoryMapped.of(tmp_path / "x.npy")
