"""What a page says of how its map was made: method, parameters, scores, figures, and how to make it again."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.markup import Markup, Text, joined, tag
from ..core.records import Report
from ..errors import LowdimError
from ..metrics.neighbor_recall import neighbor_recall
from ..metrics.score import score
from ..metrics.score_results import MEASURES, Scores
from .choices import curves_of, plot_choices
from .diagnostics import plot_eigenvalues, plot_objective
from .drawing import LINE, TEXT
from .labels import Named
from .report_parts import code_again, grid, parameters, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAITHFULNESS = "faithfulness"
"""Name of the column that says which share of its nearest each point is shown near."""
_NEIGHBORS = 15


def is_fitted(given: Any) -> bool:
    """Whether this is a fitted estimator, and no coordinates."""
    return isinstance(getattr(given, "report_", None), Report) and hasattr(given, "embedding_")


def measured(X: Any, points: Any, labels: Any, model: Any) -> tuple[Scores | None, Text]:
    """Scores of an embedding, or why there are none."""
    metric = getattr(model, "metric", "euclidean")
    if metric == "graph":
        return None, "Not measured: the data are a graph, in which there are no distances to compare with."
    is_classes = (
        labels is not None
        and labels.dtype.kind != "f"
        and 1 < np.unique(labels.astype(str)).size <= len(labels) // 2
    )
    try:
        return score(X, points, labels if is_classes else None, metric=metric), ""
    except LowdimError as error:
        return None, f"Could not be measured: {error}"


def faithful_column(X: Any, points: Any, model: Any) -> dict[str, Named]:
    """The recall of each point as a column; none where there are no distances to compare with, or too few points."""
    metric = getattr(model, "metric", "euclidean")
    if metric == "graph" or len(points) <= _NEIGHBORS:
        return {}
    try:
        found = neighbor_recall(X, points, _NEIGHBORS, metric=metric, n_jobs=-1)
    except LowdimError:
        return {}
    return {FAITHFULNESS: Named(found, FAITHFULNESS, "quantity")}


@dataclass(frozen=True, slots=True)
class Told:
    """What a page says of an embedding: a section of its panel, and columns of its points."""

    about: Markup
    columns: dict[str, Named]


def page_quality(X: Any, points: Any, labels: Any, model: Any, scores: Scores | None) -> Told:
    """Scores as they were given, or measured where there are data; the faithfulness of each point by the data."""
    columns: dict[str, Named] = {}
    if X is not None:
        columns = faithful_column(X, points, model)
        if scores is None:
            scores, _ = measured(X, points, labels, model)
    return Told(about(model, scores), columns)


def about(model: Any, scores: Scores | None, command: str | None = None) -> Markup:
    """A folded section with all that is known of how the map was made; empty where nothing is."""
    parts: list[Text] = []
    if scores is not None:
        parts += [tag("h3", "Scores"), _scores(scores)]
    if is_fitted(model):
        parts += _method(model)
        parts += [tag("h3", "Run it again")]
        parts += [tag("pre", command)] if command else []
        parts.append(tag("pre", code_again(model)))
    if not parts:
        return joined()
    title = "Method and scores" if is_fitted(model) else "Scores"
    return tag("details", tag("summary", title), tag("div", *parts, class_="ld-about"))


def _scores(scores: Scores) -> Markup:
    rows: list[list[Text]] = []
    for name in scores:
        found = scores[name]
        interval = "" if found.low == found.high else f" ({found.low:.3f} to {found.high:.3f})"
        says = MEASURES[name].format(k=scores.n_neighbors)
        rows.append([tag("span", name.replace("_", " "), title=says), f"{float(found):.3f}{interval}"])
    return grid(["", ""], rows)


def _method(model: Any) -> list[Text]:
    report = model.report_
    given, default = parameters(model)
    shape = f"{report.method} of {report.shape[0]:,} × {report.shape[1]:,} in {report.seconds:.3g} s"
    parts: list[Text] = [tag("h3", "Method"), tag("p", shape)]
    parts += [_values(given)] if given else []
    parts.append(
        tag("details", tag("summary", f"{len(default)} parameters at their defaults"), _values(default))
    )
    parts += [tag("p", text, class_="warning") for text in report.warnings]
    for choice in report.choices:
        parts.append(tag("p", f"{choice.what}: {choice.choice}. {choice.why}"))
    if curves_of(model):
        parts += [tag("h3", "Chosen parameters"), as_drawing(plot_choices(model))]
    title, drawn = course_of(model)
    return [*parts, tag("h3", title), drawn] if title else parts


def _values(named: dict[str, Any]) -> Markup:
    return grid(["", ""], [[name, tag("code", written(value))] for name, value in named.items()])


def course_of(model: Any) -> tuple[str, Markup]:
    """The objective as it fell, or the eigenvalues, under its title; an empty one where there is neither."""
    if hasattr(model, "history_"):
        return "Objective", as_drawing(plot_objective(model))
    if getattr(model, "eigenvalues_", getattr(model, "explained_variance_", None)) is not None:
        return "Eigenvalues", as_drawing(plot_eigenvalues(model))
    return "", joined()


def as_drawing(figure: Figure) -> Markup:
    """A figure as SVG inside the page, in the page's own colours, so that it can be read in the dark too."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    for colour, name in ((TEXT, "--quiet"), (LINE, "--line")):
        svg = svg.replace(colour, f"var({name})")
    return tag("div", Markup(svg), class_="chart")
