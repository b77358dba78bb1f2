"""What every estimator shares: checks, the stream of events, the report, `transform` and `plan`."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..core.events import Events, Listener
from ..core.messages import named, setting
from ..core.messages import value as quoted
from ..core.notebook import listener_for
from ..core.places import Place
from ..core.records import Floats, Integers, PlannedStage, Report
from ..core.rules import Either, Function, Instance, Jobs, Nothing, Real, Rule, Truth, Whole
from ..core.run import Run, Store, Workers
from ..core.shared import Shared
from ..core.streams import Streams
from ..data.rows import Rows
from ..data.shards import Shards, as_shards, comes_in_shards
from ..errors import InputError
from ..maps.base import Map
from ..methods.base import Embedded
from ..neighbors.metrics import bind_metric
from ..store.checkpoint import keeping
from ..store.identity import Identity
from .choosing.choosing import Choosing, refuse_shards, with_choices
from .choosing.settled import chosen_values, with_values
from .coordinates import as_came, describe, read_only
from .explaining import Explaining
from .foreign_names import ForeignNames, own_word
from .recorder import Recorder
from .shards.over_shards import needs_all_rows
from .shards.placed_shards import placed

COMMON_RULES: Mapping[str, Rule] = {
    "n_components": Whole(1),
    "random_state": Either(Whole(0), Nothing(), Instance(np.random.Generator, np.random.RandomState)),
    "n_jobs": Either(Jobs(), Nothing()),
    "memory_limit": Either(Real(0), Instance(str), Nothing()),
    "checkpoint": Either(Instance(str, os.PathLike), Nothing()),
    "callback": Either(Function(), Nothing()),
    "verbose": Either(Truth(), Whole(0)),
}

INSTEAD: dict[str, str] = {
    "partial_fit": ": with more rows all coordinates change. Use update(X), which returns a new model."
}
"""What to use in the place of attributes that other libraries have."""

Kind = TypeVar("Kind")


@dataclass_transform(eq_default=False)
def parameters(kind: type[Kind]) -> type[Kind]:
    """Turn the annotated fields of an estimator into its constructor, which only stores them.

    Where the constructor is shown, what an estimator has of its own comes before what is common to all, and what its
    class calls ``_leading`` before that.
    """
    made = dataclass(eq=False, repr=False)(kind)
    constructor: Any = made.__init__
    signature, common = inspect.signature(constructor), COMMON_RULES.keys() - {"n_components"}
    leading = getattr(made, "_leading", ())
    ordered = sorted(
        signature.parameters.values(),
        key=lambda each: (each.name in common, each.kind, each.name not in leading),
    )
    constructor.__signature__ = signature.replace(parameters=ordered)
    return made


@parameters
class CommonParameters:
    """What every estimator is told beside its own parameters."""

    _: KW_ONLY
    random_state: Any = 0
    n_jobs: int | None = -1
    memory_limit: float | str | None = None
    checkpoint: str | os.PathLike[str] | None = None
    callback: Listener | None = None
    verbose: int = 0


class Estimator(
    ForeignNames,
    Explaining,
    Choosing,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    CommonParameters,
    ABC,
):
    """Base of every estimator: a subclass stores its parameters and says how to fit, check and plan.

    Parameters
    ----------
    n_components
        Dimensions of the embedding.
    random_state
        Seed of every random choice: whole number, Generator, RandomState, or None for a new one each time.
    n_jobs
        Threads; -1 (default) uses every core. The result does not depend on it.
    memory_limit
        Bytes, or a size such as ``"4 GB"``, that the work may hold beside the data. None: what the machine has free.
    checkpoint
        Folder in which the fit keeps what it has done: the same fit goes on from there after it was killed, to the same
        result. None: nothing is kept. See docs/checkpoints.md.
    callback
        Called with each `lowdim.core.events.Event`.
    verbose
        1 or True logs stages and choices (logger "lowdim", else standard error), 2 progress too.
    """

    _rules: ClassVar[Mapping[str, Rule]] = COMMON_RULES
    _instead: ClassVar[Mapping[str, str]] = {}
    """The same for attributes of one class."""

    embedding_: Floats
    embedding_shape_: tuple[int, int]
    """In the place of ``embedding_`` in a model that was saved without it."""
    map_: Map
    n_components: Any
    n_features_in_: int
    report_: Report

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of ``X`` and keep the map for new points.

        Parameters
        ----------
        X
            Points as rows (array, memory map, SciPy sparse matrix, pandas or polars frame), or what ``metric`` says.
        y
            Ignored; there for pipelines.
        """
        return self._fit(X, Store(), y)

    def _fit(self, X: Any, store: Store, y: Any = None) -> Self:
        """``fit``, with what other fits on the same rows have left, and where it keeps what it has done."""
        self._check_parameters()
        if (source := as_shards(X)) is not None:
            refuse_shards(self)
            return self._fit_shards(source, y)
        recorder, events = self._listened_to()
        with events.stage("check"):
            rows = self._check_input(X, reset=True)
            targets = self._check_targets(y, rows)
            self._check_memory(rows)
        with keeping(self.checkpoint, lambda: self._identity(rows).beside(y=targets), events) as place:
            run = self._run(events, place, store)
            model, curves = self._choose(rows, targets, run)
            embedded = model._embed(rows, run) if targets is None else model._embed_toward(targets, rows, run)
        embedded = with_choices(embedded, curves)
        self._leave(embedded, as_came(embedded.coordinates, rows), recorder, rows.shape)
        return self

    def _fit_shards(self, source: Shards, y: Any = None) -> Self:
        """``fit`` to rows that need not fit into memory; an InputError, before any work, where a method cannot."""
        raise needs_all_rows(self, source)

    def _plan_shards(self, source: Shards) -> list[PlannedStage]:
        """The stages of a fit to rows in shards."""
        raise needs_all_rows(self, source)

    def update(self, X: Any) -> Self:
        """A new model of the rows of this one and of those of ``X`` after them; this one stays as it is.

        New points are placed by the map; what becomes of the old ones, docs/growth.md says of each method.

        Parameters
        ----------
        X
            New points as rows, with the columns of the fit.
        """
        check_is_fitted(self)
        rows = self._check_input(X, reset=False)
        return self._changed(lambda model, run: model._grown(self._settled, rows, run), self._identity(rows))

    def remove(self, rows: Any) -> Self:
        """A new model without some of the rows of this one, which stays as it is.

        Parameters
        ----------
        rows
            Numbers of the rows to leave out, as they came, from 0; or a truth value for each row.
        """
        check_is_fitted(self)
        kept = validation.check_left(rows, self._n_rows)
        identity = Identity(type(self).__name__, self.get_params(deep=False), {"kept": kept})
        return self._changed(lambda model, run: model._shrunk(self._settled, kept, run), identity)

    def _changed(self, change: Callable[[Self, Run], Embedded], identity: Identity) -> Self:
        """A new model of the same parameters, with other rows than this one."""
        self._check_parameters()
        if "embedding_" not in vars(self):
            raise InputError(
                f"This {type(self).__name__} was saved without embedding_, or fitted to rows in shards: nothing says "
                "where its rows are. Save it with its embedding, or fit it again to all rows."
            )
        model: Self = clone(self)
        recorder, events = model._listened_to()
        for name, value in vars(self).items():
            if name.endswith("_in_") or name == "_sklearn_output_config":
                setattr(model, name, value)
        with keeping(self.checkpoint, lambda: identity.beside(before=self.embedding_), events) as place:
            run, chosen = model._run(events, place, Store()), chosen_values(self)
            embedded = change(with_values(model, chosen), run)
        coordinates = embedded.coordinates.astype(self.embedding_.dtype, copy=False)
        n_rows = coordinates.shape[0]
        model._leave(embedded, coordinates, recorder, (n_rows, vars(self).get("n_features_in_", n_rows)))
        for name, value in chosen.items():
            setattr(model, f"{name}_", value)
        return model

    def _grown(self, before: Estimator, rows: Rows, run: Run) -> Embedded:
        """What ``update`` makes of new rows."""
        raise InputError(f"{type(self).__name__} cannot take in more rows. Fit it again to all of them.")

    def _shrunk(self, before: Estimator, kept: Integers, run: Run) -> Embedded:
        """What ``remove`` leaves."""
        raise InputError(f"{type(self).__name__} cannot leave rows out. Fit it again to those that are left.")

    def _listened_to(self) -> tuple[Recorder, Events]:
        """The stream of events, and who writes the report of it."""
        recorder = Recorder()
        listeners: list[Listener] = [recorder]
        if self.verbose:
            listeners.append(listener_for(self.verbose))
        if self.callback is not None:
            listeners.append(self.callback)
        return recorder, Events(*listeners)

    def _run(self, events: Events, place: Place, store: Store) -> Run:
        if self.checkpoint is not None:
            store = Store(place, Shared(place=place))
        return Run(events, self._workers, Streams(self.random_state), store)

    def _leave(
        self, embedded: Embedded, coordinates: Floats | None, recorder: Recorder, shape: tuple[int, int]
    ) -> None:
        """Keep what the work has made, and nothing of an earlier fit; None: no coordinates, for there are too many."""
        if coordinates is not None:
            coordinates = validation.check_finite(coordinates, type(self).__name__)
        self._forget()
        if coordinates is None:
            self.embedding_shape_ = (shape[0], embedded.coordinates.shape[1])
        else:
            self.embedding_ = read_only(coordinates)
        self.map_ = embedded.map
        figures = dict(embedded.figures)
        if embedded.solution is not None:
            self.eigenvalues_ = embedded.solution.values
            figures |= describe(embedded.solution)
        if embedded.certificate is not None:
            self.certificate_ = embedded.certificate
            figures |= embedded.certificate.figures()
        for name, value in embedded.attributes.items():
            setattr(self, name, value)
        self.report_ = recorder.report(type(self).__name__, shape, figures)

    # As scikit-learn's own estimators, without the parameters of a fit that its mixin hands on.
    def fit_transform(self, X: Any, y: Any = None) -> Any:  # ty: ignore[incompatible-method-override]
        """Embed the rows of ``X`` and return their coordinates, in an array of their own; shards as ``transform``."""
        model = self.fit(X, y)
        return model.transform(X) if comes_in_shards(X) else model.embedding_.copy()

    def transform(self, X: Any) -> Any:
        """Coordinates of new points, each row alone: any batching gives the same rows, and nothing changes.

        Those of a dask array are one too, and those of other rows in shards are in shards: both are found when they
        are asked for, a block at a time. `lowdim.data.shards.write` writes them to a file.
        """
        check_is_fitted(self)
        if (source := as_shards(X)) is not None:
            return placed(self, X, source)
        rows = self._check_input(X, reset=False)
        with np.errstate(all="ignore"):  # what comes out is checked instead
            coordinates = as_came(self.map_.transform(rows, Run(workers=self._workers)), rows)
        return validation.check_finite(coordinates, type(self).__name__)

    @property
    def _workers(self) -> Workers:
        return Workers(self.n_jobs, validation.parse_bytes(self.memory_limit))

    def _forget(self) -> None:
        """Drop what an earlier fit left, now that the new one has succeeded."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("_in_")]:
            delattr(self, name)

    def _check_parameters(self) -> None:
        given = self.get_params(deep=False)
        validation.check_parameters(type(self).__name__, given, self._rules, own_word=own_word)
        if "metric" in given and not isinstance(given["metric"], bool):
            bind_metric(given["metric"], given["metric_params"])
        validation.parse_bytes(self.memory_limit)
        if self.checkpoint is not None and not Whole(0).allows(self.random_state):
            raise InputError(
                f"{named('random_state')} must be a whole number where {named('checkpoint')} is given, so that a "
                f"run that goes on draws the same random numbers; got {quoted(self.random_state)}. Give a seed, "
                f"such as {setting('random_state', 0)}."
            )

    def _identity(self, rows: Rows) -> Identity:
        """What decides the result of a fit to some rows."""
        given = {
            # What has a form of its own, such as a data frame, is told by its numbers: its text may be cut short.
            name: np.asarray(value) if hasattr(value, "__array__") and np.ndim(value) else value
            for name, value in self.get_params(deep=False).items()
        }
        return Identity(type(self).__name__, given, {"X": rows.values})

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return validation.check_rows(self, X, reset=reset, at_least=2 if reset else 1)

    def _check_targets(self, y: Any, rows: Rows) -> NDArray[Any] | None:
        """What the embedding is to follow beside the rows; None where a method has no use for it."""
        return None

    @abstractmethod
    def _embed(self, rows: Rows, run: Run) -> Embedded:
        """The method itself: its stages in order."""

    def _embed_toward(self, targets: NDArray[Any], rows: Rows, run: Run) -> Embedded:
        """The same with targets; those that have no use for them leave them aside."""
        return self._embed(rows, run)

    @abstractmethod
    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        """The same stages with their estimated cost."""

    def _look(self, rows: Rows, stages: list[PlannedStage]) -> list[PlannedStage]:
        """These stages, with what a look at a sample of the rows tells beyond their shape."""
        return stages

    def _repr_html_(self) -> str:
        """The parameters as scikit-learn shows them; of a fitted estimator its report too."""
        report = getattr(self, "report_", None)
        return str(estimator_html_repr(self)) + ("" if report is None else report._repr_html_())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def _keeps_rows(self) -> bool:
        """Whether the map for new points holds rows of the fit, which must then be the model's own."""
        return True

    @property
    def _n_rows(self) -> int:
        """Rows of the fit."""
        return int((self.embedding_.shape if hasattr(self, "embedding_") else self.embedding_shape_)[0])

    @property
    def _n_features_out(self) -> int:
        shape = self.embedding_.shape if hasattr(self, "embedding_") else self.embedding_shape_
        return int(shape[1])

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name == "embedding_" and "embedding_shape_" in vars(self):
                raise AttributeError(
                    f"This {type(self).__name__} has no embedding_: it was saved without (the program does so past "
                    "three coordinates; lowdim.save with embedding=False), or fitted to rows in shards. Read the file "
                    "of coordinates, or transform the points."
                )
            instead = (INSTEAD | dict(self._instead)).get(name, "")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{instead}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
