"""The same data in every form gives the same embedding, and nothing is copied whole on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from registry import EMBEDDINGS, EVERY, NEIGHBOR_BASED, SOME, make
from scipy import sparse
from scipy.spatial.distance import cdist

import lowdim
from lowdim import validation
from lowdim.errors import DataWarning, InputError, InputTypeError

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture(scope="module")
def images(digits) -> np.ndarray:
    return digits[0][:240].astype(np.uint8)


@pytest.fixture(scope="module")
def fitted(images) -> Callable[[str], Any]:
    """Every estimator fitted to the images in double precision, once for all tests that compare with it."""
    return cache(lambda name: make(name).fit(images.astype(np.float64)))


def assert_same(first: np.ndarray, second: np.ndarray, tolerance: float = 1e-7) -> None:
    assert_allclose(first, second, atol=tolerance * np.abs(first).max())


@pytest.mark.covering
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize(
    "dtype",
    [
        np.uint8,
        np.float32,
        np.int64,
        *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in (np.float16, np.int8, np.uint16)),
    ],
)
def test_any_numeric_type(name: str, dtype: type, images: np.ndarray, fitted) -> None:
    reference = fitted(name)
    model = make(name).fit(images.astype(dtype))
    # The rounding of a descent grows from step to step.
    rough = 1e-2 if name in EMBEDDINGS else 1e-5
    assert_same(reference.embedding_, model.embedding_, rough if dtype in (np.float32, np.float16) else 1e-9)
    assert_same(reference.transform(images[:9]), model.transform(images[:9].astype(dtype)), rough)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no wider numbers here")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_numbers_wider_than_double_hold_gaps_that_mean_nothing(form: Any, images: np.ndarray) -> None:
    """Equal rows were not known as such, for their bytes differed, and a fit found another picture each time."""
    wide = images[np.arange(240) % 80].astype(np.longdouble)
    assert validation.view_rows(form(wide)).values.dtype == np.float64
    reference = lowdim.SymmetricSNE(max_iter=3).fit(wide.astype(np.float64))
    model = lowdim.SymmetricSNE(max_iter=3).fit(form(wide))
    np.testing.assert_array_equal(model.embedding_, reference.embedding_)
    assert model.transform(form(wide[:9])).dtype == np.float64


@pytest.mark.parametrize("name", SOME)
def test_booleans(name: str, images: np.ndarray) -> None:
    bits = images > 7
    assert_same(make(name).fit(bits.astype(float)).embedding_, make(name).fit(bits).embedding_)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(3)
def test_memory_map_that_may_not_be_written(name: str, images: np.ndarray, tmp_path: Path, fitted) -> None:
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert_same(fitted(name).embedding_, make(name).fit(mapped).embedding_, 1e-12)


@pytest.mark.covering
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.every(3)
def test_sparse_rows(name: str, form: type, images: np.ndarray, fitted) -> None:
    data, reference = images.astype(float), fitted(name)
    model = make(name).fit(form(data))
    assert_same(reference.embedding_, model.embedding_)
    assert_same(reference.transform(data[:9]), model.transform(form(data[:9])))


@pytest.mark.covering
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.every(3)
def test_frames(name: str, library: str, images: np.ndarray, fitted) -> None:
    frames = pytest.importorskip(library)
    columns = {f"pixel{i}": images[:, i].astype(np.float64) for i in range(images.shape[1])}
    model = make(name).fit(frames.DataFrame(columns))
    assert_same(fitted(name).embedding_, model.embedding_, 1e-12)
    assert list(model.feature_names_in_) == list(columns)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("order", ["F", "strided", "list"])
@pytest.mark.every(2)
def test_memory_layouts(name: str, order: str, images: np.ndarray, fitted) -> None:
    data = images.astype(float)
    layouts = {
        "F": np.asfortranarray(data),
        "strided": np.repeat(data, 2, axis=1)[:, ::2],
        "list": data.tolist(),
    }
    assert_same(fitted(name).embedding_, make(name).fit(layouts[order]).embedding_, 1e-9)


@pytest.mark.parametrize("name", ["ClassicalMDS", *NEIGHBOR_BASED])
def test_precomputed_distances(name: str, images: np.ndarray, fitted) -> None:
    data = images.astype(float)
    D = cdist(data, data)
    np.fill_diagonal(D, 0)
    model = make(name, metric="precomputed").fit(D)
    assert_same(fitted(name).embedding_, model.embedding_, 1e-5)
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(D[:9]), model.embedding_[:9], atol=1e-6 * scale)


@pytest.mark.parametrize("name", ["Isomap", "LaplacianEigenmaps"])
def test_precomputed_neighbour_graph(name: str, images: np.ndarray) -> None:
    from sklearn.neighbors import kneighbors_graph

    data = images.astype(float)
    graph = kneighbors_graph(data, 12, mode="distance")
    graph = graph.maximum(graph.T)
    reference = make(name, n_neighbors=12).fit(data)
    model = make(name, n_neighbors=12, metric="precomputed").fit(graph)
    assert_same(reference.embedding_, model.embedding_, 1e-6)


def test_lle_from_a_neighbour_graph_that_holds_enough() -> None:
    """With every distance stored, a sparse graph is as good as the dense matrix."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    D = cdist(X, X)
    dense = lowdim.LLE(n_neighbors=8, metric="precomputed").fit(D).embedding_
    assert_same(
        dense, lowdim.LLE(n_neighbors=8, metric="precomputed").fit(sparse.csr_array(D)).embedding_, 1e-6
    )


