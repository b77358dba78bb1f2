"""A folder of tasks belongs to one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lowdim.core.events import Events
from lowdim.errors import CheckpointError, CheckpointWarning
from lowdim.store.identity import Identity
from lowdim.store.task_checkpoint import FORMAT, task_store

RUN = Identity("LaplacianEigenmaps", {"n_components": 2, "n_jobs": 1}, {"X": "digest"})


def test_the_same_run_goes_on_and_another_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with task_store(folder, lambda: RUN, Events()) as store:
        store.put("route", 0, {"a": np.arange(3)})
        with (
            pytest.raises(CheckpointError, match="in use"),
            task_store(folder, lambda: RUN, Events()),
        ):
            pass
    more_threads = Identity(RUN.what, {**RUN.parameters, "n_jobs": 4}, RUN.data)
    with task_store(folder, lambda: more_threads, Events()) as store:
        assert store.missing("route", 2) == [1]
    other = Identity(RUN.what, RUN.parameters, {"X": "another"})
    with (
        pytest.raises(CheckpointError, match=r"X was 'digest', is 'another'.*another folder"),
        task_store(folder, lambda: other, Events()),
    ):
        pass


def test_another_processor_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with task_store(tmp_path, lambda: RUN, Events()):
        pass
    monkeypatch.setattr("lowdim.store.task_checkpoint.processor", lambda: "another")
    with (
        pytest.warns(CheckpointWarning, match=r"processor was .*last digits"),
        task_store(tmp_path, lambda: RUN, Events()),
    ):
        pass


def test_without_a_folder_nothing_is_left() -> None:
    with task_store(None, lambda: RUN, Events()) as store:
        store.put("route", 0, {"a": np.arange(3)})
        assert Path(store.root).is_dir()
    assert not Path(store.root).exists()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CheckpointError, match=r"letter\.txt"), task_store(tmp_path, lambda: RUN, Events()):
        pass
    with (
        pytest.raises(CheckpointError, match="is a file"),
        task_store(tmp_path / "letter.txt", lambda: RUN, Events()),
    ):
        pass


def test_a_damaged_manifest_is_said(tmp_path: Path) -> None:
    with task_store(tmp_path, lambda: RUN, Events()):
        pass
    path = next(tmp_path.rglob("*.task"))
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match="damaged"), task_store(tmp_path, lambda: RUN, Events()):
        pass


@pytest.mark.parametrize(
    ("number", "message"), [(FORMAT - 1, "an earlier lowdim"), (FORMAT + 1, "a later lowdim.*Upgrade")]
)
def test_another_format_is_refused(
    tmp_path: Path, number: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("lowdim.store.task_checkpoint.FORMAT", number)
        with task_store(tmp_path, lambda: RUN, Events()):
            pass
    with pytest.raises(CheckpointError, match=message), task_store(tmp_path, lambda: RUN, Events()):
        pass
