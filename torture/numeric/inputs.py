"""Points that numerical code stumbles over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Case:
    """One column of the table: data, and how it comes from the ordinary points.

    ``related`` data are the ordinary points moved, or ``scale`` times as large: the answer must be theirs up to
    ``tolerance``. ``parameters`` are asked of the estimator.
    """

    data: Any
    scale: float = 1.0
    related: bool = False
    tolerance: float = 1e-6
    parameters: dict[str, Any] = field(default_factory=dict)


Points = Callable[[int], Case]


def ordinary(n: int) -> np.ndarray:
    """A bent sheet with a little noise: all eigenvalues apart."""
    rng = np.random.default_rng(7)
    u, v = rng.uniform(-1, 1, n) * 1.5, rng.uniform(-1, 1, n)
    bent = np.column_stack((u, v, 0.4 * u**2 - 0.3 * v, 0.2 * u * v))
    return bent + 0.02 * rng.standard_normal(bent.shape)


def _scaled(factor: float, tolerance: float = 1e-6) -> Points:
    return lambda n: Case(ordinary(n) * factor, factor, True, tolerance)


def _moved(offset: float, tolerance: float) -> Points:
    return lambda n: Case(ordinary(n) + offset, 1.0, True, tolerance)


def _changed(change: Callable[[np.ndarray, np.random.Generator], Any], **parameters: Any) -> Points:
    return lambda n: Case(change(ordinary(n), np.random.default_rng(3)), parameters=parameters)


def _outlier(size: float) -> Points:
    def change(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X[5] = size
        return X

    return _changed(change)


def _one_beside_tiny(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X *= 1e-200
    X[5] = 1.0
    return X


def _few_distinct(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X[4:] = X[rng.integers(4, size=len(X) - 4)]
    return X


def _mostly_copies(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    kept = len(X) // 10
    return X[np.concatenate((np.arange(kept), rng.integers(kept, size=len(X) - kept)))]


def _line(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.outer(np.sort(rng.standard_normal(len(X))), [1.0, 2.0, -1.0])


def _sphere(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    v = rng.standard_normal((len(X), 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def _lattice(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    side = int(np.sqrt(len(X)))
    return (
        np.stack(np.meshgrid(np.arange(side), np.arange(side), [0.0]), axis=-1).reshape(-1, 3).astype(float)
    )


def _two_clusters(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X[len(X) // 2 :, 0] += 1e6
    return X


def _wide_sparse(X: np.ndarray, rng: np.random.Generator) -> Any:
    entries = 6
    columns = rng.integers(100_000, size=(len(X), entries))
    columns[:, :3] %= 40
    rows = np.repeat(np.arange(len(X)), entries)
    made = sparse.coo_array((rng.random(rows.size) + 0.1, (rows, columns.ravel())), shape=(len(X), 100_000))
    return sparse.csr_array(made)


def _mixed(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X * np.array([1e-12, 1e12, 1.0, 1e-3])


def _rounded(dtype: Any, low: float, high: float) -> Points:
    """Ordinary points stretched over a range of an integer type."""

    def change(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        unit = (X - X.min()) / (X.max() - X.min())
        return np.asarray(low + unit * (high - low)).astype(dtype)

    return _changed(change)


def _huge_integers(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (X * 1000).astype(np.int64) + np.int64(2**60) + rng.integers(0, 3, X.shape)


def _sizes() -> dict[str, Points]:
    table: dict[str, Points] = {}
    for exponent in (-30, -20, -10, 10, 20, 30):
        table[f"scale 1e{exponent}"] = _scaled(10.0**exponent)
    table |= {
        "scale 2^-100": _scaled(2.0**-100, 1e-11),
        "scale 2^100": _scaled(2.0**100, 1e-11),
        "scale 1e-69": _scaled(1e-69),
        "scale 1e69": _scaled(1e69),
        "scale 1e-150": _scaled(1e-150),
        "scale 1e150": _scaled(1e150),
        "scale 1e-200": _scaled(1e-200),
        "scale 1e200": _scaled(1e200),
        "scale 1e-300": _scaled(1e-300),
        "scale 1e300": _scaled(1e300),
        "denormals": _changed(lambda X, rng: X * 1e-312),
        "denormal steps": _changed(lambda X, rng: np.round(X * 50) * 5e-324),
        "largest": _changed(lambda X, rng: X / np.abs(X).max() * np.finfo(float).max),
        "offset 1e8": _moved(1e8, 1e-4),
        "offset 1e8 float32": _changed(lambda X, rng: (X + 1e8).astype(np.float32)),
        "offset 1e4 float32": _changed(lambda X, rng: (X + 1e4).astype(np.float32)),
        "offset 1e15": _changed(lambda X, rng: X + 1e15),
        "float32 1e30": _changed(lambda X, rng: (X * 1e30).astype(np.float32)),
        "float32 1e-30": _changed(lambda X, rng: (X * 1e-30).astype(np.float32)),
        "float32 1e-42": _changed(lambda X, rng: (X * 1e-42).astype(np.float32)),
        "mixed columns": _changed(_mixed),
    }
    return table


def _shapes() -> dict[str, Points]:
    return {
        "outlier 1e6": _outlier(1e6),
        "outlier 1e12": _outlier(1e12),
        "outlier 1e150": _outlier(1e150),
        "outlier 1e300": _outlier(1e300),
        "1 beside 1e-200": _changed(_one_beside_tiny),
        "90% copies": _changed(_mostly_copies),
        "4 distinct": _changed(_few_distinct),
        "2 distinct": _changed(lambda X, rng: X[rng.integers(2, size=len(X))]),
        "1 distinct": _changed(lambda X, rng: X[np.zeros(len(X), int)]),
        "all zero": _changed(lambda X, rng: np.zeros_like(X)),
        "almost equal": _changed(lambda X, rng: 1.0 + X * 1e-15),
        "line": _changed(_line),
        "equal steps": _changed(lambda X, rng: np.arange(float(len(X)))[:, None] * [1.0, 2.0, 0.0]),
        "sphere": _changed(_sphere),
        "lattice": _changed(_lattice),
        "simplex": _changed(lambda X, rng: np.eye(len(X))),
        "two clusters": _changed(_two_clusters),
        "D = 1": _changed(lambda X, rng: X[:, :1].copy(), n_components=1),
        "D = 1 lattice": _changed(lambda X, rng: np.arange(float(len(X)))[:, None], n_components=1),
        "D = 100000 sparse": _changed(_wide_sparse),
        "sparse empty": _changed(lambda X, rng: sparse.csr_array(X.shape)),
        "sparse mostly zero": _changed(lambda X, rng: sparse.csr_array(X * (rng.random(X.shape) < 0.2))),
        "50 components": _changed(lambda X, rng: rng.standard_normal((len(X), 60)), n_components=50),
        "components = D": _changed(lambda X, rng: X, n_components=4),
        "components = N - 1": _changed(lambda X, rng: rng.standard_normal((20, 30)), n_components=19),
    }


def _types() -> dict[str, Points]:
    return {
        "float16": _changed(lambda X, rng: X.astype(np.float16)),
        "float16 largest": _changed(lambda X, rng: (X / np.abs(X).max() * 65000).astype(np.float16)),
        "int8": _rounded(np.int8, -128, 127),
        "uint8": _rounded(np.uint8, 0, 255),
        "int16": _rounded(np.int16, -32768, 32767),
        "int32": _rounded(np.int32, -(2.0**31), 2.0**31 - 1),
        "int64 beyond 2^53": _changed(_huge_integers),
        "uint64": _rounded(np.uint64, 0, 2.0**63),
        "boolean": _changed(lambda X, rng: rng.random((len(X), 12)) < 0.4),
        "longdouble": _changed(lambda X, rng: X.astype(np.longdouble)),
        "big-endian": _changed(lambda X, rng: X.astype(">f8")),
        "fortran order": _changed(lambda X, rng: np.asfortranarray(X)),
    }


def _few() -> dict[str, Points]:
    table: dict[str, Points] = {}
    for count in (2, 3, 4, 5):
        table[f"N = {count}"] = lambda n, count=count: Case(
            ordinary(n)[:count], parameters={"n_components": 1}
        )
    return table


def every_input() -> dict[str, Points]:
    """All columns of the table that are points."""
    return {**_sizes(), **_shapes(), **_types(), **_few()}
