"""Boxes, steps back, what a selection is made of, limits of colours, the page's address, names, two maps, a phone."""

from __future__ import annotations

import numpy as np
import pytest
from test_page import blobs, click, place_of, text_of

import lowdim

MAP = "document.querySelector('.ld').map"
PANEL = "document.querySelector('.ld').panel"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Four groups of points; one class has two of them, and a quantity a few very high values."""
    points, codes = blobs(400)
    skewed = np.where(np.arange(400) % 150 == 0, 1e6, np.linspace(1.0, 2.0, 400))
    kinds = np.array(["first long name of a class", "first long name of a class", "c10", "c2"])[codes]
    columns = {
        "skewed": skewed,
        "group": [f"g{code} {kind}" for code, kind in zip(codes, kinds, strict=True)],
    }
    path = tmp_path_factory.mktemp("page") / "page.html"
    lowdim.plot(points, kinds, path=path, columns=columns)
    return path, points, codes


def selected(browser):
    return np.array(browser.run(f"[...{MAP}.selectedRows()]"), dtype=int)


def test_box_others_and_steps_back(browser, page):
    path, _, codes = page
    browser.open(path)
    browser.press("r")
    assert browser.run("document.querySelector('[data-do=box]').ariaPressed") == "true"
    group = np.flatnonzero(codes == 2)
    places = np.array([place_of(browser, row) for row in group])
    low, high = places.min(axis=0) - 3, places.max(axis=0) + 3
    browser.drag([low, (low + high) / 2, high])
    np.testing.assert_array_equal(selected(browser), group)
    parts = browser.run(
        "[...document.querySelectorAll('.ld-parts li')].map(line => "
        "[line.querySelector('.ld-name').textContent, line.querySelector('.ld-number').textContent, line.title])"
    )
    assert parts == [["c10", "100 · 100 %", "100 % of all in this class"]]
    browser.press("z")
    inside = np.array([place_of(browser, row) for row in group])
    assert browser.run(f"{MAP}.viewOf().zoom") > 1.5
    assert inside.min() > 0
    assert (inside < [920, 800]).all()
    browser.press("0")
    browser.press("v")
    np.testing.assert_array_equal(selected(browser), np.flatnonzero(codes != 2))
    names = browser.run("[...document.querySelectorAll('.ld-parts .ld-name')].map(name => name.textContent)")
    assert names == ["first long name of a class", "c2"]
    others = np.array([place_of(browser, row) for row in np.flatnonzero(codes == 0)])
    browser.drag(
        [others.min(axis=0) - 3, others.mean(axis=0), others.max(axis=0) + 3], modifiers=1
    )  # Alt takes away
    np.testing.assert_array_equal(selected(browser), np.flatnonzero((codes != 2) & (codes != 0)))
    browser.press("u")
    browser.press("u")
    np.testing.assert_array_equal(selected(browser), group)
    browser.press("z", modifiers=2)
    assert selected(browser).size == 0
    browser.press("p")
    path_around = [low, (high[0], low[1]), high, (low[0], high[1]), low]
    browser.drag(path_around, modifiers=8)  # the hand with Shift is the lasso
    np.testing.assert_array_equal(selected(browser), group)
    assert browser.problems == []


def test_limits_of_colours_by_mouse_and_keyboard(browser, page):
    path, _, _ = page
    browser.open(path)
    browser.run(f"{MAP}.colourBy('skewed')")
    low, high = browser.run(f"{PANEL}.column.clip")
    assert low == pytest.approx(1.0, abs=0.01)
    assert 1.9 < high < 2.1
    assert text_of(browser, "ticks").endswith(f"≥ {high:.4g}")
    reds = "new Set([...Array(400).keys()].map(row => document.querySelector('.ld').map.paints[4 * row + 1])).size"
    assert browser.run(reds) > 50
    top = browser.run(f"{MAP}.painter.order.at(-1)")
    assert top % 150 == 0 or top > 390  # high values lie on top
    browser.run("document.querySelectorAll('.ld-handles input')[1].focus()")
    for _ in range(3):
        browser.press("ArrowRight", windowsVirtualKeyCode=39)
    assert browser.run(f"{PANEL}.column.clip[1]") > 1000
    assert browser.run(reds) < 5
    click(browser, ".ld-log")
    assert browser.run(f"{PANEL}.column.log") is True
    click(browser, ".ld-choices .ld-link")
    assert browser.run(f"{PANEL}.column.clip") == pytest.approx([low, 1e6])
    assert browser.problems == []


def test_the_address_comes_back_to_what_was_shown(browser, page):
    path, _, _ = page
    browser.open(path)
    browser.run(f"{MAP}.colourBy('group'), {PANEL}.toggle(1), {PANEL}.setTheme('dark')")
    browser.run(f"{MAP}.setView({{ x: 0.1, y: 0.2, zoom: 3 }})")
    browser.run(f"{MAP}.selectRows([4, 5, 6, 9])")
    browser.until("location.hash.includes('rows')")
    address = browser.run("location.hash")
    assert "rows=4-6.9" in address
    browser.go("about:blank")
    browser.go(path.as_uri() + address)
    browser.until("document.querySelector('.ld')?.dataset.state === 'ready'")
    browser.until(f"{MAP}.selectedRows().length")
    assert browser.run(f"[{PANEL}.column.name, ...{PANEL}.off]") == ["group", 1]
    assert selected(browser).tolist() == [4, 5, 6, 9]
    view = browser.run(f"{MAP}.viewOf()")
    assert (view["x"], view["y"], view["zoom"]) == pytest.approx((0.1, 0.2, 3))
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    for bad in ("#colour=nothing&off=99&rows=7-5.x.1e9&view=a,b&clip=1&frame=9&theme=<b>", "#%%%"):
        browser.go("about:blank")
        browser.go(path.as_uri() + bad)
        browser.until("document.querySelector('.ld')?.dataset.state === 'ready'")
        assert selected(browser).size == 0
    assert browser.problems == []


def test_names_of_pieces_in_layers_and_lines(browser, page):
    path, _, _ = page
    browser.open(path)
    names = browser.run(
        f"{MAP}.names.map(({{ name, layer = 0, x, y, lines }}) => [name, layer, x, y, lines])"
    )
    whole = [name for name, layer, *_ in names if not layer]
    assert sorted(whole) == ["c10", "c2", *["first long name of a class"] * 2]
    assert ["first long name of", "a class"] in [lines for *_, lines in names]
    shown = "new Set(document.querySelector('.ld').map.writtenNames.map(({ layer = 0 }) => layer))"
    assert browser.run(f"[...{shown}]") == [0]
    browser.run(f"{MAP}.setView({{ zoom: 4, x: {MAP}.names[0].x, y: {MAP}.names[0].y }})")
    browser.settle()
    assert 1 in browser.run(f"[...{shown}]")
    assert browser.run(
        "[...document.querySelectorAll('.ld-classes .ld-name')].map(name => name.textContent)"
    ) == [
        "c2",
        "c10",
        "first long name of a class",
    ]
    # What is said of a point stays out of its surroundings.
    browser.run(f"{MAP}.reset()")
    for row in range(0, 400, 37):
        browser.run(f"{MAP}.hover({row})")
        far = browser.run(
            "(() => { const map = document.querySelector('.ld').map, [x, y] = map.screen(map.hovered), stage = "
            "map.over.getBoundingClientRect(), box = document.querySelector('.ld-tip').getBoundingClientRect(); return "
            "Math.max(box.left - stage.left - x, x - box.right + stage.left, box.top - stage.top - y, "
            "y - box.bottom + stage.top); })()"
        )
        assert far > 40
    assert browser.problems == []


@pytest.mark.slow
def test_points_in_sight_decide_how_opaque_they_are(browser, tmp_path):
    points, _ = blobs(20_000)
    path = tmp_path / "many.html"
    lowdim.plot(points, path=path)
    browser.open(path)
    before = browser.run(f"{MAP}.shownOpacity()")
    browser.run(f"{MAP}.zoom(12, ...{MAP}.screen(0))")
    assert browser.run(f"{MAP}.shownOpacity()") > before + 0.05
    browser.press("d")
    assert browser.run("document.querySelector('[data-do=contours]').ariaPressed") == "true"
    assert browser.run(f"{MAP}.contours.map(lines => lines.length > 20)") == [True] * 4
    assert browser.problems == []


def test_two_embeddings_beside_each_other(browser, tmp_path):
    points, codes = blobs(400)
    path = tmp_path / "family.html"
    lowdim.plot({"first": points, "second": points[:, ::-1], "third": points**2}, codes, path=path)
    browser.open(path)
    assert browser.run("document.querySelectorAll('.ld-strip button').length") == 3
    browser.until("[...document.querySelectorAll('.ld-strip img')].every(image => image.src.length > 1000)")
    browser.run("document.querySelectorAll('.ld-strip button')[2].click()")
    assert text_of(browser, "where") == "third"
    browser.run(
        "document.querySelectorAll('.ld-strip button')[1].dispatchEvent(new MouseEvent('click', { shiftKey: true }))"
    )
    browser.settle()
    second = "document.querySelector('.ld-bare').map"
    main = "document.querySelector('.ld:not(.ld-bare)').map"
    browser.run(f"{main}.selectRows([1, 2, 3])")
    assert browser.run(f"[...{second}.selectedRows()]") == [1, 2, 3]
    browser.run(f"{second}.setView({{ zoom: 2 }}), {second}.hover(8)")
    assert browser.run(f"{main}.viewOf().zoom") == pytest.approx(2)
    assert browser.run(f"{main}.hovered") == 8
    assert browser.run(f"{main}.paints.every((one, at) => one === {second}.paints[at])")
    click(browser, ".ld:not(.ld-bare) [data-do=compare]")
    assert browser.run("document.querySelectorAll('.ld').length") == 1
    assert browser.problems == []


def test_a_model_says_how_the_map_was_made(browser, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 5)) * [5, 4, 1, 1, 1]
    path = tmp_path / "model.html"
    model = lowdim.PCA(n_components=2, whiten=True).fit(X)
    lowdim.plot(model, path=path, X=X)
    browser.open(path)
    told = browser.run("document.querySelector('.ld-about').textContent")
    scores = lowdim.score(X, model.embedding_)
    for text in (
        "PCA of 60 × 5",
        "whiten",
        "Eigenvalues",
        f"{scores.trustworthiness:.3f}",
        "lowdim.PCA(whiten=True)",
    ):
        assert text in told
    recall = browser.run(f"[...{PANEL}.data.columns.find(({{ name }}) => name === 'faithfulness').values]")
    np.testing.assert_allclose(recall, lowdim.metrics.neighbor_recall(X, model.embedding_), atol=1e-6)
    assert browser.problems == []


def test_a_phone_sees_the_whole_map(browser, page):
    """The toolbar covered the map."""
    path, _, _ = page
    browser.open(path, width=375, height=720, ratio=2)
    boxes = browser.run(
        "['.ld-stage', '.ld-tools', '.ld-panel'].map(name => { const box = "
        "document.querySelector(name).getBoundingClientRect(); return [box.top, box.bottom, box.width]; })"
    )
    assert [box[2] for box in boxes] == [375] * 3
    assert boxes[0][1] <= boxes[1][0] + 1
    assert boxes[1][1] <= boxes[2][0] + 1
    assert boxes[0][1] - boxes[0][0] > 330
    assert browser.run("document.documentElement.scrollWidth") <= 375
    assert browser.problems == []
