"""Compiled loops: free functions on arrays, with no checks and no classes, cached on disk after their first use.

``from lowdim import kernels`` costs nothing; a module of it, and Numba with it, loads at the first use of its name.
Every kernel works on the block of rows that it is given and releases the interpreter lock: ``lowdim.core.parallel``
maps it over all blocks. The folders are named after the packages that call them.
"""

from __future__ import annotations

from ..core.parts import loading

__getattr__ = loading(__name__)
