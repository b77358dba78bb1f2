"""``lowdim.datasets`` is the module `lowdim.data.datasets`: this file lets names be imported from it."""

from __future__ import annotations

import sys

from .data import datasets
from .data.datasets import *  # noqa: F403 - so that checkers of types see the names

sys.modules[__name__] = datasets