def test_lle_from_a_neighbour_graph_alone() -> None:
    """Distances that a graph of 12 neighbours does not hold are taken along it: the sheet still comes out flat."""
    from sklearn.neighbors import kneighbors_graph

    flat = np.random.default_rng(0).uniform(size=(500, 2)) * [2, 1]
    graph = kneighbors_graph(flat, 12, mode="distance")
    with pytest.warns(DataWarning, match="taken along its edges"):
        embedding = lowdim.LLE(n_neighbors=12, metric="precomputed", variant="ltsa").fit_transform(
            graph.maximum(graph.T)
        )
    design = np.column_stack((embedding, np.ones(500)))
    left = flat - design @ np.linalg.lstsq(design, flat, rcond=None)[0]
    assert np.linalg.norm(left) / np.linalg.norm(flat - flat.mean(axis=0)) < 0.25


@pytest.mark.covering
@pytest.mark.parametrize("metric", ["cosine", "manhattan", "correlation", "chebyshev"])
@pytest.mark.parametrize("name", ["ClassicalMDS", *NEIGHBOR_BASED])
def test_other_metrics_equal_their_precomputed_distances(name: str, metric: str, images: np.ndarray) -> None:
    data = images.astype(float) + 1
    D = cdist(data, data, {"manhattan": "cityblock"}.get(metric, metric))
    np.fill_diagonal(D, 0)
    D = np.maximum(D, D.T)
    by_name = make(name, metric=metric).fit(data)
    assert_same(by_name.embedding_, make(name, metric="precomputed").fit(D).embedding_, 1e-4)


def test_a_function_as_metric(images: np.ndarray) -> None:
    def taxi(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(a - b).sum())

    data = images[:80].astype(float)
    by_name = lowdim.Isomap(metric="manhattan").fit(data).embedding_
    assert_same(by_name, lowdim.Isomap(metric=taxi).fit(data).embedding_, 1e-9)


def test_weighted_unweighted_and_geometric_graphs_agree() -> None:
    """A geometric graph of threshold tau, its weights, and its edges alone: equal where the information is the same."""
    X = np.random.default_rng(1).uniform(size=(150, 2))
    D, tau, alpha = cdist(X, X), 0.25, 3.0
    edges = (tau >= D) & (D > 0)
    W = np.where(edges, np.exp(-alpha * D**2), 0)
    geometric = lowdim.LaplacianEigenmaps(
        radius=tau, affinity=lowdim.Gaussian(alpha=alpha, threshold=tau)
    ).fit_transform(X)
    assert_same(geometric, lowdim.LaplacianEigenmaps(metric="graph").fit_transform(W), 1e-6)
    assert_same(
        geometric, lowdim.LaplacianEigenmaps(affinity="precomputed").fit_transform(sparse.csr_matrix(W)), 1e-6
    )
    binary = lowdim.LaplacianEigenmaps(radius=tau, affinity=lowdim.Binary()).fit_transform(X)
    assert_same(binary, lowdim.LaplacianEigenmaps(metric="graph").fit_transform(edges), 1e-6)


