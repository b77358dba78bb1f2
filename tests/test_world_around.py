"""The world around: other users, no home, closed streams, no terminal, folders that cannot be read or written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.cli import main
from lowdim.data import datasets
from lowdim.data.catalogue import CATALOGUE
from lowdim.data.files import read
from lowdim.data.stored import find, missing
from lowdim.errors import FileError, MissingDataError

SOURCE = Path(lowdim.__file__).parents[1]
LOWDIM = [sys.executable, "-m", "lowdim"]
ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser can become another"
)


@pytest.fixture
def folder(monkeypatch) -> Iterator[Path]:
    """A folder with some points, as the current one; not in pytest's, which each session closes to others anew."""
    with tempfile.TemporaryDirectory(prefix="lowdim-") as name:
        place = Path(name).resolve()
        monkeypatch.chdir(place)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]))
        np.save("points.npy", np.random.default_rng(0).normal(size=(40, 4)))
        yield place
        monkeypatch.undo()


BECOME = """
import os, pwd
import numpy as np, lowdim
from lowdim.data import datasets
from lowdim.data.files import read, write_embedding
from lowdim.errors import FileError

# What loads late is loaded while it may be read: the interpreter may belong to another user.
warm = lowdim.PCA(2).fit(read("points.npy").X)
write_embedding("warm.npy", warm.embedding_)
lowdim.load(lowdim.save(warm, "warm.lowdim"))
import lowdim.data.download
datasets.deformed_digits(3, source="digits")
os.environ.pop("HOME", None)
os.setgroups([])
os.setgid(54321)
os.setuid(54321)
"""


