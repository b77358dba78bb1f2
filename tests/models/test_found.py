"""Model files that once did harm: what ``python -m torture fuzz`` found in the loader."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from model_zoo import forged, taken_apart

import lowdim
from lowdim.errors import FormatError, LowdimError
from lowdim.store.consistency import is_finite

STORED = Path(__file__).parent / "fixtures" / "format-1"
NEW = np.load(STORED / "expected.npz", allow_pickle=False)["new"]


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("model", ["laplacian-eigenmaps", "lle", "isomap", "kernel-pca"])
@pytest.mark.parametrize("value", [1e300, -1e100, np.inf, np.nan])
def test_points_that_cannot_be_squared(model: str, value: float, tmp_path: Path) -> None:
    document, arrays = taken_apart(STORED / f"{model}.lowdim")
    name = next(name for name in arrays if arrays[name].shape == (40, 3))
    arrays[name][7, 1] = value
    with pytest.raises(FormatError, match="parts of Rows do not fit each other"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays))


@pytest.mark.parametrize(
    ("model", "part", "value"),
    [
        ("pca", "map_.components", 1e308),
        ("t-sne", "embedding_", 1e308),
        ("symmetric-sne", "embedding_", np.nan),
        ("elastic-embedding", "embedding_", 1e200),
        ("sne", "embedding_", -1e300),
    ],
)
def test_no_warnings_and_no_nan_from_strange_numbers(
    model: str, part: str, value: float, tmp_path: Path
) -> None:
    document, arrays = taken_apart(STORED / f"{model}.lowdim")
    array = arrays.get(part, arrays["embedding_"])
    array.reshape(-1)[0] = value
    try:
        placed = lowdim.load(forged(tmp_path / "model.lowdim", document, arrays)).transform(NEW)
    except LowdimError:
        return
    assert np.isfinite(placed).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_of_every_precision_are_looked_at(dtype, recwarn):
    """The largest that can be reckoned with is infinite in single precision."""
    assert is_finite(np.array([0.0, -1.0, np.finfo(np.float16).max], dtype))
    for wrong in (np.inf, -np.inf, np.nan):
        assert not is_finite(np.array([1.0, wrong], dtype))
    assert not recwarn.list