def test_nodes_of_a_graph_return_to_their_coordinates() -> None:
    X = np.random.default_rng(2).uniform(size=(120, 2))
    W = sparse.csr_array(np.where(cdist(X, X) < 0.3, 1.0, 0.0) - np.eye(120))
    model = lowdim.LaplacianEigenmaps(metric="graph").fit(W)
    assert_same(model.embedding_, model.transform(W), 1e-6)
    hops = lowdim.Isomap(metric="graph").fit(W)
    assert hops.embedding_.shape == (120, 2)


def test_a_new_node_without_edges_is_an_error() -> None:
    W = np.ones((10, 10)) - np.eye(10)
    model = lowdim.LaplacianEigenmaps(affinity="precomputed").fit(W)
    with pytest.raises(InputError, match="no affinity to any fitted point"):
        model.transform(np.zeros((1, 10)))


@pytest.mark.parametrize("metric", ["precomputed", "graph"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("LaplacianEigenmaps", {}),
        ("SpectralClustering", {"n_clusters": 3}),
        ("Isomap", {}),
        ("LLE", {}),
        ("UMAP", {"max_iter": 3}),
        ("ForceAtlas2", {"max_iter": 3}),
    ],
)
def test_a_new_row_without_distances_is_not_placed(name: str, parameters: dict, metric: str) -> None:
    """It took the place of the nearest point of the row after it, or of the origin, or was an IndexError."""
    X = np.random.default_rng(2).uniform(size=(60, 2))
    D = cdist(X, X)
    model = getattr(lowdim, name)(metric=metric, **parameters)
    model.fit(sparse.csr_array(np.where(D < 0.5, D, 0.0)))
    columns, starts = np.array([4, 5, 6, 7, 8, 9]), np.array([0, 3, 3, 6])
    lengths = np.array([0.5, 0.3, 0.7, 0.0 if metric == "precomputed" else 0.1, 0.3, 0.4])
    new = sparse.csr_array((lengths, columns, starts), shape=(3, 60))
    for rows in (new, new[:2]):
        with pytest.raises(InputError, match=r"row 1 of X has no (neighbour|affinity)"):
            model.transform(rows)
    assert np.isfinite(model.transform(new[[0, 2]])).all()


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_radius_graphs(name: str) -> None:
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    grid += 0.05 * np.random.default_rng(0).standard_normal(grid.shape)
    model = make(name, radius=2.3).fit(grid)
    assert np.all(np.isfinite(model.embedding_))
    assert_same(model.embedding_, model.transform(grid), 1e-6)


def test_integer_images_are_not_copied_whole(tmp_path: Path) -> None:
    """PCA of a memory map holds far less than one float64 copy of it."""
    import tracemalloc

    rng = np.random.default_rng(0)
    np.save(tmp_path / "big.npy", rng.integers(0, 255, (20000, 300), dtype=np.uint8))
    mapped = np.load(tmp_path / "big.npy", mmap_mode="r")
    whole = mapped.size * 8
    lowdim.PCA(2).fit(mapped[:500])
    tracemalloc.start()
    lowdim.PCA(2, n_jobs=1).fit(mapped)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < whole / 2


OTHERS = np.random.default_rng(5).integers(0, 99, (60, 4)).astype(np.float64)
NAMES = ["a", "b", "c", "d"]


def from_arrow() -> object:
    return pytest.importorskip("pyarrow").table(dict(zip(NAMES, OTHERS.T, strict=True)))


def from_array_api() -> object:
    return pytest.importorskip("array_api_strict").asarray(OTHERS)


def from_nullable(dtype: str) -> object:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(OTHERS, columns=NAMES).astype(dtype)


def from_sparse_frame() -> object:
    return pytest.importorskip("pandas").DataFrame.sparse.from_spmatrix(
        sparse.csr_array(OTHERS), columns=NAMES
    )


def from_anndata(matrix: object) -> object:
    anndata = pytest.importorskip("anndata")
    annotated = anndata.AnnData(matrix)
    annotated.var_names = NAMES
    return annotated


def from_table() -> object:
    from lowdim.data.files import Table

    return Table(OTHERS, feature_names=tuple(NAMES))


