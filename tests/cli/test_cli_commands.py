"""The other commands: transform, sweep, score, plot, plan, info, demo, reproduce, completion."""

from __future__ import annotations

import csv
import json
import sys
import types
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.cli.commands.completion import candidates

LABELLED = "points.csv --label kind --id name"


@pytest.fixture
def model_file(lowdim_command, folder):
    assert (
        lowdim_command("embed points.npy -m laplacian-eigenmaps -k 20 -o map.npy --model map.lowdim").code
        == 0
    )
    return folder / "map.lowdim"


def test_transform_places_new_rows(lowdim_command, model_file, folder, table):
    np.save(folder / "new.npy", table[0][:7])
    answer = lowdim_command("transform map.lowdim new.npy -o placed.npy -v --json a.json")
    assert answer.code == 0, answer.err
    expected = lowdim.LaplacianEigenmaps(n_neighbors=20).fit(table[0]).transform(table[0][:7])
    np.testing.assert_array_equal(np.load("placed.npy"), expected)
    assert "7 rows placed on the map of map.lowdim (LaplacianEigenmaps)" in answer.err
    assert json.loads((folder / "a.json").read_text())["shape"] == [7, 2]


def test_transform_by_default_and_drawn(lowdim_command, model_file, folder):
    assert lowdim_command("transform map.lowdim points.npy").code == 0
    assert (folder / "points.embedding.npy").exists()
    assert lowdim_command(f"transform map.lowdim {LABELLED} --plot a.png --plot a.html").code == 0
    assert (folder / "a.html").exists()
    assert not (folder / "points.embedding.csv").exists()


def test_transform_to_standard_output_with_clusters(lowdim_command, folder):
    line = "embed points.npy -m spectral-clustering --n-clusters 2 -k 20 --model groups.lowdim"
    assert lowdim_command(line).code == 0
    answer = lowdim_command("transform groups.lowdim points.npy -o -")
    rows = list(csv.DictReader(answer.out.splitlines()))
    assert {row["cluster"] for row in rows} == {"0", "1"}


def test_transform_of_other_columns_is_an_error(lowdim_command, model_file, folder, table):
    np.save(folder / "narrow.npy", table[0][:, :2])
    answer = lowdim_command("transform map.lowdim narrow.npy -o out.npy")
    assert answer.code == 1
    assert "narrow.npy: has 2 features where the model was fitted to 4." in answer.err


def test_sweep_prints_a_table(lowdim_command):
    answer = lowdim_command(f"sweep {LABELLED} -m laplacian-eigenmaps --grid n-neighbors=20,25 --seeds 2 -v")
    assert answer.code == 0, answer.err
    assert "LaplacianEigenmaps on 60 x 4: 2 grid points x 2 seeds" in answer.out
    assert "points.csv: 60 rows" in answer.err


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_sweep_writes_tables_and_pictures(lowdim_command, folder, suffix):
    grid = "--grid n_neighbors=20,25,30 --grid bandwidth=1,2,4"
    answer = lowdim_command(f"sweep points.npy -m laplacian-eigenmaps {grid} -o a{suffix} --plot a.png")
    assert (answer.code, answer.out) == (0, "")
    lines = (folder / f"a{suffix}").read_text().splitlines()
    rows = list(csv.DictReader(lines, delimiter="\t" if suffix == ".tsv" else ","))
    assert [row["bandwidth"] for row in rows] == ["1", "2", "4"] * 3
    assert (folder / "a.png").stat().st_size > 0


def test_sweep_for_machines(lowdim_command, folder, table):
    np.save(folder / "truth.npy", table[0][:, :2])
    line = "sweep points.npy -m isomap -k 35 --grid n_components=1,2 --truth truth.npy --score truth --json"
    found = json.loads(lowdim_command(line).out)
    assert [row["n_components"] for row in found["rows"]] == [1, 2]
    assert found["best"] in ({"n_components": 1}, {"n_components": 2})
    assert found["complete"] is True
    assert (
        lowdim_command(
            "sweep points.npy -m pca --grid n_components=1 --score trustworthiness,continuity -o a.json"
        ).code
        == 0
    )
    assert set(json.loads((folder / "a.json").read_text())["scores"]) == {"trustworthiness", "continuity"}


def test_sweep_of_landmarks_and_affinities(lowdim_command):
    grid = "--grid landmarks=20,30 --grid affinity=binary,self-tuning"
    line = f"sweep points.npy -m laplacian-eigenmaps -k 20 --solver lll {grid} --json"
    found = json.loads(lowdim_command(line).out)
    assert found["parameters"] == ["n_landmarks", "affinity"]
    assert "SelfTuning" in found["rows"][1]["affinity"]


def test_sweep_in_which_everything_fails(lowdim_command):
    answer = lowdim_command("sweep points.npy -m isomap --grid n_neighbors=100 --json")
    assert json.loads(answer.out)["best"] is None
    assert "1 of 1 fits of the sweep failed" in answer.err


