"""``lowdim explain``: features of some rows of a model."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def model_file(lowdim_command, folder):
    """Two kinds of rows that differ in one column."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(["red", "blue"], [20, 40]).tolist()
    lines = ["kind,long,wide,deep"]
    for kind in kinds:
        values = rng.normal(size=3) + np.array([0.0, 3.0 * (kind == "red"), 0.0])
        lines.append(f"{kind},{','.join(f'{value:.5f}' for value in values)}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    line = "embed rows.csv --label kind -m symmetric-sne --perplexity 10 --max-iter 60 -o a.csv --model map.lowdim"
    assert lowdim_command(line).code == 0
    return folder / "map.lowdim"


def test_the_column_that_differs_comes_first(lowdim_command, model_file, folder):
    answer = lowdim_command("explain map.lowdim rows.csv --select kind=red --top 2")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert "20 of 60 points against 40" in lines[0]
    assert lines[2].split()[:2] == ["feature", "effect"]
    assert lines[3].split()[0] == "wide"
    (folder / "picked.txt").write_text("\n".join(map(str, range(20))))
    answer = lowdim_command("explain map.lowdim rows.csv --rows picked.txt --json")
    found = json.loads(answer.out)
    assert found["features"] == ["long", "wide", "deep"]
    assert found["columns"]["effect"][1] > 2
    assert found["n_selected"] == 20
    answer = lowdim_command("explain map.lowdim rows.csv --select kind=red --against kind=blue --by shift")
    assert answer.code == 0, answer.err
    assert "wide" in answer.out.splitlines()[3]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("explain map.lowdim rows.csv", 2, "--select COLUMN=VALUE or --rows FILE"),
        ("explain map.lowdim rows.csv --select kind", 2, "must be COLUMN=VALUE"),
        ("explain map.lowdim rows.csv --select kind=green", 1, "no row of rows.csv has 'green'"),
        ("explain map.lowdim rows.csv --select kind=red --by size", 2, "--by"),
        ("explain map.lowdim rows.csv --select kind=red --against kind=red", 1, "in both"),
        ("explain map.lowdim rows.csv --rows wrong.txt", 1, "from 0 to 59; got 99"),
        ("explain map.lowdim rows.csv --rows map.lowdim", 1, "--rows: map.lowdim is no text"),
        ("explain map.lowdim rows.csv --rows huge.txt", 1, "whole numbers of rows, from 0; got '999"),
        ("explain map.lowdim rows.csv --select knd=red", 1, "--select: rows.csv has no column 'knd'"),
        (
            "explain map.lowdim rows.csv --select kind=red --against other=1",
            1,
            "--against: rows.csv has no column 'other'",
        ),
        ("explain map.lowdim rows.csv --rows empty.txt", 1, "at least one of the 60 points"),
    ],
)
@pytest.mark.every(2)
def test_what_cannot_be_meant_is_refused(lowdim_command, model_file, folder, line, code, message):
    (folder / "wrong.txt").write_text("3, 99")
    (folder / "empty.txt").write_text("")
    (folder / "huge.txt").write_text("9" * 30)
    answer = lowdim_command(line)
    assert answer.code == code
    assert message in answer.err
