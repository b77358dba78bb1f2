"""What a model file holds, without loading it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.records import format_bytes
from ..store import registry
from ..store.container import Header, open_container
from .files import read_document

PLACED_BY = {
    "ColumnsMap": "by the map of the columns that vary",
    "ComponentsMap": "by the map of the part of the graph that is nearest",
    "ConstantMap": "by one place for all",
    "ExtensionMap": "by distances or kernel values to fitted points or landmarks",
    "FixedEmbeddingMap": "by the method's own cost, the fitted points staying where they are",
    "LinearMap": "by a linear map",
    "LocallyLinearMap": "by weights on the nearest fitted points or landmarks",
    "NearestMap": "by the nearest fitted point",
    "NormalizedRowsMap": "by a map to the unit sphere",
    "NystromMap": "by affinities to fitted points or landmarks",
    "PlacedRowsMap": "by a map to the unit sphere",
    "StressMap": "by least stress, the fitted points staying where they are",
    "UnitRowsMap": "by a map to the unit sphere",
    "WithoutPoints": "none: the model was given a matrix, and no points",
}
"""What places new points, for people."""
MOST_SHOWN = 1 << 18
"""Parts of the parameters that are looked at."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model file: its estimator, parameters and sizes.

    Attributes
    ----------
    path
        The file.
    method
        Class of the estimator; of a pipeline, that of its last step.
    after
        Of a pipeline: the classes of the steps before it.
    format
        Number of the file's format.
    version
        Version of lowdim that wrote it.
    parameters
        Parameters of the estimator, in types that JSON knows; an array is described by its type and shape. Those of a
        pipeline have the name of the step before theirs, as in ``pca__n_components``.
    n_samples, n_features, n_components
        Points fitted, their columns (None where only a matrix was given), and coordinates.
    map
        Class of the map for new points.
    feature_names
        Whether the names of the columns are known.
    arrays
        Type and shape of every array by its name.
    bytes
        Size of the file.
    """

    path: str
    method: str
    after: tuple[str, ...]
    format: int
    version: str
    parameters: Mapping[str, Any]
    n_samples: int
    n_features: int | None
    n_components: int
    map: str
    feature_names: bool
    arrays: Mapping[str, str]
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        return {name: _json(getattr(self, name)) for name in self.__slots__}

    def __str__(self) -> str:
        """A page for people."""
        columns = "" if self.n_features is None else f" of {self.n_features} columns"
        names = " with names" if self.feature_names else ""
        what = " after ".join([self.method, *reversed(self.after)])
        lines = [
            f"{what}: {self.n_samples} points{columns}{names} in {self.n_components} dimensions",
            f"  file: {self.path}, {format_bytes(self.bytes)}, {len(self.arrays)} arrays",
            f"  written by: lowdim {self.version}, format {self.format}",
            f"  new points: {PLACED_BY.get(self.map, self.map)}",
            "  parameters:",
        ]
        return "\n".join([*lines, *(f"    {name} = {value!r}" for name, value in self.parameters.items())])


def describe(path: str | os.PathLike[str]) -> ModelInfo:
    """What a model file holds. Only its header is read, and checked against its digest.

    Parameters
    ----------
    path
        Name of the file.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        It is no model file, its header is damaged, or it was written by a newer lowdim.

    Examples
    --------
    >>> import lowdim, tempfile, pathlib
    >>> model = lowdim.PCA(2).fit(lowdim.datasets.swiss_roll(200, random_state=0).data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "roll.lowdim")
    ...     _ = lowdim.save(model, path)
    ...     lowdim.models.describe(path).method
    'PCA'
    """
    with open_container(path) as file:
        reader = Reader(read_document(file, path), file.header)
        try:
            steps = reader.steps()
            method, attributes = steps[-1].method, steps[-1].attributes
            first, map_ = steps[0].attributes, attributes["map_"]
            n_samples, n_components = reader.shape_of_embedding(attributes)
            return ModelInfo(
                path=str(Path(path)),
                method=method,
                after=tuple(step.method for step in steps[:-1]),
                format=int(file.header.metadata["version"]),
                version=file.header.metadata.get("lowdim", "unknown"),
                parameters={
                    step.prefix + name: reader.plain(node)
                    for step in steps
                    for name, node in step.parameters.items()
                },
                n_samples=n_samples,
                n_features=first.get("n_features_in_"),
                n_components=n_components,
                map=reader.objects[map_["object"]][0],
                feature_names="feature_names_in_" in first,
                arrays={name: f"{t.dtype.name} {t.shape}" for name, t in file.header.tensors.items()},
                bytes=file.header.size,
            )
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise file.damaged("its tree is not that of a model") from error


@dataclass(frozen=True, slots=True)
class Step:
    """An estimator of a model file: its class, parameters and fitted attributes as nodes."""

    prefix: str
    method: str
    parameters: Mapping[str, Any]
    attributes: Mapping[str, Any]


class Reader:
    """Looks into the nodes of a tree without making anything of them."""

    def __init__(self, document: Mapping[str, Any], header: Header) -> None:
        self.objects: Any = document.get("objects")
        self._place: Any = document.get("model")
        self._tensors = header.tensors
        self._left = MOST_SHOWN

    def steps(self) -> list[Step]:
        """The estimators of the model, in their order."""
        kind, fields = self.objects[self._place]
        if kind != registry.PIPELINE:
            return [self._step("", self._place)]
        named = [step["tuple"] for step in fields["steps"]]
        return [self._step(f"{name}__", node["object"]) for name, node in named]

    def _step(self, prefix: str, place: Any) -> Step:
        method, fields = self.objects[place]
        if method not in (*registry.ESTIMATORS, *registry.SCALERS):
            raise ValueError(f"{method} is no estimator")
        return Step(prefix, method, dict(fields["parameters"]["dict"]), dict(fields["attributes"]["dict"]))

    def shape(self, node: Any) -> tuple[int, ...]:
        """Shape of an array."""
        name, order = node["array"][:2]
        shape = self._tensors[name].shape
        return shape if order == "C" else shape[::-1]

    def shape_of_embedding(self, attributes: Mapping[str, Any]) -> tuple[int, ...]:
        """Points and coordinates, whether these are stored or not."""
        if "embedding_" in attributes:
            return self.shape(attributes["embedding_"])
        return tuple(map(int, attributes["embedding_shape_"]["tuple"]))

    def plain(self, node: Any) -> Any:
        """A node in types that JSON knows."""
        # Objects that hold each other twice over and over would never end.
        self._left -= 1
        if self._left < 0:
            raise ValueError("the parameters have too many parts")
        if isinstance(node, list):
            return [self.plain(part) for part in node]
        if not isinstance(node, dict):
            return node
        ((kind, content),) = node.items()
        if kind == "tuple":
            return [self.plain(part) for part in content]
        if kind == "dict":
            return {str(self.plain(key)): self.plain(value) for key, value in content}
        if kind == "scalar":
            return self.plain(content[1])
        if kind == "float":
            return float(content)
        if kind == "object":
            return self._object(content)
        if kind == "array":
            dtype = content[2] if len(content) > 2 else self._tensors[content[0]].dtype.name
            return f"array {dtype} {self.shape(node)}"
        # Sparse matrices and arrays of strings have a shape, random generators have not.
        return f"{content[0]} {tuple(content[1])}" if kind != "random" else f"{content[0]}(...)"

    def _object(self, place: Any) -> dict[str, Any]:
        name, fields = self.objects[place]
        return {"class": name} | {key: self.plain(value) for key, value in fields.items()}


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_json(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
