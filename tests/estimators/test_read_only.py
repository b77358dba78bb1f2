"""Input that may not be written to is never written to, costs no other kernel, and gives the same bits."""

from __future__ import annotations

import sys
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import ESTIMATORS, LANDMARKED
from scipy import sparse

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

SHORT = {"max_iter": 4, "perplexity": 8}
EVERY = (
    ESTIMATORS
    | LANDMARKED
    | {
        "SNE": lambda: lowdim.SNE(**SHORT),
        "TSNE": lambda: lowdim.TSNE(**SHORT),
        "SymmetricSNE": lambda: lowdim.SymmetricSNE(**SHORT),
        "ElasticEmbedding": lambda: lowdim.ElasticEmbedding(**SHORT),
    }
)
POINTS = lowdim.datasets.swiss_roll(80, random_state=0).data
WIDE = np.random.default_rng(0).integers(0, 4, (80, 12)).astype(np.float64)


def locked(array: Any) -> Any:
    """The array, so that nobody can write to it."""
    parts = [array.data, array.indices, array.indptr] if sparse.issparse(array) else [array]
    for part in parts:
        part.flags.writeable = False
    return array


def bytes_of(array: Any) -> list[bytes]:
    parts = [array.data, array.indices, array.indptr] if sparse.issparse(array) else [array]
    return [part.tobytes() for part in parts]


FORMS = {
    "double": POINTS.copy,
    "single": lambda: POINTS.astype(np.float32),
    "Fortran": lambda: np.asfortranarray(POINTS),
    "strided": lambda: np.repeat(POINTS, 2, axis=1)[:, ::2],
    "big-endian": lambda: POINTS.astype(">f8"),
    "bytes": lambda: WIDE.astype(np.uint8),
    "sparse": lambda: sparse.csr_array(WIDE),
    "sparse, single": lambda: sparse.csr_matrix(WIDE.astype(np.float32)),
}


def signatures() -> dict[str, set[str]]:
    """What every kernel has been compiled for."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("lowdim.kernels."):
            for kernel in vars(module).values():
                if isinstance(kernel, Dispatcher):
                    found[f"{name}.{kernel.__name__}"] = set(map(str, kernel.signatures))
    return found


@pytest.mark.covering
@pytest.mark.parametrize(
    "form",
    [
        "double",
        "single",
        "sparse",
        *(
            pytest.param(form, marks=pytest.mark.slow)
            for form in FORMS
            if form not in ("double", "single", "sparse")
        ),
    ],
)
@pytest.mark.parametrize("name", EVERY)
def test_every_form_of_points(name, form):
    free, bound = FORMS[form](), locked(FORMS[form]())
    expected = EVERY[name]().fit(free)
    placed = expected.transform(free[:7])
    known, before = signatures(), bytes_of(bound)
    model = EVERY[name]().fit(bound)
    assert_array_equal(model.embedding_, expected.embedding_)
    assert_array_equal(model.transform(locked(bound[:7])), placed)
    assert_array_equal(EVERY[name]().fit_transform(bound), expected.embedding_)
    assert bytes_of(bound) == before
    assert signatures() == known


@pytest.mark.parametrize("name", ["TSNE", "UMAP", "Isomap", "LLE", "MDS"])
def test_a_model_in_a_mapped_file_has_no_kernel_compiled_again(name, tmp_path):
    model = getattr(lowdim, name)(max_iter=4) if name in ("TSNE", "UMAP") else getattr(lowdim, name)()
    placed, before = model.fit(POINTS).transform(POINTS[:7] + 0.1), signatures()
    joblib.dump(model, tmp_path / "model")
    assert_array_equal(joblib.load(tmp_path / "model", mmap_mode="r").transform(POINTS[:7] + 0.1), placed)
    assert signatures() == before


D = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
MATRICES = {
    "MDS": (lambda: lowdim.ClassicalMDS(metric="precomputed"), D),
    "KernelPCA": (lambda: lowdim.KernelPCA(kernel="precomputed"), POINTS @ POINTS.T),
    "Isomap": (lambda: lowdim.Isomap(metric="precomputed"), D),
    "Isomap-graph": (lambda: lowdim.Isomap(metric="graph"), sparse.csr_array(np.where(D < 9, D, 0))),
    "LLE": (lambda: lowdim.LLE(metric="precomputed"), D),
    "LE": (lambda: lowdim.LaplacianEigenmaps(metric="precomputed"), D),
    "LE-graph": (lambda: lowdim.LaplacianEigenmaps(metric="graph"), sparse.csr_array(1.0 * (D < 9))),
    "TSNE-graph": (lambda: lowdim.TSNE(metric="graph", max_iter=4), sparse.csr_array(1.0 * (D < 9))),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_between_points(name):
    make, matrix = MATRICES[name]
    expected, bound = make().fit(matrix), locked(matrix.copy())
    before = bytes_of(bound)
    model = make().fit(bound)
    assert_array_equal(model.embedding_, expected.embedding_)
    assert_array_equal(model.transform(locked(bound[:5])), expected.transform(matrix[:5]))
    assert bytes_of(bound) == before


def test_what_is_given_beside_the_points():
    noise, labels, start = (
        locked(POINTS[:30].copy()),
        locked(np.arange(80) % 3),
        locked(POINTS[:, :2].copy()),
    )
    A, B = locked(D.copy()), locked(np.linspace(1, 2, 80))
    assert_array_equal(
        lowdim.OrientedPCA(2).fit(POINTS, labels, noise=noise).embedding_,
        lowdim.OrientedPCA(2).fit(POINTS, noise=noise.copy()).embedding_,
    )
    assert_array_equal(
        lowdim.TSNE(init=start, **SHORT).fit(POINTS).embedding_,
        lowdim.TSNE(init=start.copy(), **SHORT).fit(POINTS).embedding_,
    )
    assert_array_equal(
        lowdim.SpectralProblem(A, B).fit(None).embedding_,
        lowdim.SpectralProblem(A.copy(), B.copy()).fit(None).embedding_,
    )
    rows = locked(np.arange(0, 80, 3))
    assert_array_equal(
        lowdim.ClassicalMDS(landmarks=rows).fit(POINTS).embedding_,
        lowdim.ClassicalMDS(landmarks=rows.copy()).fit(POINTS).embedding_,
    )
    assert dict(lowdim.score(locked(POINTS.copy()), start, labels)) == dict(
        lowdim.score(POINTS, POINTS[:, :2], labels.copy())
    )
