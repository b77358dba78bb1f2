"""From the words ``score``, ``y`` and ``truth`` of a sweep to the measures that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from ..core.messages import DATA, in_python, named, setting, value
from ..core.records import Choice
from ..core.rules import Either, Function, Instance, OneOf
from ..errors import InputError
from ..estimators.base import Estimator
from ..estimators.metric import metric_of
from ..metrics.score_results import MEASURES
from ..validation import check_parameters
from .measures import QUALITY, Fit, LabelError, Measure, Part, Quality, Score, TruthError
from .split import Portion

FIGURES = tuple(name for name in MEASURES if name != "neighbor_accuracy")
"""Measures of `lowdim.score` that need no labels."""
RULE = Either(OneOf("auto", "labels", "truth", "quality", *FIGURES), Function(), Instance(Score))
SHARE = 0.2


@dataclass(slots=True)
class Judges:
    """The measures of a sweep, what ``auto`` made of it, and the split that they need.

    ``scores`` are the names of the figures met so far, each with whether less is better.
    """

    measures: tuple[Measure, ...]
    choice: Choice | None
    test: Portion
    out_of_sample: Portion
    scores: dict[str, bool] = field(default_factory=dict)

    @property
    def need_estimator(self) -> bool:
        """Whether some measure looks at more than coordinates."""
        return any(measure.needs_estimator for measure in self.measures)

    def figures(self, fit: Fit, part: Part) -> dict[str, float]:
        """The figures of all measures."""
        figures: dict[str, float] = {}
        for measure in self.measures:
            found = measure.figures(fit, part)
            if twice := figures.keys() & found.keys():
                raise InputError(
                    f"Figures of two scores must have different names; got {min(twice)!r} twice. Give one of them "
                    "a name of its own: lowdim.selection.Score(function, name=...)."
                )
            figures |= found
            self.scores |= {name: measure.less_is_better(name) for name in found}
        return figures


def choose_judges(
    estimator: Estimator, score: Any, y: Any, truth: Any, test: Portion | None, out_of_sample: Portion | None
) -> Judges:
    """Measures by name or function, and defaults for the rows to hold back."""
    choice = None
    if isinstance(score, str) and score == "auto":
        choice = _choose(y, truth)
        score = choice.choice
    asked = list(score) if isinstance(score, Sequence) and not isinstance(score, str) else [score]
    if not asked:
        raise InputError(
            f"{named('score', 'sweep')} must name at least one; got none. Leave it out for "
            f"{setting('score', 'auto')}."
        )
    measures = _measures(estimator, asked)
    kinds = {type(measure) for measure in measures}
    _check_needs(kinds, y, truth, test, out_of_sample)
    share = SHARE if LabelError in kinds else 0
    hidden, left_out = (share if given is None else given for given in (test, out_of_sample))
    if LabelError in kinds and _is_nothing(hidden) and _is_nothing(left_out):
        raise InputError(
            f"{named('test')} and {named('out_of_sample')} must not both be 0 with {setting('score', 'labels')}: no "
            f"row would be left to judge by. Use, for example, {setting('test', 0.2)}."
        )
    return Judges(measures, choice, hidden, left_out)


def _is_nothing(portion: Any) -> bool:
    """Whether a portion is the number 0: rows are named by arrays, and what is neither is told where it is taken."""
    return isinstance(portion, Real) and portion == 0


def _choose(y: Any, truth: Any) -> Choice:
    if y is not None and truth is not None:
        raise InputError(
            f"{setting('score', 'auto')} goes by what is given, {named('y')} or {named('truth')}; got both. Say "
            f"which decides: {setting('score', 'labels')}, {setting('score', 'truth')}, or both as "
            f"{setting('score', ['labels', 'truth'])}."
        )
    if y is not None:
        return Choice("score", "labels", "labels are given: 1-NN error in the embedding")
    if truth is not None:
        return Choice("score", "truth", "true coordinates are given: Procrustes error")
    return Choice(
        "score", "quality", "neither labels nor true coordinates are given: how well neighbours are kept"
    )


def _measures(estimator: Estimator, asked: list[Any]) -> tuple[Measure, ...]:
    """A measure for each word or function; the figures of quality are those of one measure."""
    measures: list[Measure] = []
    names = [
        name for one in asked if isinstance(one, str) for name in (QUALITY if one == "quality" else [one])
    ]
    quality = tuple(dict.fromkeys(name for name in names if name in FIGURES))
    for one in asked:
        check_parameters("sweep", {"score": one}, {"score": RULE})
        if one == "auto":
            raise InputError(
                f"{setting('score', 'auto')} must stand alone; got it in a list. Name the scores, or leave the list "
                "out."
            )
        if isinstance(one, Score):
            check_parameters(
                "Score", {"better": one.better or "higher"}, {"better": OneOf("higher", "lower")}
            )
            measures.append(one)
        elif callable(one):
            measures.append(Score(one))
        elif one in ("labels", "truth"):
            measures.append(LabelError() if one == "labels" else TruthError())
        elif not any(isinstance(measure, Quality) for measure in measures):
            measures.append(Quality(quality, _metric(estimator)))
    return tuple(measures)


def _metric(estimator: Estimator) -> Any:
    """The metric under which the data's neighbours are compared with those in the embedding."""
    metric = metric_of(estimator)
    pairwise = bool(estimator.__sklearn_tags__().input_tags.pairwise)
    if pairwise and (metric != "precomputed" or getattr(estimator, "affinity", "auto") == "precomputed"):
        raise InputError(
            f"{setting('score', 'quality')} compares distances, so {DATA} must hold points or distances; "
            f"{type(estimator).__name__} is set to a matrix of another kind. Use "
            f"{setting('score', 'labels')} or {value('truth')}{in_python(', or a function of your own')}."
        )
    return metric


def _check_needs(
    kinds: set[type[Measure]], y: Any, truth: Any, test: Portion | None, out_of_sample: Portion | None
) -> None:
    if LabelError in kinds and y is None:
        raise InputError(
            f"{setting('score', 'labels')} needs labels, one for each row of {DATA}; got none. Give {named('y')}, or "
            "use another score."
        )
    if TruthError in kinds and truth is None:
        raise InputError(
            f"{setting('score', 'truth')} needs the true coordinates; got none. Give {named('truth')}, or use another "
            "score."
        )
    if truth is not None and TruthError not in kinds:
        raise InputError(
            f"{named('truth')} is used by {setting('score', 'truth')} alone; got it with another score. Add "
            f"{value('truth')} to {named('score')}."
        )
    if test is not None and LabelError not in kinds:
        raise InputError(
            f"{named('test')} hides labels, for {setting('score', 'labels')} alone; got it with another score. Leave "
            "it out."
        )
    if out_of_sample is not None and not kinds & {LabelError, TruthError}:
        raise InputError(
            f"{named('out_of_sample')} rows are judged by {setting('score', 'labels')} and "
            f"{setting('score', 'truth')} alone; got another score. Leave it out"
            f"{in_python(', and call transform in a score of your own')}."
        )
