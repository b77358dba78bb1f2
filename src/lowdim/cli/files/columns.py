"""A model knows its columns by name: new data may have them in another order, and others beside them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..failures import about, naming
from ..session import Session
from ..usage import nearest
from .inputs import asked_as_labels, asked_for

READING = "reading_"
"""Attribute of a model made by this program: how its data was read."""
NAMES = "feature_names_in_"
"""scikit-learn's attribute for the names of the columns."""


def remember(model: Any, table: Any, options: argparse.Namespace) -> None:
    """Let a fitted model know the names of its columns, and how its data was read."""
    import numpy as np

    if table.feature_names is not None and not is_pairwise(model):
        setattr(model, NAMES, np.array(table.feature_names, dtype=object))
    labels = [name for name in options.label or () if name in table.columns]
    if options.label and table.label not in labels:
        labels.insert(0, table.label)
    reading = {
        "label": labels or None,
        "id": None if options.id is None else options.id if options.transpose else table.id_name,
        "layer": options.layer,
        "obsm": options.obsm,
        "key": options.key,
        "transpose": options.transpose or None,
    }
    kept = {name: value for name, value in reading.items() if value is not None}
    if kept:
        setattr(model, READING, kept)


@dataclass(slots=True)
class _Selection:
    """Gives columns of a table their roles: the model's by their names, labels and ids as asked for or remembered."""

    wanted: Sequence[str]
    label: Sequence[str]
    id: str | None
    left_out: list[str] = field(default_factory=list)

    def assign(self, names: Sequence[str], numeric: Sequence[bool], request: Any, source: str) -> Any:
        """Roles of the columns of a table."""
        from ...data.files.table import Roles, assign, place_of, unnamed_index

        label = request.label or [name for name in self.label if name in names] or None
        id_ = request.id if request.id is not None or self.id not in names else self.id
        request = replace(request, label=label, id=id_)
        has_names = list(names) != [f"column_{place}" for place in range(len(names))]
        if not self.wanted or not (has_names or set(self.wanted) <= set(names)):
            return assign(names, numeric, request, source)
        check_present(self.wanted, names, source)
        labels = tuple(place_of("label", column, names, source) for column in request.labels)
        ids = unnamed_index(names) if request.id is None else place_of("id", request.id, names, source)
        features = tuple(list(names).index(name) for name in self.wanted)
        beside = set(labels) - set(features)
        taken = {*features, *beside, ids}
        self.left_out = [name for place, name in enumerate(names) if place not in taken]
        return Roles(
            features, tuple(place for place in labels if place in beside), None if ids in features else ids
        )


def read_for(model: Any, source: str, options: argparse.Namespace, session: Session) -> Any:
    """The columns of a file that a model was fitted to, in its order, and what lies beside them.

    The model's names are taken from it: from here on its columns are told by their place.
    """
    from ...data.files.reading import read_as
    from ...data.files.table import Request, assign

    wanted = [str(name) for name in vars(model).pop(NAMES, ())]
    remembered = vars(model).pop(READING, {})
    asked = asked_for(options)
    if source.lower().rstrip("/").endswith((".h5ad", ".zarr")) and not (options.layer or options.obsm):
        asked |= {name: remembered.get(name) for name in ("layer", "obsm")}
    if source.lower().rstrip("/").endswith((".npz", ".zarr")) and not options.key:
        asked["key"] = remembered.get("key")
    if options.transpose is None:
        asked["transpose"] = bool(remembered.get("transpose"))
    if asked["transpose"] and options.id is None:
        asked["id"] = remembered.get("id")
    chosen = _Selection(wanted, remembered.get("label", ()), remembered.get("id"))
    with about(source), naming("label", asked_as_labels(options)), session.stage("read"):
        table = read_as(Request(**asked), source, assign if asked["transpose"] else chosen.assign)
    if table.label is None:
        table = replace(table, label=next((n for n in chosen.label if n in table.columns), None))
    if wanted and table.feature_names is not None and list(table.feature_names) != wanted:
        check_present(wanted, table.feature_names, source)
        places = {name: place for place, name in enumerate(table.feature_names)}
        chosen.left_out = [name for name in table.feature_names if name not in set(wanted)]
        table = replace(table, X=table.X[:, [places[name] for name in wanted]], feature_names=tuple(wanted))
    _check_count(model, table, named=bool(wanted))
    if chosen.left_out:
        from ...data.files.table import quoted

        session.console.say(
            f"{source}: left out {quoted(chosen.left_out)}, to which the model was not fitted"
        )
    return table


def check_present(wanted: Sequence[str], there: Sequence[str], source: str) -> None:
    """An InputError that names the columns of the model that a file has not."""
    from ...data.files.table import quoted
    from ...errors import InputError

    known = set(there)
    missing = [name for name in wanted if name not in known]
    if missing:
        few = "the column" if len(missing) == 1 else "the columns"
        left = [name for name in there if name not in set(wanted)]
        raise InputError(
            f"{source}: lacks {few} {quoted(missing)} of the {len(wanted):,} that the model was fitted to."
            f"{nearest(missing[0], left)} Name the columns as in the model's own data."
        )


def _check_count(model: Any, table: Any, *, named: bool) -> None:
    from ...errors import InputError

    wanted, there = getattr(model, "n_features_in_", None), table.X.shape[1]
    if wanted is None or wanted == there:
        return
    names = " It has no names to tell which is which." if named and table.feature_names is None else ""
    raise InputError(
        f"{table.source}: has {there:,} features where the model was fitted to {wanted:,}.{names} Give the same "
        "columns, and name those that are no features with --label, --id or --drop."
    )


def is_pairwise(model: Any) -> bool:
    """Whether a model works on values between points: distances, affinities, a graph."""
    return bool(model.__sklearn_tags__().input_tags.pairwise)