def test_sweep_interrupted_keeps_what_is_done(lowdim_command, monkeypatch):
    from lowdim.selection import fits

    real = fits.Fits.runs

    def runs(self, *rest):
        for count, run in enumerate(real(self, *rest)):
            if count == 1:
                raise KeyboardInterrupt
            yield run

    monkeypatch.setattr(fits.Fits, "runs", runs)
    answer = lowdim_command("sweep points.npy -m isomap --grid n_neighbors=35,40,45")
    assert answer.code == 130
    assert "Interrupted after 1 fits: the table holds these." in answer.err
    assert "n_neighbors" in answer.out


def test_score(lowdim_command, folder, table):
    np.save(folder / "map.npy", table[0][:, :2])
    answer = lowdim_command(f"score {LABELLED.split(maxsplit=1)[0]} map.npy --label kind --id name -k 5")
    assert answer.code == 0
    assert "neighbor_accuracy" in answer.out
    answer = lowdim_command("score points.npy map.npy --measures continuity --sample all --json")
    measures = json.loads(answer.out)["measures"]
    assert measures["continuity"]["value"] == lowdim.score(table[0], table[0][:, :2]).continuity


def test_score_of_labels_that_are_no_classes(lowdim_command, folder):
    answer = lowdim_command("score points.csv points.npy --label name --drop kind")
    assert answer.code == 1
    assert "--label must hold class labels" in answer.err


def test_plot(lowdim_command, folder):
    assert lowdim_command(f"embed {LABELLED} -m pca -d 4 -o map.csv").code == 0
    assert lowdim_command("plot map.csv --label kind --title Two -v").code == 0
    assert (folder / "map.png").stat().st_size > 0
    line = "plot map.csv --columns 3,4 -o b.svg -o b.html --no-legend --point-size 3 --density false"
    assert lowdim_command(line).code == 0
    assert (folder / "b.html").stat().st_size > 0
    np.save(folder / "images.npy", np.random.default_rng(0).random((60, 4, 4)))
    line = "plot points.npy --columns 1,2 --data points.csv --label kind --images images.npy -o c.html"
    assert lowdim_command(line).code == 0


def test_plot_of_standard_input(lowdim_command, folder, monkeypatch):
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,2\n3,4\n5,6\n")))
    assert lowdim_command("plot -").code == 0
    assert (folder / "embedding.png").exists()


def test_plan_of_a_file_and_of_a_size(lowdim_command):
    assert "Isomap on 60 x 4" in lowdim_command("plan points.npy -m isomap").out
    found = json.loads(lowdim_command("plan 1000000x50 -m lle --solver lll --landmarks 500 --json").out)
    assert found["shape"] == [1000000, 50]
    assert found["seconds"] == pytest.approx(sum(stage["seconds"] for stage in found["stages"]))
    assert found["parameters"] == {"--solver": "LLL(500)"}


def test_info_of_a_model(lowdim_command, model_file):
    assert "LaplacianEigenmaps" in lowdim_command("info map.lowdim").out
    assert "LaplacianEigenmaps" in json.dumps(json.loads(lowdim_command("info map.lowdim --json").out))


def test_info_of_data(lowdim_command, folder):
    from scipy import sparse

    answer = lowdim_command("info points.npy")
    assert "points.npy: 60 rows, 4 features" in answer.out
    (folder / "numbers.csv").write_text(
        ",".join(f"c{i}" for i in range(12)) + "\n" + ",".join(["1"] * 12) + "\n"
    )
    assert "c7, ... (12 in all)" in lowdim_command("info numbers.csv").out
    sparse.save_npz(folder / "graph.npz", sparse.eye_array(5, format="csr"))
    assert "sparse" in lowdim_command("info graph.npz").out
    np.savez(folder / "both.npz", X=np.eye(3), y=np.arange(3))
    assert "other columns: y" in lowdim_command("info both.npz").out
    assert json.loads(lowdim_command("info points.npy --json").out)["rows"] == 60


def test_info_of_this_installation(lowdim_command, monkeypatch):
    needs = [
        "numpy>=2",
        "no-such-package[x]>=1; extra == 'all'",
        "lowdim[plot]; extra == 'all'",
        "b; extra == 'bench'",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: needs)
    monkeypatch.setenv("LOWDIM_COMPILED", "1")
    answer = lowdim_command("info")
    assert f"lowdim {lowdim.__version__}" in answer.out
    assert "no-such-package" in answer.out
    assert "LOWDIM_COMPILED=1\n" in answer.out
    assert str(Path(lowdim.__file__).parent) in answer.out
    assert "not installed" in answer.out
    assert "b " not in answer.out.split()

    def unknown(name):
        raise PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.requires", unknown)
    assert json.loads(lowdim_command("info --json").out)["packages"] == {}


def test_demo(lowdim_command, folder, monkeypatch):
    from lowdim.data import datasets

    real = datasets.load("digits")
    small = types.SimpleNamespace(data=real.data[:240], labels=real.labels[:240])
    roll = datasets.swiss_roll(200, random_state=0)
    monkeypatch.setattr(datasets, "load", lambda name: small)
    monkeypatch.setattr(datasets, "swiss_roll", lambda *_, **__: roll)
    answer = lowdim_command("demo pictures")
    assert answer.code == 0, answer.err
    assert "Spectral clustering into 10 groups" in answer.out
    assert {path.name for path in (folder / "pictures").iterdir()} == {"digits.png", "swiss-roll.png"}


