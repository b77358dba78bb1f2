"""ONNX files, run by the reference runtime and held against ``transform``."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import FileError, InputError, InputTypeError, MissingExtraError
from lowdim.models import to_onnx

pytest.importorskip("onnx")

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(120, 6)) @ RNG.normal(size=(6, 6)) + 50
# Rows near the fitted points, copies of these, and some far away.
NEW = np.concatenate(
    (POINTS[:7] + 0.3 * RNG.normal(size=(7, 6)), POINTS[:3], 50 + 30 * RNG.normal(size=(3, 6)))
)
DOUBLE, SINGLE = 1e-9, 1e-3
"""How near the coordinates must be, as a share of the largest: what docs/models.md promises."""


def run(path, rows):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(["coordinates"], {"X": rows})
    return found


def eigenmaps(**parameters):
    return lowdim.LaplacianEigenmaps(n_neighbors=8, **parameters)


MODELS = {
    "PCA": lambda: lowdim.PCA(3),
    "PCA-whitened": lambda: lowdim.PCA(2, whiten=True),
    "ClassicalMDS-Euclidean": lambda: lowdim.ClassicalMDS(2),
    # Local weights on landmarks, and on all points.
    "LLL": lambda: eigenmaps(solver=lowdim.LLL(30)),
    "LandmarkZ": lambda: eigenmaps(solver=lowdim.LandmarkZ(30)),
    "LLE": lambda: lowdim.LLE(n_neighbors=8),
    "Isomap-landmarks": lambda: lowdim.Isomap(n_neighbors=8, landmarks=30),
    # Affinities.
    "Nystrom": lambda: eigenmaps(solver=lowdim.Nystrom(30)),
    "Gaussian": lambda: eigenmaps(affinity=lowdim.Gaussian()),
    "SelfTuning-cityblock": lambda: eigenmaps(affinity=lowdim.SelfTuning(k=3), metric="cityblock"),
    "Binary-cosine": lambda: eigenmaps(affinity=lowdim.Binary(), metric="cosine"),
    "correlation": lambda: eigenmaps(metric="correlation"),
    "DiffusionMap": lambda: lowdim.DiffusionMap(n_neighbors=8),
    # Kernel values and distances.
    "rbf-landmarks": lambda: lowdim.KernelPCA(kernel="rbf", gamma=0.01, landmarks=30),
    "poly": lambda: lowdim.KernelPCA(kernel="poly"),
    "sigmoid": lambda: lowdim.KernelPCA(kernel="sigmoid", gamma=1e-5),
    "cosine": lambda: lowdim.KernelPCA(kernel="cosine"),
    "laplacian": lambda: lowdim.KernelPCA(kernel="laplacian"),
    "linear": lambda: lowdim.KernelPCA(kernel="linear"),
    "ClassicalMDS-landmarks": lambda: lowdim.ClassicalMDS(landmarks=30),
    "ClassicalMDS-chebyshev": lambda: lowdim.ClassicalMDS(metric="chebyshev"),
    "pipeline": lambda: make_pipeline(lowdim.PCA(4), eigenmaps(solver=lowdim.LLL(30))),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MODELS)
def test_coordinates_are_those_of_transform(tmp_path, name):
    model = MODELS[name]().fit(POINTS)
    for dtype, close in ((np.float64, DOUBLE), (np.float32, SINGLE)):
        path = to_onnx(model, tmp_path / "map.onnx", dtype=dtype, force=True)
        # Rounding to single precision moves a copy of a point off it in the midst of a pipeline alone.
        new = NEW[:7] if name == "pipeline" else NEW
        rows = new.astype(dtype)
        wanted = model.transform(new if dtype == np.float64 else new.astype(dtype).astype(np.float64))
        if dtype == np.float32 and name != "pipeline":
            wanted[7:10] = model.transform(POINTS[:3])
        for count in (len(rows), 1):  # any number of rows
            found = run(path, rows[:count])
            assert found.dtype == dtype
            assert_allclose(found, wanted[:count], atol=close * np.abs(wanted).max())


def test_oriented_directions_are_written(tmp_path):
    model = lowdim.OrientedPCA(2).fit(POINTS, noise=RNG.normal(size=(120, 6)))
    assert_allclose(run(to_onnx(model, tmp_path / "map.onnx"), NEW), model.transform(NEW), rtol=1e-9)


def test_ties_are_broken_as_the_search_breaks_them(tmp_path):
    """Whole numbers far from the origin: most rows have many points as far as the last neighbour."""
    lattice = np.stack(np.meshgrid(*[np.arange(6.0)] * 2), axis=-1).reshape(-1, 2) + 1e6
    curved = np.column_stack((lattice, np.round((lattice[:, 0] - 1e6) ** 2 / 4)))
    model = lowdim.LLE(n_neighbors=5).fit(curved)
    rows = np.concatenate((curved + np.array([0.5, 0.5, 0]), curved[:4]))
    wanted = model.transform(rows)
    found = run(to_onnx(model, tmp_path / "map.onnx"), rows)
    assert_allclose(found, wanted, atol=DOUBLE * np.abs(wanted).max())


def test_given_values_are_rows(tmp_path):
    """Kernel values with, and distances to, the fitted points: the file takes what ``transform`` takes."""
    for model, values in (
        (lowdim.KernelPCA(2, kernel="precomputed"), lambda a, b: a @ b.T),
        (
            lowdim.ClassicalMDS(2, metric="precomputed", landmarks=30),
            lambda a, b: np.abs(a[:, None] - b).sum(-1),
        ),
    ):
        model.fit(values(POINTS, POINTS))
        new = values(NEW, POINTS)
        wanted = model.transform(new)
        found = run(to_onnx(model, tmp_path / "map.onnx", force=True), new)
        assert_allclose(found, wanted, atol=DOUBLE * np.abs(wanted).max())


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_every_component_has_its_own_map(tmp_path):
    """Two rings and a group that is so small that its points are the corners of a simplex, far apart."""
    angles = np.arange(40) * np.pi / 20
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    groups = np.concatenate((ring, 3 * ring + 100, ring[:3] - 100))
    model = lowdim.LaplacianEigenmaps(3, n_neighbors=2, on_disconnected="per_component").fit(groups)
    kinds = [type(part).__name__ for part in model.map_.maps]
    assert kinds == ["NystromMap", "NystromMap", "NearestMap"]
    new = np.concatenate((groups[::7] + 0.01, groups[-3:]))
    wanted = model.transform(new)
    found = run(to_onnx(model, tmp_path / "map.onnx"), new)
    assert_allclose(found, wanted, atol=DOUBLE * np.abs(wanted).max())


CLUSTERINGS = {
    "affinities": {},
    "landmarks": {"solver": lowdim.LLL(30)},
    "Nystrom": {"solver": lowdim.Nystrom(30)},
    "constant-alone": {"n_components": 1},
    "directions": {"assign_labels": "cluster_qr"},
}


@pytest.mark.parametrize("name", CLUSTERINGS)
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_groups_are_those_of_predict(tmp_path, name):
    runtime = pytest.importorskip("onnxruntime")
    model = lowdim.SpectralClustering(3, n_neighbors=8, random_state=0, **CLUSTERINGS[name]).fit(POINTS)
    path = to_onnx(model, tmp_path / "map.onnx")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["coordinates", "labels"]
    coordinates, labels = session.run(None, {"X": NEW})
    assert_allclose(coordinates, model.map_.transform(Rows(NEW), Run()), atol=DOUBLE)
    assert labels.tolist() == model.predict(NEW).tolist()


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_groups_of_a_graph_in_parts(tmp_path):
    """Columns of one part are 0 in the rows of all others."""
    runtime = pytest.importorskip("onnxruntime")
    angles = np.arange(30) * np.pi / 15
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    groups = np.concatenate((ring, 3 * ring + 100, ring - 100))
    model = lowdim.SpectralClustering(4, n_neighbors=2, on_disconnected="per_component", random_state=0).fit(
        groups
    )
    new = groups[::7] * 1.001
    session = runtime.InferenceSession(str(to_onnx(model, tmp_path / "map.onnx")))
    coordinates, labels = session.run(None, {"X": new})
    wanted = model.map_.transform(Rows(new), Run())
    assert (wanted == 0).any()
    assert_allclose(coordinates, wanted, atol=DOUBLE)
    assert labels.tolist() == model.predict(new).tolist()


def test_a_row_without_affinity_is_nan(tmp_path):
    model = eigenmaps(affinity=lowdim.Gaussian(threshold=100.0)).fit(POINTS)
    with pytest.raises(InputError, match="no affinity"), pytest.warns(lowdim.errors.DataWarning):
        model.transform(POINTS[:1] + 1e3)
    path = to_onnx(model, tmp_path / "map.onnx")
    assert np.isnan(run(path, POINTS[:1] + 1e3)).all()
    assert_allclose(run(path, NEW[:7]), model.transform(NEW[:7]), rtol=1e-9)


REFUSED = {
    "model places new points by optimisation": lambda: lowdim.TSNE(perplexity=8, max_iter=20, random_state=0),
    "by optimisation": lambda: lowdim.MDS(2, max_iter=3, random_state=0),
    "shortest paths .* Fit Isomap with landmarks": lambda: lowdim.Isomap(n_neighbors=8),
    "got Entropic": lambda: eigenmaps(affinity=lowdim.Entropic(perplexity=3)),
    "radius=": lambda: lowdim.LLE(n_neighbors=None, radius=15.0),
    "'cosine': to_onnx writes maps by local weights for 'euclidean'": lambda: lowdim.LLE(
        n_neighbors=8, metric="cosine"
    ),
    "'canberra': to_onnx writes": lambda: eigenmaps(metric="canberra"),
    "reg of a map": lambda: lowdim.LLE(n_neighbors=4, reg=1e-12),
    "kernel is a function": lambda: lowdim.KernelPCA(kernel=lambda a, b: float(a @ b)),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("message", REFUSED)
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_what_operators_cannot_hold_is_refused(tmp_path, message):
    with pytest.raises(InputError, match=message) as caught:
        to_onnx(REFUSED[message]().fit(POINTS), tmp_path / "map.onnx")
    assert "lowdim.save" in str(caught.value)
    assert "lowdim.load" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_said(tmp_path, monkeypatch):
    path = tmp_path / "map.onnx"
    with pytest.raises(InputTypeError, match="got str"):
        to_onnx("model", path)
    with pytest.raises(
        InputTypeError, match=r"got PowerTransformer\. Write the steps of lowdim alone.*skl2onnx"
    ):
        to_onnx(make_pipeline(PowerTransformer(), lowdim.PCA(2)).fit(POINTS), path)
    with pytest.raises(InputError, match="must be fitted"):
        to_onnx(lowdim.PCA(2), path)
    model = lowdim.PCA(2).fit(POINTS)
    with pytest.raises(InputError, match=r"numpy\.float32"):
        to_onnx(model, path, dtype=np.int64)
    with monkeypatch.context() as patch:
        patch.setattr("lowdim.models.onnx_graph.LARGEST_BYTES", 64)
        with pytest.raises(InputError, match="ends at 2 GB"):
            to_onnx(model, path)
    assert not path.exists()
    to_onnx(model, path)
    with pytest.raises(FileError, match="force"):
        to_onnx(model, path)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"lowdim\[onnx\]"):
        to_onnx(model, path, force=True)
