"""A file by its suffix, and each kind of bad input in turn."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from lowdim.data.files import SUFFIXES, checks, read, read_embedding
from lowdim.errors import FileError, FormatError, InputError, MemoryLimitError

PLAIN = [suffix for suffix in SUFFIXES if suffix != ".zarr"]


@pytest.mark.parametrize("reader", [read, read_embedding])
@pytest.mark.parametrize("suffix", PLAIN)
class TestEveryKind:
    def test_missing(self, tmp_path, suffix, reader):
        with pytest.raises(FileError, match=r"X.*: does not exist. Check the name"):
            reader(tmp_path / f"X{suffix}")
        (tmp_path / f"Xs{suffix}").write_bytes(b"")
        with pytest.raises(FileError, match=f"Did you mean 'Xs{suffix}'"):
            reader(tmp_path / f"X{suffix}")
        with pytest.raises(FileError, match=r"does not exist. Nor does the folder"):
            reader(tmp_path / "nowhere" / f"X{suffix}")

    def test_folder(self, tmp_path, suffix, reader):
        (tmp_path / f"X{suffix}").mkdir()
        with pytest.raises(FileError, match="is a folder"):
            reader(tmp_path / f"X{suffix}")

    def test_empty(self, tmp_path, suffix, reader):
        (tmp_path / f"X{suffix}").write_bytes(b"")
        with pytest.raises(FormatError, match="is empty"):
            reader(tmp_path / f"X{suffix}")

    def test_other_bytes(self, tmp_path, suffix, reader):
        for content in (
            b"\0" * 5000,
            b"\x80\x04\x95 pickle",
            b"\x89HDF\r\n\x1a\n" * 9,
            b"\x1f\x8b" + b"\7" * 99,
        ):
            (tmp_path / f"X{suffix}").write_bytes(content)
            with pytest.raises(FormatError):
                reader(tmp_path / f"X{suffix}")

    def test_no_permission(self, tmp_path, suffix, reader, monkeypatch):
        path = tmp_path / f"X{suffix}"
        path.write_bytes(b"data")

        def refuse(*_arguments, **_options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(FileError, match="may not be read"):
            reader(path)

    def test_no_plain_file(self, tmp_path, suffix, reader):
        os.mkfifo(tmp_path / f"X{suffix}")
        with pytest.raises(FileError, match="no plain file"):
            reader(tmp_path / f"X{suffix}")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "X.csv"
    path.write_text("1,2\n")
    path.chmod(0)
    with pytest.raises(FileError, match="may not be read"):
        read(path)


@pytest.mark.parametrize("name", ["X.xlsx", "X", "X.csv.bz2", "X.npy.gz"])
def test_unknown_suffixes(tmp_path, name):
    (tmp_path / name).write_bytes(b"data")
    with pytest.raises(FileError, match=r"its suffix is none of .*\.csv, \.csv\.gz, .*\.h5ad.*\.zarr"):
        read(tmp_path / name)
    with pytest.raises(FileError, match="does not exist"):
        read(tmp_path / "nowhere.xlsx")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("cells.lowdim", "It is a model: lowdim.load reads it"),
        ("cells.h5mu", "Write the part that is meant as .h5ad"),
        ("sheet.XLSX", "Save the sheet as CSV"),
        ("array.pkl", "Such a file may run code when it is opened"),
        ("cells.loom", "Rename it to what it is"),
    ],
)
def test_files_that_people_have_are_told_what_to_do(tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"data")
    with pytest.raises(FileError, match=f"its suffix is none of .*{re.escape(advice)}"):
        read(tmp_path / name)


def test_names_that_cannot_be():
    with pytest.raises(FileError, match="cannot be read"):
        read("null\0character.npy")
    with pytest.raises(FileError, match="cannot be read"):
        read("n" * 300 + ".npy")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("label", 0),
        ("id", 0),
        ("drop", 0),
        ("layer", "a"),
        ("obsm", "a"),
        ("key", "a"),
        ("header", True),
        ("delimiter", ";"),
    ],
)
def test_options_belong_to_kinds(tmp_path, option, value):
    np.save(tmp_path / "X.npy", np.eye(3))
    with pytest.raises(
        InputError, match=rf"{option}: .*X\.npy is \.npy, to which it does not apply; it is for \."
    ):
        read(tmp_path / "X.npy", **{option: value})


def test_capitals(tmp_path):
    (tmp_path / "X.CSV").write_text("1,2\n3,4\n")
    assert read(tmp_path / "X.CSV").X.shape == (2, 2)


def test_sizes(monkeypatch):
    monkeypatch.setattr(checks, "available_memory", lambda: 10**8)
    checks.check_declared("X", 10**7, 1)
    checks.check_fits("X", 10**8, "")
    with pytest.raises(FormatError, match=r"X: declares 1.* GB of numbers but stores 10 B"):
        checks.check_declared("X", 10**9, 10)
    with pytest.raises(MemoryLimitError, match=r"X: needs .* in memory, and .* are free. Help"):
        checks.check_fits("X", 10**9, "Help.")
