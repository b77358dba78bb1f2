"""Every name that the documentation mentions is there after a bare ``import lowdim``, in a new process."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lowdim

ROOT = Path(__file__).parents[1]
TEXTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("*.py")),
]
# Names of files (cells.lowdim is one) and of what is not ours: `lowdim.fish` is the completion for a shell,
# `lowdim.formats` a group of entry points.
FILES = {"lowdim.fish", "lowdim.formats"}


def mentioned(text):
    """lowdim.name.name wherever it stands, and what is imported from lowdim or a part of it."""
    found = set(re.findall(r"(?<![\w./\\-])lowdim(?:\.[A-Za-z_]\w*)+", text))
    for home, names in re.findall(r"from (lowdim[\w.]*) import \(?([\w, \n]+)", text):
        found |= {f"{home}.{name.split()[0]}" for name in names.replace("\n", " ").split(",") if name.strip()}
    return {name for name in found if name not in FILES and not name.endswith(".py")}


def test_every_documented_name_is_there():
    names = {name: path.name for path in TEXTS for name in mentioned(path.read_text(encoding="utf-8"))}
    code = (
        "import sys, lowdim\n"
        "for name in sys.argv[1:]:\n"
        "    found = lowdim\n"
        "    for part in name.split('.')[1:]:\n"
        "        found = getattr(found, part, None)\n"
        "    if found is None: print(name)\n"
    )
    said = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert {name: names[name] for name in said.stdout.split()} == {}
    assert {"lowdim.plotting.plot_gallery", "lowdim.models.describe", "lowdim.data.files"} <= set(names)


def test_names_are_found_in_texts():
    text = "`lowdim.plot(X)`, from lowdim.errors import (Stop, FileError)\n'cells.lowdim'; a/lowdim.b; lowdim.fish"
    assert mentioned(text) == {
        "lowdim.plot",
        "lowdim.errors",
        "lowdim.errors.Stop",
        "lowdim.errors.FileError",
    }


def test_a_part_of_the_package_loads_when_it_is_named():
    code = "import lowdim; print(lowdim.models.describe.__name__, lowdim.errors.CheckpointWarning.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["describe", "CheckpointWarning"]


def test_what_a_part_needs_and_is_not_there_is_named(tmp_path, monkeypatch):
    import lowdim

    (tmp_path / "broken_part.py").write_text("import a_library_that_nobody_has")
    monkeypatch.setattr(lowdim, "__path__", [*lowdim.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="a_library_that_nobody_has"):
        _ = lowdim.broken_part
    with pytest.raises(AttributeError, match="no attribute 'other_part'"):
        _ = lowdim.other_part
    with pytest.raises(AttributeError, match="_private"):
        _ = lowdim._private


def test_a_part_of_a_part_loads_when_it_is_named():
    """What another name has loaded before must not be needed: each package either names its parts or loads them."""
    names = {name for path in TEXTS for name in mentioned(path.read_text(encoding="utf-8"))}
    deep = {tuple(name.split(".")[:3]) for name in names if name.count(".") > 1}
    source = Path(lowdim.__file__).parent
    missing = []
    for _, package, part in deep:
        place = source / package / part
        if place.is_dir() or place.with_suffix(".py").is_file():
            home = importlib.import_module(f"lowdim.{package}")
            imports = (source / package / "__init__.py").read_text(encoding="utf-8")
            if not (
                hasattr(home, "__getattr__") or part in home.__all__ or f"from .{part} import" in imports
            ):
                missing.append(f"lowdim.{package}.{part}")
    assert missing == []
