"""Several embeddings of the same points on one page: a slider moves the points between them."""

from __future__ import annotations

import csv
import io
from itertools import pairwise

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError

COUNT = 60
PLACES = "[...document.querySelector('.ld').map.points]"


def course():
    """Positions and embeddings, of widths that differ as those of a family do."""
    rng = np.random.default_rng(0)
    start = rng.standard_normal((COUNT, 2))
    return [(0.0, 20.0 * start), (0.5, 3.0 * start[:, ::-1]), (2.0, 0.01 * rng.standard_normal((COUNT, 2)))]


@pytest.fixture(scope="module")
def moving(tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "family.html"
    lowdim.plot(course(), np.arange(COUNT) % 3, path=path, title="Family")
    return path


def placed(frame):
    """Centred, the widest axis from -1 to 1."""
    low, high = frame.min(axis=0), frame.max(axis=0)
    return (frame - (low + high) / 2) / ((high - low).max() / 2)


def where(browser):
    """Places on the map, what is said of them, and what a screen reader is told."""
    points = np.array(browser.run(PLACES)).reshape(-1, 2)
    told = browser.run("document.querySelector('.ld-where').textContent")
    assert browser.run("document.querySelector('.ld-frame').getAttribute('aria-valuetext')") == told
    return points, told


def slide(browser, value):
    browser.run(
        "(() => { const slider = document.querySelector('.ld-frame'); "
        f"slider.value = {value}; slider.dispatchEvent(new Event('input')); }})()"
    )
    browser.settle()


def test_the_slider_moves_points_from_frame_to_frame(browser, moving):
    browser.open(moving)
    assert browser.run("document.querySelector('.ld').dataset.state") == "ready"
    frames = [placed(frame) for _, frame in course()]
    pictures = []
    for value, wanted, words in (
        (0, frames[0], "position 0"),
        (0.25, 0.75 * frames[0] + 0.25 * frames[1], "between position 0 and position 0.5"),
        (1, frames[1], "position 0.5"),
        (1.5, 0.5 * (frames[1] + frames[2]), "between position 0.5 and position 2"),
        (2, frames[2], "position 2"),
    ):
        slide(browser, value)
        points, told = where(browser)
        np.testing.assert_allclose(points, wanted, atol=1e-5)
        assert told == words
        pictures.append(browser.picture()[100:700, 100:850])
    assert all((first != second).any() for first, second in pairwise(pictures))
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [moving.as_uri()]


def test_keys_move_the_slider(browser, moving):
    browser.open(moving)
    frames = [placed(frame) for _, frame in course()]
    for key, at in ((".", 1), (".", 2), (".", 2), (",", 1)):
        browser.press(key)
        np.testing.assert_allclose(where(browser)[0], frames[at], atol=1e-5)
    browser.run("document.querySelector('.ld-frame').focus()")
    browser.press("ArrowRight", windowsVirtualKeyCode=39)
    points, told = where(browser)
    assert told == "between position 0.5 and position 2"
    np.testing.assert_allclose(points, 0.95 * frames[1] + 0.05 * frames[2], atol=1e-5)
    browser.press(",")  # the slider takes keys itself
    browser.run("document.activeElement.blur()")
    browser.press(",")
    np.testing.assert_allclose(where(browser)[0], frames[1], atol=1e-5)


def test_what_is_selected_is_saved_with_the_nearest_frame(browser, moving):
    browser.open(moving)
    slide(browser, 1.05)
    browser.run("(() => { const map = document.querySelector('.ld').map; map.selected[4] = 1; })()")
    text = browser.run("document.querySelector('.ld').panel.csv()")
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    np.testing.assert_allclose([float(row["x"]), float(row["y"])], course()[1][1][4], rtol=1e-5)


def test_one_embedding_has_no_slider(browser, tmp_path):
    path = tmp_path / "one.html"
    lowdim.plot(course()[0][1], path=path)
    browser.open(path)
    assert browser.run("document.querySelector('.ld-frame')") is None
    browser.press(".")
    assert browser.run("document.querySelector('.ld').dataset.tool") == "pan"
    assert browser.problems == []


def test_frames_that_cannot_move(tmp_path):
    frames = course()
    with pytest.raises(InputError, match="as many dimensions each"):
        lowdim.plot({"a": frames[0][1], "b": frames[1][1][:, :1]}, path=tmp_path / "p.html")
    with pytest.raises(InputError, match="all must show the same points"):
        lowdim.plot({"a": frames[0][1], "b": frames[1][1][:9]}, path=tmp_path / "p.html")
