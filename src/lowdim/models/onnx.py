"""`to_onnx`: the map of a fitted model in the format that other languages and devices run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..core.atomic import check_target, writing
from ..errors import InputError, InputTypeError, MissingExtraError
from ..store.registry import SCALERS, name_of


def to_onnx(
    model: Any, path: str | os.PathLike[str], *, dtype: Any = np.float64, force: bool = False
) -> Path:
    """Write the map for new points of a model to an ONNX file, from rows ``X`` to ``coordinates``.

    That of `SpectralClustering` has a second output, ``labels``, the groups that ``predict`` gives. Any number of rows
    can be given at once. With ``dtype=numpy.float64`` the coordinates are those of ``transform`` up
    to rounding; ``numpy.float32`` is smaller and quicker, and rounded to what it holds.

    Parameters
    ----------
    model
        A fitted estimator whose map ONNX's operators hold, or a pipeline of such, before which there may be the scalers
        that `save` takes: linear maps (`PCA`, `OrientedPCA`,
        `ClassicalMDS` of Euclidean distances); local weights on landmarks or fitted points (``solver=LLL(...)``,
        `LandmarkZ`, `LLE` and its kin, landmark `Isomap`); affinities to landmarks or fitted points
        (`LaplacianEigenmaps`, `DiffusionMap` and `SpectralClustering`, also by `Nystrom`); kernel values or distances
        to them (`KernelPCA`, `ClassicalMDS`). Maps that place points by optimisation (`TSNE`, `UMAP`, `MDS` and their
        kin) are refused: use `save`.
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
        The model is not fitted, or its map cannot be written; the message says why, and what to do.
    MissingExtraError
        The extra ``onnx`` is not installed.
    """
    steps = _steps(model)
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"dtype must be numpy.float64 or numpy.float32; got {dtype!r}.")
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "to_onnx needs the package onnx. Install it with pip install 'lowdim[onnx]'."
        ) from error
    check_target(path, force=force)
    # Imported here: to describe a model file takes neither scikit-learn nor Numba.
    from .onnx_graph import Graph
    from .onnx_maps import write_map
    from .onnx_scalers import write_scaler
    from .onnx_unit_rows import nearest_centers

    graph, values = Graph(kind), "X"
    for step in steps:
        is_scaler = name_of(type(step)) in SCALERS
        values = write_scaler(graph, step, values) if is_scaler else write_map(graph, step.map_, values)
    title = "lowdim " + ", ".join(type(step).__name__ for step in steps)
    centers = getattr(steps[-1], "cluster_centers_", None)
    labels = None if centers is None else nearest_centers(graph, values, centers)
    made = graph.model(title, steps[0].n_features_in_, values, steps[-1]._n_features_out, labels)
    with writing(path, force=force) as temporary:
        temporary.write_bytes(made.SerializeToString())
    return Path(path)


def _steps(model: Any) -> list[Any]:
    """The estimator, or those of a pipeline, with the scalers before the last of them, all fitted."""
    from sklearn.pipeline import Pipeline

    from ..estimators.base import Estimator

    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    for place, step in enumerate(steps):
        kind = type(step).__name__
        is_scaler = name_of(type(step)) in SCALERS and place < len(steps) - 1
        if not (is_scaler or isinstance(step, Estimator)):
            others = (
                " Write the steps of lowdim alone, as in to_onnx(pipeline[1:], path), and the others by a converter of "
                "their own, such as skl2onnx."
                if len(steps) > 1
                else ""
            )
            raise InputTypeError(
                f"model must be a fitted estimator of lowdim, or a pipeline of such; got {kind}.{others}"
            )
        if not hasattr(step, "n_features_in_" if is_scaler else "map_"):
            raise InputError(f"model must be fitted; this {kind} is not. Call fit(X) first.")
    return steps
