"""``python -m benchmarks [NAME ...] [--quick] [--output FILE]``: run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import datetime
from importlib import import_module, metadata
from pathlib import Path

from .harness import RESULTS, machine

NAMES = [
    "laplacian_eigenmaps",
    "lle",
    "isomap",
    "mds",
    "landmarks",
    "reducers",
    "new_points",
    "sweep",
    "million",
    "tsne",
    "umap",
    "presets",
    "growth",
    "aligned",
    "evaluation",
    "trust",
    "placing",
    "service",
    "gaussian_embeddings",
    "tsne_million",
    "tsne_million_parts",
    "umap_million",
    "wide",
    "perplexity",
    "snapshot_pca",
    "cold_start",
    "command_line",
    "scaling",
    "plans",
    "plans_kinds",
    "checkpoint",
    "signals",
    "parts",
    "kinds",
    "sharded",
    "placed_million",
    "sharded_peers",
    "ten_million",
    "generated_rows",
    "forecast",
    "explore",
    "page",
]


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", default=[], metavar="NAME", help=f"of {', '.join(NAMES)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--output", type=Path, help="write the tables to this file as well")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("scikit-learn", "numpy", "scipy", "numba")
    )
    parts = [f"Machine: {machine()}. Date: {datetime.date.today()}. {versions}."]
    print(parts[0], flush=True)
    for name in options.names or NAMES:
        benchmark = import_module(f"benchmarks.{name}")
        parts.append(f"## {benchmark.TITLE}\n{benchmark.report(options.quick)}")
        print(f"\n{parts[-1]}", flush=True)
    if options.output:
        options.output.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
