"""Where things stand on the live page: on a phone, on a small screen, in the film-strip, when the session is over."""

from __future__ import annotations

import numpy as np
import pytest
from live import Page
from reading import blobs, session_of

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


def box(page, selector):
    """Left, top, right and bottom of an element on the screen."""
    return page.browser.run(
        f"(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect();"
        " return [box.left, box.top, box.right, box.bottom] })()"
    )


@pytest.fixture
def page(browser):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="laplacian-eigenmaps")) as page:
        page.rest(1)
        yield page
    browser.size(1300, 850)


def test_on_a_phone_the_map_stays_in_sight_of_every_slider(page):
    page.browser.size(390, 844)
    for name in ("lx-n_neighbors", "lx-n_components"):
        page.browser.run(f"document.getElementById('{name}').scrollIntoView({{ block: 'end' }})")
        page.browser.settle()
        _, _, _, below = box(page, ".ld-map")
        _, top, right, bottom = box(page, f"#{name}")
        assert box(page, ".ld-map")[1] == 0
        assert below <= top < bottom <= 845
        assert right <= 390
        assert page.run("map.height") > 300
    # Below the sliders come the colours, then the film-strip, and nothing is wider than the screen.
    orders = [box(page, each)[1] for each in (".lx-left", ".ld-panel", ".lx-strip")]
    assert orders == sorted(orders)
    assert page.browser.run("document.querySelector('.lx').scrollWidth") <= 390


def test_on_a_small_screen_no_point_lies_under_the_tools(page):
    page.browser.size(800, 600)
    page.browser.settle()
    tools = box(page, ".ld-tools")
    left, *_ = box(page, ".ld-over")
    across = page.run("Math.min(...Array.from({ length: map.count }, (_, row) => map.screen(row)[0]))")
    assert left + across > tools[2]
    assert box(page, ".ld-panel")[2] <= 800


def test_a_card_of_the_film_strip_says_what_is_new(page):
    page.run("void page.controls.change('n_neighbors', 9)")
    page.rest(2, n_neighbors=9)
    page.run("void page.settle()")
    page.until("page.strip.cards.size === 3")
    page.choose(".lx-method", "pca")
    page.until("page.strip.cards.size === 4")
    words = page.run(
        "[...page.strip.cards.values()].map(({ show }) => show.querySelector('span').textContent)"
    )
    assert words[1:3] == ["neighbors 9", "neighbors 9"]
    assert words[0].startswith("laplacian-eigenmaps")
    assert words[3].startswith("pca")
    titles = page.run("[...page.strip.cards.values()].map(({ show }) => show.querySelector('span').title)")
    assert titles[1].startswith("laplacian-eigenmaps, ")


def test_a_fit_that_fails_before_the_page_is_open_is_told_there(browser):
    with Page(browser, session_of(np.ones((50, 2))), opens=False) as page:
        page.session.outbox.open()
        while not (said := page.session.outbox.next()) or '"failed"' not in str(said):
            continue
        page.go(page.server.address)
        page.until("!page.$('alert').hidden")
        assert "rows are equal" in page.text("alert")
        page.choose(".lx-method", "pca")
        page.until("page.$('alert').hidden")


def test_what_is_shown_twice_is_shown_once(page):
    for selector in (".ld-panel > header", ".ld-files"):
        assert page.browser.run(f"getComputedStyle(document.querySelector('{selector}')).display") == "none"
    # Columns and features of the data are searched beside the columns of the map.
    assert page.run("map.root.contains(page.$('column'))")


def test_the_end_of_a_session_covers_no_state(page):
    page.server.close()
    page.until("page.root.dataset.state === 'lost'")
    page.browser.settle()
    assert box(page, ".lx-strip")[3] <= box(page, ".lx-cover")[1] + 1
    page.run("void page.transport.close()")
