"""Three coordinates that turn, and trust as a colour, on the live page in a real browser."""

from __future__ import annotations

import numpy as np
import pytest
from live import Page
from reading import blobs, session_of

import lowdim

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")]


def turns(page):
    return page.run("[map.turn.yaw, map.turn.pitch]")


def test_three_coordinates_turn_by_mouse_and_by_keys(browser):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="pca")) as page:
        page.rest(1)
        assert page.run("map.deep") is False
        browser.run("document.getElementById('lx-n_components').focus()")
        browser.press("ArrowRight", windowsVirtualKeyCode=39)
        page.rest(2, n_components=3)
        page.until("map.deep && page.$('deep').checked && !page.$('depth').hidden")
        points = np.array([page.run(f"[...map.data.coordinates[{axis}]]") for axis in range(3)])
        wanted = lowdim.PCA(3).fit_transform(X)
        assert np.abs(np.corrcoef(points, wanted.T)[[0, 1, 2], [3, 4, 5]]) == pytest.approx(1, abs=1e-6)
        before, places = turns(page), page.run("[...map.points]")
        x, y = page.place(".lx-pane .ld-over")
        browser.drag([(x, y), (x + 60, y + 20), (x + 120, y + 40)])
        after = turns(page)
        assert after[0] != before[0]
        assert after[1] != before[1]
        assert page.run("[...map.points]") != places
        browser.run("document.activeElement.blur()")
        browser.press("ArrowLeft", windowsVirtualKeyCode=37)
        assert turns(page)[0] != after[0]
        # The next picture moves in space too, and is looked at from the same side.
        kept = turns(page)
        page.click("#lx-whiten")
        page.rest(3, whiten=True)
        assert page.run("map.deep")
        assert turns(page) == kept
        # Two coordinates by choice, also after a reload; then a state of the strip in space again.
        page.click(".lx-deep")
        page.until("!map.deep && page.$('depth').hidden")
        browser.call("Page.reload")
        browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        page.until("page.strip.cards.size >= 3")
        assert page.run("map.deep") is False
        page.click(".lx-state:nth-child(2) button")
        page.until("!page.$('axes').hidden && !page.$('deep').checked")
        page.click(".lx-deep")
        page.until("map.deep")
        assert browser.problems == []


def test_trust_is_a_colour_and_follows_the_picture(browser):
    X, codes = blobs(150)
    with Page(browser, session_of(X, codes, method="pca")) as page:
        page.rest(1)
        page.choose(".lx-trust", "p_value")
        page.until("map.panel.column.name === 'trust: p_value'")
        state = page.session.strip.states[-1]
        wanted = lowdim.trust(X, np.asarray(state.coordinates, dtype=np.float64))
        np.testing.assert_allclose(page.run("[...map.panel.column.values]"), wanted.p_value, rtol=1e-5)
        assert page.text("trusted").startswith(wanted.summary()[:40])
        assert page.run("document.querySelector('[value=perturbation]').disabled")
        page.click(".lx-settle")
        page.until("!document.querySelector('[value=perturbation]').disabled")
        page.choose(".lx-trust", "verdict")
        page.until("map.panel.column.name === 'trust: verdict'")
        # Another colour stays when the next picture is measured.
        page.choose(".lx-column", "feature 1")
        page.until("map.panel.column.name === 'feature 1'")
        page.run(
            "void (window.told = 0, ((trusted) => (page.sides.trusted = (message) => { told += 1;"
            " trusted.call(page.sides, message) }))(page.sides.trusted))"
        )
        page.choose(".lx-method", "isomap")
        page.until("window.told > 0")
        assert page.run("map.panel.column.name") == "feature 1"
        assert browser.problems == []
