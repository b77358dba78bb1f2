"""One HTML page about a fit: the picture, what was done and why, what it cost, how good it is, how to run it again."""

from __future__ import annotations

import io
import os
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.atomic import check_target, writing
from ..core.markup import Markup, Text, joined, tag
from ..core.records import Floats, Report, format_bytes
from ..errors import InputError
from ..metrics.score_results import Scores
from ..reliability import Trust
from ..reliability.short import short_trust
from .about import as_drawing, course_of, measured
from .choices import curves_of, plot_choices
from .drawing import require_matplotlib
from .labels import Columns, Labels, Named, named, table_of
from .page import Content, document, map_fragment
from .page.assemble import asset, map_script
from .report_parts import (
    again_section,
    card,
    done_section,
    note,
    quality_section,
    section,
    stages_section,
    trust_section,
    warnings_section,
)
from .static import checked_points, picture, varying_axes
from .thumbnails import Images

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_POINTS = 300_000


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any = None,
    labels: Labels = None,
    *,
    columns: Columns = None,
    scores: Scores | None = None,
    trust: Trust | None = None,
    command: str | None = None,
    images: ArrayLike | None = None,
    force: bool = False,
) -> Path:
    """Write what there is to know about a fitted estimator as one self-contained HTML page.

    Parameters
    ----------
    path
        Where to write: an .html. It is written whole or not at all.
    model
        A fitted estimator of lowdim.
    X
        The data it was fitted to; with it the quality of the embedding is measured.
    labels
        One for each point, or the name of one of ``columns``: for the colours of the picture and the accuracy of
        neighbours.
    columns
        Further columns for the map, by name; see `lowdim.plot`.
    scores
        What `lowdim.score` found, where it is known already.
    trust
        What `lowdim.trust` found, where it is known already; else, with X, a short form is measured.
    command
        The command that was run, for the part that says how to run it again.
    images
        An image of each point; see `lowdim.plot`.
    force
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        Where it was written.
    """
    require_matplotlib()
    report, embedding = getattr(model, "report_", None), getattr(model, "embedding_", None)
    if not isinstance(report, Report) or embedding is None:
        raise InputError(
            f"model: a report needs a fitted estimator of lowdim, got {type(model).__name__}; call fit first"
        )
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"path: a report is a page, so {Path(path).name!r} must end in .html")
    target = check_target(path, force=force)
    given = named(labels, columns)
    unknown: Text = "Not measured: give the data (X) to measure it."
    if scores is None and X is not None:
        scores, unknown = measured(X, embedding, given.values, model)
    if trust is None and X is not None and scores is not None:
        trust = short_trust(X, embedding, model)
    pictures = None if images is None else Images.of(images, len(embedding))
    title = f"{report.method} of {report.shape[0]:,} × {report.shape[1]:,}"
    body = tag(
        "main",
        _header(title, report, embedding, scores),
        _map_section(model, np.asarray(embedding), given, columns, pictures),
        warnings_section(report),
        quality_section(scores, unknown),
        trust_section(trust),
        done_section(model, report),
        _choices_section(model),
        stages_section(report),
        _course_section(model),
        again_section(model, command),
    )
    style = asset("theme.css") + asset("report.css") + asset("map.css")
    html = document(title, body.html, style=style, script=map_script())
    with writing(target, force=force) as temporary:
        temporary.write_text(html, encoding="utf-8", errors="backslashreplace", newline="")
    return Path(path)


def _header(title: str, report: Report, embedding: Floats, scores: Scores | None) -> Markup:
    """The title and the figures that people ask for first."""
    cards = [
        card(f"{embedding.shape[0]:,}", "points"),
        card(f"{report.shape[1]:,} → {embedding.shape[1]}", "dimensions"),
        card(f"{report.seconds:.3g} s", "in all"),
    ]
    peaks = [stage.memory for stage in report.stages if stage.memory]
    if peaks:
        cards.append(card(format_bytes(max(peaks)), "memory at its peak"))
    if scores is not None:
        cards += [
            card(f"{float(scores[name]):.3f}", name.replace("_", " "))
            for name in ("trustworthiness", "continuity", "neighbor_accuracy")
            if name in scores
        ]
    if report.warnings:
        cards.append(card(str(len(report.warnings)), "warnings" if len(report.warnings) > 1 else "warning"))
    return tag(
        "header",
        tag("h1", title),
        tag("p", "What was done, what came out, and how to do it again."),
        tag("div", *cards, class_="cards"),
    )


def _map_section(
    model: Any,
    embedding: Floats,
    labels: Named,
    columns: Columns,
    images: Images | None,
) -> Markup:
    """The map: interactive as long as a browser is comfortable with it, else a picture."""
    notes: list[Text] = []
    if embedding.shape[1] > 3:
        shown = varying_axes(embedding, 2)
        which = " and ".join(str(place + 1) for place in shown)
        notes.append(note(f"Coordinates {which} of {embedding.shape[1]} are shown."))
        embedding = embedding[:, shown]
    points = checked_points("embedding", embedding)
    points = points[:, varying_axes(points)]
    clusters = getattr(model, "labels_", None)
    if len(points) > _MOST_POINTS:
        coloured = Named(clusters, "cluster") if labels.values is None else labels
        figure = picture(points, coloured, images=images)
        return section("Map", *notes, _as_image(figure))
    beside = table_of(columns)
    if clusters is not None and not any(values.values is clusters for values in beside.values()):
        beside["cluster"] = Named(clusters, "cluster")
    content = Content.of(points, labels, columns=beside)
    return section(
        "Map", *notes, tag("div", Markup(map_fragment(content, images, embedded=True)), class_="map")
    )


def _choices_section(model: Any) -> Markup:
    """How parameters that were left open were chosen."""
    if not curves_of(model):
        return joined()
    about = note("A full mark is what was chosen, the dashed line the default.")
    return section("Chosen parameters", as_drawing(plot_choices(model)), about)


def _course_section(model: Any) -> Markup:
    """The objective as it fell, or the eigenvalues."""
    title, drawn = course_of(model)
    return section(title, drawn) if title else joined()


def _as_image(figure: Figure) -> Markup:
    written = io.BytesIO()
    figure.savefig(written, format="png")
    data = b64encode(written.getvalue()).decode("ascii")
    return Markup(f'<img class="picture" alt="Map of the embedding" src="data:image/png;base64,{data}">')
