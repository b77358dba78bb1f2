"""Files are there whole or not at all, and never in the place of an input."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest

from lowdim.core import atomic
from lowdim.core.atomic import check_target, writing
from lowdim.errors import FileError, FormatError, LowdimError


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def half_written(target: Path, failure: BaseException) -> None:
    with writing(target) as temporary:
        temporary.write_bytes(b"half")
        raise failure


def test_errors_are_what_a_program_expects():
    assert issubclass(FileError, LowdimError)
    assert issubclass(FileError, OSError)
    assert issubclass(FormatError, FileError)
    assert issubclass(FormatError, ValueError)
    assert str(FormatError("data.csv: bad")) == "data.csv: bad"


def test_the_file_appears_at_the_end(tmp_path):
    target = tmp_path / "out.csv.gz"
    with writing(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.endswith("out.csv.gz")
        temporary.write_bytes(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["out.csv.gz"]


@pytest.mark.parametrize("name", ["é" * 120 + ".npy", "n" * 251 + ".npy"])
def test_names_as_long_as_a_disk_allows(tmp_path, name):
    with writing(tmp_path / name) as temporary:
        assert temporary.suffix == ".npy"
        temporary.write_bytes(b"new")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt(), FormatError("bad")])
def test_an_error_inside_leaves_the_old_file(tmp_path, failure):
    target = tmp_path / "out.npy"
    target.write_bytes(b"old")
    with pytest.raises(type(failure)):
        half_written(target, failure)
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["out.npy"]


@pytest.mark.parametrize(
    ("number", "message"),
    [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "disk is full"), (errno.EIO, "Input/output error")],
)
def test_what_the_system_says_is_passed_on(tmp_path, number, message):
    target = tmp_path / "out.npy"
    with pytest.raises(FileError, match=rf"out\.npy: .*{message}") as caught, writing(target):
        raise OSError(number, os.strerror(number))
    assert caught.value.errno == number
    assert names(tmp_path) == []


def test_an_error_without_a_number(tmp_path):
    with pytest.raises(FileError, match="cannot be written: odd"), writing(tmp_path / "out.npy"):
        raise OSError("odd")


@pytest.mark.parametrize("stage", ["open", "fsync", "replace", "chmod"])
def test_a_failure_at_any_stage_leaves_the_old_file(tmp_path, monkeypatch, stage):
    target = tmp_path / "out.npy"
    target.write_bytes(b"old")

    def fail(*_arguments, **_options):
        raise OSError(errno.EIO, "Input/output error")

    def write():
        with writing(target) as temporary:
            temporary.write_bytes(b"new")
            monkeypatch.setattr(os if stage in ("open", "fsync") else Path, stage, fail)

    with pytest.raises(FileError, match="Input/output error"):
        write()
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["out.npy"]


@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_flushed(tmp_path, monkeypatch, number, fails):
    target = tmp_path / "out.npy"
    flush = atomic.flush

    def only_files(path):
        if path.is_dir():
            raise OSError(number, os.strerror(number))
        flush(path)

    monkeypatch.setattr(atomic, "flush", only_files)
    if fails:
        with pytest.raises(FileError, match="in its place") as caught, writing(target) as temporary:
            temporary.write_bytes(b"new")
        assert caught.value.errno == number
    else:
        with writing(target) as temporary:
            temporary.write_bytes(b"new")
    assert target.read_bytes() == b"new"


def test_nothing_written_is_an_error(tmp_path):
    with pytest.raises(FileError, match="nothing was written"), writing(tmp_path / "out.npy"):
        pass


def test_permissions_stay(tmp_path):
    target = tmp_path / "out.npy"
    target.write_bytes(b"old")
    target.chmod(0o600)
    with writing(target) as temporary:
        temporary.write_bytes(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_links_are_followed(tmp_path):
    real, link = tmp_path / "real.npy", tmp_path / "link.npy"
    real.write_bytes(b"old")
    link.symlink_to(real)
    with writing(link) as temporary:
        temporary.write_bytes(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_an_existing_file_needs_force(tmp_path):
    target = tmp_path / "out.npy"
    target.write_bytes(b"old")
    with pytest.raises(FileError, match=r"out\.npy: is there already. Replace it with force=True") as caught:
        check_target(target)
    assert caught.value.errno == errno.EEXIST
    with pytest.raises(FileError, match="is there already"), writing(target, force=False):
        pass
    assert check_target(target, force=True) == target.resolve()
    assert check_target(str(tmp_path / "new.npy")) == (tmp_path / "new.npy").resolve()


def test_inputs_are_never_written_over(tmp_path):
    target, link = tmp_path / "data.npy", tmp_path / "link.npy"
    target.write_bytes(b"data")
    link.symlink_to(target)
    for name in (target, link):
        with pytest.raises(FileError, match="never written over"):
            check_target(name, force=True, inputs=["-", tmp_path / "other.npy", str(target)])
    assert check_target(target, force=True, inputs=["-"]) == target.resolve()


def test_targets_that_cannot_be(tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"the folder .*nowhere does not exist"):
        check_target(tmp_path / "nowhere" / "out.npy")
    with pytest.raises(FileError, match="is a folder"):
        check_target(tmp_path, force=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no plain file"):
        check_target(tmp_path / "pipe", force=True)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for odd in (tmp_path / "circle", "null\0character", tmp_path / ("n" * 300)):
        with pytest.raises(FileError, match="cannot be written to"):
            check_target(odd)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match=r"cannot be written to\. Write elsewhere"):
        check_target(tmp_path / "out.npy")


def test_a_temporary_that_cannot_be_removed_is_named(tmp_path, monkeypatch):
    target = tmp_path / "out.npy"
    target.write_bytes(b"old")

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(FileError, match="the disk is full") as caught:
        half_written(target, OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.undo()
    (note,) = caught.value.__cause__.__notes__
    assert re.search(r"\.part-out\.npy could not be removed either \(Permission denied\)\. Delete it\.", note)
    assert target.read_bytes() == b"old"
