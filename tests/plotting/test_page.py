"""The interactive page in a real browser: it loads from disk, draws, tells, selects and exports, and asks nobody."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import lowdim
from lowdim.plotting import Page, write_report

HOSTILE = (
    '</script><img src="https://example.org/x" onerror="window.broken = 1"><script>window.broken = 1</script>'
)


def blobs(count, n_dimensions=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(count) % 4
    middles = np.array([[0, 0, 0], [8, 0, 3], [0, 8, -3], [8, 8, 0]])[:, :n_dimensions]
    return middles[codes] + rng.standard_normal((count, n_dimensions)), codes


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A page with every kind of column, a hostile one among them."""
    points, codes = blobs(400)
    path = tmp_path_factory.mktemp("page") / "small.html"
    columns = {
        "height": np.where(np.arange(400) == 7, np.nan, points[:, 1]),
        "count": np.arange(400) * 1_000_003,
        "half": np.arange(400) < 200,
        "hostile": [HOSTILE if row == 3 else f"text {row}" for row in range(400)],
    }
    images = np.zeros((400, 8, 8))
    images[np.arange(400), np.arange(400) % 8, :] = 1.0
    names = np.array(["ant", "bee", "cat, big", HOSTILE])[codes]
    lowdim.plot(
        points,
        names,
        path=path,
        title=f"A map {HOSTILE}",
        columns=columns,
        ids=[f"p-{row}" for row in range(400)],
        images=images,
    )
    return path, points, codes


def place_of(browser, row):
    """Where a point is on the screen."""
    return browser.run(
        "(() => { const map = document.querySelector('.ld').map, box = map.over.getBoundingClientRect(), "
        f"[x, y] = map.screen({row}); return [x + box.left, y + box.top]; }})()"
    )


def text_of(browser, name):
    return browser.run(f"document.querySelector('.ld-{name}').textContent")


def click(browser, selector):
    browser.run(f"document.querySelector({selector!r}).click()")
    browser.settle()


def assert_clean(browser, path):
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [path.as_uri()]
    assert browser.run("document.querySelector('.ld').dataset.state") == "ready"
    assert browser.run("window.broken") is None


def map_pixels(browser):
    """The part of the picture with the points, without tools and panel."""
    return browser.picture()[100:700, 100:850]


@pytest.mark.parametrize("dark", [False, True])
def test_it_loads_and_draws(browser, small, dark):
    path, _, _ = small
    browser.open(path, dark=dark)
    assert_clean(browser, path)
    assert browser.run("document.querySelector('.ld').map.painter.constructor.name") == "GraphicsPainter"
    pixels = map_pixels(browser)
    ground = [21, 24, 29] if dark else [255, 255, 255]
    share = np.mean(np.any(pixels != ground, axis=2))
    assert 0.005 < share < 0.5
    colours = {tuple(row) for row in pixels.reshape(-1, 3)}
    assert len(colours) > 50
    assert browser.run("document.title").startswith("A map </script>")
    assert browser.run("document.querySelectorAll('.ld-classes button').length") == 4
    assert browser.run("document.querySelectorAll('img, iframe').length") == 0


def test_it_draws_without_webgl(plain_browser, small):
    path, _, _ = small
    plain_browser.open(path)
    assert_clean(plain_browser, path)
    assert plain_browser.run("document.querySelector('.ld').map.painter.constructor.name") == "PlainPainter"
    assert np.mean(np.any(map_pixels(plain_browser) < 200, axis=2)) > 0.005


def test_hover_tells_everything(browser, small):
    path, points, _ = small
    browser.open(path)
    for row in (3, 7):
        browser.run(f"document.querySelector('.ld').map.look({row})")
        browser.move(10, 790)
        browser.move(*place_of(browser, row))
        told = browser.run(
            "[...document.querySelectorAll('.ld-tip dt')].map(d => [d.textContent, d.nextSibling.textContent])"
        )
        told = dict(told)
        assert told["id"] == f"p-{row}"
        assert told["label"] == HOSTILE
        assert told["count"] == str(row * 1_000_003)
        assert told["half"] == "True"
        assert told["hostile"] == (HOSTILE if row == 3 else "text 7")
        assert told["height"] == "" if row == 7 else float(told["height"]) == pytest.approx(points[row, 1])
    browser.run("document.querySelector('.ld').panel.tip.sheets[0].decode()")
    browser.settle()
    shades = browser.run(
        "(() => { const pen = document.querySelector('.ld-thumbnail').getContext('2d'); "
        "const { data } = pen.getImageData(0, 0, 8, 8); "
        "return [...Array(8).keys()].map(line => data[4 * 8 * line]); })()"
    )
    assert shades == [255 if line == 7 else 0 for line in range(8)]
    browser.move(10, 790)
    assert browser.run("document.querySelector('.ld-tip').hidden")
    before = map_pixels(browser)
    browser.run("document.querySelector('.ld-over').focus()")
    browser.press("i")
    assert browser.run("document.querySelector('[data-do=pictures]').ariaPressed") == "true"
    assert np.mean(np.all(map_pixels(browser) == 0, axis=2)) > np.mean(np.all(before == 0, axis=2)) + 0.05
    assert_clean(browser, path)


