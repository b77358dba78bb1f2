"""A model knows its columns by name, and how its data was read."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import lowdim

COLUMNS = ["a", "b", "c", "d"]


def write(path, table, order, *, names=None, kinds=False, header=True):
    """The first nine points with their columns in another order; with ``kinds``, an id and a label beside them."""
    X, labels = table
    columns = names or [COLUMNS[i] for i in order]
    lines = [",".join(["name", *columns, "kind"] if kinds else columns)] if header else []
    for place, (row, kind) in enumerate(zip(X[:9], labels[:9], strict=True)):
        cells = [f"{row[i]:.6f}" for i in order]
        lines.append(",".join([f"q{place}", *cells, kind] if kinds else cells))
    path.write_text("\n".join(lines) + "\n")


def coordinates(path):
    rows = list(csv.DictReader(Path(path).read_text().splitlines()))
    return np.array([[float(row["x"]), float(row["y"])] for row in rows]), rows


@pytest.fixture
def model_file(lowdim_command):
    line = (
        "embed points.csv --label kind --id name -m laplacian-eigenmaps -k 20 --model map.lowdim -o map.csv"
    )
    assert lowdim_command(line).code == 0


def test_columns_are_found_by_name_in_any_order_and_among_others(lowdim_command, model_file, folder, table):
    write(folder / "same.csv", table, [0, 1, 2, 3])
    write(folder / "turned.csv", table, [3, 1, 0, 2], kinds=True)
    assert lowdim_command("transform map.lowdim same.csv -o same-2d.csv").code == 0
    answer = lowdim_command("transform map.lowdim turned.csv -o turned-2d.csv -v")
    assert answer.code == 0, answer.err
    same, _ = coordinates("same-2d.csv")
    turned, rows = coordinates("turned-2d.csv")
    np.testing.assert_array_equal(same, turned)
    np.testing.assert_array_equal(same, coordinates("map.csv")[0][:9])
    # The label and the ids are those that the model's own data had.
    assert (rows[0]["name"], rows[0]["kind"]) == ("q0", "red")
    assert "labels from 'kind'" in answer.err


def test_what_is_left_out_is_said(lowdim_command, model_file, folder, table):
    write(folder / "more.csv", table, [0, 1, 2, 3, 0], names=["a", "b", "c", "d", "extra"])
    answer = lowdim_command("transform map.lowdim more.csv -o out.csv -v")
    assert answer.code == 0, answer.err
    assert "more.csv: left out 'extra', to which the model was not fitted" in answer.err


def test_a_column_that_is_missing_is_named(lowdim_command, model_file, folder, table):
    write(folder / "less.csv", table, [0, 1, 3, 2], names=["a", "b", "d", "cc"])
    answer = lowdim_command("transform map.lowdim less.csv -o out.csv")
    assert answer.code == 1
    assert "less.csv: lacks the column 'c' of the 4 that the model was fitted to." in answer.err


def test_files_without_names_are_taken_by_place(lowdim_command, model_file, folder, table):
    write(folder / "plain.csv", table, [0, 1, 2, 3], header=False)
    write(folder / "short.csv", table, [0, 1, 2], header=False)
    assert lowdim_command("transform map.lowdim plain.csv -o plain-2d.csv").code == 0
    np.testing.assert_array_equal(coordinates("plain-2d.csv")[0], coordinates("map.csv")[0][:9])
    answer = lowdim_command("transform map.lowdim short.csv -o out.csv")
    assert answer.code == 1
    assert (
        "has 3 features where the model was fitted to 4. It has no names to tell which is which."
        in answer.err
    )
    np.save(folder / "rounded.npy", np.round(table[0][:9], 6))
    assert lowdim_command("transform map.lowdim rounded.npy -o rounded-2d.npy").code == 0
    np.testing.assert_array_equal(np.load("rounded-2d.npy"), coordinates("map.csv")[0][:9])


def test_parquet_by_name(lowdim_command, model_file, folder, table):
    import pyarrow as pa
    from pyarrow import parquet

    X = np.round(table[0][:9], 6)
    data = {"kind": table[1][:9].tolist()} | {COLUMNS[i]: X[:, i] for i in (2, 0, 3, 1)}
    parquet.write_table(pa.table(data), folder / "turned.parquet")
    answer = lowdim_command("transform map.lowdim turned.parquet -o out.csv")
    assert answer.code == 0, answer.err
    np.testing.assert_array_equal(coordinates("out.csv")[0], coordinates("map.csv")[0][:9])


def test_the_columns_of_an_annotated_matrix_by_name(lowdim_command, folder, table, write_h5ad):
    import h5py

    for name, order in (("cells.h5ad", [0, 1, 2, 3]), ("turned.h5ad", [2, 3, 1, 0])):
        write_h5ad(folder / name, table[0][:, order], [COLUMNS[i] for i in order])
    answer = lowdim_command("embed cells.h5ad -m pca --model map.lowdim -o out.h5ad")
    assert answer.code == 0, answer.err
    with h5py.File(folder / "out.h5ad") as file:
        assert list(file["obsm"]) == ["X_pca"]
    assert lowdim_command("transform map.lowdim turned.h5ad -o turned.csv").code == 0
    assert lowdim_command("transform map.lowdim cells.h5ad -o cells.csv").code == 0
    np.testing.assert_allclose(
        coordinates("turned.csv")[0], coordinates("cells.csv")[0], rtol=1e-12, atol=1e-12
    )
    assert lowdim_command("transform map.lowdim turned.h5ad -o named.h5ad --name mine").code == 0
    with h5py.File(folder / "named.h5ad") as file:
        assert "X_mine" in file["obsm"]


def test_wide_tables_by_name(folder, lowdim_command, monkeypatch, table, model_file):
    from lowdim.data.files import delimited

    monkeypatch.setattr(delimited, "WIDE", 2)
    write(folder / "turned.csv", table, [3, 1, 0, 2])
    assert lowdim_command("transform map.lowdim turned.csv -o out.csv").code == 0
    np.testing.assert_array_equal(coordinates("out.csv")[0], coordinates("map.csv")[0][:9])


def test_in_python_the_model_has_the_names_of_scikit_learn(lowdim_command, model_file, table):
    pandas = pytest.importorskip("pandas")
    model = lowdim.load("map.lowdim")
    assert list(model.feature_names_in_) == COLUMNS
    frame = pandas.DataFrame(np.round(table[0][:9], 6), columns=COLUMNS)
    np.testing.assert_array_equal(model.transform(frame), coordinates("map.csv")[0][:9])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a", "c", "d"]])


def test_distances_have_no_names(lowdim_command, folder, table):
    from scipy.spatial.distance import cdist

    distances = cdist(table[0], table[0])
    names = ",".join(f"to{i}" for i in range(60))
    np.savetxt(folder / "distances.csv", distances, delimiter=",", header=names, comments="")
    line = "embed distances.csv -m isomap --metric precomputed -k 20 --model map.lowdim"
    assert lowdim_command(line).code == 0
    assert not hasattr(lowdim.load("map.lowdim"), "feature_names_in_")
