"""``python -m lowdim.demo [FOLDER]``: the same as ``lowdim demo``."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
