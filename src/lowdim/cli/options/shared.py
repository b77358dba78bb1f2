"""Options that several commands have, in groups."""

from __future__ import annotations

import argparse

from ..parser import Parser, comma_list
from ..terminal.streams import as_typed_text


def add_input(parser: Parser) -> None:
    """How to read DATA."""
    group = parser.add_argument_group("reading DATA")
    group.add_argument(
        "--label",
        metavar="COLUMN",
        action="append",
        type=as_typed_text,
        help="column with labels, by name or number (from 0; -1: the last): it colours pictures and is no feature; "
        "given again: further columns that go along",
    )
    group.add_argument(
        "--id",
        metavar="COLUMN",
        type=as_typed_text,
        help="column with names of the rows: kept beside the coordinates",
    )
    group.add_argument(
        "--drop",
        metavar="COLUMNS",
        action="extend",
        type=lambda text: comma_list(as_typed_text(text)),
        default=[],
        help="columns to leave out: a,b,c",
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether a CSV or TSV file begins with the names of its columns (default: look at it)",
    )
    group.add_argument("--delimiter", metavar="CHARACTER", help="what separates the columns of a text file")
    group.add_argument(
        "--transpose",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the columns of the file are the points and its rows the features, as in tables of genes by cells and in "
        "Cell Ranger's .mtx; --id names the column with the names of the features",
    )
    group.add_argument(
        "--layer", metavar="NAME", type=as_typed_text, help="of .h5ad: this layer instead of X"
    )
    group.add_argument(
        "--obsm",
        metavar="NAME",
        type=as_typed_text,
        help="of .h5ad: this entry of obsm instead of X, such as X_pca",
    )
    group.add_argument(
        "--key", metavar="NAME", type=as_typed_text, help="of .npz and .zarr: which of several arrays"
    )


def add_force(group: argparse._ArgumentGroup) -> None:
    """Whether files may be replaced."""
    group.add_argument("--force", action="store_true", help="replace files that are there; never an input")


def add_images(group: argparse._ArgumentGroup) -> None:
    """Thumbnails."""
    group.add_argument(
        "--images",
        metavar="FILE",
        help="an image of each row, shown as thumbnails: a file (N x H x W, or N x D with a square D), or 'data' where "
        "the rows of DATA are square images themselves",
    )


def add_json(group: argparse._ArgumentGroup, what: str) -> None:
    """The same for machines."""
    group.add_argument(
        "--json",
        metavar="FILE",
        nargs="?",
        const="-",
        help=f"{what} as JSON, to a file or, without a name, to standard output",
    )


def add_talk(parser: Parser) -> None:
    """How much to say."""
    group = parser.add_argument_group("saying more or less")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="say what is done also where standard error is no terminal; -vv: every detail, and tracebacks",
    )
    either.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    group.add_argument("-h", "--help", action="store_true", help="this page")
