"""The examples run as they stand, without any data but what ships, and leave a picture."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lowdim

EXAMPLES = Path(__file__).parents[1] / "examples"
ARGUMENTS = {"a_million_points": ["3000"], "on_a_cluster": ["20000"]}
SAID = {
    "first_embedding": "trustworthiness",
    "choose_parameters": "The best is",
    "a_million_points": "This was 3,000 points, not a million",
    "a_graph_of_your_own": "49 states",
    "new_points_in_production": "told right",
    "on_a_cluster": "0 of them done again",
}
QUICK = ("a_graph_of_your_own",)


def test_each_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SAID],
)
def test_it_runs_and_leaves_a_picture(name, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "LOWDIM_DATA"}
    environment |= {
        "LOWDIM_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(lowdim.__file__).parents[1]),
        "PYTHONWARNINGS": "error::UserWarning",
    }
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path), *ARGUMENTS.get(name, [])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert SAID[name] in ran.stdout
    assert f"Look at {tmp_path / name}.png" in ran.stdout
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", SAID)
def test_it_says_how_to_run_it(name):
    head = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    assert f"python examples/{name}.py [FOLDER]" in head


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="a script of bash")
def test_the_job_for_slurm_writes_coordinates(tmp_path):
    """With the workers of this machine in place of those of the nodes: srun runs what it is given on each of them."""
    X = lowdim.datasets.swiss_roll(1_000, random_state=0).data
    np.save(tmp_path / "rows.npy", X)
    nodes = tmp_path / "srun"
    nodes.write_text('#!/bin/sh\nexec "$@"\n')
    nodes.chmod(0o755)
    programs = [str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = os.environ | {
        "PATH": os.pathsep.join(programs),
        "PYTHONPATH": str(Path(lowdim.__file__).parents[1]),
        "SLURM_CPUS_PER_TASK": "1",
    }
    script = (
        (EXAMPLES / "slurm.sh").read_text(encoding="utf-8").replace("--landmarks 10000", "--landmarks 100")
    )
    ran = subprocess.run(
        ["bash", "-c", script, "slurm.sh", "rows.npy", "map.npy", str(tmp_path / "run")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert np.load(tmp_path / "map.npy").shape == (1_000, 2)
    assert not list(tmp_path.glob("scheduler-*"))
