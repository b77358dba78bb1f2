"""The process that `torture.faults` starts with the shim: torments jobs and runs, and says what they broke."""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from time import perf_counter

from ._checkpoints import runs
from ._injection import Preloaded
from ._jobs import jobs
from .faults import torment


def main() -> int:
    """1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="jobs and runs; all without one")
    parser.add_argument("--amount", type=int, help="so many of them only")
    parser.add_argument("--all", action="store_true", help="every error, and kills")
    parser.add_argument("--step", type=int, default=1, help="fail one call of so many only")
    options = parser.parse_args()
    injector, failed = Preloaded(), False
    tasks = jobs() | runs()
    chosen = ((name, make) for name, make in tasks.items() if name in options.names or not options.names)
    for name, make in islice(chosen, options.amount):
        begun = perf_counter()
        tally = torment(make(), injector, quick=not options.all, kill=options.all, step=options.step)
        print(f"  {name:<24} {tally.runs:6} faults in {perf_counter() - begun:6.1f} s", flush=True)
        for line in tally.broken:
            print(f"BROKEN {line}", flush=True)
        failed = failed or bool(tally.broken)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
