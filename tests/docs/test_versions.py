"""Pages of several versions beside each other: a list that makes a menu, and an entrance to the newest release."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PUBLISH = runpy.run_path(str(ROOT / "docs/publish.py"))
publish, order = PUBLISH["publish"], PUBLISH["order"]


@pytest.fixture
def built(tmp_path):
    folder = tmp_path / "built"
    (folder / "learn").mkdir(parents=True)
    (folder / "index.html").write_text("first")
    (folder / "learn" / "lle.html").write_text("chapter")
    return folder


def test_candidates_come_before_their_release():
    versions = ["1.0.0rc1", "0.9.0", "1.0.0", "1.10.0", "1.2.0", "1.0.0rc2", "1.0.0a1"]
    wanted = ["0.9.0", "1.0.0a1", "1.0.0rc1", "1.0.0rc2", "1.0.0", "1.2.0", "1.10.0"]
    assert sorted(versions, key=order) == wanted


def test_versions_lie_beside_each_other(built, tmp_path):
    site = tmp_path / "site"
    assert publish(built, site, "1.0.0rc1") == ["1.0.0rc1"]
    assert 'url=1.0.0rc1/index.html"' in (site / "index.html").read_text()
    publish(built, site, "1.0.0")
    assert publish(built, site, "1.1.0rc1") == ["1.1.0rc1", "1.0.0", "1.0.0rc1"]
    assert (site / "1.0.0" / "learn" / "lle.html").read_text() == "chapter"
    assert (
        (site / "versions.js").read_text().startswith('const VERSIONS = ["1.1.0rc1", "1.0.0", "1.0.0rc1"];\n')
    )
    # A candidate is in the menu, and no entrance while there is a release.
    assert 'url=1.0.0/index.html"' in (site / "index.html").read_text()


def test_a_version_that_is_published_again_replaces_its_pages(built, tmp_path):
    site = tmp_path / "site"
    publish(built, site, "1.0.0")
    (built / "learn" / "lle.html").unlink()
    assert publish(built, site, "1.0.0") == ["1.0.0"]
    assert not (site / "1.0.0" / "learn" / "lle.html").exists()


def test_what_cannot_be_published(built, tmp_path):
    with pytest.raises(SystemExit, match="Run `make docs` first"):
        publish(tmp_path / "nowhere", tmp_path / "site", "1.0.0")
    with pytest.raises(SystemExit, match="is no version of a release"):
        publish(built, tmp_path / "site", "main")
    assert not (tmp_path / "site").exists()


def test_every_page_asks_for_the_list():
    menu = (ROOT / "docs/_templates/version-menu.html").read_text(encoding="utf-8")
    assert 'src="{{ content_root }}../versions.js"' in menu
    assert 'id="version-menu" data-version="{{ release }}"' in menu
    assert '"version-menu"' in (ROOT / "docs/conf.py").read_text(encoding="utf-8")
    script = (ROOT / "docs/version_menu.js").read_text(encoding="utf-8")
    assert 'getElementById("version-menu")' in script
    assert "note.dataset.version" in script
