"""``lowdim demo``: the main job in under a minute."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..groups import add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..voice import emit

TEXT = """\
Embed real digits by several methods and a Swiss roll by eight, print what came out, and write pictures. It takes less
than a minute, a little more the first time: compiled loops are then kept on disk.
"""
EXAMPLES = [
    ("lowdim demo", "pictures go to demo-output"),
    ("lowdim demo somewhere", "or to a folder of your choice"),
]


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("demo", "[FOLDER]", TEXT, EXAMPLES)
    parser.add_positional("FOLDER", "where the pictures go (default: demo-output)", required=False)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Embed the digits and a Swiss roll, print a report, write the pictures."""
    import numpy as np

    from ...data import datasets
    from ...plotting import plot_gallery
    from ...plotting.drawing import require_matplotlib
    from .. import showcase

    require_matplotlib()
    began = time.perf_counter()
    out = Path(options.folder or "demo-output")
    out.mkdir(parents=True, exist_ok=True)
    digits = datasets.load("digits")
    labels = np.asarray(digits.labels)
    methods = showcase.digit_methods()
    embeddings = showcase.show_digits(digits.data, labels, methods, emit)
    plot_gallery(embeddings, labels, path=out / "digits.png")
    roll = datasets.swiss_roll(2500, random_state=0)
    plot_gallery(showcase.unroll(roll.data), np.asarray(roll.parameters)[:, 0], path=out / "swiss-roll.png")
    showcase.show_clusters(digits.data, labels, emit)
    emit(f"\nOne report in full:\n{methods['Laplacian eigenmaps'].report_}")
    emit(f"\nPictures: {out / 'digits.png'}, {out / 'swiss-roll.png'}")
    emit(f"All of it took {time.perf_counter() - began:.1f} s.")
    return DONE
