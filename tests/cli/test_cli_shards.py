"""Commands on DATA in shards: many files, memory that does not hold it, workers; and output as zarr."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import lowdim
from lowdim.cli.files.in_shards import is_many

zarr = pytest.importorskip("zarr")


@pytest.fixture
def rows(folder, table):
    X, kinds = table
    zarr.create_array("points.zarr", data=X, chunks=(7, 4))
    Path("parts").mkdir()
    for place, part in enumerate((slice(0, 25), slice(25, 60))):
        columns = dict(zip("abcd", X[part].T, strict=True))
        parquet.write_table(pa.table(columns | {"kind": kinds[part]}), f"parts/{place}.parquet")
    Path("arrays").mkdir()
    for place, part in enumerate((slice(0, 25), slice(25, 60))):
        np.save(f"arrays/{place}.npy", X[part])
    return X


def read(name):
    return np.asarray(lowdim.shards(name))


def test_workers_ask_for_shards_and_the_same_comes_out(lowdim_command, rows):
    answer = lowdim_command(
        "embed points.zarr -m pca --workers 2 -o y.zarr --model m.lowdim --json j.json -v"
    )
    assert answer.code == 0, answer.err
    assert "points.zarr is worked on in shards: workers were asked for." in answer.err
    whole = lowdim.PCA(2).fit_transform(rows)
    np.testing.assert_allclose(read("y.zarr"), whole, atol=1e-10)
    done = json.loads(Path("j.json").read_text())
    assert done["input"]["shape"] == [60, 4]
    assert done["written"] == ["y.zarr", "m.lowdim"]
    answer = lowdim_command("transform m.lowdim points.zarr --workers 1 -o z.parquet --json")
    assert answer.code == 0, answer.err
    np.testing.assert_allclose(read("z.parquet"), whole, atol=1e-10)
    assert json.loads(answer.out)["input"]["in_shards"] == "workers were asked for"
    assert parquet.read_schema("z.parquet").names == ["x", "y"]


def test_memory_asks_for_shards_and_it_is_said(lowdim_command, rows):
    np.save("many.npy", np.random.default_rng(0).normal(size=(4000, 4)))
    line = [
        "embed",
        "many.npy",
        "--memory-limit",
        "45 MB",
        "-o",
        "y.npy",
        "--plot",
        "y.png",
        "--seed",
        "1",
        "-v",
    ]
    answer = lowdim_command([*line, "--max-iter", "5"])
    assert answer.code == 0, answer.err
    assert "many.npy is worked on in shards: in memory it would take" in answer.err
    assert "--memory-limit allows 45 MB" in answer.err
    assert "of 4,000 (more need over 45 MB; the map places the others)" in answer.err
    assert read("y.npy").shape == (4000, 2)
    assert Path("y.png").exists()


def test_what_fits_is_read_into_memory(lowdim_command, rows):
    for data, drop in (("parts", " --drop kind"), ("parts/*.parquet", " --drop kind"), ("arrays", "")):
        answer = lowdim_command(f"embed {data} -m pca{drop} -o out.zarr --force -v")
        assert answer.code == 0, answer.err
        assert "in shards" not in answer.err
        np.testing.assert_allclose(read("out.zarr"), lowdim.PCA(2).fit_transform(rows), atol=1e-10)
    assert lowdim_command("embed arrays -m pca").code == 0
    assert Path("arrays.embedding.npy").exists()
    assert lowdim_command("embed arrays/*.npy -m pca --force").code == 0


def test_columns_of_the_model_are_found_by_name(lowdim_command, rows):
    assert lowdim_command("embed parts -m pca --drop kind --workers 1 --model m.lowdim").code == 0
    mixed = pa.table({name: rows[:, place] for place, name in reversed(list(enumerate("abcd")))})
    parquet.write_table(mixed.append_column("more", pa.array(["x"] * 60)), "new.parquet")
    assert lowdim_command("transform m.lowdim new.parquet --workers 1 -o new.npy").code == 0
    np.testing.assert_allclose(read("new.npy"), lowdim.PCA(2).fit_transform(rows), atol=1e-10)


def test_a_scheduler_that_is_not_there_is_said(lowdim_command, rows):
    answer = lowdim_command("embed points.zarr -m pca --cluster nowhere -o y.zarr")
    assert answer.code == 1
    assert "address of a scheduler" in answer.err
    assert not Path("y.zarr").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "embed points.zarr -m pca --workers 2 -o y.csv",
            "written a block at a time to .npy, .zarr, .parquet",
        ),
        ("embed points.zarr --workers 2 --report r.html", "--report needs all rows in memory"),
        ("embed points.zarr --workers 2 --pca 2", "lowdim embed DATA -m pca -d 50"),
        ("embed points.csv --workers 2", "read a block at a time"),
        ("embed points.zarr --workers 0", "at least 1"),
    ],
)
def test_what_cannot_be_done_in_shards_is_wrong_use(lowdim_command, rows, line, said):
    answer = lowdim_command(line)
    assert answer.code == 2
    assert said in answer.err


def test_errors_of_many_files_name_what_is_wrong(lowdim_command, rows):
    for line, said in (
        ("embed parts -m pca", "column 'kind' holds"),
        ("embed nothing/*.npy -m pca", "no file has such a name"),
        ("embed points.zarr -m isomap --solver nystrom --workers 2", "with --solver landmark-z Isomap goes"),
        ("embed arrays -m pca --label kind", "only the features are read"),
    ):
        answer = lowdim_command(line)
        assert answer.code in (1, 2)
        assert said in answer.err, answer.err


def test_a_zarr_that_is_there_is_replaced_only_by_force(lowdim_command, rows):
    assert lowdim_command("embed points.npy -m pca -o y.zarr").code == 0
    assert "is there already" in lowdim_command("embed points.npy -m pca -o y.zarr").err
    assert lowdim_command("embed points.npy -m pca -d 1 -o y.zarr --force").code == 0
    assert read("y.zarr").shape == (60, 1)
    assert "never written over" in lowdim_command("embed points.zarr -m pca -o points.zarr --force").err


def test_names_of_many_files(folder):
    Path("some").mkdir()
    Path("a.zarr").mkdir()
    assert [is_many(name) for name in ("some", "*.npy", "a.zarr", "points.npy", "missing.npy")] == [
        True, True, False, False, False,
    ]  # fmt: skip