def as_stranger(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python as a user whom nobody knows, without a home."""
    folder.chmod(0o755)
    kept = {
        name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "PATH", "LANG", "HOME")
    }
    return subprocess.run(
        [sys.executable, "-c", BECOME + code],
        env=kept | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@ROOT
def test_a_user_whom_nobody_knows(folder):
    """Unreadable files, folders that may not be written or looked into, no home, no name."""
    (folder / "secret.npy").write_bytes((folder / "points.npy").read_bytes())
    (folder / "secret.npy").chmod(0)
    (folder / "closed").mkdir(mode=0o700)
    shutil.copy(folder / "points.npy", folder / "closed")
    (folder / "passage").mkdir()
    (folder / "passage").chmod(0o711)
    code = """
try:
    pwd.getpwuid(os.getuid())
except KeyError:
    print("unknown")
def said(work):
    try:
        return work()
    except FileError as error:
        return f"{type(error).__name__}: {error}"
model = lowdim.PCA(2).fit(read("points.npy").X)
print(said(lambda: read("secret.npy")))
print(said(lambda: read("closed/points.npy")))
print(said(lambda: read("passage/nothing.npy")))
print(said(lambda: lowdim.save(model, "model.lowdim")))
print(said(lambda: write_embedding("closed/out.npy", model.embedding_)))
print(said(lambda: lowdim.load("secret.npy")))
print(said(lambda: datasets.load("mnist", download=False)))
print(said(lambda: datasets.load("mnist")))
print(datasets.deformed_digits(3).data.shape, len(datasets.available()) > 3)
"""
    answer = as_stranger(code, folder)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[0] == "unknown"
    assert lines[1] == "FileError: secret.npy: may not be read. Change its permissions."
    assert lines[2] == "FileError: closed/points.npy: may not be read. Change its permissions."
    assert lines[3] == "FileError: passage/nothing.npy: does not exist. Check the name."
    assert lines[4].startswith("FileError: model.lowdim: the folder ")
    assert lines[4].endswith("cannot be written to. Write elsewhere.")
    assert lines[5].startswith("FileError: closed/out.npy: ")
    assert lines[6] == "FileError: secret.npy: cannot be read: Permission denied. Check the file."
    assert "MissingDataError" in lines[7]
    assert "(none: there is no home folder)" in lines[7]
    assert "there is no home folder, so there is no cache folder" in lines[8]
    assert lines[9] == "(3, 64) True"


@pytest.mark.slow
@ROOT
def test_the_home_of_another(folder):
    """HOME names a folder that may not be looked into, as where a container runs as another user."""
    (folder / "home").mkdir(mode=0o700)
    code = f"""
os.environ["HOME"] = {str(folder / "home")!r}
print(datasets.deformed_digits(3).data.shape)
"""
    answer = as_stranger(code, folder)
    assert answer.stdout == "(3, 64)\n", answer.stderr


def test_no_home(monkeypatch):
    def homeless(*_):
        raise RuntimeError("Could not determine home directory.")

    for name in ("LOWDIM_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(Path, "expanduser", homeless)
    monkeypatch.setenv("LOWDIM_DATA", "~nobody/data")
    with pytest.raises(MissingDataError, match="Set LOWDIM_CACHE"):
        datasets.cache_folder()
    assert find(CATALOGUE["mnist"]) is None
    assert "(none: there is no home folder)" in str(missing("mnist", CATALOGUE["mnist"]))


def test_a_folder_whose_names_are_secret(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FileError, match=r"nothing\.csv: does not exist\. Check the name\."):
        read(tmp_path / "nothing.csv")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_closed_streams_cost_no_result(folder):
    """Nothing that is meant for a closed stream ends up in a file that got its number."""
    words = "embed points.npy -m pca -vv"
    assert main([*words.split(), "-o", "clean.npy"]) == 0
    command = " ".join([*LOWDIM, words])
    for place, closed in enumerate(("2>&-", "<&- 1>&- 2>&-")):
        answer = shell(f"{command} -o out{place}.npy {closed}")
        assert answer.returncode == 0
        assert (folder / f"out{place}.npy").read_bytes() == (folder / "clean.npy").read_bytes()


@pytest.mark.slow
def test_readers_that_go_away_cost_no_result(folder):
    """Standard error without a reader; standard output without one, beside a model."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [*LOWDIM, "embed", "points.npy", "-m", "pca"]
    answer = subprocess.run(
        [*words, "-vv", "-o", "out.npy"], stderr=writer, stdout=subprocess.PIPE, check=False
    )
    assert answer.returncode == 0
    assert np.load("out.npy").shape == (40, 2)
    answer = subprocess.run(
        [*words, "-o", "-", "--model", "model.lowdim"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (answer.returncode, answer.stderr) == (141, "")
    assert lowdim.load("model.lowdim").embedding_.shape == (40, 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_for_messages_costs_no_result(folder):
    with Path("/dev/full").open("w") as full:
        words = [*LOWDIM, "embed", "points.npy", "-m", "pca", "-v", "-o", "out.npy"]
        assert subprocess.run(words, stderr=full, check=False).returncode == 0
    assert np.load("out.npy").shape == (40, 2)


@pytest.mark.slow
def test_no_terminal_and_only_ascii(folder):
    """Names beyond ASCII in data and file names, where the locale has no letters for them."""
    name = "données.csv"
    rows = "\n".join(f"ñ{row},{row % 7},{row % 5},Ωmega" for row in range(30))
    Path(name).write_text(f"id,größe,y,étiquette\n{rows}\n", encoding="utf-8")
    variables = {
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
        "TERM": "dumb",
    }
    kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "HOME") if key in os.environ}

    def said(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*LOWDIM, *words], env=kept | variables, capture_output=True, check=False)

    words = ("embed", name, "-m", "pca", "--id", "id", "--label", "étiquette")
    answer = said(*words, "-v", "-o", "é.csv")
    assert answer.returncode == 0, answer.stderr
    text = Path("é.csv").read_text(encoding="utf-8")
    assert text.splitlines()[1].startswith('"ñ0",')
    answer = said(*words, "-o", "-")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.decode("utf-8") == text
    answer = said("embed", "nirgendwö.csv")
    assert answer.returncode == 1
    assert b"Traceback" not in answer.stderr


def test_letters_that_a_stream_has_not():
    import io

    from lowdim.cli.terminal.streams import as_typed_text, encodable

    narrow, wide = (io.TextIOWrapper(io.BytesIO(), encoding=name) for name in ("ascii", "utf-8"))
    assert encodable("größe", narrow) == "gr\\xf6\\xdfe"
    assert encodable("größe", wide) == "größe"
    assert encodable("größe", io.StringIO()) == "größe"
    assert as_typed_text("größe") == "größe"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsencode", lambda word: word.encode("ascii"))
        assert as_typed_text("größe") == "größe"


def test_a_file_name_that_is_no_text(folder):
    """Bytes that are no UTF-8, as old archives hold them, in messages and on pages."""

    name = os.fsdecode(b"donn\xe9es.npy")
    try:
        Path("points.npy").rename(name)
    except OSError:
        pytest.skip("names must be text here")
    assert (
        main(["embed", name, "-m", "pca", "-v", "--report", "r.html", "--json", "r.json", "-o", "out.csv"])
        == 0
    )
    assert "donn\\udce9es.npy" in Path("r.html").read_text(encoding="utf-8")


def test_one_output_that_fails_does_not_cost_the_others(folder):
    """The disk of one is full, the others are written."""
    from lowdim.cli.files import outputs

    def full(*_, **__):
        raise FileError("out.npy: the disk is full. Free some space or write elsewhere.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs, "write_coordinates", full)
        patch.setattr(outputs, "draw", full)
        words = [
            "embed",
            "points.npy",
            "-m",
            "pca",
            "-o",
            "out.npy",
            "--model",
            "model.lowdim",
            "--plot",
            "p.png",
        ]
        assert main(words) == 1
    assert not Path("out.npy").exists()
    assert lowdim.load("model.lowdim").embedding_.shape == (40, 2)


def test_streams_that_fail(tmp_path, monkeypatch):
    """What is said to a stream that fails goes nowhere, now and later."""
    from lowdim.cli.terminal import streams

    class Failing:
        def __init__(self, file):
            self.file = file

        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

        flush = fileno = None

    for name, act in (
        ("stderr", lambda: streams.write_error("x")),
        ("stdout", streams.drop_unwritable_output),
    ):
        with (tmp_path / name).open("w") as file:
            failing = Failing(file)
            failing.fileno = file.fileno
            failing.flush = lambda failing=failing: failing.write("")
            monkeypatch.setattr(f"sys.{name}", failing)
            act()
            file.write("nowhere")
            monkeypatch.setattr(f"sys.{name}", None)
            act()
        assert (tmp_path / name).read_text() == ""


def test_closed_numbers_are_filled():
    from lowdim.cli.terminal import streams

    opened = []

    def closed(number):
        if number == 2:
            raise OSError(9, "Bad file descriptor")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fstat", closed)
        patch.setattr(os, "open", lambda path, _: opened.append(path))
        streams.open_closed_streams()
    assert opened == [os.devnull]