def test_lasso_selects_and_exports(browser, small, tmp_path):
    path, points, codes = small
    browser.open(path)
    browser.downloads_to(tmp_path)
    click(browser, "[data-do=lasso]")
    corners = points[codes == 0].min(axis=0) - 0.4, points[codes == 0].max(axis=0) + 0.4
    (left, bottom), (right, top) = corners
    inside = np.flatnonzero(((points > corners[0]) & (points < corners[1])).all(axis=1))
    outline = [(left, bottom), (right, bottom), (right, top), (left, top)]
    browser.drag([screen_of(browser, points, at) for at in outline])
    assert text_of(browser, "chosen").startswith(f"{inside.size} of 400 selected (")
    click(browser, ".ld-save")
    saved = (
        tmp_path
        / "a-map-script-img-src-https-example-org-x-onerror-window-broken-1-script-window-broken-1-script-selection.csv"
    )
    assert browser.finish_download() == "completed"
    rows = list(csv.DictReader(io.StringIO(saved.read_text(encoding="utf-8"), newline="")))
    assert [int(row["row"]) for row in rows] == inside.tolist()
    assert [row["id"] for row in rows] == [f"p-{row}" for row in inside]
    assert {row["label"] for row in rows} == {
        ["ant", "bee", "cat, big", HOSTILE][code] for code in codes[inside]
    }
    np.testing.assert_allclose(
        [[float(row["x"]), float(row["y"])] for row in rows], points[inside], rtol=1e-5
    )
    assert [int(row["count"]) for row in rows] == (inside * 1_000_003).tolist()
    browser.drag([screen_of(browser, points, at) for at in [(7, 7), (9, 7), (9, 9), (7, 9)]], modifiers=8)
    assert int(text_of(browser, "chosen").split()[0]) > inside.size
    click(browser, ".ld-clear")
    assert text_of(browser, "chosen").startswith("Nothing selected")
    assert browser.run("document.querySelector('.ld-save').disabled")
    assert_clean(browser, path)


def screen_of(browser, points, at):
    """Where a place of the embedding is on the screen: the map is linear, so two points tell."""
    here, there = (np.array(place_of(browser, row)) for row in (0, 3))
    step = (there - here) / (points[3] - points[0])
    return tuple(here + (np.asarray(at) - points[0]) * step)


def test_colours_and_their_key(browser, small):
    path, points, codes = small
    browser.open(path)
    marks = "[...document.querySelector('.ld').map.paints].filter((_, at) => at % 4 === 3)"
    click(browser, ".ld-classes button:nth-child(2)")
    hidden = np.array(browser.run(marks)) == 0
    np.testing.assert_array_equal(hidden, np.sort(np.unique(codes))[1] == codes_in_order(codes))
    assert browser.run("document.querySelector('.ld-classes button:nth-child(2)').ariaPressed") == "false"
    click(browser, ".ld-link")
    assert 0 not in browser.run(marks)
    browser.run(
        "document.querySelector('.ld-classes button').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"
    )
    assert np.sum(np.array(browser.run(marks)) > 0) == 100
    browser.run(
        "(() => { const by = document.querySelector('.ld-by'); "
        "by.value = 'height'; by.dispatchEvent(new Event('change')); })()"
    )
    browser.settle()
    assert 0 not in browser.run(marks)
    ticks = browser.run("[...document.querySelectorAll('.ld-ticks span')].map(s => Number(s.textContent))")
    low, high = np.delete(points[:, 1], 7).min(), np.delete(points[:, 1], 7).max()
    assert ticks == pytest.approx([low, (low + high) / 2, high], rel=1e-3)
    assert "missing: 1" in text_of(browser, "key")
    paints = np.array(browser.run("[...document.querySelector('.ld').map.paints]")).reshape(-1, 4)
    assert paints[7, :3].tolist() == [204, 204, 204]
    assert paints[np.argmin(np.where(np.arange(400) == 7, np.inf, points[:, 1])), :3].tolist() == [68, 1, 84]
    assert browser.run("[...document.querySelectorAll('.ld-by option')].map(o => o.textContent)") == [
        "label",
        "height",
        "count",
        "half",
    ]
    assert_clean(browser, path)


