"""What the page says of a selection, and maps beside each other, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest
from test_page import blobs, click, screen_of, text_of

import lowdim
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.explanation.contrasts import contrast


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Four groups of points, one of which is told apart by a quantity, a class and a stroke in its pictures."""
    points, codes = blobs(400)
    rng = np.random.default_rng(0)
    columns = {
        "width": rng.standard_normal(400) + 3.0 * (codes == 0),
        "legs": rng.integers(0, 40, 400) + 10 * (codes == 0),
        "noise": np.where(np.arange(400) == 5, np.nan, rng.standard_normal(400)),
    }
    images = np.zeros((400, 8, 8))
    images[:, 2, :] = 1.0
    images[codes == 0, 5, :] = 1.0
    images[codes == 0, 2, :] = 0.0
    path = tmp_path_factory.mktemp("page") / "page.html"
    names = np.array(["ant", "bee", "cat", "dog"])[codes]
    lowdim.plot(points, names, path=path, columns=columns, images=images)
    return path, points, codes, columns


def select(browser, codes):
    """Select the first group by its rows."""
    rows = np.flatnonzero(codes == 0).tolist()
    browser.run(
        f"(() => {{ const map = document.querySelector('.ld').map; for (const row of {rows}) map.selected[row] = 1; "
        "map.emit('selected'); })()"
    )


def effects(browser):
    return browser.run(
        "[...document.querySelectorAll('.ld-effects li')].map(line => [line.querySelector('.ld-name').textContent, "
        "Number(line.querySelector('.ld-number').textContent.replace('−', '-'))])"
    )


def test_the_rows_of_a_selection_are_a_table(browser, page):
    path, _, codes, columns = page
    browser.open(path)
    assert browser.run("document.querySelector('.ld-rows').hidden")
    select(browser, codes)
    assert browser.run("document.querySelectorAll('.ld-table tr').length") == 0  # nobody looks
    click(browser, ".ld-rows summary")
    browser.until("document.querySelectorAll('.ld-table tr').length === 51")
    heads = browser.run("[...document.querySelectorAll('.ld-table th')].map((cell) => cell.textContent)")
    assert heads == ["row", "label", "width", "legs", "noise"]
    rows = np.flatnonzero(codes == 0)
    cells = browser.run(
        "[...document.querySelectorAll('.ld-table tr')[3].cells].map((cell) => cell.textContent)"
    )
    assert cells[:2] == [str(rows[2]), "ant"]
    assert float(cells[2]) == pytest.approx(columns["width"][rows[2]], rel=1e-6)
    assert cells[3] == str(columns["legs"][rows[2]])
    assert "and 50 more" in text_of(browser, "table")
    click(browser, ".ld-table tbody tr:nth-child(3) button")
    assert browser.run("document.querySelector('.ld').map.hovered") == rows[2]
    click(browser, ".ld-clear")
    assert browser.run("document.querySelector('.ld-rows').hidden")
    assert browser.problems == []


def test_a_selection_is_told_apart(browser, page):
    path, _, codes, columns = page
    browser.open(path)
    assert browser.run("document.querySelector('.ld-apart').hidden")
    select(browser, codes)
    found = dict(effects(browser))
    assert found["label: ant"] == pytest.approx(1 / np.sqrt(0.25 * 0.75), abs=0.02)
    assert list(found) == sorted(found, key=lambda name: -abs(found[name]))
    counts = contrast(Rows(columns["legs"][:, None].astype(float)), codes == 0, codes != 0, 0.95)
    assert found["legs"] == pytest.approx(counts.effect[0], abs=0.006)
    inside = codes == 0
    wanted = contrast(Rows(columns["width"][:, None]), inside, ~inside, 0.95)
    assert found["width"] == pytest.approx(wanted.effect[0], abs=0.006)
    known = ~np.isnan(columns["noise"])
    noise = contrast(Rows(columns["noise"][known, None]), inside[known], ~inside[known], 0.95)
    assert found["noise"] == pytest.approx(noise.effect[0], abs=0.006)
    titles = browser.run("[...document.querySelectorAll('.ld-effects li')].map(line => line.title)")
    title = titles[list(found).index("width")]
    assert f"{wanted.low[0]:.2f} to {wanted.high[0]:.2f}" in title
    click(browser, ".ld-clear")
    assert browser.run("document.querySelector('.ld-apart').hidden")
    assert browser.problems == []


