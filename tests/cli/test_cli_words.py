"""What the library says of data and parameters, said to somebody at a shell: files and options, no word of Python."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse

PYTHON = re.compile(
    r"\bX\b|\b(None|True|False|numpy|sklearn|lowdim\.save)\b|shape \(|\w=['\w]|\bn_\w+|on_disconnected"
)
"""Words that nobody can type at a shell."""

SAID = [
    ("embed one.npy -m pca", "DATA has 1 sample(s) while a minimum of 2 is required by PCA."),
    ("embed same.npy", "DATA must hold at least 2 distinct points"),
    ("embed huge.npy", "DATA must hold numbers whose largest is between"),
    ("embed points.npy -m isomap --metric precomputed", "DATA must be a square matrix of distances"),
    ("embed points.npy -m isomap --metric precomputed", "got shape 60 x 4."),
    (
        "embed skew.npy -m isomap --metric precomputed",
        "DATA[0, 1] = 9 but DATA[1, 0] = 1. Symmetrise it first.",
    ),
    (
        "embed skew.npy -m laplacian-eigenmaps --affinity precomputed",
        "it and its transpose differ by up to 8",
    ),
    ("embed negative.npy -m isomap --metric precomputed", "DATA must hold distances >= 0"),
    (
        "embed loops.npy -m isomap --metric precomputed",
        "a zero diagonal; DATA[0, 0] is 5",
    ),
    (
        "embed apart.npy -m isomap -k 5 --on-disconnected error",
        "and --on-disconnected error. Raise --n-neighbors or",
    ),
    ("embed pieces.npz -m isomap --metric graph", "--on-disconnected connect has no edge to add"),
    ("embed points.npy -m sne --lam 5 --perplexity 5", "--lam and the values of --homotopy must be at most"),
    (
        "embed points.npy --perplexity 100",
        "59 other points; the most that is usual is a third of them: --perplexity 19.",
    ),
    (
        "embed points.npy --perplexity 20 -k 15",
        "Raise --n-neighbors, at best to three times the perplexity, or lower",
    ),
    (
        "embed points.npy --init short.npy --perplexity 5",
        "for each row of DATA and --n-components columns, 60 x 2",
    ),
    (
        "embed points.npy -m oriented-pca --noise wide.npy",
        "--noise must have the columns of DATA; got 6 columns where",
    ),
    (
        "embed points.npy -m oriented-pca --noise gaps.npy",
        "error: --noise must hold finite numbers; --noise[3, 1]",
    ),
    (
        "embed gaps.npz -m pca",
        "gaps.npz: 1 of 60 rows have missing or infinite values, first in row 2, column 0",
    ),
    (
        "embed points.npy --metric mahalanobis --metric-params VI=3",
        "VI of --metric-params must hold a number for each",
    ),
    ("embed ragged.csv", "line 3 has 1 cells, and 2 are expected: '3'. Correct it, or say --delimiter if"),
    ("embed flat.npy", "its shape is 5. Save it with one column if these are points of one coordinate."),
    (
        "info points.npy.lowdim",
        "points.npy.lowdim: is no model file. Name a file that 'lowdim embed --model' wrote.",
    ),
    (
        "score points.npy points.npy --metric precomputed",
        "DATA must be a square matrix of distances with --metric",
    ),
    (
        "score gaps.npy points.npy",
        "gaps.npy: 1 of 60 rows have missing or infinite values, first in row 3, column 1",
    ),
    ("plan 70000", "DATA is a file, or a size as ROWSxCOLUMNS, such as 70000x784; got '70000'."),
    ("plan 70,000x", "DATA is a file, or a size as ROWSxCOLUMNS, such as 70000x784; got '70,000x'."),
    ("plan 10*4", "DATA is a file, or a size as ROWSxCOLUMNS, such as 70000x784; got '10*4'."),
    (
        "embed points.npy --learning-rate -3",
        "--learning-rate must be 'auto', or a finite number > 0; got -3.",
    ),
]


@pytest.fixture
def files(folder, table):
    X = table[0]
    apart = np.abs(X[:, None] - X[None]).sum(axis=2)
    made = {
        "one": X[:1],
        "same": np.ones((30, 3)),
        "huge": X * 1e80,
        "short": X[:9, :2],
        "wide": np.hstack([X, X])[:, :6],
        "apart": np.vstack([X, X + 1000]),
        "flat": np.arange(5.0),
    }
    for name, place, value in (("skew", (0, 1), 9.0), ("loops", (0, 0), 5.0), ("gaps", (3, 1), np.nan)):
        made[name] = X.copy() if name == "gaps" else np.ones((30, 30)) - np.eye(30)
        made[name][place] = value
    made["negative"] = np.where(apart == apart[0, 1], -1.0, apart)
    for name, array in made.items():
        np.save(folder / f"{name}.npy", array)
    sparse.save_npz(
        folder / "pieces.npz", sparse.csr_array(np.kron(np.eye(6), np.ones((10, 10)) - np.eye(10)))
    )
    held = sparse.csr_array(np.where(X > 0, X, 0.0))
    held.data[held.indptr[2]], held.indices[held.indptr[2]] = np.nan, 0
    sparse.save_npz(folder / "gaps.npz", held)
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (folder / "points.npy.lowdim").write_text("no model")


@pytest.mark.parametrize(("line", "words"), SAID, ids=[line for line, _ in SAID])
@pytest.mark.usefixtures("files")
def test_messages_name_files_and_options(lowdim_command, line, words):
    answer = lowdim_command(line)
    assert answer.code in (1, 2)
    assert words in answer.err
    assert not PYTHON.search(answer.err), answer.err
