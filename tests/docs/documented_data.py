"""What the code of the pages takes for granted: small data under the names and in the files that they speak of."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.data import datasets

ROWS = 160
# Sizes of the pages are those of real data, and are made those of ours.
_SIZES = [
    (r"(?<=LLL\()[\d_]+", "30"),
    (r"(?<=landmarks=)\d+", "30"),
    (r"(?<=--landmarks )\d+", "30"),
    (r"\b1500\b", "120"),
    (r"(?<=\[):1000\b", ":120"),
    # There is no machine of this address.
    (r"--cluster tcp://10.0.0.1:8786", "--workers 2"),
]


def shrunk(code: str) -> str:
    """Code with the sizes of these data."""
    for pattern, size in _SIZES:
        code = re.sub(pattern, size, code)
    return code


def digits() -> Any:
    """Some of the digits, each kind alike."""
    whole = datasets.load("digits")
    return replace(whole, data=whole.data[:ROWS], labels=whole.labels[:ROWS])


def names() -> dict[str, Any]:
    """The names that pages use without saying where they come from."""
    rows = digits()
    X, y, more = rows.data[:120], rows.labels[:120], rows.data[120:]
    return {
        "__name__": "__main__",
        "lowdim": lowdim,
        **dict.fromkeys(("X", "Y"), X),
        **dict.fromkeys(("y", "labels"), y),
        "ages": X.sum(axis=1),
        "more": more,
        "mask": y == 4,
        "model": lowdim.LaplacianEigenmaps(n_neighbors=12).fit(X),
        "grid": {"n_neighbors": [8, 12]},
        "january": X[:80],
        "february": X[80:100],
        "march": X[100:],
        "april": more,
        "relations": [{0: 0, 1: 1}, {0: 0}],
        "adjacency": ring(40),
        "names": [f"digit {i}" for i in range(ROWS)],
        "adata": Cells(rows.data, y=rows.labels),
        "a": np.arange(ROWS) / 10,
        "b": ["first", "second"] * (ROWS // 2),
    }


class Cells:
    """What pictures ask of AnnData, which is not installed everywhere."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.X, self.obs, self.obsm = X, {"leiden": y}, {"X_tsne": X[:, 20:22]}
        self.obs_names = [f"cell {i}" for i in range(len(X))]
        self.var_names = ["CD3E", *(f"gene {j}" for j in range(1, X.shape[1]))]


def ring(n: int) -> Any:
    """A graph: each node with its two neighbours, and every fifth with one farther on."""
    from scipy import sparse

    edges = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 7) % n) for i in range(0, n, 5)]
    graph = sparse.coo_array((np.ones(len(edges)), np.array(edges).T), shape=(n, n)).tocsr()
    return sparse.csr_array(graph + graph.T)


def write_files(folder: Path) -> None:
    """The files that pages speak of, as far as their own code does not write them."""
    rows = digits()
    X, y = rows.data, rows.labels
    _write_table(folder / "cells.csv", X[:120], y[:120])
    _write_table(folder / "more-cells.csv", X[120:], y[120:])
    _write_table(folder / "february.csv", X[120:], y[120:])
    np.savetxt(folder / "digits.csv", X[:120], delimiter=",", fmt="%g")
    for name in ("X.npy", "x.npy"):
        np.save(folder / name, X)
    with gzip.open(folder / "counts.csv.gz", "wt") as file:
        file.write("gene," + ",".join(f"sample {j}" for j in range(64)) + "\n")
        file.writelines(f"g{i}," + ",".join(f"{value:g}" for value in row) + "\n" for i, row in enumerate(X))
    with (folder / "genes.csv").open("w") as file:
        file.write("gene," + ",".join(f"cell {i}" for i in range(120)) + "\n")
        file.writelines(f"g{j}," + ",".join(f"{value:g}" for value in X[:120, j]) + "\n" for j in range(64))
    _write_cells(folder / "cells.h5ad", X[:120], y[:120])
    _write_cells(folder / "new-cells.h5ad", X[120:], y[120:])
    _write_shards(folder, X)


def _write_cells(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    import h5py

    text = h5py.string_dtype()
    genes = ["CD3E", *(f"gene {j}" for j in range(1, X.shape[1]))]
    with h5py.File(path, "w") as file:
        file["X"], file["obsm/X_pca"] = X, X[:, 20:40]
        for group, index in (("obs", [f"cell {i}" for i in range(len(X))]), ("var", genes)):
            frame = file.create_group(group)
            frame.attrs["_index"] = "_index"
            frame.attrs["column-order"] = np.array(["type"] if group == "obs" else [], dtype=text)
            frame.create_dataset("_index", data=index, dtype=text)
        file["obs"].create_dataset("type", data=[f"digit {kind}" for kind in y], dtype=text)


def _write_table(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    head = "barcode,type," + ",".join(f"p{j}" for j in range(X.shape[1]))
    lines = [
        f"{1000 + i},{label}," + ",".join(f"{value:g}" for value in row)
        for i, (label, row) in enumerate(zip(y, X, strict=True))
    ]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def _write_shards(folder: Path, X: np.ndarray) -> None:
    import pyarrow
    import pyarrow.parquet
    import zarr

    (folder / "rows").mkdir()
    for part in range(2):
        columns = {"id": np.arange(80), **{f"p{j}": X[80 * part : 80 * part + 80, j] for j in range(64)}}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / "rows" / f"part-{part}.parquet")
    for name in ("x.zarr", "big.zarr", "reduced.zarr"):
        array = zarr.create_array(folder / name, shape=X.shape, chunks=(40, 64), dtype="float64")
        array[:] = X