def test_pictures_are_told_apart_as_a_picture(browser, page):
    path, _, codes, _ = page
    browser.open(path)
    select(browser, codes)
    browser.run("document.querySelector('.ld').panel.pictured")
    shades = browser.run(
        "(() => { const canvas = document.querySelector('.ld-difference'); const { data } = canvas.getContext('2d')"
        ".getImageData(0, 0, canvas.width, canvas.height); return [2, 4, 5].map(line => "
        "[...data.slice(4 * 8 * line, 4 * 8 * line + 3)]); })()"
    )
    less, same, more = shades
    assert same == [255, 255, 255]
    assert more[0] > more[2] + 100
    assert less[2] > less[0] + 100
    assert browser.problems == []


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    points, codes = blobs(200)
    rng = np.random.default_rng(1)
    data = np.hstack([points, rng.standard_normal((200, 2))])
    found = lowdim.compare(data, {"first <b>two": points, "others": data[:, 1:3], "turned": -points})
    path = tmp_path_factory.mktemp("beside") / "beside.html"
    made = found.plot(path, labels=codes, title="Three")
    assert made.path == path
    return path, points, codes


def test_maps_beside_each_other_share_their_selection(browser, beside):
    path, points, _ = beside
    browser.open(path)
    assert browser.run("document.querySelectorAll('.ld[data-state=ready]').length") == 3
    captions = browser.run("[...document.querySelectorAll('.ld-caption')].map(p => p.textContent)")
    assert captions == ["first <b>two", "others", "turned"]
    assert (
        browser.run(
            "[...document.querySelectorAll('.ld-panel')].filter(panel => panel.offsetWidth > 0).length"
        )
        == 1
    )
    click(browser, "[data-do=lasso]")
    low, high = points.min(axis=0) - 0.2, np.array([4.0, 4.0])
    outline = [low, (high[0], low[1]), high, (low[0], high[1])]
    browser.drag([screen_of(browser, points, at) for at in outline])
    inside = ((points > low) & (points < high)).all(axis=1)
    chosen = browser.run("[...document.querySelectorAll('.ld')].map(root => [...root.map.selected])")
    for one in chosen:
        np.testing.assert_array_equal(np.array(one, bool), inside)
    told = browser.run("[...document.querySelectorAll('.ld')].at(-1).querySelector('.ld-chosen').textContent")
    assert told.startswith(f"{inside.sum()} of 200 selected (")
    browser.run("[...document.querySelectorAll('.ld')].at(-1).querySelector('.ld-clear').click()")
    assert text_of(browser, "chosen").startswith("Nothing selected")
    assert browser.problems == []


@pytest.mark.slow
def test_colours_and_the_point_looked_at_are_those_of_all_maps(browser, beside):
    path, _, _ = beside
    browser.open(path)
    browser.run(
        "(() => { const root = [...document.querySelectorAll('.ld')].at(-1); const by = root.querySelector('.ld-by'); "
        "by.value = 'label'; by.dispatchEvent(new Event('change')); root.map.look(17); })()"
    )
    browser.settle()
    paints = browser.run("[...document.querySelectorAll('.ld')].map(root => root.map.paints.join())")
    assert len(set(paints)) == 1
    assert len(set(paints[0].split(","))) > 4
    assert browser.run("[...document.querySelectorAll('.ld')].map(root => root.map.hovered)") == [17, 17, 17]
    assert browser.problems == []


def test_a_page_of_more_than_three_dimensions_is_refused(tmp_path):
    data = np.random.default_rng(0).standard_normal((40, 5))
    found = lowdim.compare(data, {"one": data[:, :4], "other": data[:, 1:]})
    with pytest.raises(InputError, match="at most 3 dimensions"):
        found.plot(tmp_path / "page.html")
