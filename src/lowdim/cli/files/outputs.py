"""What ``embed`` leaves: coordinates, pictures, a model, a report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..options.method import Chosen
from ..options.shared import add_force, add_images, add_json
from ..parser import Parser, given
from ..session import Session
from ..usage import UsageError
from .targets import (
    EMBEDDINGS,
    MOVING,
    PAGE,
    PICTURES,
    STANDARD,
    Results,
    check_all,
    check_moving,
    check_pictures,
    check_suffix,
    default_output,
    write_coordinates,
)

FRAMES = 5
"""Iterations between the frames of a moving picture."""
MOVED = 2
"""Dimensions that a moving picture shows."""
DRAWN = 3
"""Dimensions that a picture can show."""
GROUPING = "spectral-clustering"
"""The method that finds groups beside coordinates."""


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
    add_name(group, "the method's name")
    group.add_argument(
        "--plot",
        metavar="FILE",
        action="append",
        default=[],
        help=f"picture: {', '.join(PICTURES[:3])}; {PAGE}: a page to zoom, hover and select in; "
        f"{', '.join(MOVING)}: the optimisation as a moving picture; may be given several times",
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


def add_name(group: argparse._ArgumentGroup, default: str) -> None:
    """What coordinates are called in an .h5ad."""
    group.add_argument(
        "--name",
        metavar="NAME",
        help=f"of an .h5ad: the coordinates are its obsm X_NAME (default: {default})",
    )


def obsm_name(options: argparse.Namespace, method: str) -> str:
    """What coordinates are called in an .h5ad: X_tsne, X_laplacian_eigenmaps, as others name theirs."""
    name: str = options.name or method.replace("-", "_")
    return name.removeprefix("X_")


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files that will be written."""

    coordinates: str | None
    pictures: tuple[str, ...]
    model: str | None
    report: str | None
    json: str | None
    obsm: str
    force: bool
    inputs: Sequence[str]

    @classmethod
    def of(cls, options: argparse.Namespace, chosen: Chosen, inputs: Sequence[str]) -> Outputs:
        """Those that the options name, or the default one; a UsageError where a name says no format."""
        output = options.output
        if not (output or options.plot or options.model or options.report):
            output = default_output(options.data, groups=chosen.method.name == GROUPING)
        check_output(output, options.data)
        moves = any(parameter.name == "record" for parameter in chosen.method.parameters)
        for picture in options.plot:
            check_suffix("--plot", picture, (*PICTURES, *MOVING) if moves else PICTURES)
        if options.report:
            check_suffix("--report", options.report, (".html", ".htm"))
        return cls(
            output,
            tuple(options.plot),
            options.model,
            options.report,
            options.json,
            obsm_name(options, chosen.method.name),
            options.force,
            inputs,
        )

    @property
    def wants_scores(self) -> bool:
        """Whether quality has a place to be told in."""
        is_page = any(picture.lower().endswith(PAGE) for picture in self.pictures)
        return self.report is not None or self.json is not None or is_page

    @property
    def is_moving(self) -> bool:
        """Whether one of the pictures moves."""
        return any(picture.lower().endswith(MOVING) for picture in self.pictures)

    def demands(self, options: argparse.Namespace) -> dict[str, Any]:
        """Parameters that the results need: a moving picture needs frames."""
        if not self.is_moving or has_positions(options.chosen):
            return {}
        record = given(options, "own:").get("record", FRAMES)
        if record == 0:
            raise UsageError(
                "--plot: a moving picture is made of the iterations that --record keeps; got --record 0. Leave it out, "
                "or give a number of at least 1."
            )
        return {"record": record}

    def check(self, model: Any) -> None:
        """Whether all can be written, before the work."""
        named: list[tuple[str, str | None]] = [("--output", self.coordinates)]
        named += [("--plot", picture) for picture in self.pictures]
        named += [("--model", self.model), ("--report", self.report), ("--json", self.json)]
        check_all(named, force=self.force, inputs=self.inputs)
        check_pictures("--plot", self.pictures, (*PICTURES, *MOVING))
        check_moving(self.pictures)
        if self.report:
            check_pictures("--report", [self.report], (".html", ".htm"))
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

    def write(self, results: Results, work: Any, session: Session) -> None:
        """Write everything that came of the work but the JSON and what goes to standard output."""
        model, table, images = work.model, work.table, work.images
        clusters = getattr(model, "labels_", None)
        if self.coordinates != STANDARD:
            self.write_coordinates(results, model, table)
        results.write(self.model, partial(self._save, model, work.whole))
        for picture in self.pictures:
            results.write(picture, partial(_draw_one, picture, work), f"draw {picture}")
        results.write(
            self.report, partial(self._write_report, model, table, work.scores, images, session), "report"
        )
        if (
            clusters is not None
            and self.coordinates is not None
            and self.coordinates.lower().endswith(".npy")
        ):
            session.console.warn(
                f"{self.coordinates} holds the coordinates alone: an .npy has no place for the clusters. Name a .csv "
                "or .parquet with -o to have them beside the coordinates."
            )

    def write_coordinates(self, results: Results, model: Any, table: Any) -> None:
        """Write the coordinates, with the clusters where there are any."""
        results.write(
            self.coordinates,
            lambda: write_coordinates(
                str(self.coordinates),
                model.embedding_,
                table=table,
                clusters=getattr(model, "labels_", None),
                force=self.force,
                inputs=self.inputs,
                obsm=self.obsm,
            ),
        )

    def _save(self, model: Any, whole: Any) -> None:
        from ...models import save

        # Pictures of new points show the fitted ones beside them; for all else there is the file of coordinates.
        is_drawn = model.embedding_.shape[1] <= DRAWN or self.coordinates is None
        save(whole, str(self.model), force=self.force, embedding=is_drawn)

    def _write_report(self, model: Any, table: Any, scores: Any, images: Any, session: Session) -> None:
        from ...plotting.report import write_report

        label, columns = colours_of(table, getattr(model, "labels_", None))
        write_report(
            str(self.report),
            model,
            None if scores is None else table.X,
            label,
            columns=columns,
            scores=scores,
            command=session.command,
            images=images,
            force=self.force,
        )


