"""What other libraries do with an estimator: routing, outputs, stores of models, copies in other processes."""

from __future__ import annotations

import inspect
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from registry import make
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

import lowdim

POINTS = np.random.default_rng(0).normal(size=(80, 5))
NOISE = np.random.default_rng(1).normal(size=(60, 5))


def test_metadata_are_routed_through_a_pipeline():
    """``noise`` of OrientedPCA reaches it where it was asked for, and is refused by name where it was not."""
    with sklearn.config_context(enable_metadata_routing=True):
        direct = lowdim.OrientedPCA(2).fit(POINTS, noise=NOISE)
        asked = lowdim.OrientedPCA(2).set_fit_request(noise=True)
        assert get_routing_for_object(asked).fit.requests == {"noise": True}
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), asked)
        assert_array_equal(pipeline.fit(POINTS, noise=NOISE)[-1].embedding_, direct.embedding_)
        assert get_routing_for_object(clone(asked)).fit.requests == {"noise": True}
        with pytest.raises(ValueError, match="noise"):
            make_pipeline(StandardScaler(), lowdim.OrientedPCA(2)).fit(POINTS, noise=NOISE)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_through_columns_and_a_pipeline(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({f"x{place}": POINTS[:, place] for place in range(5)})
    columns = ColumnTransformer([("map", lowdim.PCA(2), ["x0", "x1", "x2"])], remainder="passthrough")
    found = make_pipeline(columns).set_output(transform=library).fit_transform(frame)
    assert isinstance(found, frames.DataFrame)
    assert list(found.columns) == ["map__pca0", "map__pca1", "remainder__x3", "remainder__x4"]


@pytest.mark.parametrize("name", ["PCA", "Isomap", "TSNE"])
def test_joblib_stores_and_copies(name, tmp_path):
    model = make(name, n_components=2, random_state=0).fit(POINTS)
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    mapped = joblib.dump(model, tmp_path / "mapped.joblib")[0]
    wanted = model.transform(POINTS[:9])
    assert_array_equal(joblib.load(tmp_path / "model.joblib").transform(POINTS[:9]), wanted)
    assert_array_equal(joblib.load(mapped, mmap_mode="r").transform(POINTS[:9]), wanted)
    assert joblib.hash(clone(model)) == joblib.hash(make(name, n_components=2, random_state=0))


def test_fits_in_other_threads_of_joblib_are_the_same():
    found = joblib.Parallel(n_jobs=2, prefer="threads")(
        joblib.delayed(lowdim.Isomap(n_neighbors=9).fit_transform)(POINTS) for _ in range(3)
    )
    for each in found[1:]:
        assert_array_equal(each, found[0])


@pytest.mark.parametrize("name", ["PCA", "LaplacianEigenmaps", "UMAP"])
def test_what_a_store_of_models_asks_for(name):
    """MLflow logs parameters as text, infers a signature from arrays in and out, and keeps a pickle by cloudpickle."""
    model = make(name, n_components=2)
    logged = {key: str(value) for key, value in model.get_params(deep=True).items()}
    assert all(len(text) < 500 for text in logged.values())
    assert set(logged) == set(inspect.signature(type(model)).parameters)
    coordinates = model.fit_transform(POINTS)
    assert type(coordinates) is np.ndarray
    assert coordinates.dtype == np.float64
    assert type(model.transform(POINTS[:3])) is np.ndarray
    cloudpickle = pytest.importorskip("cloudpickle")
    kept = io.BytesIO(cloudpickle.dumps(model))
    assert_array_equal(cloudpickle.load(kept).transform(POINTS[:3]), model.transform(POINTS[:3]))


@pytest.mark.slow
def test_scikit_learn_checks_of_array_namespaces():
    """SciPy reads the switch at its import, so that they run in a process of their own; without it they are skipped."""
    contract = Path(__file__).with_name("test_sklearn_contract.py")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-k", "array_api", str(contract)],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    counts = re.search(r"(\d+) passed, \d+ deselected", done.stdout)  # and none skipped
    assert counts is not None, done.stdout[-500:]
    assert int(counts[1]) >= 10
