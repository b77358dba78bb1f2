"""The sections of a report."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from typing import Any

import numpy as np

from ..core.markup import Markup, Text, joined, tag
from ..core.records import Report, format_bytes, short
from ..metrics.score_results import MEASURES, Scores
from ..reliability import Trust

_LIBRARIES = ("lowdim", "numpy", "scipy", "scikit-learn", "numba")


def section(title: str, *content: Text) -> Markup:
    """A part of the report under its title."""
    return tag("section", tag("h2", title), *content)


def note(text: str) -> Markup:
    """A remark in a quiet colour."""
    return tag("p", text, class_="note")


def card(value: str, name: str) -> Markup:
    """One figure, large."""
    return tag("div", tag("b", value), tag("span", name), class_="card")


def grid(head: list[str], rows: list[list[Text]], numbers: tuple[int, ...] = ()) -> Markup:
    """A table whose numbers stand on the right."""

    def line(name: str, cells: list[Any]) -> Markup:
        marks = ["number" if place in numbers else "" for place in range(len(cells))]
        return tag("tr", *(tag(name, cell, class_=mark) for cell, mark in zip(cells, marks, strict=True)))

    top = tag("thead", line("th", head)) if any(head) else ""
    return tag("div", tag("table", top, tag("tbody", *(line("td", row) for row in rows))), class_="wide")


def warnings_section(report: Report) -> Markup:
    """What the fit warned of, where it did."""
    if not report.warnings:
        return joined()
    return section("Warnings", *(tag("p", text, class_="warning") for text in report.warnings))


def done_section(model: Any, report: Report) -> Markup:
    """Decisions, parameters and findings."""
    given, default = parameters(model)
    own: list[Text] = [tag("h3", "Parameters given")]
    own.append(_values(given) if given else note("None: every parameter has its default."))
    own.append(tag("details", tag("summary", f"{len(default)} at their defaults"), _values(default)))
    figures: list[list[Text]] = [
        [name.replace("_", " "), short(value)]
        for name, value in report.figures.items()
        if not _is_empty(value)
    ]
    found: list[Text] = [tag("h3", "Found"), grid(["", ""], figures)] if figures else []
    decided: list[Text] = []
    if report.choices:
        rows: list[list[Text]] = [[c.what, tag("b", c.choice), c.why] for c in report.choices]
        decided = [tag("h3", "Decided on the way"), grid(["what", "choice", "why"], rows)]
    beside = tag("div", tag("div", *own), tag("div", *found), class_="beside")
    return section("What was done", *decided, beside)


def parameters(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters that differ from their defaults, and those that do not."""
    own = {name: value.default for name, value in signature(type(model)).parameters.items()}
    given: dict[str, Any] = {}
    default: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        (default if _is_same(value, own.get(name)) else given)[name] = value
    return given, default


def _values(named: dict[str, Any]) -> Markup:
    return grid(["", ""], [[name, tag("code", written(value))] for name, value in named.items()])


def quality_section(scores: Scores | None, unknown: Text) -> Markup:
    """How true the embedding is to the data, with intervals."""
    if scores is None:
        return section("Quality", tag("p", unknown, class_="note"))
    rows: list[list[Text]] = []
    for name in scores:
        found = scores[name]
        exact = found.low == found.high
        interval = "exact" if exact else f"{found.low:.4f} to {found.high:.4f}"
        says = MEASURES[name].format(k=scores.n_neighbors)
        rows.append(
            [
                name.replace("_", " "),
                f"{float(found):.4f}",
                interval,
                _track(float(found), found.low, found.high),
                says,
            ]
        )
    looked = "all of them" if scores.n_rows == scores.n_points else f"a sample of {scores.n_rows:,} of them"
    about = (
        f"{scores.n_points:,} points, {looked} compared with all others; {scores.n_neighbors} neighbours, "
        f"{scores.metric} distance."
    )
    head = ["measure", "value", f"{100 * scores.confidence:.4g} % interval", "", "what it says"]
    return section("Quality", note(about), grid(head, rows, (1, 2)))


def trust_section(trust: Trust | None) -> Markup:
    """How far to believe the picture, where that was measured: in a sentence, and the share of each verdict."""
    if trust is None:
        return joined()
    rows: list[list[Text]] = [
        [word, f"{100 * float(share):.2f} %", _track(float(share), share.low, share.high)]
        for word, share in trust.shares().items()
    ]
    notes = [note(text) for text in trust.notes]
    return section("How far to believe it", tag("p", trust.summary()), grid(["", "", ""], rows, (1,)), *notes)


def stages_section(report: Report) -> Markup:
    """Seconds and memory by stage."""
    whole = report.seconds or 1.0
    rows: list[list[Text]] = []
    before = 0
    for stage in report.stages:
        grown = (
            f"+{format_bytes(stage.memory - before)}" if before and stage.memory - before > 1_000_000 else ""
        )
        before = max(before, stage.memory)
        rows.append(
            [
                "\u2003" * stage.depth + stage.name,
                f"{stage.seconds:.3f} s",
                _track(stage.seconds / whole),
                format_bytes(stage.memory) if stage.memory else "",
                grown,
            ]
        )
    about = note(
        "Memory is the most that the whole process had held by the end of the stage, and how much that grew."
    )
    head = ["stage", "seconds", "share", "memory", "grown by"]
    return section("Time and memory", grid(head, rows, (1, 3, 4)), about)


def again_section(model: Any, command: str | None) -> Markup:
    """The command, the same in Python, and the versions of everything."""
    code = code_again(model)
    parts: list[Text] = [] if command is None else [tag("h3", "In the shell"), tag("pre", command)]
    parts += [tag("h3", "In Python"), tag("pre", code), tag("h3", "With"), grid(["", ""], _surroundings())]
    return section("Run it again", *parts)


def code_again(model: Any) -> str:
    """The lines of Python that make an embedding again."""
    given = ", ".join(f"{name}={value!r}" for name, value in parameters(model)[0].items())
    return (
        f"import lowdim\n\nmodel = lowdim.{type(model).__name__}({given})\nembedding = model.fit_transform(X)"
    )


def _surroundings() -> list[list[Text]]:
    rows: list[list[Text]] = [["Python", platform.python_version()]]
    for library in _LIBRARIES:
        try:
            rows.append([library, version(library)])
        except PackageNotFoundError:
            continue
    return [*rows, ["machine", f"{platform.machine()}, {os.cpu_count()} cores, {sys.platform}"]]


def _track(value: float, low: float | None = None, high: float | None = None) -> Markup:
    """A bar from 0 to the value, and the interval around its end."""
    parts = [tag("i", style=f"width:{_percent(value)}")]
    if low is not None and high is not None:
        wide = _percent(max(min(high, 1.0) - max(low, 0.0), 0.0))
        parts.append(tag("b", style=f"left:{_percent(low)};width:{wide}"))
    return tag("div", *parts, class_="track")


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


def _is_same(value: Any, other: Any) -> bool:
    """Whether a parameter has its default; what cannot be compared has not."""
    if value is other:
        return True
    same = value == other
    return same if isinstance(same, bool) else False


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple | np.ndarray) and len(value) == 0)


def written(value: Any) -> str:
    """A value of a parameter, cut where it is long."""
    if isinstance(value, np.ndarray):
        return f"array of {' × '.join(map(str, value.shape))}"
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"
