"""ONNX files, run by the reference runtime and held against ``transform``."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowdim
from lowdim.errors import FileError, InputError, InputTypeError, MissingExtraError
from lowdim.models import to_onnx

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(80, 6)) @ RNG.normal(size=(6, 6)) + 1000


def run(path, rows):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(["coordinates"], {"X": rows})
    return found


MODELS = {
    "PCA": lambda: lowdim.PCA(3).fit(POINTS),
    "PCA-whitened": lambda: lowdim.PCA(2, whiten=True).fit(POINTS),
    "OrientedPCA": lambda: lowdim.OrientedPCA(2).fit(POINTS, noise=RNG.normal(size=(80, 6))),
    "ClassicalMDS": lambda: lowdim.ClassicalMDS(2).fit(POINTS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_coordinates_are_those_of_transform(tmp_path, name, dtype, close):
    pytest.importorskip("onnx")
    model = MODELS[name]()
    path = to_onnx(model, tmp_path / "map.onnx", dtype=dtype)
    new = POINTS[:7] + RNG.normal(size=(7, 6))
    wanted = model.transform(new)
    for rows in (new, new[:1]):  # any number of rows
        found = run(path, rows.astype(dtype))
        assert found.dtype == dtype
        assert_allclose(found, wanted[: len(rows)], atol=close * np.abs(wanted).max())


def test_what_cannot_be_written_is_said(tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    path = tmp_path / "map.onnx"
    with pytest.raises(InputTypeError, match="got str"):
        to_onnx("model", path)
    with pytest.raises(InputError, match="must be fitted"):
        to_onnx(lowdim.PCA(2), path)
    with pytest.raises(InputError, match="must have a linear map"):
        to_onnx(lowdim.Isomap().fit(POINTS), path)
    model = lowdim.PCA(2).fit(POINTS)
    with pytest.raises(InputError, match=r"numpy\.float32"):
        to_onnx(model, path, dtype=np.int64)
    assert not path.exists()
    to_onnx(model, path)
    with pytest.raises(FileError, match="force"):
        to_onnx(model, path)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"lowdim\[onnx\]"):
        to_onnx(model, path, force=True)
