"""The command line: everything that the library does, from the shell.

Nothing heavy is imported before it is needed: ``lowdim --help`` loads neither NumPy nor anything that stands on it.
"""

from __future__ import annotations

from .program import main

__all__ = ["main"]
