"""The quick form of ``python -m torture fuzz``: dozens of hostile inputs for every reader, in a watched process."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from torture.fuzzing import drive as driver
from torture.fuzzing.child import prepare, try_one
from torture.fuzzing.coverage import Choices
from torture.fuzzing.targets import TARGETS, Target, write
from torture.fuzzing.watch import Watch

if sys.platform != "linux":
    pytest.skip("the limits and the watch are those of Linux", allow_module_level=True)

FEW = {"zarr": 3, "program": 3}


@pytest.mark.slow
def test_hostile_inputs() -> None:
    outcome = driver.drive({name: FEW.get(name, 4) for name in TARGETS}, seed=1)
    assert outcome.finds == {}
    assert "Traceback" not in outcome.chatter


def test_the_programs_of_oss_fuzz_feed_their_first_inputs(tmp_path: Path) -> None:
    script = runpy.run_path(str(Path(__file__).parents[1] / "release/oss-fuzz/fuzzer.py"))
    script["main"](["seeds", "npy", str(tmp_path / "seeds")])
    files = sorted((tmp_path / "seeds").iterdir())
    assert len(files) == 40
    before = Path.cwd()
    script["try_files"]("npy", files)
    assert Path.cwd() == before
    with pytest.raises(SystemExit, match="names"):
        script["main"](["try", "nothing", "file"])


def test_every_target_has_its_share() -> None:
    assert set(driver.shared_out(100_000)) == set(TARGETS)
    assert sum(driver.shared_out(100_000).values()) >= 100_000


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(
    random=st.randoms(use_true_random=False), name=st.sampled_from(("npy", "csv", "mtx", "values", "info"))
)
def test_inputs_that_hypothesis_makes(random, name, tmp_path_factory) -> None:
    folder = tmp_path_factory.getbasetemp() / "hypothesis"
    folder.mkdir(exist_ok=True)
    target = TARGETS[name]
    assert try_one(target, folder / f"input{target.suffix}", target.make(random), {}, None) is None


def test_the_harness_finds_what_there_is_to_find(tmp_path) -> None:
    """A watch that never barks would keep every promise."""
    prepare(tmp_path)
    watch = Watch(tmp_path)
    path = tmp_path / "input.npy"

    def found(feed) -> str | None:
        return try_one(Target(".npy", 1, lambda _: b"", feed), path, b"x", {}, watch)

    def leak(path: Path, options: dict) -> None:
        held = bytearray(200 << 20)
        held[::4096] = b"x" * len(held[::4096])

    def stray(path: Path, options: dict) -> None:
        Path("/etc/passwd").read_bytes()

    def unpickle(path: Path, options: dict) -> None:
        import pickle

        pickle.loads(b"cbuiltins\nlen\n.")

    assert found(lambda path, options: None) is None
    assert "of memory" in (found(leak) or "")
    assert "was opened" in (found(stray) or "")
    assert "pickle.find_class" in (found(unpickle) or "")


def test_the_harness_survives_what_it_finds(monkeypatch) -> None:
    """A child that dies or stands still is a find, and the next one goes on after it."""
    ends = iter([("npy", 3, "the process ended with SIGSEGV"), ("npy", 7, "no answer"), ("", 0, None)])
    handed: list[list[tuple[str, int, int]]] = []

    def run(folder, seed, left, outcome):
        handed.append(list(left))
        return next(ends)

    monkeypatch.setattr(driver, "_run", run)
    outcome = driver.drive({"npz": 2, "npy": 8, "csv": 5}, seed=0)
    assert [left[0] for left in handed] == [("npz", 0, 2), ("npy", 4, 8), ("csv", 0, 5)]
    assert set(outcome.finds) == {("npy", 3), ("npy", 7)}


def test_choices_can_be_read_from_bytes() -> None:
    """What atheris changes are the choices that our generators make."""
    one, other = Choices(bytes(range(200))), Choices(bytes(range(200)))
    made = [TARGETS["csv"].make(choices) for choices in (one, other)]
    assert made[0] == made[1]
    assert TARGETS["npz"].make(Choices(b""))


def test_folders_stay_in_their_place(tmp_path) -> None:
    from torture.fuzzing.groups import framed

    data = framed([("../../out", b"x"), ("a/b", b"y"), ("->link", b"../elsewhere")])
    write(TARGETS["zarr"], tmp_path / "input.zarr", data)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input.zarr"]
    assert (tmp_path / "input.zarr" / "a" / "b").read_bytes() == b"y"
