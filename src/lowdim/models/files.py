"""`lowdim.save` and `lowdim.load`: a fitted model in one file, without anything that could run."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.atomic import check_target, writing
from ..core.run import Run, Workers
from ..errors import FormatError, InputError, InputTypeError, LowdimWarning
from ..store import registry
from ..store.arrays import Broken
from ..store.container import AGAIN, ModelFile, open_container, write_container
from ..store.encoding import MOST_THREADS, Decoder, Encoder

FORMAT = 2
"""Number of the format that is written. A file of a greater number is refused."""
MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: lambda document: document}
"""From the number of an older format to what turns its document into that of the next."""
OF_FITTED_POINTS = ("affinity_matrix_", "frames_", "point_of_row_")
"""Attributes as large as an embedding or larger, which tell of the fitted points alone."""
FOUND_AGAIN = ("neighbor_lists_",)
"""Attributes that are larger than all else, and that follow from the rest of a model."""


def save(model: Any, path: str | os.PathLike[str], *, force: bool = False, embedding: bool = True) -> Path:
    """Write a fitted model to a file: ``transform``, ``predict`` and all attributes come back bit for bit.

    The file is in the safetensors format with the model's tree in its header, and holds nothing that could run. It
    appears whole or not at all. Numbers are stored in the smallest type that holds them exactly. A ``callback`` is not
    stored; a model with a metric or kernel that is a function is refused. See docs/models.md.

    Parameters
    ----------
    model
        A fitted estimator of lowdim, or a pipeline of scikit-learn of such, with scalers before its last step:
        `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`, `Normalizer`. Steps before the last keep no
        ``embedding_``.
    path
        Name of the file; ``.lowdim`` is usual.
    force
        Whether a file that is there may be replaced.
    embedding
        Whether the file keeps what only the fitted points need: ``embedding_``, ``affinity_matrix_`` and ``frames_``.
        Without them a model is loaded that has ``transform`` and all else. Where new points are placed by the
        embedding, it is part of the map and stays in any case.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The model holds something that a file cannot.
    FileError
        The file is there already, or cannot be written.

    Examples
    --------
    >>> import lowdim, tempfile
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> model = lowdim.Isomap().fit(roll.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lowdim.save(model, f"{folder}/roll.lowdim")
    ...     again = lowdim.load(path)
    >>> bool((again.transform(roll.data) == model.transform(roll.data)).all())
    True
    """
    steps = steps_of(model)
    for place, (name, step) in enumerate(steps):
        _check_step(step, name, place, is_last=place == len(steps) - 1)
    check_target(path, force=force)
    encoder = Encoder(type(model).__name__, is_compact=True)
    place = encoder.encode(_kept(model, embedding=embedding), "")
    document = {"objects": encoder.objects, "model": place["object"]}
    metadata = {
        "version": str(FORMAT),
        "lowdim": __version__,
        "model": json.dumps(document, separators=(",", ":"), allow_nan=False),
    }
    with writing(path, force=force) as temporary:
        write_container(temporary, encoder.pool.arrays, metadata, encoder.pool.types)
    for _, step in steps:
        if getattr(step, "callback", None) is not None:
            warnings.warn(
                f"callback of {type(step).__name__} was not saved: a model file holds no functions, and a fitted model "
                "needs none. Set it again after loading, if you will fit again.",
                LowdimWarning,
                stacklevel=2,
            )
    return Path(path)


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline by their names, or an estimator as the only step of its own, without a name."""
    is_pipeline = registry.name_of(type(model)) == registry.PIPELINE
    return list(model.steps) if is_pipeline else [("", model)]


def _check_step(model: Any, name: str, place: int, *, is_last: bool) -> None:
    """Raise where a model, or the step of a pipeline that has this name, is nothing fitted that a file can hold."""
    kind = type(model).__name__
    known = registry.name_of(type(model))
    where = f"step {name!r} of model" if name else "model"
    is_scaler = known in registry.SCALERS and bool(name) and not is_last
    if known not in registry.ESTIMATORS and not is_scaler:
        scalers = "" if is_last else f", or one of {', '.join(registry.SCALERS)}"
        allowed = (
            f"an estimator of lowdim{scalers}" if name else "an estimator of lowdim or a pipeline of such"
        )
        others = "[:-1]" if is_last else f"[{place + 1}:]"
        itself = (
            f"save the steps of lowdim alone, as in lowdim.save(pipeline{others}, path), or " if name else ""
        )
        raise InputTypeError(
            f"{where} must be {allowed}; got {repr(model) if isinstance(model, str) else kind}: a model file holds "
            f"nothing else of other libraries. Instead {itself}store it with joblib or skops."
        )
    if not hasattr(model, "n_features_in_" if is_scaler else "map_"):
        raise InputError(f"{where} must be fitted; this {kind} is not. Call fit(X) first.")
    if not is_scaler:
        model._check_parameters()


def _kept(model: Any, *, embedding: bool) -> Any:
    """What is stored of a model; in a pipeline only the last step's embedding is of any use."""
    *before, (name, last) = steps_of(model)
    kept = without(last, FOUND_AGAIN) if embedding else _without_embedding(last)
    if last is model:
        return kept
    other = copy(model)
    other.steps = [*((one, _without_embedding(step)) for one, step in before), (name, kept)]
    return other


def _without_embedding(model: Any) -> Any:
    """The same model, which knows of its embedding only how large it is, unless its map holds that anyway."""
    if not hasattr(model, "map_"):
        return model
    other = without(model, (*OF_FITTED_POINTS, *FOUND_AGAIN))
    map_ = Encoder(type(model).__name__)
    map_.encode(model.map_, "map_")
    if hasattr(model, "embedding_") and not map_.pool.has(model.embedding_):
        other.embedding_shape_ = model.embedding_.shape
        del other.embedding_
    return other


def without(model: Any, names: tuple[str, ...]) -> Any:
    """The same model without some attributes."""
    other = copy(model)
    for name in names:
        vars(other).pop(name, None)
    return other


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted model that `save` wrote.

    Every byte is checked against the file's digests, every class against a closed list, every shape against the
    others; nothing of the file is executed. The arrays of a large model are mapped from the file as they are needed.

    Parameters
    ----------
    path
        Name of the file.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        It is no model file, is damaged, or was written by a newer lowdim.

    Examples
    --------
    >>> import lowdim, tempfile, pathlib
    >>> roll = lowdim.datasets.swiss_roll(200, random_state=0).data
    >>> model = lowdim.PCA(2).fit(roll)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "roll.lowdim")
    ...     _ = lowdim.save(model, path)
    ...     again = lowdim.load(path)
    >>> bool((again.transform(roll) == model.transform(roll)).all())
    True
    """
    with open_container(path) as file:
        document = read_document(file, path)
        try:
            decoder = Decoder(file.arrays(), Run(workers=Workers(_workers(document))))
            objects = decoder.decode_objects(document.get("objects"))
            model = decoder.decode({"object": document.get("model")})
        except (Broken, RecursionError) as error:
            raise file.damaged(str(error)) from error
        kinds = (*registry.ESTIMATORS, registry.PIPELINE)
        if registry.name_of(type(model)) not in kinds or model is not objects[-1]:
            raise file.damaged(f"it holds {type(model).__name__} in the place of a model")
    return model


def _workers(document: dict[str, Any]) -> int | None:
    """The parameter ``n_jobs`` of the model, which comes last; what is wrong with it is found when that is made.

    A pipeline has that of its last step, which comes before it.
    """
    try:
        objects = document["objects"]
        last = objects[-2] if objects[-1][0] == registry.PIPELINE else objects[-1]
        stored = dict(last[1]["parameters"]["dict"])["n_jobs"]
    except (LookupError, TypeError, ValueError):
        return None
    return stored if type(stored) is int and stored != 0 and abs(stored) <= MOST_THREADS else None


def read_document(file: ModelFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tree of a model file, brought to today's format.

    Raises
    ------
    FormatError
        The file is of a newer format, or its tree cannot be read.
    """
    version = file.format_number(FORMAT)
    try:
        parsed = json.loads(file.header.metadata["model"], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise file.damaged("its tree cannot be read") from error
    if not isinstance(parsed, dict):
        raise file.damaged("its tree is no tree")
    document: dict[str, Any] = parsed
    for older in range(version, FORMAT):
        if older not in MIGRATIONS:
            raise FormatError(f"{path}: is of format {version}, which was never in use. {AGAIN}")
        document = MIGRATIONS[older](document)
    return document


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not of JSON")
