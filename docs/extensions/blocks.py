"""The code blocks of a Markdown page, and what comes out where those of Python are run in their order.

The documentation is built with these, and the tests run the same blocks: what a page shows is what its code does.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = (".png", ".gif", ".svg")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its code, the line of the page where the code begins, and where the fence ends."""

    language: str
    code: str
    line: int
    end: int


@dataclass
class Result:
    """What a block has printed, and the pictures and pages that it has written."""

    text: str = ""
    pictures: list[Path] = field(default_factory=list)
    pages: list[Path] = field(default_factory=list)


class BlockError(Exception):
    """A block of a page that does not run."""


def find_blocks(text: str, *languages: str) -> list[Block]:
    """The fenced blocks of a page in these languages, in their order."""
    return [
        Block(found["language"], found["code"], text.count("\n", 0, found.start("code")) + 1, found.end())
        for found in _FENCE.finditer(text)
        if found["language"] in languages
    ]


def run_block(block: Block, names: dict[str, Any], page: str) -> Result:
    """Run a block of Python in the working folder, with the names that the blocks before it have left."""
    before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
    said = io.StringIO()
    try:
        code = compile("\n" * (block.line - 1) + block.code, page, "exec")
        with contextlib.redirect_stdout(said):
            exec(code, names)
    except Exception as error:
        raise BlockError(f"{page}, line {block.line}: {type(error).__name__}: {error}") from error
    new = sorted(path for path in Path().iterdir() if before.get(path) != path.stat().st_mtime_ns)
    return Result(
        said.getvalue(),
        [path.resolve() for path in new if path.suffix in PICTURES],
        [path.resolve() for path in new if path.suffix == ".html"],
    )


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """A new folder as the working one, which is gone afterwards; a warning of lowdim's is an error in it."""
    from lowdim.errors import LowdimWarning

    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error", LowdimWarning)
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(home)
