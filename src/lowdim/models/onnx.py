"""`to_onnx`: the map of a fitted linear model in the format that other languages and devices run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..core.atomic import check_target, writing
from ..errors import InputError, InputTypeError, MissingExtraError

if TYPE_CHECKING:
    from ..maps.linear import LinearMap

OPSET = 17
"""Version of ONNX's operators. The two that are needed are older: every runtime of the last years has them."""


def to_onnx(
    model: Any, path: str | os.PathLike[str], *, dtype: Any = np.float64, force: bool = False
) -> Path:
    """Write the map of a linear model to an ONNX file: x = C (y - mean), from rows ``X`` to ``coordinates``.

    Any number of rows can be given at once. With ``dtype=numpy.float64`` the coordinates are those of ``transform`` up
    to rounding; other types are smaller and quicker, and rounded to what they hold.

    Parameters
    ----------
    model
        A fitted `PCA` or `OrientedPCA`, or a `ClassicalMDS` that turned out to be PCA. Other maps compare new points
        with those of the fit, and are not written: use `save`.
    path
        Name of the file; ``.onnx`` is usual.
    dtype
        Type of the rows, the coordinates and the numbers between: ``numpy.float64`` or ``numpy.float32``.
    force
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The model is not fitted, or its map is not linear.
    MissingExtraError
        The extra ``onnx`` is not installed.
    """
    map_ = _linear_map(model)
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"dtype must be numpy.float64 or numpy.float32; got {dtype!r}.")
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError as error:
        raise MissingExtraError(
            "to_onnx needs the package onnx. Install it with pip install 'lowdim[onnx]'."
        ) from error
    check_target(path, force=force)
    n_components, n_columns = map_.components.shape
    number = TensorProto.DOUBLE if kind == np.float64 else TensorProto.FLOAT
    graph = helper.make_graph(
        # The mean is taken away first, as `transform` does: far from the origin the product alone would lose digits.
        [
            helper.make_node("Sub", ["X", "mean"], ["centred"]),
            helper.make_node("MatMul", ["centred", "components"], ["coordinates"]),
        ],
        f"lowdim {type(model).__name__}",
        [helper.make_tensor_value_info("X", number, ["rows", n_columns])],
        [helper.make_tensor_value_info("coordinates", number, ["rows", n_components])],
        [
            numpy_helper.from_array(map_.mean.astype(kind), "mean"),
            numpy_helper.from_array(np.ascontiguousarray(map_.components.T, dtype=kind), "components"),
        ],
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="lowdim",
        producer_version=__version__,
        ir_version=8,
    )
    checker.check_model(made, full_check=True)
    with writing(path, force=force) as temporary:
        temporary.write_bytes(made.SerializeToString())
    return Path(path)


def _linear_map(model: Any) -> LinearMap:
    """The map of a model, where it is linear."""
    # Imported here: to describe a model file takes neither scikit-learn nor Numba.
    from ..estimators.base import Estimator
    from ..maps.linear import LinearMap

    kind = type(model).__name__
    if not isinstance(model, Estimator):
        raise InputTypeError(f"model must be a fitted PCA or OrientedPCA of lowdim; got {kind}.")
    if not hasattr(model, "map_"):
        raise InputError(f"model must be fitted; this {kind} is not. Call fit(X) first.")
    if not isinstance(model.map_, LinearMap):
        raise InputError(
            f"model must have a linear map, as PCA and OrientedPCA have; that of this {kind} is "
            f"{type(model.map_).__name__}, which to_onnx does not write. Use lowdim.save, and load it with lowdim."
        )
    return model.map_
