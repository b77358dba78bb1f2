"""What an experiment writes down: tables, figures, and at its end whether each claim held."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from lowdim.core.atomic import writing


@dataclass(frozen=True)
class Claim:
    """One outcome to show: in words, what the authors measured, what came out here, and whether it held."""

    words: str
    authors: str
    measured: str
    held: bool


@dataclass
class Notebook:
    """Folder of one experiment. ``quick`` asks for sizes that only show that everything runs, ``echo`` prints too."""

    name: str
    folder: Path
    quick: bool = False
    echo: bool = True
    claims: list[Claim] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def keep(self, rows: Sequence[Mapping[str, Any]], name: str = "runs") -> None:
        """Write rows as CSV: also while there are more to come, so that a run that is cut short leaves them."""
        columns = list(dict.fromkeys(key for row in rows for key in row))
        with (
            writing(self.folder / f"{name}.csv") as temporary,
            temporary.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)

    def table(self, rows: Sequence[Mapping[str, Any]], name: str = "table") -> None:
        """Write rows as CSV, and print them."""
        self.keep(rows, name)
        self.say(markdown(rows))

    def say(self, words: str) -> None:
        """Print, where somebody listens."""
        if self.echo:
            print(words, flush=True)

    def figure(self, figure: Any, name: str = "figure", *, small: bool = False) -> None:
        """Write a matplotlib figure as PNG; a ``small`` one with fewer dots and colours, for a page of them."""
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi=110 if small else 150, bbox_inches="tight")
        if small:
            drawn = _fewer_colours(drawn)
        with writing(self.folder / f"{name}.png") as temporary:
            temporary.write_bytes(drawn.getvalue())

    def claim(self, words: str, authors: str, measured: str, held: Any) -> None:
        """Note whether an outcome held."""
        self.claims.append(Claim(words, authors, measured, bool(held)))

    def remark(self, words: str) -> None:
        """Note what was found out on the way."""
        self.remarks.append(words)

    def conclude(self) -> bool:
        """Print and write the verdict; True where every claim held."""
        rows = [
            {
                "claim": c.words,
                "authors": c.authors,
                "here": c.measured,
                "held": "yes" if c.held else "NO",
            }
            for c in self.claims
        ]
        held = all(c.held for c in self.claims)
        count = sum(c.held for c in self.claims)
        lines = [f"# {self.name}", "", markdown(rows), ""]
        lines += [f"- {remark}" for remark in self.remarks] + ([""] if self.remarks else [])
        lines += [f"Verdict: {count} of {len(self.claims)} outcomes held."]
        text = "\n".join(lines)
        with writing(self.folder / "verdict.md") as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")
        self.say(f"\n{text}")
        return held


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, ["---"] * len(columns)]
    cells += [[_cell(row.get(column, "")) for column in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Mean and standard deviation over seeds, as people write them."""
    return f"{np.mean(values):.{digits}g} ± {np.std(values):.2g}"


@contextmanager
def seconds() -> Iterator[list[float]]:
    """A list that holds the seconds of the block once it is left."""
    took: list[float] = []
    begun = perf_counter()
    yield took
    took.append(perf_counter() - begun)


def _fewer_colours(drawn: io.BytesIO) -> io.BytesIO:
    """The same picture in 64 colours, a third of the bytes."""
    from PIL import Image

    written = io.BytesIO()
    Image.open(drawn).convert("RGB").quantize(64).save(written, format="png", optimize=True)
    return written


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
