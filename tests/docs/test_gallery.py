"""The examples of the gallery: enough of them, each with its picture and its page, and all of them run."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("*/*.py"))
QUICK = ("cities_from_distances",)


def test_there_are_enough_and_no_two_share_a_name():
    assert len({path.stem for path in EXAMPLES}) == len(EXAMPLES) >= 40
    assert all((path.parent / "GALLERY_HEADER.rst").exists() for path in EXAMPLES)


def test_each_opens_with_its_title_and_says_why():
    for path in EXAMPLES:
        title, underline, _, *said = path.read_text(encoding="utf-8").split('"""')[1].strip().splitlines()
        assert underline == "=" * len(title), path
        assert len(" ".join(said).split()) >= 6, path


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow])
        for path in EXAMPLES
    ],
)
def test_it_leaves_a_picture_and_a_page(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    assert {found.name for found in tmp_path.iterdir()} == {f"{path.stem}.png", f"{path.stem}.html"}
