"""The command line in this process: a folder of small files, and a way to type commands in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from lowdim.cli import main


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def table():
    """Sixty points of two groups in four columns, with a label and an id."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + np.repeat([[0.0], [2.0]], 30, axis=0)
    labels = np.repeat(["red", "blue"], 30)
    return X, labels


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    """A folder with the table as .csv and .npy, which the commands run in."""
    X, labels = table
    lines = ["name,a,b,c,d,kind"]
    lines += [
        f"p{i},{','.join(f'{v:.6f}' for v in row)},{kind}"
        for i, (row, kind) in enumerate(zip(X, labels, strict=True))
    ]
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")
    np.save(tmp_path / "points.npy", X)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lowdim_command(folder, capsys):
    """Type a command: ``lowdim_command("embed points.npy -o out.npy")``."""

    def run(line: str | list[str]) -> Answer:
        words = line.split() if isinstance(line, str) else line
        code = main(words)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def write_h5ad():
    """Write a file of AnnData: its matrix, the names of its columns, and entries of obsm."""
    h5py = pytest.importorskip("h5py")

    def write(path, X, names, **obsm):
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=X)
            for group, index in (("obs", [f"p{i}" for i in range(len(X))]), ("var", names)):
                frame = file.create_group(group)
                frame.attrs["_index"] = "_index"
                frame.attrs["column-order"] = np.array([], dtype=h5py.string_dtype())
                frame.create_dataset("_index", data=np.array(index, dtype=object), dtype=h5py.string_dtype())
            for name, values in obsm.items():
                file.create_dataset(f"obsm/{name}", data=values)

    return write