def check_output(output: str | None, data: str) -> None:
    """A UsageError where coordinates of some data cannot go into a file of that name."""
    if output and output != STANDARD:
        check_suffix("--output", output, EMBEDDINGS)
    if output and output.lower().endswith(".h5ad") and not data.lower().endswith(".h5ad"):
        raise UsageError(
            f"--output: an .h5ad is a copy of the input with the coordinates added, and {data!r} is none: name a "
            ".csv or .parquet."
        )


def has_positions(chosen: Chosen) -> bool:
    """Whether a method gives a family of embeddings, all of which are kept."""
    return any(parameter.name == "positions" for parameter in chosen.method.parameters)


def _draw_one(picture: str, work: Any) -> None:
    """A moving picture, a page that says how the map was made and how good it is, or a picture."""
    model, table = work.model, work.table
    clusters = getattr(model, "labels_", None)
    if picture.lower().endswith(MOVING):
        _move(picture, model.frames_, table, clusters)
    elif picture.lower().endswith(PAGE):
        told = {"scores": work.scores, "X": None if work.scores is None else table.X}
        draw(picture, model, table, clusters, work.images, **told)
    else:
        draw(picture, model.embedding_, table, clusters, work.images)


def colours_of(table: Any, clusters: Any) -> tuple[str | None, dict[str, Any]]:
    """The column that colours a picture, and all that a picture can be coloured by: the table's, and the clusters."""
    columns = dict(table.columns)
    label: str | None = table.label
    if clusters is not None:
        found = "cluster" if "cluster" not in columns else "cluster found"
        columns[found] = clusters
        label = label or found
    return label, columns


def draw(picture: str, coordinates: Any, table: Any, clusters: Any, images: Any = None, **told: Any) -> None:
    """One picture of an embedding, or a page of several or of a model, coloured by labels, or else by clusters."""
    from ...plotting import plot

    label, columns = colours_of(table, clusters)
    shown = coordinates[:, :DRAWN] if hasattr(coordinates, "shape") else coordinates
    plot(shown, label, path=picture, columns=columns, ids=table.ids, images=images, **told)


def _move(picture: str, frames: Any, table: Any, clusters: Any) -> None:
    from ...plotting import animate

    label, columns = colours_of(table, clusters)
    animate(frames, None if label is None else columns[label], path=picture)