def codes_in_order(codes):
    """Codes among the names in order: the hostile one sorts first."""
    return np.array([1, 2, 3, 0])[codes]


def test_search_and_keys(browser, small):
    path, _, _ = small
    browser.open(path)
    browser.run("document.querySelector('.ld-over').focus()")
    browser.press("/")
    assert browser.run("document.activeElement.className") == "ld-search"
    for letter in "P-39":
        browser.press(letter)
    assert text_of(browser, "found") == "11 of 400 found"
    browser.press("Enter", windowsVirtualKeyCode=13)
    assert browser.run("document.querySelector('.ld').map.hovered") == 39
    assert "p-39" in text_of(browser, "live")
    browser.run("document.querySelector('.ld-over').focus()")
    browser.press("n")
    assert browser.run("document.querySelector('.ld').map.hovered") == 390
    browser.press("b")
    assert browser.run("document.querySelector('.ld').map.hovered") == 39
    browser.press("Escape")
    assert text_of(browser, "found") == ""
    before = browser.run("({...document.querySelector('.ld').map.view})")
    browser.press("+")
    browser.press("ArrowLeft")
    after = browser.run("({...document.querySelector('.ld').map.view})")
    assert after["scale"] == pytest.approx(1.4 * before["scale"])
    assert after["x"] < before["x"]
    browser.press("l")
    assert browser.run("document.querySelector('[data-do=lasso]').ariaPressed") == "true"
    browser.press("t")
    assert browser.run("document.querySelector('[data-do=names]').ariaPressed") == "false"
    assert_clean(browser, path)


def test_zoom_and_move(browser, small):
    path, _, _ = small
    browser.open(path)
    at = place_of(browser, 0)
    browser.wheel(*at, -500)
    assert place_of(browser, 0) == pytest.approx(at, abs=4)
    first, second = place_of(browser, 0), place_of(browser, 3)
    browser.drag([(400, 400), (430, 420), (460, 450)])
    assert place_of(browser, 0) == pytest.approx([first[0] + 60, first[1] + 50], abs=1)
    click(browser, "[data-do=fit]")
    assert place_of(browser, 0) == pytest.approx(at, abs=0.5)
    assert np.hypot(*np.subtract(second, first)) > np.hypot(*np.subtract(place_of(browser, 3), at))
    click(browser, "[data-do=theme]")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    assert np.median(browser.picture()[:, :900]) < 60
    assert_clean(browser, path)


@pytest.mark.parametrize("n_dimensions", [1, 3])
def test_lines_and_space(browser, tmp_path, n_dimensions):
    points, codes = blobs(300, n_dimensions)
    path = tmp_path / "p.html"
    lowdim.plot(points, codes, path=path)
    browser.open(path)
    assert_clean(browser, path)
    assert np.mean(np.any(map_pixels(browser) != 255, axis=2)) > 0.002
    first, second = np.array(place_of(browser, 0)), np.array(place_of(browser, 1))
    browser.drag([(400, 400), (430, 400), (460, 430)])
    turned = np.array(place_of(browser, 1)) - place_of(browser, 0)
    moved = not np.allclose(turned, second - first, atol=1)
    assert moved == (n_dimensions == 3)


@pytest.mark.slow
def test_seventy_thousand_points(browser, tmp_path):
    points, codes = blobs(70_000)
    path = tmp_path / "many.html"
    page = lowdim.plot(points, codes, path=path, columns={"x": points[:, 0]}, ids=np.arange(70_000))
    assert isinstance(page, Page)
    assert path.stat().st_size < 2_500_000
    browser.open(path)
    assert_clean(browser, path)
    assert np.mean(np.any(map_pixels(browser) != 255, axis=2)) > 0.2
    browser.move(*place_of(browser, 12_345))
    assert browser.run("document.querySelector('.ld').map.hovered") >= 0
    click(browser, "[data-do=lasso]")
    browser.drag([(150, 20), (900, 20), (900, 790), (150, 790)])
    assert int(text_of(browser, "chosen").split()[0].replace(",", "")) > 60_000


