"""``lowdim update``: a model that has taken in more rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lowdim


@pytest.fixture
def model_file(lowdim_command, folder):
    """A t-SNE model of the table, with the names of its columns."""
    line = "embed points.csv --label kind --id name -m tsne --perplexity 5 --max-iter 60 -o a.csv --model map.lowdim"
    assert lowdim_command(line).code == 0
    return folder / "map.lowdim"


def write_more(folder, n=7):
    rng = np.random.default_rng(3)
    lines = ["name,kind,d,c,b,a,other"]
    lines += [f"q{i},red,{','.join(f'{v:.5f}' for v in rng.normal(size=4))},1" for i in range(n)]
    (folder / "more.csv").write_text("\n".join(lines) + "\n")


def test_update_writes_a_new_model(lowdim_command, model_file, folder):
    write_more(folder)
    before = model_file.read_bytes()
    line = "update map.lowdim more.csv --model new.lowdim -o new.csv --all all.csv --json a.json -v"
    answer = lowdim_command(line)
    assert answer.code == 0, answer.err
    assert model_file.read_bytes() == before
    model = lowdim.load(folder / "new.lowdim")
    assert model.embedding_.shape == (67, 2)
    rows = (folder / "new.csv").read_text().splitlines()
    assert len(rows) == 8
    assert rows[1].startswith('"q0",')
    assert len((folder / "all.csv").read_text().splitlines()) == 68
    said = json.loads((folder / "a.json").read_text())
    assert said["shape"] == [67, 2]
    assert said["report"]["figures"]["rows_added"] == 7
    assert "7 rows taken in beside 60" in answer.err
    # The new model knows the names of the columns, in whatever order they come.
    assert lowdim_command("update new.lowdim more.csv --model third.lowdim").code == 0
    third = lowdim.load(folder / "third.lowdim")
    np.testing.assert_array_equal(third.embedding_[60:67], third.embedding_[67:])
    assert lowdim_command("transform third.lowdim more.csv -o placed.csv").code == 0


def test_update_as_a_filter_and_drawn(lowdim_command, model_file, folder):
    write_more(folder)
    answer = lowdim_command("update map.lowdim more.csv --model new.lowdim -o - --plot all.png")
    assert answer.code == 0, answer.err
    assert len(answer.out.splitlines()) == 8
    assert (folder / "all.png").stat().st_size > 1000


def test_update_after_principal_components(lowdim_command, folder):
    line = "embed points.npy --pca 3 -m umap --n-neighbors 8 --max-iter 20 --model map.lowdim -o a.npy"
    assert lowdim_command(line).code == 0
    np.save(folder / "more.npy", np.random.default_rng(0).normal(size=(5, 4)))
    assert lowdim_command("update map.lowdim more.npy --model new.lowdim").code == 0
    pipeline = lowdim.load(folder / "new.lowdim")
    assert pipeline[-1].embedding_.shape == (65, 2)
    assert pipeline.transform(np.load(folder / "more.npy")).shape == (5, 2)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("update map.lowdim more.csv", 2, "--model is missing"),
        ("update map.lowdim", 2, "DATA is missing"),
        ("update map.lowdim more.csv --model map.lowdim --force", 1, "map.lowdim"),
        ("update map.lowdim few.csv --model new.lowdim", 1, "lacks the column"),
        ("update map.lowdim nowhere.csv --model new.lowdim", 1, "nowhere.csv"),
        ("update map.lowdim more.csv --model new.lowdim --all all.h5ad", 2, "--all"),
    ],
)
def test_what_cannot_be_done_is_said(lowdim_command, model_file, folder, line, code, words):
    write_more(folder)
    (folder / "few.csv").write_text("a,b,c\n1,2,3\n")
    before = model_file.read_bytes()
    answer = lowdim_command(line)
    assert (answer.code, words in answer.err) == (code, True), answer.err
    assert not (folder / "new.lowdim").exists()
    assert model_file.read_bytes() == before


def test_a_model_that_cannot_grow(lowdim_command, folder):
    assert lowdim_command("embed points.npy -m mds --model map.lowdim -o a.npy").code == 0
    answer = lowdim_command("update map.lowdim points.npy --model new.lowdim")
    assert answer.code == 1
    assert "cannot take in more rows" in answer.err
    assert not (folder / "new.lowdim").exists()
