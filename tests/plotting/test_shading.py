"""Density shading: every point counts, and colours survive."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError
from lowdim.plotting.colours import colouring
from lowdim.plotting.labels import named
from lowdim.plotting.palette import palette
from lowdim.plotting.shading import shade


def tints_of(labels, count):
    return colouring(named(labels), count, continuous=None, scale=None)


def test_a_pixel_has_the_mean_colour_of_its_points():
    rng = np.random.default_rng(0)
    points = rng.random((20_000, 2)) * [4.0, 3.0]
    codes = (points[:, 0] > 2.0).astype(int)
    raster = shade(points, tints_of(codes, 20_000), 40, 30)
    assert raster.pixels.shape == (30, 40, 4)
    left, right, bottom, top = raster.extent
    assert (left < points[:, 0].min(), right > points[:, 0].max()) == (True, True)
    assert (right - left) / 40 == pytest.approx((top - bottom) / 30)
    filled = raster.pixels[..., 3] > 0
    assert filled.mean() > 0.9
    middle = round((2.0 - left) / (right - left) * 40)
    for columns, colour in ((slice(0, middle - 1), palette(2)[0]), (slice(middle + 1, 40), palette(2)[1])):
        pixels = raster.pixels[:, columns][filled[:, columns]]
        np.testing.assert_allclose(pixels[:, :3], np.broadcast_to(colour, (len(pixels), 3)), atol=1e-12)


def test_more_points_are_more_opaque():
    points = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 10, 100, 1000], axis=0)
    pixels = shade(points, tints_of(None, 1111), 2, 2).pixels[..., 3]
    assert 0 < pixels[0, 0] < pixels[0, 1] < pixels[1, 0] < pixels[1, 1] == 1.0


def test_lonely_points_are_spread():
    points = np.random.default_rng(0).random((50, 2))
    assert np.sum(shade(points, tints_of(None, 50), 200, 200).pixels[..., 3] > 0) > 50 * 6


def test_evenly_filled():
    points = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    pixels = shade(points, tints_of(None, 64), 8, 8).pixels[..., 3]
    np.testing.assert_array_equal(pixels, np.ones((8, 8)))


def test_points_in_one_place():
    raster = shade(np.zeros((10, 2)), tints_of(None, 10), 8, 8)
    assert np.isfinite(raster.pixels).all()
    assert raster.pixels[..., 3].max() > 0.5


@pytest.mark.parametrize("n_dimensions", [1, 2, 3])
def test_very_many_points(n_dimensions, tmp_path):
    points = np.random.default_rng(0).standard_normal((100_001, n_dimensions))
    figure = lowdim.plot(points, np.arange(100_001) % 3, path=tmp_path / "p.png")
    axes = figure.axes[0]
    assert len(axes.images) == (n_dimensions < 3)
    assert len(axes.collections) == (n_dimensions == 3)
    for image in axes.images:
        left, right, bottom, top = image.get_extent()
        assert left <= points[:, 0].min() < points[:, 0].max() <= right
        assert bottom < top
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 3


def test_density_can_be_asked_for():
    points = np.random.default_rng(0).standard_normal((50, 2))
    assert len(lowdim.plot(points, density=True).axes[0].images) == 1
    assert len(lowdim.plot(points, density="auto").axes[0].images) == 0
    with pytest.raises(InputError, match="density"):
        lowdim.plot(points, density="much")
    line = np.zeros(20)
    assert len(lowdim.plot(line, density=True).axes[0].images) == 1