FORMS = {
    "our data set": (lambda: lowdim.datasets.Dataset(OTHERS), False),
    "our table": (from_table, True),
    "Arrow table": (from_arrow, True),
    "Arrow batch": (lambda: from_arrow().to_batches()[0], True),
    "polars": (lambda: pytest.importorskip("polars").DataFrame(OTHERS, schema=NAMES), True),
    "pandas, nullable": (lambda: from_nullable("Int64"), True),
    "pandas, nullable floats": (lambda: from_nullable("Float64"), True),
    "pandas, Arrow": (lambda: from_nullable("int64[pyarrow]"), True),
    "pandas, objects": (lambda: from_nullable("object"), True),
    "pandas, sparse": (from_sparse_frame, True),
    "AnnData": (lambda: from_anndata(OTHERS), True),
    "AnnData, sparse": (lambda: from_anndata(sparse.csr_matrix(OTHERS)), True),
    "xarray": (lambda: pytest.importorskip("xarray").DataArray(OTHERS), False),
    "array API": (from_array_api, False),
    "torch": (lambda: pytest.importorskip("torch").tensor(OTHERS), False),
    "objects": (lambda: OTHERS.astype(object), False),
    "matrix": (lambda: np.asmatrix(OTHERS), False),
    "unmasked": (lambda: np.ma.masked_array(OTHERS, mask=False), False),
    "memoryview": (lambda: memoryview(OTHERS), False),
    "tuples": (lambda: tuple(map(tuple, OTHERS)), False),
}


@pytest.mark.covering
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", [lowdim.PCA, lowdim.LLE], ids=["PCA", "LLE"])
@pytest.mark.filterwarnings("ignore")  # what anndata and pandas say of each other
def test_forms_of_other_libraries(form: str, method: type) -> None:
    build, named = FORMS[form]
    reference, model = method(2).fit(OTHERS), method(2).fit(build())
    assert_same(reference.embedding_, model.embedding_, 1e-9)
    assert_same(reference.transform(OTHERS[:9]), model.transform(build())[:9], 1e-9)
    assert (list(model.feature_names_in_) == NAMES) if named else not hasattr(model, "feature_names_in_")
    assert lowdim.procrustes(build(), OTHERS).error < 1e-7
    assert lowdim.LLE().plan(build()).shape == (60, 4)


DISPATCHED = """
import array_api_strict as xp, numpy as np, sklearn, lowdim

X = np.random.default_rng(5).standard_normal((60, 4))
with sklearn.config_context(array_api_dispatch=True):
    for method in (lowdim.PCA, lowdim.Isomap):
        plain, model = method(2).fit(X), method(2).fit(xp.asarray(X))
        np.testing.assert_array_equal(plain.embedding_, model.embedding_)
        found = model.transform(xp.asarray(X[:7]))
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(plain.transform(X[:7]), found)
"""


@pytest.mark.slow
def test_arrays_of_the_standard_where_scikit_learn_dispatches_on_them() -> None:
    """What comes back is NumPy's, whatever namespace the data is of."""
    pytest.importorskip("array_api_strict")
    surroundings = os.environ | {"SCIPY_ARRAY_API": "1"}  # SciPy reads it at import only
    done = subprocess.run(
        [sys.executable, "-c", DISPATCHED], env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class OnDevice:
    """An array of another library that offers DLPack, on a device from which NumPy can take nothing."""

    shape, ndim = (30, 4), 2

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_: object) -> object:
        raise BufferError("the array is on a GPU")

    def __len__(self) -> int:
        return 30


def test_arrays_on_another_device_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputTypeError, match=r"X is an array of \w+ that NumPy cannot read.*processor's memory"
    ):
        lowdim.PCA(2).fit(OnDevice())
    monkeypatch.setattr(OnDevice, "__module__", "cupy._core")
    with pytest.raises(InputTypeError, match=r"in the memory of a GPU\. Give X\.get\(\)\."):
        lowdim.PCA(2).fit(OnDevice())


