"""Scalers of scikit-learn before lowdim's steps: they come back from a model file bit for bit, and go into ONNX."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_zoo import POINTS, forged, taken_apart
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import lowdim
from lowdim.errors import FormatError, InputError, InputTypeError
from lowdim.models import describe, to_onnx
from lowdim.models.preprocessing import FORMS, KINDS
from lowdim.store.registry import SCALERS

NEW = np.concatenate((POINTS[:7] + 0.01, 5 * POINTS[:3], np.zeros((1, 3))))
STEPS = {
    "standard": StandardScaler,
    "standard, centred alone": lambda: StandardScaler(with_std=False),
    "standard, scaled alone": lambda: StandardScaler(with_mean=False),
    "standard, neither": lambda: StandardScaler(with_mean=False, with_std=False),
    "from 0 to 1": MinMaxScaler,
    "clipped": lambda: MinMaxScaler((-2.0, 3.0), clip=True),
    "by the largest": MaxAbsScaler,
    "robust": RobustScaler,
    "robust, centred alone": lambda: RobustScaler(with_scaling=False),
    "robust, scaled alone": lambda: RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)),
    "length 1": Normalizer,
    "sum 1": lambda: Normalizer("l1"),
    "largest 1": lambda: Normalizer("max"),
}


def test_every_scaler_has_its_form():
    assert set(FORMS) == set(SCALERS) == set(KINDS)
    for name, form in FORMS.items():
        kind = KINDS[name]
        assert set(kind().get_params()) <= set(form.parameters)
        assert set(form.attributes) <= set(vars(kind().fit(POINTS)))


@pytest.mark.parametrize("name", STEPS)
def test_a_scaled_pipeline_comes_back(name: str, tmp_path: Path) -> None:
    model = make_pipeline(STEPS[name](), lowdim.PCA(2)).fit(POINTS)
    again = lowdim.load(lowdim.save(model, tmp_path / "model.lowdim"))
    assert repr(again) == repr(model)
    assert again.transform(NEW).tobytes() == model.transform(NEW).tobytes()
    stored, found = vars(model[0]), vars(again[0])
    assert stored.keys() == found.keys()
    for key, value in stored.items():
        np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("name", STEPS)
def test_a_scaled_pipeline_is_written_for_other_languages(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = make_pipeline(STEPS[name](), lowdim.PCA(2)).fit(POINTS)
    session = runtime.InferenceSession(
        str(to_onnx(model, tmp_path / "map.onnx")), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(["coordinates"], {"X": NEW})
    np.testing.assert_allclose(found, model.transform(NEW), atol=1e-12)


def test_names_of_columns_and_frames_come_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["a", "b", "c"])
    model = (
        make_pipeline(StandardScaler(), lowdim.LLE(n_neighbors=8)).set_output(transform="pandas").fit(frame)
    )
    path = lowdim.save(model, tmp_path / "model.lowdim")
    pandas.testing.assert_frame_equal(lowdim.load(path).transform(frame[:5]), model.transform(frame[:5]))
    found = describe(path)
    assert (found.after, found.n_features, found.feature_names) == (("StandardScaler",), 3, True)
    assert found.parameters["standardscaler__with_mean"] is True
    assert str(found).startswith(
        "LLE after StandardScaler: 90 points of 3 columns with names in 2 dimensions\n"
    )


def test_a_scaler_comes_before_what_places_points(tmp_path: Path) -> None:
    last = make_pipeline(lowdim.PCA(2), StandardScaler()).fit(POINTS)
    with pytest.raises(
        InputTypeError, match="step 'standardscaler' of model must be an estimator of lowdim; got"
    ):
        lowdim.save(last, tmp_path / "model.lowdim")
    with pytest.raises(InputTypeError, match="must be a fitted estimator of lowdim"):
        to_onnx(last, tmp_path / "map.onnx")
    unfitted = make_pipeline(StandardScaler(), lowdim.PCA(2))
    with pytest.raises(InputError, match="step 'standardscaler' of model must be fitted"):
        lowdim.save(unfitted, tmp_path / "model.lowdim")
    own = make_pipeline(StandardScaler(), lowdim.PCA(2)).fit(POINTS)
    own[0].remark = "mine"
    with pytest.raises(InputError, match="remark of StandardScaler is no attribute that a fit leaves"):
        lowdim.save(own, tmp_path / "model.lowdim")
    own = make_pipeline(StandardScaler(), lowdim.PCA(2)).fit(POINTS)
    own[0].copy = "often"
    with pytest.raises(InputError, match="copy='often' of StandardScaler is none that a model file holds"):
        lowdim.save(own, tmp_path / "model.lowdim")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("part", "key", "node", "words"),
    [
        ("parameters", "with_mean", "yes", "no with_mean of type str"),
        ("parameters", "n_jobs", 4, "no n_jobs of type int"),
        ("attributes", "n_features_in_", 2, "of a length that it cannot have"),
        ("attributes", "n_features_in_", "3", "lacks what its fit has left"),
        ("attributes", "mean_", 1.0, "mean_ of StandardScaler is of type float"),
        ("attributes", "transform", 1.0, "transform of StandardScaler is of type float"),
        ("attributes", "mean_", None, "lacks what its fit has left"),
    ],
)
def test_a_forged_scaler_is_refused(part: str, key: str, node: Any, words: str, tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), lowdim.PCA(2)).fit(POINTS)
    document, arrays = taken_apart(lowdim.save(model, tmp_path / "model.lowdim"))
    wrong = copy.deepcopy(document)
    fields = next(fields for name, fields in wrong["objects"] if name == "StandardScaler")
    kept = [item for item in fields[part]["dict"] if item[0] != key]
    fields[part]["dict"] = kept if node is None else [*kept, [key, node]]
    path = forged(tmp_path / "wrong.lowdim", wrong, arrays, version="2")
    with pytest.raises(FormatError, match=words):
        lowdim.load(path)


def test_a_forged_scaler_of_other_columns_is_refused(tmp_path: Path) -> None:
    wide = make_pipeline(StandardScaler(), lowdim.PCA(2)).fit(np.column_stack((POINTS, POINTS)))
    narrow = make_pipeline(StandardScaler(), lowdim.PCA(2)).fit(POINTS)
    wide.steps[1] = narrow.steps[1]
    with pytest.raises(FormatError, match="takes another number of columns"):
        lowdim.load(lowdim.save(wide, tmp_path / "model.lowdim"))