def make_experiments(monkeypatch, verdicts):
    fake = types.ModuleType("lowdim.experiments")
    fake.catalogue = lambda: [("one-thing", "The first."), ("other", "The second.")]

    def run(ids, output, quick, progress, echo):
        for done, name in enumerate([*ids, ""]):
            progress(done, len(ids), name)
        return verdicts(ids)

    fake.run = run
    fake.write_summary = lambda verdicts, path: path.write_text("<html>")
    monkeypatch.setitem(sys.modules, "lowdim.experiments", fake)


def verdict(name, failure=""):
    return types.SimpleNamespace(id=name, words=failure or "2 of 2 held", seconds=1.5, failure=failure)


@pytest.mark.parametrize(("failure", "code"), [("not run: no data", 1), ("interrupted", 130)])
def test_reproduce_that_did_not_come_to_an_end(lowdim_command, folder, monkeypatch, failure, code):
    make_experiments(monkeypatch, lambda ids: [verdict("other", failure)])
    answer = lowdim_command("reproduce other -o out")
    assert answer.code == code
    assert failure in answer.out
    assert ("Interrupted: out/summary.html holds what is done so far." in answer.err) == (code == 130)


def test_reproduce(lowdim_command, folder, monkeypatch):
    make_experiments(monkeypatch, lambda ids: [verdict(name) for name in ids])
    assert lowdim_command("reproduce").out == "one-thing  The first.\nother      The second.\n"
    answer = lowdim_command("reproduce all --quick -o out -v")
    assert (answer.code, answer.out) == (
        0,
        "one-thing  2 of 2 held (1.5 s)\nother      2 of 2 held (1.5 s)\n",
    )
    assert "2 of 2: other\n" in answer.err
    assert (folder / "out" / "summary.html").exists()
    assert lowdim_command("reproduce one-thing -o out").code == 0
    answer = lowdim_command("reproduce one-thin")
    assert (answer.code, "Did you mean one-thing?" in answer.err) == (2, True)
    assert "'lowdim reproduce' lists them" in lowdim_command("reproduce zzzz").err
    assert "cannot be made a folder" in lowdim_command("reproduce other -o points.npy").err


def test_experiments_of_the_repository(monkeypatch):
    from lowdim.cli.commands import reproduce

    monkeypatch.delitem(sys.modules, reproduce.INSTALLED, raising=False)
    found = reproduce.find_experiments()
    assert found.__name__ == reproduce.INSTALLED
    assert reproduce.find_experiments() is found


def test_experiments_that_are_not_there(monkeypatch, lowdim_command, tmp_path):
    from lowdim.cli.commands import reproduce

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(reproduce, "import_module", missing)
    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "reproduce.py"))
    assert "the experiments are not installed" in lowdim_command("reproduce").err

    def broken(name):
        raise ModuleNotFoundError("No module named 'other'", name="other")

    monkeypatch.setattr(reproduce, "import_module", broken)
    assert "No module named 'other'" in lowdim_command("reproduce").err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(lowdim_command, shell):
    answer = lowdim_command(f"completion {shell}")
    assert answer.code == 0
    assert "lowdim --complete" in answer.out


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ([""], ["embed", "transform"]),
        (["tr"], ["transform"]),
        (["embed", "--method", "lap"], ["laplacian-eigenmaps"]),
        (["embed", "-m", ""], ["pca", "isomap"]),
        (
            ["embed", "-m", "isomap", "--on-disconnected", ""],
            ["connect", "error", "largest", "per_component"],
        ),
        (["embed", "-m", "isomap", "--solver", "l"], ["lanczos", "lll", "landmark-z"]),
        (["embed", "-m", "isomap", "--solver", "lll", "--solver-p"], ["--solver-polish"]),
        (["embed", "--pe"], ["--perplexity"]),
        (["embed", "--force", "--pe"], ["--perplexity"]),
        (["completion", "z"], ["zsh"]),
        (["reproduce", "al"], ["all"]),
        (["reproduce", "--qui"], ["--quick", "--quiet"]),
        (["score", "a", "b", "--measures", "tr"], ["trustworthiness"]),
    ],
)
def test_candidates(typed, expected, monkeypatch):
    make_experiments(monkeypatch, list)
    assert set(expected) <= set(candidates(typed))


@pytest.mark.parametrize(
    "typed", [["nothing", ""], ["embed", ""], ["embed", "--output", ""], ["embed", "-m", "wrong", "--pe"]]
)
def test_no_candidates_where_files_are_wanted(typed):
    assert candidates(typed) == []


def test_candidates_are_printed(lowdim_command):
    assert lowdim_command(["--complete", "plo"]).out == "plot\n"
    assert lowdim_command(["--complete", "embed", ""]).out == ""
    assert "embed\n" in lowdim_command(["--complete"]).out
