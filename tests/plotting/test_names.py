"""Names on the map: at the medians, never over each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowdim
from lowdim.plotting.colours import colouring
from lowdim.plotting.labels import Named
from lowdim.plotting.names import Box, class_medians, place_boxes, write_names

FRAME = (0.0, 100.0, 0.0, 80.0)


def overlap(one, other):
    across = one.across + other.across - abs(one.x - other.x)
    up = one.up + other.up - abs(one.y - other.y)
    return min(across, up) > 1e-9


boxes = st.builds(
    Box,
    st.floats(0, 100),
    st.floats(0, 80),
    st.floats(0.5, 15),
    st.floats(0.5, 6),
)


@given(st.lists(boxes, max_size=25))
def test_boxes_never_overlap_and_stay_inside(wanted):
    found = place_boxes(wanted, FRAME)
    there = [box for box in found if box is not None]
    assert not any(overlap(one, other) for one, other in itertools.combinations(there, 2))
    for box in there:
        assert FRAME[0] - 1e-9 <= box.x - box.across <= box.x + box.across <= FRAME[1] + 1e-9
        assert FRAME[2] - 1e-9 <= box.y - box.up <= box.y + box.up <= FRAME[3] + 1e-9
    if wanted:
        assert found[0] is not None


def test_a_free_box_stays_where_it_is_and_a_full_frame_leaves_none():
    assert place_boxes([Box(50, 40, 5, 3)], FRAME) == [Box(50, 40, 5, 3)]
    assert place_boxes([Box(50, 40, 50, 40), Box(50, 40, 5, 3)], FRAME)[1] is None


def test_medians_and_order():
    points = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [9.0, 9.0]])
    medians, order = class_medians(points, np.array([1, 1, 1, 0]), 2)
    np.testing.assert_array_equal(medians, [[9.0, 9.0], [2.0, 3.0]])
    assert order == [1, 0]
    rng = np.random.default_rng(0)
    points, codes = rng.standard_normal((500, 2)), rng.permutation(np.arange(500) % 7)
    medians, _ = class_medians(points, codes, 7)
    expected = [np.median(points[codes == code], axis=0) for code in range(7)]
    np.testing.assert_array_equal(medians, expected)


@pytest.mark.parametrize("n_classes", [21, 200])
def test_many_classes_are_named_on_the_map(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    codes = np.arange(4000) % n_classes
    points = rng.standard_normal((n_classes, 2))[codes] * 8 + rng.standard_normal((4000, 2)) * 0.4
    figure = lowdim.plot(points, [f"kind {code}" for code in codes], path=tmp_path / "p.png")
    (axes,) = figure.axes
    assert figure.legends == []
    texts = [text for text in axes.texts if text.get_text()]
    assert len(texts) == n_classes
    shapes = [text.get_window_extent() for text in texts]
    for one, other in itertools.combinations(shapes, 2):
        assert not (one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1)
    frame = axes.get_window_extent()
    for shape in shapes:
        assert frame.x0 <= shape.x0
        assert shape.x1 <= frame.x1
        assert frame.y0 <= shape.y0
        assert shape.y1 <= frame.y1


@pytest.mark.slow
def test_names_without_room_are_counted():
    codes = np.arange(900) % 250
    figure = lowdim.plot(
        np.zeros((900, 2)) + codes[:, None] * 1e-9, [f"a long name, number {code}" for code in codes]
    )
    (axes,) = figure.axes
    assert f"{250 - len(axes.texts)} of 250 names found no room" == axes.get_xlabel()
    assert 0 < len(axes.texts) < 250


def test_nothing_to_name():
    figure = lowdim.plot(np.eye(2))
    assert write_names(figure.axes[0], np.eye(2), colouring(Named(), 2, continuous=None, scale=None)) == 0


def test_a_picture_has_no_more_names_than_it_can_hold(monkeypatch):
    """Naming 8,000 classes took four minutes: the largest are named, the others counted."""
    monkeypatch.setattr("lowdim.plotting.names.MOST_NAMES", 30)
    codes = np.concatenate([np.arange(100), np.arange(40)])
    points = np.random.default_rng(0).uniform(0, 100, (100, 2))[codes]
    (axes,) = lowdim.plot(points, [f"n{code:02}" for code in codes]).axes
    named = {text.get_text() for text in axes.texts}
    assert named <= {f"n{code:02}" for code in range(40)}
    assert 20 <= len(named) <= 30
    assert axes.get_xlabel() == f"{100 - len(named)} of 100 names found no room"


def test_what_is_missing_has_no_name_on_the_map():
    labels = [None if row % 30 == 0 else f"kind {row % 30}" for row in range(600)]
    (axes,) = lowdim.plot(np.random.default_rng(0).standard_normal((600, 2)), labels).axes
    assert len(axes.texts) == 29
    assert axes.get_xlabel() == ""
