"""Values of every kind through the tree and a file, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_zoo import assert_same
from numpy.typing import NDArray
from scipy import sparse

import lowdim
from lowdim.core.records import Floats, Integers, Sparse
from lowdim.core.run import Run
from lowdim.store import registry
from lowdim.store.container import NAMES, open_container, write_container
from lowdim.store.encoding import Decoder, Encoder
from lowdim.store.type_checks import fits

arrays = hnp.arrays(
    st.sampled_from(sorted(NAMES, key=lambda dtype: dtype.name)),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
# NumPy drops zeros at the end of a text of fixed width.
words = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=6)
texts = hnp.arrays(st.sampled_from([np.dtype("U6"), np.dtype(object)]), 3, elements=words, fill=st.nothing())
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    arrays,
    arrays.map(np.asfortranarray),
    texts,
    arrays.filter(lambda array: array.ndim == 0).map(lambda array: array[()]),
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.tuples(st.integers(), st.booleans()))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


def through_a_file(value: Any, path: Path) -> Any:
    encoder = Encoder("a test")
    node = encoder.encode(value, "value")
    write_container(path, encoder.pool.arrays, {"version": "1", "model": "{}"})
    with open_container(path) as file:
        decoder = Decoder(file.arrays(), Run())
        decoder.decode_objects(encoder.objects)
        return decoder.decode(node)


@given(value=values)
def test_values_come_back(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    again = through_a_file(value, tmp_path_factory.getbasetemp() / "value")
    assert_same(value, again)


@pytest.mark.parametrize(
    "kind", ["csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "lil_matrix"]
)
def test_sparse_matrices_come_back(kind: str, tmp_path: Path) -> None:
    dense = np.where(np.random.default_rng(0).random((7, 4)) < 0.3, 1.5, 0.0)
    matrix = getattr(sparse, kind)(dense)
    again = through_a_file(matrix, tmp_path / "value")
    np.testing.assert_array_equal(again.toarray(), dense)
    assert again.dtype == matrix.dtype
    assert type(again).__name__ == kind or again.format == "csr"


def test_wide_indices_stay_wide(tmp_path: Path) -> None:
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    again = through_a_file(matrix, tmp_path / "value")
    assert again.indices.dtype == again.indptr.dtype == np.int64


def test_order_in_memory_and_sharing_stay(tmp_path: Path) -> None:
    turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    strided = np.arange(12.0)[::-2]
    again = through_a_file([turned, turned, turned.T, strided], tmp_path / "value")
    assert again[0].flags.f_contiguous
    assert again[0] is again[1]
    assert_same(again, [turned, turned, np.ascontiguousarray(turned.T), np.ascontiguousarray(strided)])


def test_every_class_of_the_registry_is_there_and_says_its_types() -> None:
    for name, (module, attribute) in registry.NAMES.items():
        entry = registry.find(name)
        hints, required = entry.fields()
        assert required <= set(hints)
        assert (
            registry.name_of(getattr(__import__(f"lowdim.{module}", fromlist=[attribute]), attribute)) == name
        )
    assert set(registry.ESTIMATORS) == {
        name for name in lowdim.__all__ if hasattr(getattr(lowdim, name), "fit_transform")
    }


class Walker(Protocol):
    """Something that walks."""

    pace: float

    def walk(self) -> None: ...


class Duck:
    pace = 1.0

    def walk(self) -> None:
        """One foot before the other."""


@pytest.mark.parametrize(
    ("value", "hint", "is_right"),
    [
        (1, Any, True),
        (None, None, True),
        (1, None, False),
        (1, int, True),
        (np.int64(1), int, True),
        (True, int, False),
        (1.5, int, False),
        (1, float, True),
        (True, float, False),
        (np.float32(1), float, True),
        (True, bool, True),
        (1, bool, False),
        ("a", str, True),
        (None, int | None, True),
        ("a", int | None, False),
        ("a", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        ([], Literal["a", "b"], False),
        (np.zeros(2), Floats, True),
        (np.zeros(2, np.float32), Floats, False),
        (np.zeros(2, int), Integers, True),
        ([0.0], Floats, False),
        (np.zeros(2, bool), NDArray[Any], True),
        (sparse.csr_array((2, 2)), Sparse, True),
        (np.zeros((2, 2)), Sparse, False),
        ((1, 2), tuple[int, int], True),
        ((1, 2, 3), tuple[int, int], False),
        ([1, 2], tuple[int, int], False),
        ((1, 2, 3), tuple[int, ...], True),
        ((1, "a"), tuple[int, ...], False),
        ([1], list[int], True),
        (["a"], list[int], False),
        ({"a": 1}, Mapping[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        ([], Mapping[str, int], False),
        (Duck(), Walker, True),
        (Duck, Walker, False),
        (3, Walker, False),
        (print, Callable[..., None], False),
        ("a", str | Callable[..., None], True),
    ],
)
def test_values_fit_their_types(value: Any, hint: Any, is_right: bool) -> None:
    assert fits(value, hint) is is_right
