"""Cells and genes at a shell: tables the other way round, genes by name, and what an .h5ad holds."""

from __future__ import annotations

import json

import numpy as np
import pytest

GENES = ["CD3D", "CD3E", "LYZ", "NKG7"]


@pytest.fixture
def cells(folder, table, write_h5ad):
    X, _ = table
    write_h5ad(folder / "cells.h5ad", X, GENES, X_pca=X[:, :3], X_umap=X[:, :2])
    return X


@pytest.fixture
def turned(folder, table):
    """The table of the folder with a row for each column, and its names in a first one."""
    X, _ = table
    lines = [",".join(["gene", *(f"p{i}" for i in range(len(X)))])]
    lines += [",".join([name, *(f"{v:.6f}" for v in X[:, j])]) for j, name in enumerate("abcd")]
    (folder / "genes.csv").write_text("\n".join(lines) + "\n")


def coordinates(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=(1, 2), converters=float)


def test_a_table_of_genes_by_cells_is_embedded_and_its_model_takes_another(lowdim_command, turned):
    assert lowdim_command("embed points.csv --id name --drop kind -m pca -o same.csv").code == 0
    answer = lowdim_command("embed genes.csv --id gene --transpose -m pca -o map.csv --model map.lowdim")
    assert answer.code == 0, answer.err
    np.testing.assert_allclose(coordinates("map.csv"), coordinates("same.csv"), rtol=1e-9)
    assert lowdim_command("transform map.lowdim genes.csv -o again.csv").code == 0
    np.testing.assert_allclose(coordinates("again.csv"), coordinates("map.csv"), rtol=1e-9)
    answer = lowdim_command("transform map.lowdim points.csv --no-transpose --id name -o also.csv")
    assert answer.code == 0, answer.err
    np.testing.assert_allclose(coordinates("also.csv"), coordinates("map.csv"), rtol=1e-9)


def test_several_files_are_not_turned(lowdim_command, folder):
    answer = lowdim_command("embed *.npy --transpose -m pca -o map.npy")
    assert (answer.code, "--transpose: *.npy would be read a block" in answer.err) == (2, True)
    answer = lowdim_command("embed points.npy --transpose --workers 2 -m pca -o map.npy")
    assert (answer.code, "--transpose: points.npy would be read" in answer.err) == (2, True)


def test_a_gene_that_is_not_there_is_looked_for_among_all(lowdim_command, cells):
    answer = lowdim_command("embed cells.h5ad -m pca --label cd3 -o map.csv")
    assert answer.code == 1
    assert "'cd3' neither in obs nor among its 4 genes. Did you mean 'CD3D' or 'CD3E'?" in answer.err


def test_a_stored_map_is_coloured_by_a_gene(lowdim_command, cells, folder):
    answer = lowdim_command("plot cells.h5ad --key X_umap --label LYZ -o gene.svg")
    assert answer.code == 0, answer.err
    assert (folder / "gene.svg").exists()


def test_what_an_h5ad_holds_is_listed(lowdim_command, cells):
    assert "obsm: X_pca, X_umap, by --obsm" in lowdim_command("info cells.h5ad").out
    assert json.loads(lowdim_command("info cells.h5ad --json").out)["obsm"] == ["X_pca", "X_umap"]


def test_the_option_that_is_asked_for_is_one_that_the_command_has(lowdim_command, cells):
    answer = lowdim_command("score cells.h5ad cells.h5ad")
    assert "Say which of them, as in --embedding-key X_umap." in answer.err
    assert "as in --key X_umap." in lowdim_command("plot cells.h5ad").err


def test_labels_that_are_not_there_are_no_class(lowdim_command, folder, table):
    X, _ = table
    np.savetxt(folder / "map.csv", X[:, :2], delimiter=",", header="x,y", comments="")
    lines = (folder / "points.csv").read_text().splitlines()
    told = [line.rpartition(",")[0] + "," if i % 3 == 1 else line for i, line in enumerate(lines)]
    (folder / "partly.csv").write_text("\n".join(told) + "\n")
    line = "score {} map.csv --id name --label kind --measures neighbor_accuracy --json"
    whole, part = (json.loads(lowdim_command(line.format(name)).out) for name in ("points.csv", "partly.csv"))
    whole, part = (found["measures"]["neighbor_accuracy"]["value"] for found in (whole, part))
    assert abs(whole - part) < 0.05
