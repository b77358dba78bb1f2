"""Tasks over a store, run by threads here, by an executor, or by Dask."""

from __future__ import annotations

from .places_to_work import using
from .run_tasks import run_tasks, tallying
from .task import Tally, Task

__all__ = ["Tally", "Task", "run_tasks", "tallying", "using"]
