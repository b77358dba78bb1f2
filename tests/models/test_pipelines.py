"""Pipelines of scikit-learn: those of lowdim's estimators are stored as one model, others refused with what to do."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_zoo import POINTS, forged, taken_apart
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

import lowdim
from lowdim.errors import FormatError, InputError, InputTypeError, LowdimWarning
from lowdim.models import describe

NEW = POINTS[:7] + 0.01


@pytest.fixture
def pipeline() -> Pipeline:
    return make_pipeline(lowdim.PCA(2), lowdim.LLE(n_neighbors=8, n_jobs=1)).fit(POINTS)


def test_a_pipeline_comes_back(pipeline: Pipeline, tmp_path: Path) -> None:
    path = lowdim.save(pipeline, tmp_path / "model.lowdim")
    again = lowdim.load(path)
    assert isinstance(again, Pipeline)
    assert repr(again) == repr(pipeline)
    assert again.transform(NEW).tobytes() == pipeline.transform(NEW).tobytes()
    np.testing.assert_array_equal(again[-1].embedding_, pipeline[-1].embedding_)
    assert not hasattr(again[0], "embedding_")
    assert hasattr(pipeline[0], "embedding_")
    assert path.read_bytes() == lowdim.save(again, tmp_path / "again.lowdim").read_bytes()


def test_a_pipeline_of_clusters_predicts(tmp_path: Path) -> None:
    model = make_pipeline(lowdim.PCA(2), lowdim.SpectralClustering(3)).fit(POINTS)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim", embedding=False))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_a_pipeline_is_described(pipeline: Pipeline, tmp_path: Path) -> None:
    found = describe(lowdim.save(pipeline, tmp_path / "model.lowdim"))
    assert (found.method, found.after) == ("LLE", ("PCA",))
    assert (found.n_samples, found.n_features, found.n_components) == (90, 3, 2)
    assert (found.parameters["pca__n_components"], found.parameters["lle__n_neighbors"]) == (2, 8)
    assert str(found).startswith("LLE after PCA: 90 points of 3 columns in 2 dimensions\n")


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (
            make_pipeline(PowerTransformer(), lowdim.PCA(2)).fit(POINTS),
            InputTypeError,
            r"step 'powertransformer' of model must be .*, or one of MaxAbs.*save\(pipeline\[1:\], path\), or",
        ),
        (make_pipeline(lowdim.PCA(2), "passthrough").fit(POINTS), InputTypeError, "got 'passthrough'"),
        (
            make_pipeline(lowdim.PCA(2), PowerTransformer()).fit(POINTS),
            InputTypeError,
            r"must be an estimator of lowdim; .*save\(pipeline\[:-1\], path\), or",
        ),
        (make_pipeline(lowdim.PCA(2)), InputError, "step 'pca' of model must be fitted"),
        (StandardScaler().fit(POINTS), InputTypeError, "model must be .* or a pipeline of such.* joblib"),
    ],
)
def test_what_a_file_cannot_hold(model: Any, error: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        lowdim.save(model, tmp_path / "model.lowdim")
    assert not list(tmp_path.iterdir())


def test_a_callback_of_a_step_is_left_out(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline[0].callback = print
    pipeline.verbose = 1  # scikit-learn looks at its truth alone
    with pytest.warns(LowdimWarning, match="callback of PCA was not saved"):
        path = lowdim.save(pipeline, tmp_path / "model.lowdim")
    assert lowdim.load(path)[0].callback is None


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (lambda steps: [], "has no steps"),
        (lambda steps: [steps[0], steps[0]], "two of one name"),
        (lambda steps: [{"tuple": ["a", "passthrough"]}, steps[1]], "is no estimator"),
        (lambda steps: [steps[1], {"tuple": ["a", steps[0]["tuple"][1]]}], "takes another number of columns"),
        (lambda steps: [{"tuple": ["a", 1, 2]}], "steps of Pipeline is of type list"),
        (lambda steps: "steps", "steps of Pipeline is of type str"),
    ],
)
def test_steps_that_do_not_belong_together(
    pipeline: Pipeline, steps: Any, words: str, tmp_path: Path
) -> None:
    document, arrays = taken_apart(lowdim.save(pipeline, tmp_path / "model.lowdim"))
    wrong = copy.deepcopy(document)
    wrong["objects"][-1][1]["steps"] = steps(document["objects"][-1][1]["steps"])
    path = forged(tmp_path / "wrong.lowdim", wrong, arrays, version="2")
    with pytest.raises(FormatError, match=words):
        lowdim.load(path)
