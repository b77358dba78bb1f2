"""Pictures of an optimisation on its way."""

from __future__ import annotations

from dataclasses import dataclass

from ..events import Event
from ..places import State
from ..records import Floats


@dataclass(slots=True)
class Frames:
    """Listener that keeps every so many embeddings of an optimisation."""

    every: int
    kept: list[tuple[int, Floats]]

    def __call__(self, event: Event) -> None:
        """Keep an embedding."""
        if event.kind == "iteration" and "embedding" in event.data:
            iteration = int(event.data["iteration"])
            if iteration % self.every == 0:
                self.kept.append((iteration, event.data["embedding"]))

    def state(self) -> State:
        """The embeddings so far."""
        return {"frames": self.kept[:]}

    def resume(self, state: State) -> None:
        """Go on after those of a run before."""
        self.kept[:] = state["frames"]