class InMemory:
    """Such an array in the processor's memory, which offers nothing else."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return OTHERS.__dlpack_device__()

    def __dlpack__(self, **options: object) -> object:
        return OTHERS.__dlpack__(**options)


def test_arrays_that_offer_dlpack_alone_are_taken() -> None:
    assert_same(lowdim.PCA(2).fit_transform(InMemory()), lowdim.PCA(2).fit_transform(OTHERS), 0.0)


def test_a_plan_of_a_size() -> None:
    assert lowdim.TSNE().plan((70_000, 784)).shape == (70_000, 784)
    assert lowdim.TSNE().plan((200, 4)).seconds == lowdim.TSNE().plan(np.zeros((200, 4))).seconds
    with pytest.raises(InputError, match="a size needs at least 2 rows and 1 column; got 1 x 4"):
        lowdim.TSNE().plan((1, 4))


def test_nothing_that_is_not_in_memory_is_loaded_unasked() -> None:
    dask, xarray = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    lazy = dask.from_array(OTHERS, chunks=(20, 4))
    for given in (lazy, xarray.DataArray(lazy)):
        with pytest.raises(InputTypeError, match=r"dask collection of 1.92 kB.*Give X\.compute\(\)"):
            lowdim.PCA(2).partial_fit(given)
        with pytest.raises(InputError, match=r"MDS needs all rows in memory.*numpy\.asarray"):
            lowdim.MDS().fit(given)
    with pytest.raises(
        InputTypeError, match=r"xarray.Dataset with the variables 'height', 'width'.*X\['height'\]"
    ):
        lowdim.PCA(2).fit(xarray.Dataset({"height": ("n", OTHERS[:, 0]), "width": ("n", OTHERS[:, 1])}))
    polars = pytest.importorskip("polars")
    with pytest.raises(InputTypeError, match=r"LazyFrame.*X\.collect\(\)"):
        lowdim.PCA(2).fit(polars.DataFrame(OTHERS).lazy())


def test_arrays_in_open_files_are_not_loaded_unasked(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    with h5py.File(tmp_path / "points.h5", "w") as file:
        inside = file.create_dataset("points", data=OTHERS)
        with pytest.raises(InputTypeError, match=r"open file \(h5py, shape \(60, 4\)\).*Give X\[:\]"):
            lowdim.PCA(2).fit(inside)
    stored = zarr.create_array(tmp_path / "points.zarr", data=OTHERS)
    with pytest.raises(InputTypeError, match=r"open file \(zarr, shape"):
        lowdim.PCA(2).partial_fit(stored)
    with pytest.raises(InputError, match="MDS needs all rows in memory"):
        lowdim.MDS().fit(stored)


@pytest.mark.filterwarnings("ignore")  # what anndata and pandas say of each other
def test_annotated_data_without_numbers_in_memory(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    annotated = anndata.AnnData(obsm={"X_pca": OTHERS}, shape=(60, 0))
    with pytest.raises(InputError, match=r"AnnData without X. .*X\.obsm\['X_pca'\]"):
        lowdim.PCA(2).fit(annotated)
    anndata.AnnData(OTHERS).write_h5ad(tmp_path / "points.h5ad")
    backed = anndata.read_h5ad(tmp_path / "points.h5ad", backed="r")
    with pytest.raises(InputTypeError, match=r"stays in its file.*X\.to_memory\(\)\.X"):
        lowdim.PCA(2).fit(backed)
    backed.file.close()


def test_tensors_share_their_memory_or_say_what_to_do() -> None:
    torch = pytest.importorskip("torch")

    tensor = torch.tensor(OTHERS)
    assert np.shares_memory(validation.view_rows(tensor).values, tensor.numpy())
    for bad, words in [
        (torch.tensor(OTHERS, requires_grad=True), r"requires gradients. Give X\.detach\(\)"),
        (tensor.to(device="meta"), r"device 'meta'. Give X\.cpu\(\)"),
        (tensor.to_sparse(), r"layout torch.sparse_coo. Give X\.to_dense\(\)"),
        (tensor.to(torch.bfloat16), r"tensor of torch.bfloat16, .* Give X\.float\(\)"),
    ]:
        with pytest.raises(InputTypeError, match=words):
            lowdim.PCA(2).fit(bad)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(3)
def test_single_precision_comes_back_as_it_came(name: str, images: np.ndarray) -> None:
    data = images.astype(np.float32)
    double, single = make(name).fit(images), make(name)
    assert single.fit_transform(data).dtype == single.embedding_.dtype == np.float32
    assert single.transform(data[:9]).dtype == np.float32
    assert single.transform(images[:9]).dtype == double.embedding_.dtype == np.float64
    assert single.transform(sparse.csr_array(data[:9])).dtype == np.float32


def test_a_model_of_single_precision_is_stored(tmp_path: Path, images: np.ndarray) -> None:
    model = lowdim.Isomap().fit(images.astype(np.float32))
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert again.embedding_.dtype == np.float32
