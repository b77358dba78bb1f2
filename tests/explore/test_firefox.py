"""The saved and the live page in Firefox, where it is installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from live import HOSTILE, Page
from reading import blobs, session_of

import lowdim
from lowdim.metrics.neighbor_recall import neighbor_recall

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """Headless Firefox."""
    from firefox import Firefox, find

    if sys.platform == "win32":
        pytest.skip("tried on POSIX alone")
    if find() is None:
        pytest.skip("no Firefox on this machine: apt-get install firefox-esr")
    started = Firefox(tmp_path_factory.mktemp("firefox"))
    yield started
    started.close()


def test_a_saved_page_draws_tells_and_selects(firefox, tmp_path):
    X, codes = blobs(400)
    names = np.array(["ant", HOSTILE, "cat"])[codes]
    path = tmp_path / "map.html"
    lowdim.plot(X[:, :2], names, path=path, columns={"height": X[:, 1]})
    firefox.open(path)
    assert firefox.problems == []
    # Firefox does not tell of files, only of what goes over a network.
    assert [url for url in firefox.requests if not url.startswith("data:")] == []
    assert firefox.run("document.querySelector('.ld').dataset.state") == "ready"
    assert firefox.run("window.broken") is None
    has_graphics = firefox.run("document.createElement('canvas').getContext('webgl2') !== null")
    painter = firefox.run("document.querySelector('.ld').map.painter.constructor.name")
    assert painter == ("GraphicsPainter" if has_graphics else "PlainPainter")
    pixels = firefox.picture()[100:700, 100:850]
    assert 0.005 < np.mean(np.any(pixels != [255, 255, 255], axis=2)) < 0.5
    x, y = firefox.run(
        "(() => { const map = document.querySelector('.ld').map, box = map.over.getBoundingClientRect(), "
        "[x, y] = map.screen(3); return [x + box.left, y + box.top]; })()"
    )
    firefox.move(x, y)
    firefox.until("!document.querySelector('.ld-tip').hidden")
    assert "height" in firefox.run("document.querySelector('.ld-tip').textContent")


def test_the_live_page_moves_with_a_slider_and_is_judged(firefox):
    X, codes = blobs()
    with Page(firefox, session_of(X, codes, method="laplacian-eigenmaps")) as page:
        page.rest(1)
        firefox.run("document.getElementById('lx-n_neighbors').focus()")
        for _ in range(10):
            firefox.press("ArrowRight")
        wanted = page.run("page.controls.values.n_neighbors")
        page.rest(2, n_neighbors=wanted)
        state = page.session.strip.states[-1]
        assert state.setting.parameters["n_neighbors"] == wanted
        recall = neighbor_recall(X, state.coordinates, 15).mean()
        assert page.text("recall").startswith(f"{100 * recall:.1f} %")
        page.slide("n_neighbors", 0.2)
        moved = page.run("page.controls.values.n_neighbors")
        assert moved != wanted
        page.rest(3, n_neighbors=moved)
        page.click(".lx-settle")
        page.until("page.map.root.querySelector('.ld-badge').textContent === 'settled'")
        assert firefox.problems == []
