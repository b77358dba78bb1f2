"""What the tasks of a stage have read, removed while the others are still at work."""

from __future__ import annotations

from dataclasses import dataclass

from ..store.tasks import TaskStore

STEPS = 32
"""Times that a stage gives back, about: each time every file that it reads is opened."""


@dataclass(slots=True)
class GivingBack:
    """Cuts off the parts of files that nobody reads again, called whenever tasks have ended.

    Attributes
    ----------
    store
        Of the stage and of what it reads.
    stage, n_tasks
        The stage whose task i alone reads part i of every file, and number of its tasks.
    read, n_files
        The stage that has left these files, and number of them.
    """

    store: TaskStore
    stage: str
    n_tasks: int
    read: str
    n_files: int
    _done: int = 0
    _given: int = 0

    def __call__(self) -> None:
        """Cut off what the tasks before the first that is not done have read, if they are enough."""
        while self._done < self.n_tasks and self.store.has(self.stage, self._done):
            self._done += 1
        if self._done - self._given >= step_of(self.n_tasks):
            for number in range(self.n_files):
                self.store.shorten(self.read, number, self._done)
            self._given = self._done


def step_of(n_tasks: int) -> int:
    """So many tasks of a stage have ended when it gives back what they have read."""
    return -(-n_tasks // STEPS)
