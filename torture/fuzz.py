"""Hostile inputs for every reader, the model loader and the command line, in watched processes."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from .fuzzing import coverage
from .fuzzing.drive import Outcome, drive, keep, shared_out

AMOUNT = 100_000
FINDS = Path("torture-finds")


def run(amount: int | None = None, seed: int = 0) -> int:
    """Feed at least so many inputs of our own making, and as many more as atheris finds in its time."""
    finds = 0
    for name, inputs in shared_out(amount or AMOUNT).items():
        outcome = drive({name: inputs}, seed)
        finds += _tell(name, outcome, seed)
    if find_spec("atheris") is None:
        print(
            f"  atheris is not here (no wheel for Python {sys.version_info[0]}.{sys.version_info[1]}?): only our own inputs were fed"
        )
    else:
        finds += coverage.run(seed, FINDS, inputs=(amount or AMOUNT) // 20)
    return 1 if finds else 0


def _tell(name: str, outcome: Outcome, seed: int) -> int:
    print(f"  {name:<18}{outcome.inputs:>7} inputs, {len(outcome.finds)} finds", flush=True)
    for (target, number), found in outcome.finds.items():
        print(f"    {target} {number}: {found}")
    if outcome.chatter.strip():
        print(f"    said on standard error: {outcome.chatter[:500]}")
    if outcome.finds:
        keep(outcome, seed, FINDS)
        print(f"    the inputs are in {FINDS}")
    return len(outcome.finds)
