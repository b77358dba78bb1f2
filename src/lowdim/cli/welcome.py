"""The page that a person sees first."""

from __future__ import annotations

from collections.abc import Mapping

from .parser import coloured


def page(commands: Mapping[str, str]) -> str:
    """What lowdim is, its commands, and the first things to type."""
    width = max(map(len, commands)) + 2
    listed = "\n".join(f"  {name:<{width}}{what}" for name, what in commands.items())
    return coloured(f"""\
lowdim turns many-dimensional data into a few coordinates to look at, cluster and search.

Usage: lowdim COMMAND ...

Commands:
{listed}

Begin with:
  lowdim embed cells.csv --label type --plot cells.png
      a picture of a table, coloured by its column 'type'
  lowdim embed cells.csv --label type --plot cells.html --report cells-report.html
      a page to zoom and select in, and a report of what was done and how good it is
  lowdim embed cells.npy --method isomap -k 15 -o map.npy --model cells.lowdim
      coordinates by Isomap, and a model; then place new data on the same map:
  lowdim transform cells.lowdim more-cells.npy -o more.npy

'lowdim COMMAND --help' teaches a command, 'lowdim embed --help' lists the methods and
'lowdim embed --method isomap --help' what can be set of one.

Options:
  -h, --help     this page
  -V, --version  the version
""")
