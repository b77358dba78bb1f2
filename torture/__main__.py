"""``python -m torture [NAME ...] [--amount N] [--seed N]``: run harnesses, all of them without a name."""

from __future__ import annotations

import argparse
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def harnesses() -> dict[str, ModuleType]:
    """The modules of this folder that can be run, by name."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    modules = {
        entry.name: import_module(f"{__package__}.{entry.name}") for entry in found if entry.name[0] != "_"
    }
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def main() -> int:
    """Run what was asked for; 0 where every promise was kept."""
    known = harnesses()
    lines = "\n".join(
        f"  {name:<16} {(module.__doc__ or '').splitlines()[0]}" for name, module in known.items()
    )
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description=f"{__doc__}\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="harnesses to run; all without one")
    parser.add_argument("--amount", type=int, help="how much of it, in the harness's own unit")
    parser.add_argument("--seed", type=int, default=0, help="seed of what is drawn at random")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"unknown {', '.join(unknown)}; choose from {', '.join(known)}")
    failed = []
    for name in options.names or known:
        print(f"== {name}", flush=True)
        if known[name].run(options.amount, options.seed):
            failed.append(name)
    print(f"broken: {', '.join(failed)}" if failed else "every promise kept")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
