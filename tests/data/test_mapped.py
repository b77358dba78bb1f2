"""Memory maps whose files shrink are an error, never the end of the process, and give the same numbers as arrays."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import lowdim
from lowdim.data import files, mapped
from lowdim.data.mapped import Mapped, guarded, in_memory, is_mapped
from lowdim.data.rows import Rows
from lowdim.errors import FileError, FormatError

sys.path.insert(0, str(Path(__file__).parents[2]))

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reads maps without a risk")
KEYS = [
    slice(None),
    slice(3, 9),
    slice(5, 5),
    slice(None, None, -2),
    0,
    np.int64(-1),
    ...,
    (2, slice(1, 7)),
    (slice(None), slice(2, 5)),
    (3, 4),
    np.array([5, 1, 1, -1]),
    np.array([], dtype=np.int64),
    [4, 2],
    np.arange(60) % 3 == 0,
    (slice(None), np.array([0, 3, 3])),
    (slice(2, 9), np.array([1, 0])),
    (np.array([1, 2]), np.array([3, -4])),
    np.ix_([1, 4], [0, 2, 5]),
]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "points.npy"


def mapping(path: Path, array: np.ndarray, mode: str = "r") -> np.ndarray:
    np.save(path, array)
    return np.load(path, mmap_mode=mode)


@pytest.mark.parametrize("copier", ["system", "processor", "small pieces"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, ">f8", np.bool_])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_index_gives_what_the_array_gives(path, monkeypatch, order, dtype, copier):
    if copier == "processor":
        monkeypatch.setattr(mapped, "_copier", lambda: mapped._by_processor)
    elif copier == "small pieces":
        monkeypatch.setattr(mapped, "_PIECE", 40)
        monkeypatch.setattr(mapped, "_BLOCK", 1000)
    array = np.random.default_rng(0).integers(0, 200, (63, 11)).astype(dtype, order=order)
    held = mapping(path, array)
    for view, whole in (
        (held[:60], array[:60]),
        (held[:60:-1], array[:60:-1]),
        (held[2:62, ::-1], array[2:62, ::-1]),
    ):
        table = guarded(np.asarray(view))
        assert type(table) is Mapped
        for key in KEYS:
            if len(whole) < 60:
                continue
            found, expected = table[key], whole[key]
            assert not isinstance(found, Mapped)
            assert np.asarray(found).dtype == expected.dtype
            assert_array_equal(found, expected)
        assert_array_equal(in_memory(table), whole)
    with pytest.raises(IndexError, match="outside an axis of 60"):
        guarded(held[:60])[np.array([60])]


def test_what_is_mapped(path):
    array = np.zeros((4, 3))
    held = mapping(path, array)
    assert is_mapped(held)
    assert is_mapped(np.asarray(held)[1:])
    assert not is_mapped(held + 1)
    assert not is_mapped(array)
    assert not is_mapped([1, 2])
    assert guarded(array) is array
    assert guarded(array[:2]).base is array
    assert in_memory(array) is array
    assert guarded(guarded(held)) is not held
    assert Rows(held).is_mapped
    assert not Rows(held).select(np.array([1])).is_mapped
    assert not Rows(array).is_mapped
    assert_array_equal(Rows(held).compressed().toarray(), array)


def test_copies_lie_in_memory(path):
    table = guarded(mapping(path, np.eye(3)))
    again = pickle.loads(pickle.dumps(table))
    assert type(again) is np.ndarray
    assert_array_equal(again, np.eye(3))
    assert_array_equal((table + 0)[1], [0, 1, 0])


@pytest.mark.parametrize("left", [0, 128, 5000, 128 + 8 * 999 + 7])
def test_a_file_that_shrinks(path, left):
    """Within the last page zeros would be read, with no signal: the size is compared too."""
    table = guarded(mapping(path, np.ones((100, 10))))
    assert table[0, 0] == 1
    os.truncate(path, left)
    for key in (slice(0, 5), np.array([3]), (0, 1), slice(95, 100)):
        if sys.platform == "linux":
            with pytest.raises(
                FileError, match=r"points\.npy: became shorter while it was read: .* are left of 8"
            ):
                table[key]


def test_without_the_system_the_size_is_asked_for(path, monkeypatch):
    monkeypatch.setattr(mapped, "_copier", lambda: mapped._by_processor)
    table = guarded(mapping(path, np.ones((100, 10))))
    os.truncate(path, 200)
    with pytest.raises(FileError, match="became shorter"):
        table[:5]


@pytest.mark.parametrize("found", ["nothing", "refused"])
def test_systems_that_cannot_copy(monkeypatch, found):
    class Library:
        def __init__(self, *_, **__):
            if found == "refused":
                self.process_vm_readv = type("function", (), {"__call__": lambda *_: -1})()

    monkeypatch.setattr(mapped.ctypes, "CDLL", Library)
    assert mapped._copier.__wrapped__() is mapped._by_processor


@LINUX
@pytest.mark.parametrize(
    "name", ["PCA", "MDS-precomputed", "Isomap", "LLE-standard", "LE-forest", "TSNE-fft"]
)
def test_a_fit_under_which_the_file_is_cut_off(name):
    """In copies of this process: at the first reads the file is cut off, and no read goes past the guard."""
    from torture import shrinking

    assert shrinking.problems(name, 4) == []


def test_the_error_names_the_file_and_the_model_stays_usable(path):
    X = lowdim.datasets.swiss_roll(120, random_state=0).data
    model = lowdim.Isomap().fit(X)
    before = model.embedding_.copy()
    held = mapping(path, X)
    os.truncate(path, 300)
    with pytest.raises(FileError, match=r"points\.npy: became shorter"):
        model.fit(held)
    assert_array_equal(model.embedding_, before)
    with pytest.raises(FileError, match="became shorter"):
        model.transform(held)
    with pytest.raises(FileError, match="became shorter"):
        lowdim.score(held, before)


def test_nan_in_a_map_is_found_as_in_an_array(path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[40, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[40, 1\] is NaN") as plain:
        lowdim.PCA().fit(X)
    with pytest.raises(ValueError, match=r"X\[40, 1\] is NaN") as read:
        lowdim.PCA().fit(mapping(path, X))
    assert str(plain.value) == str(read.value)
    with pytest.raises(ValueError, match=r"noise\[40, 1\] is NaN"):
        lowdim.OrientedPCA().fit(X[:20], noise=mapping(path, X))


def test_sparse_matrices_in_mapped_files(tmp_path):
    graph = sparse.random_array((60, 90), density=0.2, rng=0, format="csr")
    parts = [
        mapping(tmp_path / f"{name}.npy", getattr(graph, name)) for name in ("data", "indices", "indptr")
    ]
    held = sparse.csr_array(tuple(parts), shape=graph.shape)
    assert is_mapped(held.data)
    expected = lowdim.PCA(2).fit_transform(graph)
    assert_array_equal(lowdim.PCA(2).fit_transform(held), expected)
    A = graph[:, :60] @ graph[:, :60].T
    whole = lowdim.SpectralProblem(A.toarray()).fit(None).embedding_
    assert_array_equal(
        lowdim.SpectralProblem(mapping(tmp_path / "A.npy", A.toarray())).fit(None).embedding_, whole
    )


def test_maps_as_distances_graphs_starts_and_scores(tmp_path):
    X = lowdim.datasets.swiss_roll(90, random_state=0).data
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    held = mapping(tmp_path / "D.npy", D)
    for model in (
        lowdim.ClassicalMDS(metric="precomputed"),
        lowdim.Isomap(metric="precomputed"),
        lowdim.LLE(metric="precomputed"),
    ):
        assert_array_equal(model.fit(held).embedding_, model.fit(D).embedding_)
    near = np.where(D < 9, D, 0)
    graph = lowdim.Isomap(metric="graph")
    assert_array_equal(graph.fit(mapping(tmp_path / "G.npy", near)).embedding_, graph.fit(near).embedding_)
    with pytest.raises(ValueError, match="its smallest entry is -1"):
        lowdim.Isomap(metric="precomputed").fit(mapping(tmp_path / "N.npy", D - np.eye(90)))
    start = lowdim.TSNE(init=mapping(tmp_path / "S.npy", X[:, :2]), max_iter=3, perplexity=8)
    assert_array_equal(start.fit(X).embedding_, start.set_params(init=X[:, :2]).fit(X).embedding_)
    points = mapping(tmp_path / "X.npy", X)
    assert dict(lowdim.score(points, X[:, :2])) == dict(lowdim.score(X, X[:, :2]))
    assert str(lowdim.estimate_dimension(points, random_state=0)) == str(
        lowdim.estimate_dimension(X, random_state=0)
    )


def test_a_file_that_shrinks_or_goes_while_it_is_opened(path, monkeypatch):
    np.save(path, np.ones((1000, 10)))
    looked_at = "lowdim.data.files.npy.check_numbers"
    with monkeypatch.context() as patch:
        patch.setattr(looked_at, lambda *_: os.truncate(path, 300))
        with pytest.raises(FormatError, match=r"points\.npy: became shorter while it was opened"):
            files.read(path)
    np.save(path, np.ones((1000, 10)))
    monkeypatch.setattr(looked_at, lambda *_: path.unlink())
    with pytest.raises(FileError, match=r"points\.npy: could not be read to its end: No such file"):
        files.read(path)
