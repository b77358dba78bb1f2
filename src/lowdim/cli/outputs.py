"""What ``embed`` and ``transform`` leave: coordinates, pictures, a model, a report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..errors import LowdimError
from .failures import explain
from .groups import add_force, add_images, add_json
from .options import Chosen
from .parser import Parser, given
from .session import Session
from .targets import (
    EMBEDDINGS,
    MOVING,
    PICTURES,
    STANDARD,
    check_all,
    check_suffix,
    default_output,
    write_coordinates,
)
from .usage import InterruptedWriting, UsageError

FRAMES = 5
"""Iterations between the frames of a moving picture."""
MOVED = 2
"""Dimensions that a moving picture shows."""
DRAWN = 3
"""Dimensions that a picture can show."""


def add_outputs(parser: Parser) -> None:
    """Where results go."""
    group = parser.add_argument_group("results")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"coordinates, with ids and labels: {', '.join(EMBEDDINGS)}, or - for CSV on standard output (default: "
        "DATA's name with .embedding before the suffix, in this folder, unless another result is asked for)",
    )
    group.add_argument(
        "--plot",
        metavar="FILE",
        action="append",
        default=[],
        help=f"picture: {', '.join(PICTURES[:3])}; .html: a page to zoom, hover and select in; {MOVING}: the "
        "optimisation as a moving picture; may be given several times",
    )
    group.add_argument("--model", metavar="FILE", help="the model, for 'lowdim transform' and lowdim.load")
    group.add_argument(
        "--report", metavar="FILE", help="a page (.html) with the picture, choices, times and quality"
    )
    add_images(group)
    add_json(group, "what was done, chosen and measured")
    add_force(group)
    group.add_argument(
        "--quality",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="measure how faithful the result is (default: where it is shown)",
    )
    parser.words["--quality"] = ()


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files that will be written."""

    coordinates: str | None
    pictures: tuple[str, ...]
    model: str | None
    report: str | None
    json: str | None
    force: bool
    inputs: Sequence[str]

    @classmethod
    def of(cls, options: argparse.Namespace, chosen: Chosen, inputs: Sequence[str]) -> Outputs:
        """Those that the options name, or the default one; a UsageError where a name says no format."""
        output = options.output
        if not (output or options.plot or options.model or options.report):
            output = default_output(options.data)
        if output and output != STANDARD:
            check_suffix("--output", output, EMBEDDINGS)
        if output and output.lower().endswith(".h5ad") and not options.data.lower().endswith(".h5ad"):
            raise UsageError(
                f"--output: an .h5ad is a copy of the input with the coordinates added, and {options.data!r} is none: "
                "name a .csv or .parquet."
            )
        moves = any(parameter.name == "record" for parameter in chosen.method.parameters)
        for picture in options.plot:
            check_suffix("--plot", picture, (*PICTURES, MOVING) if moves else PICTURES)
        if options.report:
            check_suffix("--report", options.report, (".html", ".htm"))
        return cls(
            output,
            tuple(options.plot),
            options.model,
            options.report,
            options.json,
            options.force,
            inputs,
        )

    @property
    def wants_scores(self) -> bool:
        """Whether quality has a place to be told in."""
        return self.report is not None or self.json is not None

    @property
    def is_moving(self) -> bool:
        """Whether one of the pictures moves."""
        return any(picture.lower().endswith(MOVING) for picture in self.pictures)

    def demands(self, options: argparse.Namespace) -> dict[str, Any]:
        """Parameters that the results need: a moving picture needs frames."""
        wants = self.is_moving and not given(options, "own:").get("record")
        return {"record": FRAMES} if wants else {}

    def check(self, model: Any) -> None:
        """Whether all can be written, before the work."""
        named: list[tuple[str, str | None]] = [("--output", self.coordinates)]
        named += [("--plot", picture) for picture in self.pictures]
        named += [("--model", self.model), ("--report", self.report), ("--json", self.json)]
        check_all(named, force=self.force, inputs=self.inputs)
        if self.pictures or self.report:
            from ..plotting.drawing import require_matplotlib

            require_matplotlib()
        wanted = getattr(model, "n_components", None)
        if self.is_moving and wanted != MOVED:
            raise UsageError(
                f"--plot: a moving picture shows {MOVED} dimensions; got --n-components {wanted}."
            )
        if self.pictures and isinstance(wanted, int) and wanted > DRAWN:
            raise UsageError(
                f"--plot shows up to {DRAWN} dimensions; got --n-components {wanted}. Write the coordinates with -o "
                "and draw some of them with 'lowdim plot --columns', or ask for fewer."
            )

    def write(self, model: Any, table: Any, scores: Any, images: Any, session: Session) -> list[str]:
        """Write everything; returns the names.

        What cannot be written does not keep the rest from it; the first failure is raised at the end. Standard output
        comes last: its reader may have gone away.
        """
        written: list[str] = []
        failures: list[Exception] = []
        for name, step in self._steps(model, table, scores, images, session):
            try:
                step()
                written += [name] if name != STANDARD else []
            except KeyboardInterrupt:
                raise InterruptedWriting(written) from None
            except (LowdimError, OSError) as failure:
                failures.append(failure)
        if failures:
            for other in failures[1:]:
                session.voice.tell(f"error: {explain(other)}")
            raise failures[0]
        return written

    def _steps(
        self, model: Any, table: Any, scores: Any, images: Any, session: Session
    ) -> Iterator[tuple[str, Callable[[], None]]]:
        """Names, and what writes them."""
        clusters = getattr(model, "labels_", None)

        def coordinates() -> None:
            with session.stage("write"):
                write_coordinates(
                    str(self.coordinates),
                    model.embedding_,
                    table=table,
                    clusters=clusters,
                    force=self.force,
                    inputs=self.inputs,
                )

        if self.coordinates is not None and self.coordinates != STANDARD:
            yield self.coordinates, coordinates
        if self.model is not None:
            yield self.model, partial(self._write_model, model, session)
        for picture in self.pictures:
            yield picture, partial(_draw_stage, picture, model, table, images, session)
        if self.report is not None:
            yield self.report, partial(self._write_report, model, table, scores, images, session)
        if self.coordinates == STANDARD:
            yield STANDARD, coordinates

    def _write_model(self, model: Any, session: Session) -> None:
        from ..persistence import save

        with session.stage("write"):
            save(model, str(self.model), force=self.force)

    def _write_report(self, model: Any, table: Any, scores: Any, images: Any, session: Session) -> None:
        from ..plotting.report import write_report

        assert self.report is not None
        label, columns = colours_of(table, getattr(model, "labels_", None))
        with session.stage("report"):
            write_report(
                self.report,
                model,
                None if scores is None else table.X,
                label,
                columns=columns,
                scores=scores,
                command=session.command,
                images=images,
                force=self.force,
            )


