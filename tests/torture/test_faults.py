"""Every open, write, flush and rename fails once and for good, over everything that is written."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

import lowdim
from lowdim.store import checkpoint
from torture import _checkpoints, _injection, _jobs, faults

DIRECT = (
    "embedding.npy",
    "embedding.csv.gz",
    "embedding.parquet",
    "json",
    "table",
    "download",
    "summary",
    "notebook",
    "save",
)
PRELOADED = (
    "embedding.npy",
    "embedding.parquet",
    "embedding.h5ad",
    "save",
)
CHECKPOINTS = ("checkpoint of landmark Isomap", "checkpoint of sweep")


@pytest.mark.parametrize("name", DIRECT)
def test_python_calls(name, monkeypatch):
    job = _jobs.jobs()[name]()
    tally = faults.torment(job, _injection.Patched(monkeypatch.setattr))
    assert tally.broken == []
    assert tally.runs > 30
    for kind in ("open", "write", "sync", "rename"):
        assert max(places for fault, places in tally.places.items() if fault.startswith(kind)) > 0


@pytest.mark.slow
def test_python_calls_under_a_checkpoint(monkeypatch):
    """Every seventh call: `python -m torture faults` fails them all."""
    run = _checkpoints.runs()["checkpoint of t-SNE"]()
    tally = faults.torment(run, _injection.Patched(monkeypatch.setattr), step=7)
    assert tally.broken == []
    assert tally.runs > 60


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = _injection.compile_shim(tmp_path_factory.mktemp("shim"))
    if library is None:
        pytest.skip("a C compiler on Linux is needed to come between libraries and the disk")
    return library


@pytest.mark.slow
def test_calls_of_libraries(shim):
    """The same below Python, where Arrow, HDF5 and NumPy call the C library themselves."""
    pytest.importorskip("h5py")
    answer = faults.preloaded(shim, list(PRELOADED), capture_output=True)
    assert "BROKEN" not in answer.stdout
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("faults in") == len(PRELOADED)
    assert answer.stderr == ""


@pytest.mark.slow
def test_calls_of_libraries_under_a_checkpoint(shim):
    answer = faults.preloaded(shim, [*CHECKPOINTS, "--step", "61"], capture_output=True)
    assert "BROKEN" not in answer.stdout
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("faults in") == len(CHECKPOINTS)
    assert answer.stderr == ""


def test_the_harness_finds_what_is_wrong(monkeypatch):
    """A writer that writes in place, one that lets errors through, and one that leaves its temporary."""
    injector = _injection.Patched(monkeypatch.setattr)

    def in_place(path):
        path.write_bytes(b"all of it")

    def careless(path):
        other = path.with_name("other")
        other.write_bytes(b"all of it")
        other.replace(path)

    broken = faults.torment(faults.Job("in place", "file", in_place), injector).broken
    assert any("a partial file" in line for line in broken)
    broken = faults.torment(faults.Job("careless", "file", careless), injector).broken
    assert any("left ['other']" in line for line in broken)
    assert any("in the place of a FileError" in line for line in broken)


@pytest.mark.slow
def test_the_harness_finds_what_is_wrong_with_a_checkpoint(monkeypatch):
    """One that is written in place, one that says nothing, one that ends the run, one that forgets what was there."""
    injector = _injection.Patched(monkeypatch.setattr)
    run = _checkpoints.Run("principal components", _components)
    assert faults.torment(run, injector, step=5).broken == []

    @contextmanager
    def in_place(path):
        yield path

    @contextmanager
    def silent(self):
        with suppress(OSError):
            yield

    def unguarded(self):
        return nullcontext()

    for owner, name, value, words in (
        (checkpoint, "writing", in_place, "a partial file is in its place"),
        (checkpoint.Checkpoint, "_going_on", silent, "nothing was said"),
        (checkpoint.Checkpoint, "_going_on", unguarded, "the work was lost"),
        (checkpoint.Checkpoint, "_found", lambda self: None, "is lost"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            broken = faults.torment(run, injector, step=7).broken
        assert any(words in line for line in broken), (words, broken[:5])


def _components(folder, listener):
    found = lowdim.PCA(2, n_jobs=1, checkpoint=folder, callback=listener).fit(_checkpoints._points())
    return {"embedding": found.embedding_, "warnings": found.report_.warnings}
