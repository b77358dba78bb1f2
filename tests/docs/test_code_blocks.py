"""Every code block of every page, and of the README, runs: Python in its order, commands of the shell as they stand."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import documented_data as given
import pytest

import lowdim

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# These say where their data come from, and are run as they are when the site is built.
EXECUTED = [
    DOCS / "start.md",
    *(page for part in ("learn", "reference", "tutorials") for page in sorted(DOCS.glob(f"{part}/*.md"))),
]
PAGES = [ROOT / "README.md", *sorted(set(DOCS.glob("*.md")) - set(EXECUTED)), *EXECUTED]
QUICK = ("README.md", "docs/models.md")
NEEDS = {"docs/single-cells.md": "scanpy", "docs/tutorials/single-cells.md": "scanpy"}


def _load(name):
    specification = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / "extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


blocks = _load("blocks")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def pages_with(language):
    return [
        pytest.param(page, id=name_of(page), marks=[] if name_of(page) in QUICK else [pytest.mark.slow])
        for page in PAGES
        if blocks.find_blocks(page.read_text(encoding="utf-8"), language)
    ]


@pytest.fixture
def folder(monkeypatch):
    """A folder with the files that pages speak of; what their code changes in the process is put back."""
    handler = signal.getsignal(signal.SIGTERM)
    with blocks.working_folder() as place, warnings.catch_warnings():
        monkeypatch.setenv("HOME", str(place))
        yield place
    signal.signal(signal.SIGTERM, handler)


@pytest.mark.parametrize("page", pages_with("python"))
def test_python(page, folder, monkeypatch):
    needed = NEEDS.get(name_of(page))
    if needed is not None:
        pytest.importorskip(needed)
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    if page not in EXECUTED:
        text = given.shrunk(text)
        given.write_files(folder)
        names = given.names()
        small = given.digits()
        monkeypatch.setattr(lowdim.datasets, "load", lambda *_, **__: small)
    found = blocks.find_blocks(text, "python")
    for block in found:
        blocks.run_block(block, names, name_of(page))
    assert found, "nothing was run"


@pytest.mark.parametrize("page", pages_with("sh"))
def test_shell(page, folder, monkeypatch):
    given.write_files(folder)
    lowdim.save(lowdim.PCA(2).fit(given.digits().data), folder / "map.lowdim")
    (folder / ".config" / "fish" / "completions").mkdir(parents=True)
    text, done = page.read_text(encoding="utf-8"), []
    if "cells.lowdim" in text and "--model cells.lowdim" not in text:
        run("lowdim embed cells.csv --label type --id barcode --model cells.lowdim", folder)
    for block in blocks.find_blocks(text, "sh"):
        for line in given.shrunk(re.sub(r"\\\n\s*", " ", block.code)).splitlines():
            command = re.sub(r"(^|\s)#\s.*$", "", line).strip()
            if command:
                run(command, folder)
                done.append(command)
    assert done, "nothing was run"


def run(command, folder):
    """Run a command of the program here, any other by a shell, and check of those that set up what they name."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), command
    elif words[0] in ("pip", "git", "cd", "python", "open"):
        check_setting_up(words)
    elif words[0] == "lowdim" and not set(words) & {"|", ">"}:
        from lowdim.cli import main

        forced = ["--force"] if words[1] in ("embed", "transform", "sweep", "update") else []
        assert main([*words[1:], *forced]) in (0, None), command
    elif all(shutil.which(tool) for tool in re.findall(r"\b(?:jq|zcat|gzip)\b", command)):
        by_shell(command, folder)


def check_setting_up(words):
    """What `pip install` is asked for is there to be installed."""
    for word in words:
        for extra in re.findall(r"\[([\w,]+)\]", word):
            declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
            assert all(re.search(rf"^{one} = \[", declared, re.MULTILINE) for one in extra.split(",")), words


def by_shell(command, folder):
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    program = tools / "lowdim"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lowdim "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(lowdim.__file__).parents[1]),
    }
    shell = "zsh" if "completion zsh" in command else "bash"
    if shutil.which(shell) is None:
        return
    if shell == "zsh":
        command = f"autoload -U compinit; compinit -u; {command}"
    ran = subprocess.run(
        [shell, "-c", f"set -e -o pipefail; {command}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{command}\n{ran.stderr}"


def test_every_fence_is_found():
    """A fence that is indented, or of four ticks, would be passed over."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        opened = len(re.findall(r"^\s*`{3,}\s*(?:python|sh|bash|console)\b", text, re.MULTILINE))
        assert opened == len(blocks.find_blocks(text, "python", "sh")), page
        fences = re.findall(r"^ *`{3,}(.*)$", text, re.MULTILINE)
        assert all(fences[::2]), f"a fence of {page} does not say what it holds, so that nothing runs it"
