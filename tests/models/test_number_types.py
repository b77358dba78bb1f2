"""Arrays are stored in the smallest type that holds their numbers to the last bit, and come back in their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_zoo import assert_same, forged, taken_apart
from scipy import sparse

import lowdim
from lowdim.data import number_types
from lowdim.data.number_types import can_widen, smallest_type
from lowdim.errors import FormatError

RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 256, (120, 30)).astype(float)
SHORT: dict[str, Any] = {"max_iter": 10, "perplexity": 8}


@pytest.mark.parametrize(
    ("values", "dtype", "smallest"),
    [
        ([0, 255], "f8", "u1"),
        ([-1, 127], "f8", "i1"),
        ([0, 256], "f8", "u2"),
        ([-1, 300], "f4", "i2"),
        ([0, 1 << 16], "f8", "f4"),
        ([0.5, 1e30], "f8", "f8"),
        ([0.5, 0.25], "f8", "f4"),
        ([0.0, -0.0], "f8", "f4"),
        ([np.inf, 0], "f8", "f4"),
        ([0, 1 << 20], "i8", "u4"),
        ([-1, 1 << 20], "i8", "i4"),
        ([0, 1 << 40], "i8", "i8"),
        ([0, 1 << 31], "u8", "u4"),
        ([0, 7], "u1", "u1"),
        ([0, 1], "?", "?"),
    ],
)
def test_the_smallest_type_is_found(values: list[float], dtype: str, smallest: str) -> None:
    array = np.resize(np.array(values, dtype), 5000)
    assert smallest_type(array) == np.dtype(smallest)


def test_one_number_in_the_last_block_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_types, "BLOCK", 1 << 10)
    array = np.zeros((700, 3))
    assert smallest_type(array) == np.uint8
    array[-1, -1] = 0.1
    assert smallest_type(array) == np.float64
    assert smallest_type(np.zeros(10)) == np.float64


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint64, np.int16]),
        hnp.array_shapes(min_dims=1, max_dims=2, max_side=5),
    )
)
def test_every_bit_comes_back(array: np.ndarray) -> None:
    many = np.resize(array, (5000, *array.shape[1:]))
    kind = smallest_type(many)
    assert kind == many.dtype or can_widen(kind, many.dtype)
    with np.errstate(all="ignore"):
        assert many.astype(kind).astype(many.dtype).tobytes() == many.tobytes()


@pytest.mark.parametrize(
    "model",
    [
        lowdim.KernelPCA(kernel="rbf", gamma=1e-6),
        lowdim.ClassicalMDS(metric="manhattan"),
        lowdim.Isomap(n_neighbors=9),
        lowdim.LLE(n_neighbors=9),
        lowdim.LLE(n_neighbors=9, metric="cosine"),
        lowdim.LaplacianEigenmaps(n_neighbors=9, search="approximate"),
        lowdim.LaplacianEigenmaps(n_neighbors=9, search="exact", solver=lowdim.LLL(40)),
        lowdim.TSNE(**SHORT),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", ["bytes", "short", "single", "sparse"])
@pytest.mark.every(3)
def test_rows_of_every_type_place_new_points_alike(model: Any, form: str, tmp_path: Path) -> None:
    X: Any = {"short": WHOLE * 7 - 400, "single": np.float32(WHOLE / 3).astype(float)}.get(form, WHOLE)
    if form == "sparse":
        if type(model).__name__ == "KernelPCA" or getattr(model, "search", "") == "approximate":
            pytest.skip("tried on dense rows")
        X = sparse.csr_array(np.where(X > 100, X, 0.0))
    new = (X[:9].toarray() if form == "sparse" else X[:9]) + 0.25
    model = model.fit(X)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(path)
    assert again.transform(new).tobytes() == model.transform(new).tobytes()
    assert path.read_bytes() == lowdim.save(again, tmp_path / "again.lowdim").read_bytes()
    assert_same(model.embedding_, again.embedding_)


def test_bytes_from_a_table_of_text_stay_bytes(tmp_path: Path) -> None:
    X = RNG.integers(0, 256, (300, 200)).astype(float)
    path = lowdim.save(lowdim.LLE(n_neighbors=9, search="exact").fit(X), tmp_path / "model.lowdim")
    _, arrays = taken_apart(path)
    (rows,) = (array for array in arrays.values() if array.shape == X.shape)
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows, X)
    assert path.stat().st_size < X.size + 40_000
    held = lowdim.load(path).map_.lookup.index.rows.values
    assert held.dtype == np.uint8


def test_a_sparse_matrix_is_stored_small_and_held_as_it_was(tmp_path: Path) -> None:
    X = sparse.csr_array(np.where(WHOLE > 60, WHOLE, 0.0))
    path = lowdim.save(lowdim.LLE(n_neighbors=9).fit(X), tmp_path / "model.lowdim")
    _, arrays = taken_apart(path)
    stored = {name.rpartition(".")[2]: array.dtype for name, array in arrays.items() if ".rows." in name}
    assert (stored["data"], stored["indices"]) == (np.uint8, np.uint8)
    assert_same(X, lowdim.load(path).map_.lookup.index.rows.values)


@pytest.mark.parametrize(
    "place",
    [["C", "uint8"], ["C", "float16"], ["C", "object"], ["C", "str"], ["C", 7], ["C", "float64", "x"], ["C"]],
)
def test_no_array_becomes_what_it_cannot_be(place: list[Any], tmp_path: Path) -> None:
    model = lowdim.LaplacianEigenmaps(n_neighbors=9).fit(RNG.normal(size=(900, 3)))
    path = lowdim.save(model, tmp_path / "model.lowdim")
    document, arrays = taken_apart(path)
    attributes = document["objects"][-1][1]["attributes"]["dict"]
    node = next(value for key, value in attributes if key == "component_labels_")
    assert node["array"][1:] == ["C", "int64"]
    node["array"][1:] = place
    with pytest.raises(FormatError, match="the model file is damaged"):
        lowdim.load(forged(tmp_path / "forged.lowdim", document, arrays))