def _draw_stage(picture: str, model: Any, table: Any, images: Any, session: Session) -> None:
    clusters = getattr(model, "labels_", None)
    with session.stage(f"draw {picture}"):
        if picture.lower().endswith(MOVING):
            _move(picture, model.frames_, table, clusters)
        else:
            draw(picture, model.embedding_, table, clusters, images)


def colours_of(table: Any, clusters: Any) -> tuple[str | None, dict[str, Any]]:
    """The column that colours a picture, and all that a picture can be coloured by: the table's, and the clusters."""
    columns = dict(table.columns)
    label: str | None = table.label
    if clusters is not None:
        found = "cluster" if "cluster" not in columns else "cluster found"
        columns[found] = clusters
        label = label or found
    return label, columns


def draw(picture: str, coordinates: Any, table: Any, clusters: Any, images: Any = None) -> None:
    """One picture of an embedding, coloured by its labels, or else by its clusters."""
    from ..plotting import plot

    label, columns = colours_of(table, clusters)
    plot(coordinates[:, :DRAWN], label, path=picture, columns=columns, ids=table.ids, images=images)


def _move(picture: str, frames: Any, table: Any, clusters: Any) -> None:
    from ..plotting import animate

    label, columns = colours_of(table, clusters)
    animate(frames, None if label is None else columns[label], path=picture)
