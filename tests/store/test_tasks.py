"""The store of tasks: whole or not at all, read by parts, and no flipped bit goes unseen."""

from __future__ import annotations

import errno
import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest

from lowdim.errors import FileError, FormatError
from lowdim.store.tasks import TaskStore

ARRAYS = {
    "ids": np.arange(10, dtype=np.int64),
    "values": np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32),
}
STARTS = np.array([0, 4, 4, 10])


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(str(tmp_path))


def file_of(store: TaskStore) -> Path:
    return next(Path(store.root).rglob("*.task"))


@pytest.mark.parametrize("starts", [None, STARTS])
def test_what_is_put_is_got(store: TaskStore, starts: np.ndarray | None) -> None:
    store.put("route", 3, ARRAYS, starts)
    again = pickle.loads(pickle.dumps(store)).get("route", 3)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(again[name], array)
        assert again[name].dtype == array.dtype


def test_a_part_is_its_rows(store: TaskStore) -> None:
    store.put("route", 0, ARRAYS, STARTS)
    for part, (first, last) in enumerate(itertools.pairwise(STARTS)):
        found = store.get("route", 0, part)
        np.testing.assert_array_equal(found["values"], ARRAYS["values"][first:last])


def test_arrays_of_any_shape(store: TaskStore) -> None:
    arrays = {"none": np.zeros((0, 3)), "one": np.array(2.5), "truth": np.array([True, False])}
    store.put("a", 0, arrays)
    for name, array in store.get("a", 0).items():
        np.testing.assert_array_equal(array, arrays[name], strict=True)


def test_missing_finished_and_dropped(store: TaskStore) -> None:
    assert store.missing("route", 3) == [0, 1, 2]
    store.put("route", 1, ARRAYS)
    assert store.missing("route", 3) == [0, 2]
    assert store.has("route", 1)
    assert store.size("route") > ARRAYS["values"].nbytes
    store.finish("route")
    store.drop("route")
    assert store.missing("route", 3) == []
    assert store.size("route") == 0
    with pytest.raises(FileError, match="Remove the folder"):
        store.get("route", 1)
    store.clear()
    assert store.missing("route", 1) == [0]


@pytest.mark.parametrize("starts", [None, STARTS])
def test_a_flipped_bit_is_seen_anywhere(store: TaskStore, starts: np.ndarray | None) -> None:
    store.put("route", 0, ARRAYS, starts)
    path = file_of(store)
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"is damaged.*run this again"):
            store.get("route", 0)


def test_what_is_damaged_is_not_cut_off(store: TaskStore) -> None:
    store.put("route", 0, ARRAYS, STARTS)
    path = file_of(store)
    whole = path.read_bytes()
    first = whole.index(STARTS.astype("<i8").tobytes()) + 8
    for place in range(first, first + 8):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 128]) + whole[place + 1 :])
        with pytest.raises(FormatError, match="is damaged"):
            store.shorten("route", 0, 1)


def test_a_file_cut_anywhere_is_seen(store: TaskStore) -> None:
    store.put("route", 0, ARRAYS, STARTS)
    path = file_of(store)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError, match="is damaged"):
            store.get("route", 0)


def test_what_was_read_is_cut_off(store: TaskStore) -> None:
    store.put("route", 0, ARRAYS, STARTS)
    path, sizes = file_of(store), []
    for part in range(len(STARTS)):
        store.shorten("route", 0, part)
        sizes.append(path.stat().st_size)
        for other, (first, last) in enumerate(itertools.pairwise(STARTS)):
            if other >= part:
                found = store.get("route", 0, other)
                np.testing.assert_array_equal(found["ids"], ARRAYS["ids"][first:last])
                np.testing.assert_array_equal(found["values"], ARRAYS["values"][first:last])
            elif last > first:
                with pytest.raises(FormatError, match="is damaged"):
                    store.get("route", 0, other)
    row = sum(array.nbytes for array in ARRAYS.values()) // len(ARRAYS["ids"])
    assert [sizes[0] - size for size in sizes] == [row * start for start in STARTS]
    store.shorten("route", 0, 1)  # nothing comes back
    assert path.stat().st_size == sizes[-1]
    store.shorten("route", 1, 1)  # nobody has left it


def test_a_full_disk_is_said_and_leaves_nothing(store: TaskStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match="the disk is full"):
        store.put("route", 0, ARRAYS)
    assert list((Path(store.root) / "route").iterdir()) == []
    assert store.missing("route", 1) == [0]
