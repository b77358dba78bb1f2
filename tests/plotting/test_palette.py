"""No two classes look the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowdim.plotting import animate, plot
from lowdim.plotting.colours import class_looks, colouring, hexadecimal, scale_colours, spread_of
from lowdim.plotting.drawing import drawing_order
from lowdim.plotting.labels import column
from lowdim.plotting.page.assemble import asset
from lowdim.plotting.palette import (
    DARK_GROUND,
    DARK_MISSING,
    LIGHT_GROUND,
    MISSING,
    N_COLOURS,
    SHAPES,
    contrast,
    palette,
    shapes,
    to_oklab,
    viridis,
)


def distances(colours):
    places = to_oklab(colours)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    return apart[np.triu_indices(len(colours), 1)]


@pytest.mark.parametrize("count", [0, 1, 2, 10, 11, 22, 48, 49, 200, 1000])
def test_no_two_classes_have_the_same_colour_and_shape(count):
    colours = palette(count)
    assert colours.shape == (count, 3)
    assert len(set(zip(hexadecimal(colours), shapes(count), strict=True))) == count
    np.testing.assert_array_equal(colours, palette(count + 30)[:count])
    if count:
        assert colours.min() >= 0
        assert colours.max() <= 1


def test_colours_can_be_told_apart_as_far_as_they_go_and_shapes_beyond():
    """Past 21 classes the hues came again, and the nearest of 30 were 0.015 apart; Glasbey's are 0.10."""
    for dark, ground, missing in ((False, LIGHT_GROUND, MISSING), (True, DARK_GROUND, DARK_MISSING)):
        for count, least in ((10, 0.15), (30, 0.11), (N_COLOURS, 0.065)):
            assert distances(palette(count, dark=dark)).min() > least
        with_others = np.vstack([palette(N_COLOURS, dark=dark), [missing], [ground]])
        assert distances(with_others).min() > 0.065
    assert shapes(N_COLOURS).max() == 0
    assert sorted(set(shapes(8 * N_COLOURS))) == list(range(len(SHAPES)))


@pytest.mark.parametrize(("dark", "ground"), [(False, LIGHT_GROUND), (True, DARK_GROUND)])
def test_colours_stand_out_from_their_ground_and_are_no_greys(dark, ground):
    """Amber had a contrast of 1.9 to white and purple one of 2.6 to the dark; two greys read as missing."""
    for colours in (palette(1000, dark=dark), scale_colours(np.linspace(0, 1, 64), None, dark=dark)):
        assert contrast(colours, ground).min() >= 3
    assert np.hypot(*to_oklab(palette(N_COLOURS, dark=dark))[:, 1:].T).min() > 0.05
    np.testing.assert_allclose(contrast(np.zeros((1, 3)), (1.0, 1.0, 1.0)), [21])


def test_the_ground_is_that_of_the_pages():
    paper = "#" + bytes(round(255 * channel) for channel in DARK_GROUND).hex()
    assert f"--paper: {paper}" in asset("theme.css")


def test_skewed_quantities_are_spread_over_the_colours():
    """A few high values made all others one dark colour."""
    rng = np.random.default_rng(0)
    even = rng.uniform(2.0, 3.0, 1000)
    assert (spread_of(even).low, spread_of(even).high, spread_of(even).log) == (even.min(), even.max(), False)
    outliers = np.append(even, [500.0, np.nan])
    found = spread_of(outliers)
    assert found.low == outliers[:-1].min()
    assert 2.9 < found.high < 3.01
    places = colouring(column(outliers), outliers.size, continuous=None, scale=None)
    np.testing.assert_allclose(places.colours[-2], scale_colours(np.ones(1), None)[0])
    wide = spread_of(np.exp(3.0 * rng.standard_normal(1000)))
    assert wide.log
    assert 0.2 < np.median(wide.places(np.exp(3.0 * rng.standard_normal(1000)))) < 0.8
    assert spread_of(np.full(5, np.nan)).high == 1.0
    order = drawing_order(places)
    assert order[0] == outliers.size - 1  # what is missing lies below, the highest on top
    assert order[-1] == outliers.size - 2


def test_the_scale_of_quantities_is_viridis():
    from matplotlib import colormaps

    places = np.linspace(0.0, 1.0, 1001)
    assert_allclose(viridis(places), colormaps["viridis"](places)[:, :3], atol=0.5 / 255)


def test_oklab_of_known_colours():
    found = to_oklab(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [[1, 0, 0], [0.62796, 0.22486, 0.12585], [0, 0, 0]], atol=2e-5)


def test_what_is_missing_is_grey_and_last_and_below():
    labels = column(["b", None, "a", float("nan"), ""])
    found = colouring(labels, 5, continuous=None, scale=None)
    assert [look.name for look in found.classes] == ["a", "b", "(missing)"]
    assert found.classes[-1].colour == MISSING
    np.testing.assert_array_equal(found.missing, [False, True, False, True, True])
    figure = plot(np.arange(10.0).reshape(5, 2), ["b", None, "a", float("nan"), ""])
    colours = figure.axes[0].collections[0].get_facecolors()[:, :3]
    np.testing.assert_allclose(colours[:3], [MISSING] * 3)
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert entries == ["a", "b", "(missing)"]
    np.testing.assert_allclose(class_looks(["a", ""])[0].colour, palette(1)[0])


@pytest.mark.parametrize("n_dimensions", [1, 2, 3])
def test_shapes_are_drawn(n_dimensions, tmp_path):
    codes = np.arange(600) % (2 * N_COLOURS)
    points = np.random.default_rng(0).standard_normal((600, n_dimensions))
    figure = plot(points, [f"c{code:03}" for code in codes], path=tmp_path / "p.png", legend=False)
    drawn = figure.axes[0].collections
    if n_dimensions == 3:
        assert [len(part.get_offsets()) for part in drawn] == [sum(codes < 100), sum(codes >= 100)]
        return
    (drawn,) = drawn
    paths = {id(path): len(path.vertices) for path in drawn.get_paths()}
    assert len(drawn.get_paths()) == 600
    assert len(paths) == 2
    corners = np.array([len(path.vertices) for path in drawn.get_paths()])
    tinted = drawn.get_facecolors()[:, :3]
    for code in (0, 60):
        mine = np.all(np.isclose(tinted, palette(61)[code]), axis=1)
        assert mine.sum() == sum(codes % N_COLOURS == code)
        assert sum(corners[mine] > 10) == sum(codes == code)


@pytest.mark.slow
def test_an_animation_keeps_shapes_and_what_is_missing(tmp_path):
    labels = [None if row % 60 == 0 else f"c{row % 60:02}" for row in range(240)]
    frames = [(place, np.random.default_rng(place).standard_normal((240, 2))) for place in range(2)]
    assert animate(frames, labels, path=tmp_path / "m.gif").stat().st_size > 1000
