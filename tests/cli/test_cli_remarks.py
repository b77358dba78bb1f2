"""Remarks on data and results: said where something else may have been meant, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

RULES = "has over 99% of all variance"
COUNTS = "look like raw counts"
FAR = "of the points lie in 1% of the width of coordinate"


@pytest.fixture
def said(lowdim_command):
    """What the program says of an embedding."""

    def run(line):
        answer = lowdim_command(f"embed {line} -o out.npy --force -v")
        assert answer.code == 0
        return answer.err

    return run


def test_a_column_that_decides_alone(said, folder, table):
    np.save("mixed.npy", table[0] * [1, 1, 1e5, 1])
    words = said("mixed.npy -m isomap -k 20")
    assert f"mixed.npy: column 3 {RULES}" in words
    assert "or use --metric seuclidean, unless" in words
    assert RULES in said("mixed.npy -m pca")
    assert "--metric" not in said("mixed.npy -m pca").split(RULES)[1]
    assert RULES not in said("mixed.npy -m isomap -k 20 --metric seuclidean")
    assert RULES not in said("points.npy -m pca")


def test_the_column_goes_by_its_name(said, folder):
    lines = [f"{i},{i * i % 7},{1e6 * i},{i % 5}" for i in range(40)]
    (folder / "named.csv").write_text("\n".join(["a,b,weight,d", *lines]) + "\n")
    assert f"named.csv: column 'weight' {RULES}" in said("named.csv -m pca")


def test_raw_counts(said, folder):
    counts = np.random.default_rng(0).poisson(30.0, size=(50, 12)).astype(float)
    sparse.save_npz("counts.npz", sparse.csr_array(counts))
    np.save("pixels.npy", counts)
    sparse.save_npz("logarithms.npz", sparse.csr_array(np.log1p(counts)))
    assert f"counts.npz holds whole numbers that {COUNTS}" in said("counts.npz -m pca")
    assert COUNTS not in said("pixels.npy -m pca")
    assert COUNTS not in said("logarithms.npz -m pca")


def test_matrices_between_points_draw_no_remark(said, table):
    apart = np.abs(table[0][:, None] - table[0][None]).sum(axis=2)
    sparse.save_npz("graph.npz", sparse.csr_array(np.where(apart > 0, 30.0, 0.0)))
    assert COUNTS not in said("graph.npz -m laplacian-eigenmaps --metric graph")


def test_a_few_points_that_take_a_coordinate(said, table):
    far = np.vstack([table[0], table[0], [[1e6, 0, 0, 0]]])
    np.save("far.npy", far)
    words = said("far.npy -m pca")
    assert f"99.2% {FAR} 1: it tells one other from them (row 120, counted from 0)" in words
    assert FAR not in said("points.npy -m pca")
    assert FAR not in said("far.npy -m spectral-clustering --n-clusters 2 -k 8")


def test_wide_data_are_looked_at_in_part(said, monkeypatch):
    monkeypatch.setattr("lowdim.cli.remarks.ENTRIES", 8)
    np.save("wide.npy", np.random.default_rng(0).normal(size=(50, 6)) * [1e5, 1, 1, 1, 1, 1])
    assert RULES in said("wide.npy -m pca")
