"""The examples run as they stand, without any data but what ships, and leave a picture."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lowdim

EXAMPLES = Path(__file__).parents[1] / "examples"
ARGUMENTS = {"a_million_points": ["3000"]}
SAID = {
    "first_embedding": "trustworthiness",
    "choose_parameters": "The best is",
    "a_million_points": "This was 3,000 points, not a million",
    "a_graph_of_your_own": "49 states",
    "new_points_in_production": "told right",
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
