"""What a release needs to know of the sources, printed: ``python release/facts.py version|notes|recipe|lower-bounds``.

Only the standard library is used, and lowdim is not imported: nothing needs to be installed.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ("bench", "scanpy")
"""Extras with other people's programs, which are measured or written for, and never imported."""


def version() -> str:
    """The version, from the one place where it stands."""
    source = (ROOT / "src/lowdim/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    if found is None:
        raise SystemExit('src/lowdim/__init__.py has no line __version__ = "..."')
    return found[1]


def notes() -> str:
    """What the changelog says of this version; of a release candidate, what is not released yet."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = dict(
        re.findall(r"^## \[([^\]]+)\][^\n]*\n(.*?)(?=^## \[|\Z)", changes, re.MULTILINE | re.DOTALL)
    )
    is_early = re.search(r"(a|b|rc)\d+$", version()) is not None
    wanted = [version(), "Unreleased"] if is_early else [version()]
    for name in wanted:
        if name in sections:
            return sections[name].strip()
    raise SystemExit(f"CHANGELOG.md has no section [{version()}]. Give *Unreleased* that name and its date.")


def lower_bounds() -> list[str]:
    """Constraints for pip that hold every library that lowdim imports at the oldest version that it declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [needs for extra, needs in project["optional-dependencies"].items() if extra not in PEERS]
    found = {}
    for need in [*project["dependencies"], *(need for needs in extras for need in needs)]:
        if need.startswith("lowdim["):
            continue
        parsed = re.fullmatch(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", need)
        if parsed is None:
            raise SystemExit(f"pyproject.toml: {need!r} has no lower bound of the form name>=version")
        found[parsed[1]] = parsed[2]
    return [f"{name}=={bound}" for name, bound in sorted(found.items())]


def recipe() -> str:
    """The recipe of conda-forge, with the digest of the sdist in ``dist``."""
    sdist = ROOT / "dist" / f"lowdim-{version()}.tar.gz"
    if not sdist.is_file():
        raise SystemExit(f"{sdist} is not there. Run `make dist` first.")
    text = (ROOT / "release/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    return text.replace("DIGEST_OF_THE_SDIST", hashlib.sha256(sdist.read_bytes()).hexdigest())


def main(arguments: list[str]) -> None:
    """Print what is asked for."""
    facts = {
        "version": version,
        "notes": notes,
        "recipe": recipe,
        "lower-bounds": lambda: "\n".join(lower_bounds()),
    }
    if len(arguments) != 1 or arguments[0] not in facts:
        raise SystemExit(f"Give one of {', '.join(facts)}; got {arguments}")
    print(facts[arguments[0]]())


if __name__ == "__main__":
    main(sys.argv[1:])
