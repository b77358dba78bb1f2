"""``python -m experiments [ID ...] [--quick] [--output FOLDER]``: reproduce experiments; without an ID, list them."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from .notebook import Notebook

FOLDER = Path(__file__).parent
IDS = sorted(
    path.stem.replace("_", "-")
    for path in FOLDER.glob("*.py")
    if path.stem not in ("__init__", "__main__", "notebook", "data", "embeddings", "roots")
)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="experiments, or 'all'")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument(
        "--output", type=Path, default=FOLDER / "results", help="folder for figures and tables"
    )
    options = parser.parse_args()
    chosen = IDS if options.ids == ["all"] else options.ids
    if unknown := set(chosen) - set(IDS):
        parser.error(f"unknown experiment {', '.join(sorted(unknown))}; choose from {', '.join(IDS)}")
    if not chosen:
        for name in IDS:
            print(f"{name:<24} {(module(name).__doc__ or '').splitlines()[0]}")
    for name in chosen:
        notebook = Notebook(name, options.output / name, options.quick)
        module(name).run(notebook)
        notebook.conclude()


def module(name: str):
    """The script of an experiment."""
    return import_module(f"experiments.{name.replace('-', '_')}")


if __name__ == "__main__":
    main()