def test_narrow_screens(browser, small):
    path, _, _ = small
    browser.open(path, width=400, height=800, ratio=2)
    assert_clean(browser, path)
    box = browser.run(
        "(() => { const b = document.querySelector('.ld-map').getBoundingClientRect(); return [b.width, b.height]; })()"
    )
    assert box[0] == 400
    assert box[1] > 350
    assert browser.run("document.documentElement.scrollWidth") <= 400


def test_what_cannot_be_shown_is_said(browser, small, tmp_path):
    path, _, _ = small
    broken = tmp_path / "broken.html"
    html = path.read_text(encoding="utf-8")
    at = html.index('class="ld-data">') + 40
    broken.write_text(html[:at] + "AAAA" + html[at + 4 :], encoding="utf-8")
    browser.open(broken)
    assert browser.run("document.querySelector('.ld').dataset.state") == "failed"
    assert "cannot show the map" in text_of(browser, "state")


def test_keys_need_no_click_and_no_small_letters(browser, small):
    """They were heard by the map only once it had been clicked, and Shift or Caps Lock made them dead."""
    path, _, _ = small
    browser.open(path)
    shown = "document.querySelector('.ld').map.showPictures"
    assert browser.run("document.activeElement === document.body")
    browser.press("i")
    assert browser.run(shown) is True
    browser.press("I", modifiers=8)
    assert browser.run(shown) is False
    browser.press("L", modifiers=8)
    assert browser.run("document.querySelector('.ld').map.tool") == "lasso"
    before = browser.run("document.querySelector('.ld').map.view.scale")
    browser.press("+")
    assert browser.run("document.querySelector('.ld').map.view.scale") > before
    browser.run("document.querySelector('.ld-search').focus()")
    browser.press("p")
    assert browser.run("document.querySelector('.ld').map.tool") == "lasso"
    assert browser.run("document.querySelector('.ld-search').value") == "p"


def test_a_map_in_a_longer_page_leaves_that_page_its_keys(browser, tmp_path):
    X = np.random.default_rng(0).standard_normal((50, 3))
    path = write_report(tmp_path / "report.html", lowdim.PCA().fit(X))
    browser.open(path)
    tool = "document.querySelector('.ld').map.tool"
    browser.move(5, 5)
    browser.press("l")
    assert browser.run(tool) == "pan"
    place = browser.run(
        "(() => { const box = document.querySelector('.ld-over').getBoundingClientRect(); "
        "return [box.left + 20, box.top + 60]; })()"
    )
    browser.move(*place)
    browser.press("l")
    assert browser.run(tool) == "lasso"
    before = browser.run("document.querySelector('.ld').map.view.x")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelector('.ld').map.view.x") == before
    browser.run("document.querySelector('.ld-over').focus()")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelector('.ld').map.view.x") < before


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A page of 250 classes, and one that is missing."""
    codes = np.arange(3000) % 251
    path = tmp_path_factory.mktemp("many") / "many.html"
    points = np.column_stack([codes % 15, codes // 15]) + 0.2 * np.random.default_rng(0).standard_normal(
        (3000, 2)
    )
    lowdim.plot(points, [None if code == 250 else f"c{code:03}" for code in codes], path=path)
    return path


def check_shapes(browser, path):
    browser.open(path)
    assert_clean(browser, path)
    looks = browser.run(
        "[...document.querySelectorAll('.ld-classes button')].map(entry => { const { background, clipPath } = "
        "entry.querySelector('.ld-swatch').style; return [entry.querySelector('.ld-name').textContent, background + "
        "clipPath]; })"
    )
    assert len({look for _, look in looks}) == 251
    assert looks[-1] == ["(missing)", "rgb(204, 204, 204)"]
    names = browser.run("document.querySelector('.ld').map.names.map(each => each.name)")
    assert "" not in names
    # A circle, a square and a triangle of the same size cover different shares of their square.
    browser.run(
        "document.querySelector('.ld').map.size = 40; document.querySelector('.ld').map.showNames = false"
    )
    shares = {}
    for code in (35, 110, 210):
        browser.run(f"document.querySelector('.ld').panel.alone({code})")
        browser.run("document.querySelector('.ld').map.redraw()")
        browser.settle()
        shares[code] = float(np.mean(np.any(map_pixels(browser) < 200, axis=2)))
    return shares


def test_shapes_of_many_classes(browser, many):
    shares = check_shapes(browser, many)
    assert min(shares.values()) > 0
    assert len({round(share, 6) for share in shares.values()}) == 3


@pytest.mark.slow
def test_shapes_of_many_classes_without_webgl(plain_browser, many):
    shares = check_shapes(plain_browser, many)
    assert min(shares.values()) > 0
    assert len({round(share, 6) for share in shares.values()}) == 3
