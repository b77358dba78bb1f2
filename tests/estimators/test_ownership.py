"""A model owns what it keeps: nothing that the caller writes to later changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import ESTIMATORS, LANDMARKED
from scipy import sparse

import lowdim
from lowdim import validation

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

SHORT = {"max_iter": 4, "perplexity": 8}
MODELS: dict[str, Callable[..., Any]] = (
    ESTIMATORS
    | LANDMARKED
    | {
        "SNE": lambda **other: lowdim.SNE(**SHORT, **other),
        "TSNE": lambda **other: lowdim.TSNE(**SHORT, **other),
        "SymmetricSNE": lambda **other: lowdim.SymmetricSNE(**SHORT, **other),
        "ElasticEmbedding": lambda **other: lowdim.ElasticEmbedding(**SHORT, **other),
    }
)
POINTS = np.random.default_rng(0).integers(0, 9, (80, 6)).astype(np.float64)
FORMS = {
    "dense": POINTS.copy,
    "single": lambda: POINTS.astype(np.float32),
    "Fortran": lambda: np.asfortranarray(POINTS),
    "view": lambda: np.repeat(POINTS, 2, axis=1)[:, ::2],
    "sparse": lambda: sparse.csr_array(POINTS),
}


def wipe(X: Any) -> None:
    for part in [X.data, X.indices] if sparse.issparse(X) else [X]:
        part[:] = 0


@pytest.mark.covering
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_writing_to_the_data_changes_no_model(name: str, form: str) -> None:
    given, new = FORMS[form](), FORMS[form]()[:7]
    model = MODELS[name]().fit(given)
    before, embedding = model.transform(new), model.embedding_.copy()
    wipe(given)
    assert_array_equal(model.transform(new), before)
    assert_array_equal(model.embedding_, embedding)


@pytest.mark.parametrize("name", ["ClassicalMDS", "KernelPCA", "Isomap", "LLE", "LaplacianEigenmaps"])
def test_writing_to_a_frame_or_to_its_array_changes_no_model(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    block = POINTS.copy()
    frame = pandas.DataFrame(block, columns=list("abcdef"), copy=False)
    model = MODELS[name]().fit(frame)
    before = model.transform(frame[:7].copy())
    new = frame[:7].copy()
    frame.iloc[:, 0] = 0.0
    block[:] = 0
    assert_array_equal(model.transform(new), before)


@pytest.mark.parametrize("name", ["ClassicalMDS", "Isomap", "LLE", "LaplacianEigenmaps", "TSNE"])
def test_writing_to_distances_changes_no_model(name: str) -> None:
    distances = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)
    new = distances[:7].copy()
    model = MODELS[name](metric="precomputed").fit(distances)
    before = model.transform(new)
    distances[:] = 0
    assert_array_equal(model.transform(new), before)


@pytest.mark.parametrize("name", MODELS)
def test_writing_to_coordinates_changes_no_model(name: str) -> None:
    model = MODELS[name]()
    coordinates = model.fit_transform(POINTS)
    before, embedding = model.transform(POINTS[:7]), model.embedding_.copy()
    coordinates *= 10
    model.transform(POINTS[:7])[:] = 0
    assert_array_equal(model.transform(POINTS[:7]), before)
    assert_array_equal(model.embedding_, embedding)
    with pytest.raises(ValueError, match="read-only"):
        model.embedding_ *= 10


def test_a_loaded_model_is_guarded_as_well(tmp_path) -> None:
    lowdim.save(lowdim.Isomap().fit(POINTS), tmp_path / "model.lowdim")
    model = lowdim.load(tmp_path / "model.lowdim")
    with pytest.raises(ValueError, match="read-only"):
        model.embedding_ *= 10


def test_only_what_can_be_written_to_is_copied(tmp_path) -> None:
    """Arrays that nobody can write to, mapped files, and rows that no model keeps are shared."""
    frozen = POINTS.copy()
    frozen.flags.writeable = False
    kept = validation.check_rows(lowdim.Isomap(), frozen, reset=True)
    assert np.shares_memory(kept.values, frozen)
    half = POINTS[:40]
    half.flags.writeable = False
    assert not np.shares_memory(validation.check_rows(lowdim.Isomap(), half, reset=True).values, POINTS)
    assert np.shares_memory(validation.check_rows(lowdim.PCA(), POINTS, reset=True).values, POINTS)
    fitted = lowdim.Isomap().fit(POINTS)
    assert np.shares_memory(validation.check_rows(fitted, POINTS, reset=False).values, POINTS)
    np.save(tmp_path / "points.npy", POINTS)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert validation.check_rows(lowdim.Isomap(), mapped, reset=True).is_mapped
