"""``lowdim doctor``: installations that are sound and such as are not, and what it says to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import webbrowser
from types import SimpleNamespace

import numpy as np
import pytest

import lowdim
from lowdim.cli.commands import doctor
from lowdim.cli.health import kernels, machine, packages
from lowdim.cli.health.finding import GOOD, NOTE, WRONG, Finding
from lowdim.cli.health.packages import Requirement, check_packages, numbers, requirements
from lowdim.core import memory
from lowdim.kernels import building, compiling

GIGABYTE = 1 << 30


def test_this_installation(lowdim_command, monkeypatch, tmp_path):
    """With some of the kernels, that not all of them have to be loaded."""
    whole = json.loads(building.TABLE.read_text(encoding="utf-8"))
    some = tmp_path / "some.json"
    some.write_text(json.dumps({name: whole[name] for name in list(whole)[:3]}))
    monkeypatch.setattr(building, "TABLE", some)
    answer = lowdim_command("doctor --json")
    found = json.loads(answer.out)
    assert [check["name"] for check in found["checks"]] == [name for name, _, _ in doctor.CHECKS]
    assert found["lowdim"] == lowdim.__version__
    assert found["sound"] == all(check["state"] != WRONG for check in found["checks"])
    assert answer.code == (0 if found["sound"] else 1)
    assert all(check["advice"] for check in found["checks"] if check["state"] != GOOD)
    states = {check["name"]: check for check in found["checks"]}
    assert states["a fit"]["state"] == GOOD
    assert states["kernels"]["figures"]["kernels"] == len(list(building.entries(some)))


@pytest.fixture
def with_findings(monkeypatch):
    """Let the program find what is given."""

    def set_findings(*findings):
        left = iter(findings)
        monkeypatch.setattr(doctor, "CHECKS", [("a", "packages", "check")] * len(findings))
        monkeypatch.setattr(packages, "check", lambda: next(left), raising=False)

    return set_findings


def test_the_exit_code_is_1_where_something_is_wrong(lowdim_command, with_findings, folder):
    with_findings(Finding("disk", WRONG, "it is full", "Remove files. " * 20), Finding("sky", GOOD, "blue"))
    answer = lowdim_command("doctor")
    assert answer.code == 1
    assert "WRONG disk  it is full\n" in answer.out
    assert "-> Remove files." in answer.out
    assert "ok    sky   blue" in answer.out
    assert answer.out.endswith("Wrong: disk.\n")
    assert max(map(len, answer.out.splitlines())) <= 100
    with_findings(Finding("disk", WRONG, "it is full", "Remove files."))
    assert lowdim_command("doctor --json found.json").code == 1
    assert json.loads((folder / "found.json").read_text())["sound"] is False
    with_findings(Finding("browser", NOTE, "none", "Get one."), Finding("sky", GOOD, "blue"))
    answer = lowdim_command("doctor")
    assert answer.code == 0
    assert answer.out.endswith("Nothing is wrong. 1 thing to know.\n")


def test_a_check_that_fails_does_not_cost_the_others(lowdim_command, monkeypatch):
    def fail():
        raise ModuleNotFoundError("No module named 'numba'")

    monkeypatch.setattr(kernels, "check_kernels", fail)
    monkeypatch.setattr(doctor, "CHECKS", [doctor.CHECKS[1], doctor.CHECKS[-1]])
    answer = lowdim_command("doctor")
    assert answer.code == 1
    assert "WRONG kernels" in answer.out
    assert "ModuleNotFoundError: No module named 'numba'" in answer.out
    assert "browser" in answer.out


def test_it_starts_where_what_lowdim_stands_on_is_missing():
    code = "import sys; sys.modules['numpy'] = None; from lowdim.cli import main; sys.exit(main(['doctor']))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "WRONG a fit" in answer.stdout
    assert "Traceback" not in answer.stderr


def test_requirements_are_read_from_the_metadata():
    lines = [
        "numpy>=2.1",
        'zarr>=3.0.8; extra == "zarr"',
        "lowdim[plot]; extra == 'all'",
        "opentsne>=1; extra == 'bench'",
        "rich",
        "distributed[x]>=2024.8; extra == 'dask'",
    ]
    assert requirements(lines) == [
        Requirement("numpy", "2.1"),
        Requirement("zarr", "3.0.8", "zarr"),
        Requirement("rich"),
        Requirement("distributed", "2024.8", "dask"),
    ]


@pytest.mark.parametrize(
    ("version", "least", "is_met"),
    [
        ("2.10", "2.9", True),
        ("2.1", "2.1.0", True),
        ("2.0.9", "2.1", False),
        ("3.0rc1", "2.1", True),
        ("1", "", True),
    ],
)
def test_versions_are_compared_by_number(version, least, is_met):
    assert (numbers(version) >= numbers(least)) == is_met
    assert (not Requirement("any", least).fault(version)) == is_met


def test_packages_that_are_missing_or_old():
    wanted = [Requirement("numpy", "2.1"), Requirement("zarr", "3.0.8", "zarr")]

    def check(**versions):
        return check_packages(wanted, versions.get)

    assert check(numpy="2.4", zarr="3.1").state == GOOD
    found = check(numpy="2.4")
    assert found.state == NOTE
    assert "not installed: zarr" in found.says
    assert "lowdim[zarr]" in found.advice
    found = check(numpy="2.0", zarr="2.9")
    assert found.state == WRONG
    assert found.says == "numpy 2.0 is older than 2.1; zarr 2.9 is older than 3.0.8"
    assert found.advice == "pip install --upgrade 'numpy>=2.1' 'zarr>=3.0.8'"
    assert check().says == "numpy is missing"
    assert check_packages([]).state == NOTE


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    assert kernels.check_kernel_folder(tmp_path / "cache").state == GOOD
    (tmp_path / "file").write_text("")
    found = kernels.check_kernel_folder(
        tmp_path / "file" / "cache"
    )  # root may write into any folder, but no file
    assert found.state == WRONG
    assert "cannot be written: Not a directory" in found.says
    assert "NUMBA_CACHE_DIR" in found.advice
    monkeypatch.setattr(compiling, "_has_place", lambda file: False)
    from lowdim.kernels.neighbors import selection

    monkeypatch.setattr(selection.sort_rows, "_cache", compiling.KernelCache(selection.sort_rows.py_func))
    assert kernels.check_kernel_folder().says == "there is no folder for it"


@pytest.mark.parametrize(
    ("states", "state", "said", "advice"),
    [
        (["fresh", "fresh"], GOOD, "all 2 are compiled", ""),
        (["fresh", "missing"], NOTE, "1 of 2 are compiled", "lowdim.kernels.building"),
        (["stale", "missing"], NOTE, "0 of 2 are compiled", "lowdim.kernels.building"),
        (["fresh", "damaged"], WRONG, "1 of 2 files of compiled kernels are damaged: one.nbc", "Remove it"),
        (["damaged", "damaged"], WRONG, "damaged: one.nbc", "Remove it"),
    ],
)
def test_kernels_that_are_missing_or_damaged(states, state, said, advice, monkeypatch):
    monkeypatch.delenv(compiling.SWITCH, raising=False)
    monkeypatch.setattr(building, "states", lambda table: [("one.nbc", each) for each in states])
    found = kernels.check_kernels()
    assert found.state == state
    assert said in found.says
    assert advice in found.advice


def test_kernels_that_are_left_alone(monkeypatch):
    monkeypatch.setenv(compiling.SWITCH, "0")
    monkeypatch.setattr(building, "states", lambda table: [(None, "missing")])
    assert kernels.check_kernels().says == "LOWDIM_COMPILED=0 leaves those of the package alone"


def test_a_fit_that_fails_or_is_wrong(monkeypatch):
    def refuse(self, X, y=None):
        raise OSError("cannot load this library")

    monkeypatch.setattr(lowdim.Isomap, "fit", refuse)
    found = kernels.check_a_fit()
    assert found.state == WRONG
    assert "cannot load this library" in found.says
    monkeypatch.setattr(lowdim.Isomap, "fit", lambda self, X: self)
    monkeypatch.setattr(lowdim.Isomap, "embedding_", np.zeros((40, 1)), raising=False)
    monkeypatch.setattr(lowdim.Isomap, "transform", lambda self, X: np.full((40, 1), np.nan))
    found = kernels.check_a_fit()
    assert found.state == WRONG
    assert "of its length" in found.says


def test_threads_that_are_not_there(monkeypatch):
    monkeypatch.setattr(machine, "allowed_processors", lambda: None)
    monkeypatch.setattr(machine, "count_workers", lambda n_jobs: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert machine.check_threads().state == GOOD
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    found = machine.check_threads()
    assert (found.state, found.says) == (NOTE, "4 of 16 processors may be used by this process")
    monkeypatch.setattr(machine, "allowed_processors", lambda: 1.5)
    found = machine.check_threads()
    assert found.state == NOTE
    assert "pays for 1.5 processors" in found.says
    assert "--threads 1" in found.advice

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    assert machine.check_threads().state == WRONG


def test_memory_that_is_not_there(monkeypatch):
    monkeypatch.setattr(machine, "address_room", lambda: None)
    for free, state in ((64 * GIGABYTE, GOOD), (GIGABYTE, NOTE), (GIGABYTE // 8, WRONG), (None, NOTE)):
        monkeypatch.setattr(machine, "available_memory", lambda free=free: free)
        assert machine.check_memory().state == state
    monkeypatch.setattr(machine, "available_memory", lambda: GIGABYTE // 8)
    monkeypatch.setattr(machine, "address_room", lambda: GIGABYTE // 8)
    assert "by the limit of this process (ulimit -v)" in machine.check_memory().says


@pytest.mark.parametrize(
    ("check", "worst"), [(machine.check_temporary_folder, WRONG), (machine.check_current_folder, NOTE)]
)
def test_disks_that_are_full(check, worst, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for free, state in ((10 * GIGABYTE, GOOD), (GIGABYTE, NOTE), (1000, worst)):
        monkeypatch.setattr(shutil, "disk_usage", lambda folder, free=free: SimpleNamespace(free=free))
        found = check()
        assert (found.state, found.figures) == (state, {"folder": str(tmp_path), "free": free})
    assert "too little" in found.says
    monkeypatch.setattr(machine, "can_write", lambda folder: "Read-only file system")
    found = check()
    assert found.state == worst
    assert "cannot be written: Read-only file system" in found.says


def test_no_folder_for_temporary_files(monkeypatch):
    def refuse():
        raise FileNotFoundError("No usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    found = machine.check_temporary_folder()
    assert found.state == WRONG
    assert "TMPDIR" in found.advice


def test_no_browser(monkeypatch):
    def refuse():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", refuse)
    found = machine.check_browser()
    assert found.state == NOTE
    assert ".png" in found.advice
    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(name="firefox"))
    assert (machine.check_browser().state, machine.check_browser().says) == (GOOD, "firefox")


@pytest.mark.parametrize(
    ("group", "files", "processors"),
    [
        ("0::/job", {"cpu.max": "150000 100000", "job/cpu.max": "max 100000"}, 1.5),
        ("0::/job", {"cpu.max": "max 100000", "job/cpu.max": "50000 100000"}, 0.5),
        ("0::/job", {}, None),
        (
            "3:cpu,cpuacct:/job",
            {"cpu/job/cpu.cfs_quota_us": "200000", "cpu/job/cpu.cfs_period_us": "100000"},
            2,
        ),
        ("3:cpu:/job", {"cpu/job/cpu.cfs_quota_us": "-1", "cpu/job/cpu.cfs_period_us": "100000"}, None),
        ("4:memory:/job", {"cpu.max": "100000 100000"}, None),
    ],
)
def test_processors_of_a_control_group(group, files, processors, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "SYSTEM", tmp_path)
    told = tmp_path / "proc/self/cgroup"
    told.parent.mkdir(parents=True)
    told.write_text(group)
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert memory.allowed_processors() == processors
