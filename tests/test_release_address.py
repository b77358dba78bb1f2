"""The public address goes into every file that waits for it, by one command."""

from __future__ import annotations

import importlib.util
import re
import shutil
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
REPOSITORY, DOCUMENTATION = "https://code.example/lowdim", "https://docs.example/lowdim"


@pytest.fixture(scope="module")
def address() -> ModuleType:
    spec = importlib.util.spec_from_file_location("address", ROOT / "release/address.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copies(address: ModuleType, tmp_path: Path) -> Path:
    for name in ("pyproject.toml", "CITATION.cff", *address.WAITING):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_file_has_it(address: ModuleType, copies: Path) -> None:
    address.main(
        [REPOSITORY + "/", DOCUMENTATION, "--maintainer", "ada", "--mail", "ada@docs.example"], copies
    )
    urls = tomllib.loads((copies / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Source"] == REPOSITORY
    assert urls["Documentation"] == DOCUMENTATION
    assert f"repository-code: {REPOSITORY}\n" in (copies / "CITATION.cff").read_text(encoding="utf-8")
    for name in address.WAITING:
        text = (copies / name).read_text(encoding="utf-8")
        assert REPOSITORY in text
        assert not re.search(r"\b(ADDRESS|GITHUB_NAME|MAIL)_OF_", text)


def test_links_of_the_readme_are_absolute(address: ModuleType, copies: Path) -> None:
    address.main([REPOSITORY, DOCUMENTATION], copies)
    hooks = tomllib.loads((copies / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "metadata"
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for step in hooks["hooks"]["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(step["pattern"], step["replacement"], readme)
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(targets) > 20
    assert all(target.startswith("https://") for target in targets)
    for target in targets:
        if target.startswith(REPOSITORY):
            path = target.removeprefix(REPOSITORY).split("#")[0].split("/", 3)[3]
            assert (ROOT / path).exists()
    assert (
        f"![lowdim explore: the embedding of digits moves as its parameters are dragged]({REPOSITORY}/raw/main/"
        in readme
    )


def test_what_is_not_given_is_named(
    address: ModuleType, copies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address.main([REPOSITORY, DOCUMENTATION], copies)
    assert "meta.yaml (still waits for GITHUB_NAME_OF_A_MAINTAINER)" in capsys.readouterr().out


def test_a_second_address_changes_nothing(address: ModuleType, copies: Path) -> None:
    address.main([REPOSITORY, DOCUMENTATION], copies)
    before = {path: path.read_bytes() for path in copies.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit, match="already"):
        address.main(["https://other.example", DOCUMENTATION], copies)
    assert {path: path.read_bytes() for path in copies.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("wrong", ["http://code.example/lowdim", "lowdim", 'https://code.example/"x"'])
def test_other_addresses_are_refused(address: ModuleType, copies: Path, wrong: str) -> None:
    with pytest.raises(SystemExit):
        address.main([wrong, DOCUMENTATION], copies)
