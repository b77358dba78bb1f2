"""Who does the work: threads of this machine, or the workers of a scheduler of Dask."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager

from .parser import Parser
from .usage import UsageError


def add_workers(parser: Parser, title: str, work: str) -> None:
    """Options that say where ``work`` runs, under a title of their own."""
    either = parser.add_argument_group(title).add_mutually_exclusive_group()
    either.add_argument(
        "--workers", metavar="N", type=int, help=f"{work}, on so many threads of this machine"
    )
    either.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help=f"{work}, on the workers of this scheduler of Dask, such as tcp://10.0.0.1:8786",
    )


def are_asked(options: argparse.Namespace) -> bool:
    """Whether workers are asked for; a UsageError where there can be none of them."""
    if options.workers is not None and options.workers < 1:
        raise UsageError(f"--workers must be a whole number of at least 1; got {options.workers}.")
    return options.workers is not None or options.cluster is not None


@contextmanager
def workers_of(options: argparse.Namespace) -> Generator[None]:
    """The workers that are asked for, if any."""
    asked = options.cluster if options.cluster is not None else options.workers
    if asked is None:
        yield
        return
    from .. import using

    with using(asked):
        yield
