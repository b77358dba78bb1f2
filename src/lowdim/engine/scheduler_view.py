"""What a scheduler of Dask says of its workers. Every question has a limit of time: a connection may be silent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ANSWER_WITHIN = 10.0
"""Seconds in which the scheduler must answer a question, which is asked again later."""
SILENT_AFTER = 30.0
"""Seconds for which the scheduler has not heard from a worker, while it has from others, after which it is silent: it
is stopped, or its machine or the way to it is. Workers are heard from twice a second, and at least once in five seconds
where there are up to a thousand of them."""


@dataclass(frozen=True, slots=True)
class SchedulerView:
    """Asks the scheduler of a client."""

    client: Any

    def workers(self) -> dict[str, dict[str, Any]] | None:
        """What is known of each worker, by its address; None where there is no answer."""
        found = self._ask("identity")
        return None if found is None else found["workers"]

    def tasks_at(self, workers: Iterable[str] | None = None) -> set[str]:
        """Keys of the tasks that have been handed to some workers, or to any, and are not done."""
        found = self._ask("processing", workers=None if workers is None else list(workers))
        return {key for keys in (found or {}).values() for key in keys}

    def _ask(self, question: str, **details: Any) -> Any:
        try:
            return self.client.sync(
                getattr(self.client.scheduler, question), callback_timeout=ANSWER_WITHIN, **details
            )
        except OSError:  # a limit of time and a lost connection are such
            return None


def silent_among(workers: dict[str, dict[str, Any]]) -> set[str]:
    """Workers that have not been heard from for long, by the clock of the scheduler."""
    newest = max((worker["last_seen"] for worker in workers.values()), default=0.0)
    return {address for address, worker in workers.items() if newest - worker["last_seen"] > SILENT_AFTER}
