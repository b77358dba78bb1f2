"""Curves and heat maps: every figure in its place, gaps and failures shown, the best marked."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.errors import InputError
from lowdim.plotting.curves import Line, Panel, Surface, plot_curves, plot_heat_map


def line(name, means, spreads=None, failed=None):
    means = np.asarray(means, dtype=float)
    spreads = np.full(means.shape, np.nan) if spreads is None else np.asarray(spreads, dtype=float)
    return Line(name, means, spreads, np.isnan(means) if failed is None else np.asarray(failed))


def read(path):
    from matplotlib.image import imread

    return imread(path)[..., :3]


def test_curves_with_bands_gaps_and_crosses(tmp_path):
    panel = Panel(
        "test_error",
        (line("a", [0.3, 0.2, np.nan], [0.1, 0.05, np.nan]), line("b", [0.4, 0.1, 0.2])),
        less_is_better=True,
    )
    figure = plot_curves([5, 10, 20], [panel], label="n_neighbors", title="here", path=tmp_path / "c.png")
    (axes,) = figure.axes
    first, crosses, second, star = axes.lines
    np.testing.assert_array_equal(first.get_xdata(), [5, 10, 20])
    np.testing.assert_array_equal(first.get_ydata(), [0.3, 0.2, np.nan])
    np.testing.assert_array_equal(crosses.get_xdata(), [20])
    np.testing.assert_array_equal(second.get_ydata(), [0.4, 0.1, 0.2])
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (10, 0.1)
    band = axes.collections[0].get_paths()[0].vertices
    assert {(5, 0.2), (5, 0.4), (10, 0.15), (10, 0.25)} <= {(x, round(y, 9)) for x, y in band}
    assert axes.get_ylabel() == "test error (less is better)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
    assert figure.get_suptitle() == "here"
    assert len(np.unique(read(tmp_path / "c.png").reshape(-1, 3), axis=0)) > 50


def test_scales():
    def axes_of(places):
        return plot_curves(places, [Panel("s", (line("a", np.ones(len(places))),), False)], label="x").axes[0]

    assert axes_of([1, 10, 100]).get_xscale() == "log"
    assert axes_of([10, 20, 30]).get_xscale() == "linear"
    assert axes_of([0, 10, 100]).get_xscale() == "linear"
    words = axes_of(["exact", "lll", None])
    assert [tick.get_text() for tick in words.get_xticklabels()] == ["exact", "lll", "None"]
    assert [tick.get_text() for tick in axes_of([1, 10, 100]).get_xticklabels()] == ["1", "10", "100"]
    assert len(axes_of(list(range(40))).get_xticks()) < 20


def test_words_are_not_joined():
    (axes,) = plot_curves(
        ["exact", "lll"], [Panel("s", (line("a", [0.1, 0.2], [0.01, 0.02]),), True)], label="solver"
    ).axes
    assert axes.lines[0].get_linestyle() == "None"
    (bars,) = axes.collections
    np.testing.assert_allclose([bar[:, 1] for bar in bars.get_segments()], [[0.09, 0.11], [0.18, 0.22]])


@pytest.mark.parametrize(("count", "down", "across"), [(1, 1, 1), (3, 1, 3), (4, 2, 2), (5, 2, 3)])
def test_many_panels_stand_in_rows(count, down, across):
    panels = [Panel(f"s{at}", (line("a", [0.1, 0.2]),), True) for at in range(count)]
    figure = plot_curves([1, 2], panels, label="x")
    assert len(figure.axes) == count
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (down, across)
    surfaces = [Surface(f"s{at}", np.eye(2), True) for at in range(count)]
    grid = plot_heat_map([1, 2], [1, 2], surfaces, labels=("x", "y")).axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (down, across)


@pytest.mark.parametrize("count", [1, 2, 12, 200])
def test_the_legend_fits(count, tmp_path):
    rng = np.random.default_rng(0)
    lines = tuple(line(f"bandwidth = {at}", rng.random(4)) for at in range(count))
    figure = plot_curves(
        [1, 2, 3, 4],
        [Panel("s", lines, True), Panel("t", lines, False)],
        label="x",
        ordered=True,
        path=tmp_path / "c.png",
    )
    assert len(figure.axes) == 2
    assert len(figure.legends) == (count > 1)
    for legend in figure.legends:
        assert len(legend.get_texts()) <= 30
        box, picture = legend.get_window_extent(), figure.axes[-1].get_window_extent()
        assert picture.x1 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
        assert picture.width > 300


def test_heat_map(tmp_path):
    means = np.array([[0.3, 0.2, 0.5], [0.4, np.nan, 0.1]])
    surfaces = [Surface("test_error", means, True), Surface("accuracy", means, False)]
    figure = plot_heat_map(
        [5, 10, 20], [1.5, 3.0], surfaces, labels=("n_neighbors", "bandwidth"), path=tmp_path / "h.png"
    )
    panels = [axes for axes in figure.axes if axes.images]
    for axes, best in zip(panels, [(2, 1), (2, 0)], strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array().filled(np.nan), means)
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["5", "10", "20"]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1.5", "3"]
        (frame,) = axes.patches
        assert (frame.get_x() + 0.5, frame.get_y() + 0.5) == best
        (cross,) = axes.lines
        assert (cross.get_xdata()[0], cross.get_ydata()[0]) == (1, 1)
        assert sorted(text.get_text() for text in axes.texts) == ["0.1", "0.2", "0.3", "0.4", "0.5"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("n_neighbors", "bandwidth")
    less, more = (axes.images[0] for axes in panels)
    assert less.cmap(0.0) == more.cmap(1.0)
    assert [p.name for p in tmp_path.iterdir()] == ["h.png"]


def test_a_large_or_an_empty_map():
    many = np.random.default_rng(0).random((20, 30))
    axes = plot_heat_map(
        list(range(30)), list(range(20)), [Surface("s", many, True)], labels=("x", "y")
    ).axes[0]
    assert not axes.texts
    assert len(axes.get_xticks()) <= 12
    empty = Surface("s", np.full((2, 2), np.nan), True)
    axes = plot_heat_map([1, 2], [1, 2], [empty], labels=("x", "y")).axes[0]
    assert len(axes.lines) == 4
    assert not axes.patches


def test_nothing_to_draw():
    with pytest.raises(InputError, match="at least one"):
        plot_curves([1], [], label="x")
    with pytest.raises(InputError, match="at least one"):
        plot_heat_map([1], [1], [], labels=("x", "y"))


@pytest.mark.slow
def test_no_global_state(tmp_path):
    import subprocess
    import sys

    code = (
        "import sys, numpy as np; from lowdim.plotting.curves import *\n"
        "plot_heat_map([1, 2], [1, 2], [Surface('s', np.eye(2), True)], labels=('x', 'y'))\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
