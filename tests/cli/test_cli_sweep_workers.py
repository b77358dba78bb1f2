"""``lowdim sweep`` on workers: the table of a sweep without them."""

from __future__ import annotations

import json

import pytest

SWEEP = "sweep points.csv --label kind --id name -m laplacian-eigenmaps --solver lll --landmarks 30"
LINE = f"{SWEEP} --grid n_neighbors=20,25 --grid n_components=1,2 --seeds 2 --json"


def found_by(answer):
    """What a sweep found, without the seconds that it took."""
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    del found["seconds"]
    found["rows"] = [
        {name: value for name, value in row.items() if not name.startswith("seconds")}
        for row in found["rows"]
    ]
    return found


def test_the_table_is_the_same_on_workers(lowdim_command, folder):
    wanted = found_by(lowdim_command(LINE))
    assert len(wanted["rows"]) == 4
    assert found_by(lowdim_command(f"{LINE} --workers 2")) == wanted
    answer = lowdim_command(f"{LINE} --workers 2 --checkpoint kept -v")
    assert found_by(answer) == wanted
    assert "fits-0" in answer.err
    assert {path.parent.name for path in (folder / "kept").rglob("*.task")} >= {"fits-0", "fits-1"}


def test_the_table_is_the_same_on_a_cluster(lowdim_command):
    distributed = pytest.importorskip("distributed")
    wanted = found_by(lowdim_command(LINE))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        assert found_by(lowdim_command(f"{LINE} --cluster {cluster.scheduler_address}")) == wanted


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("--workers 0", 2, "--workers must be a whole number of at least 1; got 0."),
        ("--workers 2 --cluster tcp://10.0.0.1:8786", 2, "--cluster and --workers exclude each other"),
        ("--cluster nowhere", 1, "address of a scheduler"),
    ],
)
def test_workers_that_cannot_be_are_said(lowdim_command, given, code, said):
    answer = lowdim_command(f"{LINE} {given}")
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err


def test_help_and_completions_know_the_workers(lowdim_command):
    page = lowdim_command("sweep --help").out
    assert "--workers N" in page
    assert "--cluster ADDRESS" in page
    assert {"--workers", "--cluster"} <= set(lowdim_command("--complete sweep --").out.split())
