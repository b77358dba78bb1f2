"""Thumbnails on a static map: apart from each other, and at their points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import lowdim
from lowdim.plotting.thumbnails import spread_out


def test_places_stand_apart():
    places = np.random.default_rng(0).random((2000, 2)) * 100
    rows = spread_out(places, 9.0, most=1000)
    for one, other in itertools.combinations(places[rows], 2):
        assert np.abs(one - other).max() >= 9.0
    clear = np.abs(places[:, None] - places[rows][None]).max(axis=2)
    assert (clear < 9.0).any(axis=1).all()
    assert spread_out(places, 9.0, most=5).size == 5


@pytest.mark.parametrize("kind", ["strokes", "photographs", "colours"])
def test_pictures_on_the_map(kind, tmp_path):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((300, 2))
    images = rng.random((300, 64))
    if kind == "strokes":
        images = images * (images > 0.7)
    elif kind == "colours":
        images = rng.random((300, 8, 8, 3))
    figure = lowdim.plot(points, np.arange(300) % 3, images=images, path=tmp_path / "p.png")
    (axes,) = figure.axes
    boxes = [child for child in axes.get_children() if type(child).__name__ == "AnnotationBbox"]
    assert 20 < len(boxes) <= 250
    rows = [int(np.flatnonzero((points == box.xy).all(axis=1))[0]) for box in boxes]
    assert len(set(rows)) == len(rows)
    extents = [box.offsetbox.get_window_extent() for box in boxes]
    for one, other in itertools.combinations(extents, 2):
        assert not (one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1)


def test_pictures_need_a_plane():
    figure = lowdim.plot(
        np.random.default_rng(0).random((20, 3)), images=np.random.default_rng(1).random((20, 4, 4))
    )
    assert not [child for child in figure.axes[0].get_children() if type(child).__name__ == "AnnotationBbox"]
