"""``python -m experiments [ID ...] [--quick] [--output FOLDER]``: reproduce experiments; without an ID, list them."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import catalogue, run, write_summary


def main() -> None:
    """Run what was asked for, and write a page of it."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="experiments, or 'all'")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("experiments-output"),
        help="folder for figures, tables and the page (default: %(default)s)",
    )
    options = parser.parse_args()
    known = dict(catalogue())
    if not options.ids:
        for name, title in known.items():
            print(f"{name:<24} {title}")
        return
    if unknown := set(options.ids) - set(known) - {"all"}:
        parser.error(f"unknown experiment {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    ids = list(known) if "all" in options.ids else options.ids
    verdicts = run(ids, options.output, options.quick, echo=True)
    page = write_summary(verdicts, options.output / "summary.html")
    for verdict in verdicts:
        print(verdict)
    print(f"\nAll of it on one page: {page}")


if __name__ == "__main__":
    main()
