"""Well-known data sets that lie in a folder of the user's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..markup import box, plain_table

Seed = int | np.random.Generator | None

_FILES: dict[str, tuple[str, str, str | None, str | None]] = {
    "mnist": ("mnist.npz", "X", "y", None),
    "coil20": ("coil20.npz", "X", "y", "angle"),
    "frey_faces": ("frey_faces.npz", "X", None, None),
    "isomap_faces": ("isomap_faces_32x32.npz", "X", None, "params"),
    "olivetti": ("olivetti.npz", "X", "y", None),
    "mammoth": ("mammoth.npz", "X", None, None),
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """``data`` (N x D), and where they exist the ``labels`` (N) and the true ``parameters`` (N or N x p)."""

    data: NDArray[Any]
    labels: NDArray[Any] | None = None
    parameters: NDArray[Any] | None = None

    def _repr_html_(self) -> str:
        """What it holds, for a notebook."""
        held = {"data": self.data, "labels": self.labels, "parameters": self.parameters}
        rows = [
            [name, " × ".join(f"{length:,}" for length in values.shape), str(values.dtype), _range_of(values)]
            for name, values in held.items()
            if values is not None
        ]
        return box("Data set", plain_table(["", "shape", "type", "values"], rows))


def _range_of(values: NDArray[Any]) -> str:
    """Least and greatest number, or the number of different names."""
    if values.dtype.kind in "biuf" and values.size:
        return f"{np.min(values):g} to {np.max(values):g}"
    return f"{np.unique(values).size:,} different"


def load(name: str) -> Dataset:
    """A data set by its name: "digits" ships with scikit-learn, the others are read from the folder LOWDIM_DATA.

    The names are mnist, coil20 (parameters: angle), frey_faces, isomap_faces (parameters: light and pose), olivetti and
    mammoth.
    """
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return Dataset(digits.data, digits.target)
    if name not in _FILES:
        raise InputError(f"name: {name!r} is no data set; known are {', '.join(sorted([*_FILES, 'digits']))}")
    file_name, data, labels, parameters = _FILES[name]
    folder = os.environ.get("LOWDIM_DATA")
    path = Path(folder or ".") / file_name
    if folder is None or not path.is_file():
        where = f"LOWDIM_DATA is {folder}" if folder is not None else "LOWDIM_DATA is not set"
        raise FileNotFoundError(
            f"data set {name!r} needs the file {file_name} ({where}): set the environment variable LOWDIM_DATA "
            f"to the folder that holds it"
        )
    with np.load(path, allow_pickle=False) as archive:
        return Dataset(
            archive[data],
            archive[labels] if labels else None,
            archive[parameters] if parameters else None,
        )
