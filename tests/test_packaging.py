"""What is handed out: one version everywhere, a README without broken links, and an sdist that can be tested."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import lowdim

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = r"\[[^\]]+\]\((?!https?:)([^)]*)\)"


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    recipe = (ROOT / "release/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/lowdim/__init__.py"
    assert printed("version") == f"{lowdim.__version__}\n"
    assert f"\nversion: {lowdim.__version__}\n" in citation
    assert f'\n  version: "{lowdim.__version__}"\n' in recipe
    listing = (ROOT / "release/scverse/meta.yaml").read_text(encoding="utf-8")
    assert f"\nversion: {lowdim.__version__}\n" in listing
    assert re.search(r"^date-released: \d{4}-\d{2}-\d{2}$", citation, re.MULTILINE)


def printed(fact: str) -> str:
    command = [sys.executable, str(ROOT / "release/facts.py"), fact]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def test_the_container_is_made_of_what_there_is():
    recipe = (ROOT / "release/Containerfile").read_text(encoding="utf-8")
    copied = [
        word for line in re.findall(r"^COPY (?!--)(.*) \S+$", recipe, re.MULTILINE) for word in line.split()
    ]
    assert {"pyproject.toml", "src", "experiments"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    extras = re.search(r"\$\{wheel\}\[([^\]]+)\]", recipe)[1].split(",")
    assert set(extras) <= set(PROJECT["project"]["optional-dependencies"])


def test_the_readme_tells_of_every_extra():
    told = {
        name
        for cell in re.findall(r"^\| (`.*?) \|", README, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cell)
    }
    assert set(PROJECT["project"]["optional-dependencies"]) - {"bench"} <= told


def test_notes_of_the_version_are_its_section_of_the_changelog():
    notes = printed("notes")
    assert notes.startswith("### ")
    assert "\n## [" not in notes
    assert notes.strip() in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_lower_bounds_are_those_of_every_library_that_is_imported():
    bounds = printed("lower-bounds").split()
    needs = {re.split(r"[>\[]", need)[0] for need in PROJECT["project"]["dependencies"]}
    assert needs <= {bound.partition("==")[0] for bound in bounds}
    assert (
        f"numpy=={re.search(r'numpy>=([^ ,]+)', ' '.join(PROJECT['project']['dependencies']))[1]}" in bounds
    )
    assert len(bounds) > len(needs)


def test_the_recipe_of_conda_forge_needs_what_the_package_needs():
    recipe = (ROOT / "release/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"\n  run:\n((?:    - .*\n)+)", recipe)[1]
    needs = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    assert needs - {"python>=${{python_min}}"} == set(PROJECT["project"]["dependencies"])
    assert f'python_min: "{PROJECT["project"]["requires-python"].removeprefix(">=")}"' in recipe


def test_benchmarks_from_commit_to_commit_name_methods_that_are_there():
    settings = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    suite = runpy.run_path(str(ROOT / settings["benchmark_dir"] / "fits.py"))
    for name in suite["METHODS"]:
        suite["model"](name)._check_parameters()


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(LINK, README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_of_the_package_index_has_no_relative_links():
    text = README
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert re.findall(LINK, text) == []
    assert "![" not in text
    assert "docs/command-line.md" in text
    assert text.index("make demo") < text.index("## From the shell")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The sdist, built and unpacked."""
    pytest.importorskip("hatchling")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / f"lowdim-{lowdim.__version__}"


def test_the_sdist_has_all_that_is_kept_and_nothing_else(unpacked):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no repository to compare with")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    kept = {name for name in answer.stdout.split("\0") if name and (ROOT / name).is_file()}
    packed = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert packed - kept == {"PKG-INFO"}
    left_out = {name.partition("/")[0] for name in kept - packed}
    assert left_out <= {".ci", ".gitattributes", ".github", ".pre-commit-config.yaml"}


def test_metadata_of_the_sdist(unpacked):
    said = (unpacked / "PKG-INFO").read_text(encoding="utf-8")
    assert f"\nVersion: {lowdim.__version__}\n" in said
    assert "\nDescription-Content-Type: text/markdown\n" in said
    assert "](docs/" not in said


@pytest.mark.slow
def test_the_tests_run_from_the_unpacked_sdist(unpacked, tmp_path):
    """All of them are collected, and those that read files beside the package pass."""
    home = shutil.copytree(
        unpacked, tmp_path / "lowdim"
    )  # they leave files, and another test looks at what is unpacked
    environment = os.environ | {"PYTHONPATH": str(home / "src")}
    options = {"cwd": home, "env": environment, "capture_output": True, "text": True}
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    collected = subprocess.run([*pytest_, "--collect-only"], check=False, **options)
    assert collected.returncode == 0, collected.stdout[-3000:]
    reading = ["tests/test_packaging.py", "tests/test_packages.py", "tests/test_documented_names.py"]
    reading.append("tests/test_promises.py")
    run = subprocess.run([*pytest_, "-m", "not slow", *reading], check=False, **options)
    assert run.returncode == 0, run.stdout[-3000:]
