"""Real processes: pipes, signals and the module."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lowdim

SOURCE = Path(lowdim.__file__).parents[1]
LOWDIM = [sys.executable, "-m", "lowdim"]


@pytest.fixture(autouse=True)
def own_source(monkeypatch):
    """Processes in other folders use the same lowdim as this one."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]))


def test_python_m_lowdim():
    answer = subprocess.run([*LOWDIM, "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("lowdim ")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["em"], ["embed"]),
        (["embed", "-m", "iso"], ["isomap"]),
        (["embed", "poi"], ["points.csv", "points.npy"]),
    ],
)
def test_completions_in_bash(folder, typed, expected):
    script = f"""
        lowdim() {{ {shlex.join(LOWDIM)} "$@"; }}
        eval "$(lowdim completion bash)"
        COMP_WORDS=(lowdim {shlex.join(typed)}); COMP_CWORD={len(typed)}; _lowdim; echo "${{COMPREPLY[@]}}"
    """
    answer = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert sorted(answer.stdout.split()) == expected


def test_a_broken_pipe_is_no_accident():
    reader, writer = os.pipe()
    os.close(reader)
    answer = subprocess.run(
        [*LOWDIM, "embed", "--help"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert answer.returncode == 141
    assert answer.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said():
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [*LOWDIM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert answer.returncode == 1
    assert "No space left on device" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_closed_standard_output(folder):
    line = f"exec {' '.join(LOWDIM)} plan points.npy -m pca >&-"
    answer = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert answer.returncode == 1
    assert "standard output is closed" in answer.stderr


@pytest.mark.usefixtures("heard")
def test_ctrl_c_during_an_optimisation(folder):
    rng = np.random.default_rng(0)
    np.save("many.npy", rng.normal(size=(400, 5)))
    words = [*LOWDIM, *["embed", "many.npy", "--max-iter", "1000000", "-o", "out.npy", "-vv"]]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "iteration 20:" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait() == 130
    assert "Interrupted: the best result so far" in rest
    assert np.load("out.npy").shape == (400, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("heard")
def test_ctrl_c_while_reading(folder):
    words = [*LOWDIM, "embed", "-", "-vv"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline() == "  read ...\n"
        process.send_signal(signal.SIGINT)
        error = process.stderr.read()
        assert process.wait() == 130
    assert error.endswith("interrupted: nothing was written.\n")
