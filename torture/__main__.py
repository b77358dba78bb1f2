"""Run harnesses by name: ``python -m torture [NAME ...] [--amount N] [--seed N]``; without a name, all of them."""

from __future__ import annotations

import argparse
import ast
import sys
from importlib import import_module
from pathlib import Path


def harnesses() -> dict[str, str]:
    """The modules beside this one that have a ``run``, each with the first line of its description."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in module.body):
            found[path.stem] = (ast.get_docstring(module) or "").splitlines()[0]
    return found


def main() -> int:
    """Run what was named; 0 where every promise was kept."""
    known = harnesses()
    listing = "\n".join(f"  {name:<12} {text}" for name, text in known.items())
    parser = argparse.ArgumentParser(
        prog="python -m torture",
        description=f"Harnesses:\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="*", help="harnesses to run (default: all)")
    parser.add_argument(
        "--amount", type=int, help="inputs, kills or faults; each harness has its own default"
    )
    parser.add_argument("--seed", type=int, default=0, help="of every random choice (default: 0)")
    options = parser.parse_args()
    if unknown := set(options.name) - set(known):
        parser.error(f"there is no harness {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    failed = []
    for name in options.name or known:
        print(f"== {name}: {known[name]}", flush=True)
        if import_module(f"torture.{name}").run(options.amount, options.seed):
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "every promise was kept")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
