"""The live page in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from browser import SOFTWARE, Browser, find
from reading import blobs, session_of

from lowdim.explore.server import Server
from lowdim.metrics.neighbor_recall import neighbor_recall

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
HOSTILE = (
    '</script><img src="https://example.org/x" onerror="window.broken = 1"><script>window.broken = 1</script>'
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if sys.platform == "win32":
        pytest.skip("the pipe to the browser is one of POSIX")
    if find() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, or brew install --cask chromium")
    try:
        started = Browser(tmp_path_factory.mktemp("browser"), SOFTWARE)
    except OSError as error:
        pytest.skip(f"Chromium does not start here: {error}")
    yield started
    started.close()


class Page:
    """A server and its page in the browser."""

    def __init__(self, browser, session):
        self.browser, self.session, self.server = browser, session, Server(session).start()
        browser.problems.clear()
        browser.requests.clear()
        size = {"width": 1300, "height": 850, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        browser.call("Page.navigate", url=self.server.address)
        self.until("document.querySelector('.lx')?.dataset.state === 'ready'")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Page.navigate", url="about:blank")
        self.server.close()

    def run(self, code):
        return self.browser.run(
            f"(() => {{ const page = document.getElementById('explorer').explorer; return {code} }})()"
        )

    def until(self, code):
        self.browser.until(
            f"(() => {{ const page = document.getElementById('explorer')?.explorer; return {code} }})()"
        )

    def text(self, name):
        return self.run(f"page.$('{name}').textContent")

    def click(self, selector, **more):
        place = self.browser.run(
            f"(() => {{ const at = document.querySelector({selector!r}); at.scrollIntoView({{block: 'center'}});"
            " const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()"
        )
        self.browser.drag([place, place], **more)

    def states(self):
        return self.run("page.strip.cards.size")

    def rest(self, count):
        """Wait until so many states are in the film-strip and the last is judged."""
        self.until(
            f"page.strip.cards.size >= {count} && [...page.strip.cards.values()].at(-1).state.recall !== null"
        )


def test_an_embedding_appears_moves_with_a_slider_and_is_judged(browser):
    X, codes = blobs()
    names = np.array(["ant", HOSTILE, "cat"])[codes]
    with Page(browser, session_of(X, names, method="laplacian-eigenmaps")) as page:
        page.rest(1)
        assert browser.run("location.href") == f"{page.server.guard.origin}/"
        assert browser.run("document.referrer") == ""
        assert page.run("page.map.count") == 120
        # By keyboard: the slider of n_neighbors one step to the right.
        browser.run("document.getElementById('lx-n_neighbors').focus()")
        for _ in range(30):
            browser.press("ArrowRight", windowsVirtualKeyCode=39)
        wanted = page.run("page.controls.values.n_neighbors")
        last = "[...page.strip.cards.values()].at(-1).state"
        page.until(f"{last}.parameters.n_neighbors === {wanted} && {last}.recall !== null")
        state = page.session.strip.states[-1]
        assert state.setting.parameters["n_neighbors"] == wanted
        recall = neighbor_recall(X, state.coordinates, 15).mean()
        assert page.text("recall").startswith(f"{100 * recall:.1f} %")
        # The positions that are drawn are those of the session, to sixteen bits.
        points = np.array(page.run("[...page.map.data.coordinates[0]]"))
        shown = page.session.shown[:, 0]
        assert np.corrcoef(points, shown)[0, 1] > 0.999999
        # By mouse: settle, then the lines that make it again.
        page.click(".lx-settle")
        page.until("page.map.root.querySelector('.ld-badge').textContent === 'settled'")
        page.click("[data-export=python]")
        page.until("!page.$('lines').hidden")
        assert f"n_neighbors={wanted}" in page.text("lines")
        assert "token" not in browser.run("location.href")
        assert f"n_neighbors%22%3A{wanted}" in browser.run("location.hash")
        assert browser.run("window.broken") is None
        assert [
            url for url in browser.requests if not url.startswith((page.server.guard.origin, "data:"))
        ] == []
        assert browser.problems == []
