"""Results of every command: one that fails costs no other, and what cannot be is said before the work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.cli.files import targets
from lowdim.errors import FileError


def full(*_, **__):
    raise FileError("x: the disk is full. Free some space or write elsewhere.")


@pytest.fixture
def model_file(lowdim_command):
    assert lowdim_command("embed points.npy -m pca --model map.lowdim").code == 0


def test_transform_goes_on_where_a_result_fails(lowdim_command, model_file, monkeypatch):
    monkeypatch.setattr("lowdim.cli.commands.transform.write_coordinates", full)
    answer = lowdim_command("transform map.lowdim points.npy -o out.npy --plot a.png --json a.json")
    assert answer.code == 1
    assert "the disk is full" in answer.err
    assert not Path("out.npy").exists()
    assert Path("a.png").exists()
    assert json.loads(Path("a.json").read_text())["written"] == ["a.png"]


def test_sweep_goes_on_where_a_result_fails(lowdim_command, monkeypatch):
    monkeypatch.setattr("lowdim.selection.result.Sweep.plot", full)
    line = "sweep points.npy -m pca --grid n_components=1,2 --plot a.png -o a.csv --json a.json"
    answer = lowdim_command(line)
    assert answer.code == 1
    assert "the disk is full" in answer.err
    assert len(Path("a.csv").read_text().splitlines()) == 3
    assert json.loads(Path("a.json").read_text())["complete"] is True


def test_plot_goes_on_where_a_picture_fails(lowdim_command, monkeypatch):
    from lowdim import plotting

    real = plotting.plot

    def plot(*arguments, path, **rest):
        return full() if path == "a.png" else real(*arguments, path=path, **rest)

    monkeypatch.setattr(plotting, "plot", plot)
    assert lowdim_command("plot points.npy -o a.png -o a.svg").code == 1
    assert not Path("a.png").exists()
    assert Path("a.svg").exists()


def test_embed_writes_its_json_where_another_result_fails(lowdim_command, monkeypatch):
    monkeypatch.setattr("lowdim.cli.files.outputs.write_coordinates", full)
    assert lowdim_command("embed points.npy -m pca -o out.npy --json a.json").code == 1
    assert json.loads(Path("a.json").read_text())["written"] == []


@pytest.mark.parametrize(
    "line",
    [
        "transform map.lowdim points.npy -o there.npy",
        "sweep points.npy -m pca --grid n_components=1 -o no/such.csv",
        "plan points.npy --json no/such.json",
        "score points.npy points.npy --json no/such.json",
        "plot points.npy -o no/such.png",
        "info points.npy --json there.npy",
    ],
)
def test_targets_are_checked_before_anything_is_read(lowdim_command, model_file, folder, monkeypatch, line):
    np.save(folder / "there.npy", np.eye(2))

    def read(*_, **__):
        raise AssertionError("something was read")

    monkeypatch.setattr("lowdim.data.files.reading.read_as", read)
    monkeypatch.setattr("lowdim.data.files.read", read)
    monkeypatch.setattr("lowdim.models.load", read)
    monkeypatch.setattr("lowdim.data.files.read_embedding", read)
    answer = lowdim_command(line)
    assert answer.code == 1
    assert "is there already. Replace it with --force" in answer.err or "does not exist" in answer.err


def test_a_reader_that_goes_away_is_no_failure_of_a_result(folder, monkeypatch):
    from types import SimpleNamespace

    from lowdim.cli.session import Session

    session = Session(SimpleNamespace(quiet=True, verbose=0), [])

    def broken():
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError), targets.writing(session) as results:
        results.write("-", broken)


def test_clusters_do_not_get_lost(lowdim_command, folder):
    method = "-m spectral-clustering --n-clusters 2 -k 20"
    assert lowdim_command(f"embed points.npy {method}").code == 0
    assert "cluster" in (folder / "points.embedding.csv").read_text().splitlines()[0]
    answer = lowdim_command(f"embed points.npy {method} -o out.npy")
    assert "Warning: out.npy holds the coordinates alone" in answer.err


def test_a_moving_picture_needs_iterations(lowdim_command):
    answer = lowdim_command("embed points.npy --plot a.gif --record 0")
    assert answer.code == 2
    assert "made of the iterations that --record keeps; got --record 0." in answer.err


def test_images_that_are_not_square_fail_before_the_fit(lowdim_command, folder, monkeypatch):
    np.save(folder / "odd.npy", np.ones((60, 5)))

    def fit(*_):
        raise AssertionError("it was fitted")

    monkeypatch.setattr("lowdim.PCA.fit", fit)
    answer = lowdim_command("embed points.npy -m pca --plot a.html --images odd.npy")
    assert answer.code == 1
    assert "--images: odd.npy is 60 x 5, which are no square images." in answer.err
    np.save(folder / "wide.npy", np.ones((60, 6)))
    assert (
        "--images: DATA is 60 x 6" in lowdim_command("embed wide.npy -m pca --plot a.html --images data").err
    )


def test_options_may_stand_between_arguments(lowdim_command, model_file, folder):
    assert lowdim_command("transform map.lowdim --force points.npy -o out.npy").code == 0
    assert lowdim_command("score points.npy -k 5 points.npy").code == 0


def test_info_of_a_table_with_text(lowdim_command):
    answer = lowdim_command("info points.csv")
    assert answer.code == 0, answer.err
    assert "points.csv: 60 rows, 4 features" in answer.out
    assert "other columns: name, kind" in answer.out


def test_ids_of_an_archive(lowdim_command, folder, table):
    np.savez(folder / "points.npz", X=table[0], name=np.array([f"p{i}" for i in range(60)]))
    assert lowdim_command("embed points.npz --id name -m pca -o out.csv").code == 0
    assert (folder / "out.csv").read_text().startswith("name,x,y\n")
    answer = lowdim_command("embed points.npz --id nmae -m pca -o other.csv")
    assert "--id: points.npz has no array 'nmae'" in answer.err


def test_plot_says_what_it_took(lowdim_command):
    assert lowdim_command("embed points.csv --label kind --id name -m pca -o map.csv").code == 0
    answer = lowdim_command("plot map.csv -v")
    assert "coordinates: 'x', 'y'; not coloured (--label takes 'name', 'kind')" in answer.err
    assert "coloured by 'kind'" in lowdim_command("plot map.csv --label kind --force -v").err
    assert "coordinates: number 1, number 2, number 3" in lowdim_command("plot points.npy -v").err


@pytest.mark.parametrize("size", ["70000x0", "1x3", "0x0"])
def test_a_plan_of_nothing(lowdim_command, size):
    answer = lowdim_command(f"plan {size}")
    assert answer.code == 2
    assert f"a size needs at least 2 rows and 1 column, as 70000x784; got {size}." in answer.err


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("ltsa", "--method lle --variant ltsa"),
        ("isomapp", "Did you mean isomap?"),
    ],
)
def test_methods_that_have_another_name_here(lowdim_command, typed, words):
    from lowdim.cli.options.table import methods

    if typed in methods():
        pytest.skip("it is a method")
    answer = lowdim_command(f"embed points.npy -m {typed}")
    assert answer.code == 2
    assert words in answer.err


def test_principal_components_first(lowdim_command, folder, table):
    assert lowdim_command("embed points.npy -m isomap -k 20 --pca 3 -o out.npy").code == 0
    expected = lowdim.Isomap(n_neighbors=20).fit_transform(lowdim.PCA(3).fit_transform(table[0]))
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    assert "--pca must be a whole number of at least 1" in lowdim_command("embed points.npy --pca 0").err
    assert "--pca: " in lowdim_command("embed points.npy --pca many").err
    assert "--pca must be at most 4" in lowdim_command("embed points.npy --pca 9 -o b.npy").err
    np.save("square.npy", np.eye(30))
    assert "values between points" in lowdim_command("embed square.npy --pca 3 --metric precomputed").err
    answer = lowdim_command("embed points.npy -m oriented-pca --noise points.npy --pca 3")
    assert "--pca and --noise" in answer.err


def test_a_model_after_principal_components_knows_the_columns_by_name(lowdim_command, table):
    line = "embed points.csv --label kind --id name -m isomap -k 20 --pca 3 -o out.csv --model map.lowdim"
    assert lowdim_command(line).code == 0
    rows = [row.split(",") for row in Path("points.csv").read_text().splitlines()]
    Path("turned.csv").write_text("\n".join(",".join(row[::-1]) for row in rows) + "\n")
    line = "transform map.lowdim turned.csv -o new.csv --plot new.png --json new.json"
    assert lowdim_command(line).code == 0
    placed, fitted = (
        lowdim.data.files.read(name, id="name", label="kind").X for name in ("new.csv", "out.csv")
    )
    np.testing.assert_allclose(placed, fitted, atol=1e-6 * np.abs(fitted).max())
    assert json.loads(Path("new.json").read_text())["model"]["method"] == "Isomap"
    assert lowdim_command("info map.lowdim").out.startswith("Isomap after PCA: ")


def test_a_file_with_principal_components_is_remarked_on(lowdim_command, folder, table, write_h5ad):
    write_h5ad(folder / "cells.h5ad", table[0], ["a", "b", "c", "d"], X_pca=table[0][:, :3])
    answer = lowdim_command("embed cells.h5ad -m pca -o out.csv -v")
    assert "--obsm X_pca embeds those" in answer.err
    assert (
        lowdim_command("embed cells.h5ad -m pca --obsm X_pca --model a.lowdim -o b.h5ad --name mine").code
        == 0
    )
    assert "X_pca embeds" not in lowdim_command("embed cells.h5ad -m pca --obsm X_pca -v -o c.csv").err
    # The model knows that it was fitted to that entry.
    answer = lowdim_command("transform a.lowdim cells.h5ad -o d.csv")
    assert answer.code == 0, answer.err
    assert lowdim_command("plot b.h5ad --key X_mine -o b.png").code == 0


def test_transform_draws_the_fitted_points_too(lowdim_command, folder, monkeypatch, model_file):
    from lowdim import plotting

    seen = []
    monkeypatch.setattr(plotting, "plot", lambda points, label, **rest: seen.append((points, label, rest)))
    np.save(folder / "new.npy", np.load("points.npy")[:7])
    assert lowdim_command("transform map.lowdim new.npy --plot a.png").code == 0
    points, label, rest = seen.pop()
    assert points.shape == (67, 2)
    assert label == "points"
    assert rest["columns"]["points"].tolist() == ["fitted"] * 60 + ["new"] * 7
    lowdim_command("transform map.lowdim new.npy --plot b.png --no-fitted")
    assert seen.pop()[0].shape == (7, 2)
    lowdim_command("transform map.lowdim points.csv --label kind --id name --plot c.png")
    points, label, rest = seen.pop()
    assert (len(points), label) == (120, "kind")
    assert rest["columns"]["kind"][[0, 60]].tolist() == ["fitted", "red"]
    assert rest["ids"][[0, 60]].tolist() == ["fitted", "p0"]
    lowdim_command("transform map.lowdim points.csv --label a --label kind --id name --drop b --plot d.png")


def test_a_model_of_many_coordinates_holds_no_embedding(lowdim_command, folder, monkeypatch):
    from lowdim import load, plotting

    seen = []
    monkeypatch.setattr(plotting, "plot", lambda points, label, **rest: seen.append(points))
    assert lowdim_command("embed points.npy -m pca -d 4 --model many.lowdim -o many.npy").code == 0
    assert lowdim_command("embed points.npy -m pca -d 3 --model few.lowdim -o few.npy").code == 0
    assert not hasattr(load("many.lowdim"), "embedding_")
    assert load("few.lowdim").embedding_.shape == (60, 3)
    np.save(folder / "new.npy", np.load("points.npy")[:7])
    assert lowdim_command("transform many.lowdim new.npy --plot a.png").code == 0
    assert seen.pop().shape == (7, 3)
    assert "60 points of 4 columns in 4 dimensions" in lowdim_command("info many.lowdim").out


def test_points_that_are_as_good_as_the_best_are_named(lowdim_command):
    line = "sweep points.npy -m pca -d 2 --grid whiten=false,false,true --score trustworthiness"
    answer = lowdim_command(line.replace("false,false,true", "false,true"))
    assert answer.code == 0, answer.err
    found = json.loads(lowdim_command(f"{line.replace('false,false,true', 'false,true')} --json").out)
    assert ("As good as the best" in answer.out) == bool(found["as_good"])


def test_equals_of_the_best():
    from types import SimpleNamespace

    from lowdim.cli.commands.sweep import equals_of_best

    rows = [{"k": 5, "score": 0.5}, {"k": 6, "score": 0.9}, {"k": 7, "score": 0.9}]
    found = SimpleNamespace(best={"k": 6}, scores={"score": False}, rows=rows, parameters=["k"])
    assert equals_of_best(found) == [rows[2]]


def test_a_gene_colours_by_what_was_measured_of_it(lowdim_command, folder, table, write_h5ad):
    write_h5ad(folder / "cells.h5ad", table[0], ["a", "b", "c", "d"], X_pca=table[0][:, :3])
    for matrix in ("", "--obsm X_pca"):
        read = lowdim.data.files.read("cells.h5ad", label="c", **({"obsm": "X_pca"} if matrix else {}))
        assert read.label == "c"
        np.testing.assert_array_equal(read.labels, table[0][:, 2])
        line = f"embed cells.h5ad {matrix} --label c -m pca --plot map.png -o out.csv --force -v"
        assert "labels from 'c'" in lowdim_command(line).err
    assert Path("out.csv").read_text().splitlines()[0].split(",")[-1] == "c"
    assert lowdim_command("plot out.csv --data cells.h5ad --label b -o gene.png").code == 0
    answer = lowdim_command("embed cells.h5ad --label e -m pca --force -o out.csv")
    assert "--label: cells.h5ad has no columns beside the features" in answer.err
