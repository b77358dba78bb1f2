"""Every estimator on every input that numerical code stumbles over: ok, an error that says what to do, or FOUND.

The amount is the number of points; above 400 the iterative eigensolvers take part. Each cell runs in a worker process
that is ended where it does not answer in time, so that neither a hang nor a crash can hide.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

from .numeric import cells
from .numeric.cells import Outcome
from .numeric.estimators import every_estimator
from .numeric.graphs import GRAPHS
from .numeric.inputs import every_input
from .numeric.long_chains import LONG, judge_long
from .numeric.newcomers import NEWCOMERS
from .numeric.problems import ENDS, PROBLEMS, SOLVERS

POINTS = 450
SECONDS = 600.0
"""A cell that takes longer hangs."""
MARKS = {"ok": ".", "said": "s", "FOUND": "F"}

Table = tuple[list[str], list[str], Callable[[str, str, int], Outcome]]


def _problem(row: str, column: str, size: int) -> Outcome:
    end, solver = column.split(" ", 1)
    return cells.judge_problem(row, end, solver, size)


def tables() -> dict[str, Table]:
    """The tables by name: rows, columns, and what judges a cell."""
    entries = every_estimator()
    graphs = [name for name, entry in entries.items() if entry.graph]
    return {
        "points": (list(entries), list(every_input()), cells.judge),
        "graphs": (graphs, list(GRAPHS), cells.judge_graph),
        "new points": (list(entries), list(NEWCOMERS), cells.judge_newcomers),
        "problems": (list(PROBLEMS), [f"{end} {solver}" for end in ENDS for solver in SOLVERS], _problem),
        "long": (list(LONG), ["100000 nodes"], judge_long),
    }


def _serve(pipe: Any) -> None:
    """Judge what comes through the pipe, for ever."""
    known = tables()
    while True:
        table, row, column, size = pipe.recv()
        pipe.send(known[table][2](row, column, size))


class Worker:
    """A process that judges cells, started anew where it hangs or dies."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def judge(self, *cell: Any) -> Outcome:
        """The outcome of a cell."""
        try:
            self.pipe.send(cell)
            if self.pipe.poll(SECONDS):
                outcome: Outcome = self.pipe.recv()
                return outcome
            words = f"no answer within {SECONDS:g} seconds"
        except (EOFError, OSError):
            words = "the process died"
        self.stop()
        self._start()
        return Outcome("FOUND", words)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _rows(name: str, table: Table, worker: Worker, size: int) -> Iterator[list[tuple[str, str, Outcome]]]:
    for row in table[0]:
        yield [(row, column, worker.judge(name, row, column, size)) for column in table[1]]


def run(amount: int | None = None, seed: int = 0) -> int:
    """Fill in the tables and print them; 1 where anything was found. Nothing is drawn from the seed."""
    size, found, worker = amount or POINTS, 0, Worker()
    try:
        for name, table in tables().items():
            print(f"{name}, {size} points; . ok, s an error was said, F found; columns:")
            print("; ".join(f"{place} {column}" for place, column in enumerate(table[1], 1)))
            for row in _rows(name, table, worker, size):
                print(
                    f"  {row[0][0]:<40} {''.join(MARKS[outcome.kind] for _, _, outcome in row)}", flush=True
                )
                for _, column, outcome in row:
                    if outcome.kind == "FOUND":
                        found += 1
                        print(f"    FOUND on {column}: {outcome.words}", flush=True)
    finally:
        worker.stop()
    print(f"{found} found")
    return int(found > 0)
