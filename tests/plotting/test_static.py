"""Pictures: drawn, explained, written whole, and without a trace in global state."""

from __future__ import annotations

import gc
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from lowdim.errors import InputError, MissingExtraError
from lowdim.plotting import plot, plot_gallery
from lowdim.plotting.colours import colouring
from lowdim.plotting.labels import Named, is_continuous
from lowdim.plotting.palette import palette


def read(path):
    from matplotlib.image import imread

    return imread(path)


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((120, 3))


@pytest.mark.covering
@pytest.mark.parametrize(
    ("n_dimensions", "labels"),
    [
        (n_dimensions, labels)
        if (n_dimensions, labels) in ((1, "none"), (2, "classes"), (2, "quantity"), (3, "names"))
        else pytest.param(n_dimensions, labels, marks=pytest.mark.slow)
        for n_dimensions in (1, 2, 3)
        for labels in ("none", "classes", "names", "quantity")
    ],
)
def test_a_picture_of_every_kind(points, tmp_path, n_dimensions, labels):
    codes = np.arange(120) % 4
    given = {
        "none": None,
        "classes": codes,
        "names": np.array(list("abcd"))[codes],
        "quantity": points[:, 0],
    }[labels]
    path = tmp_path / "picture.png"
    figure = plot(points[:, :n_dimensions], given, path=path, title="a title")
    pixels = read(path)[..., :3]
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10
    assert figure.axes[0].get_title() == "a title"
    assert len(figure.axes) == (2 if labels == "quantity" else 1)
    entries = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert entries == {"classes": ["0", "1", "2", "3"], "names": ["a", "b", "c", "d"]}.get(labels, [])
    assert [p.name for p in tmp_path.iterdir()] == ["picture.png"]


def test_every_point_is_drawn_in_its_colour(points):
    codes = np.arange(120) % 3
    scatter = plot(points[:, :2], codes).axes[0].collections[0]
    drawn, colours = np.asarray(scatter.get_offsets()), scatter.get_facecolors()[:, :3]
    order = np.lexsort(drawn.T)
    expected = np.lexsort(points[:, :2].T)
    np.testing.assert_allclose(drawn[order], points[expected, :2])
    np.testing.assert_allclose(colours[order], palette(3)[codes[expected]])


@pytest.mark.parametrize(("n_classes", "n_dimensions"), [(2, 2), (20, 2), (200, 3)])
def test_the_legend_fits_beside_the_picture(n_classes, n_dimensions, tmp_path):
    codes = np.arange(1000) % n_classes
    points = np.random.default_rng(1).standard_normal((1000, n_dimensions))
    figure = plot(points, codes, path=tmp_path / "p.png")
    legend = figure.legends[0].get_window_extent()
    picture = figure.axes[0].get_window_extent()
    assert len(figure.legends[0].get_texts()) == n_classes
    assert legend.y0 >= 0
    assert legend.y1 <= figure.bbox.y1
    assert picture.x1 <= legend.x0
    assert legend.x1 <= figure.bbox.x1
    assert picture.width > 300


def test_axes_are_equal_in_scale(points, tmp_path):
    figure = plot(points[:, :2] * [10.0, 1.0], path=tmp_path / "p.png")
    axes = figure.axes[0]
    scale = axes.transData.transform([[0, 0], [1, 0], [0, 1]])
    assert scale[1, 0] - scale[0, 0] == pytest.approx(scale[2, 1] - scale[0, 1])


def test_own_axes_are_used(points):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot(points[:, :2], np.arange(120) % 2, ax=right) is figure
    assert len(right.collections) == 1
    assert len(left.collections) == 0
    assert right.get_legend() is not None


def test_missing_values_leave_the_rest(points, tmp_path):
    labels = points[:, 0].copy()
    labels[:5] = np.nan
    plot(points[:, :2], labels, path=tmp_path / "p.png")
    found = colouring(Named(labels), 120, continuous=None, scale=None)
    assert np.isfinite(found.colours).all()
    assert (found.spread.low, found.spread.high) == pytest.approx((np.nanmin(labels), np.nanmax(labels)))


def test_gallery_without_words(points):
    figure = plot_gallery({"plane": points[:, :2]}, np.arange(120) % 2, legend=False)
    assert figure.legends == []
    assert figure.get_suptitle() == ""


def test_gallery(points, tmp_path):
    figure = plot_gallery(
        {"line": points[:, 0], "plane": points[:, :2], "space": points},
        points[:, 1],
        path=tmp_path / "g.png",
        title="all",
    )
    assert [axes.get_title() for axes in figure.axes[:3]] == ["line", "plane", "space"]
    assert len(figure.axes) == 4
    assert read(tmp_path / "g.png").std() > 0


@pytest.mark.parametrize("suffix", ["pdf", "svg"])
def test_other_formats(points, tmp_path, suffix):
    plot(points, path=tmp_path / f"p.{suffix}")
    assert (tmp_path / f"p.{suffix}").stat().st_size > 1000


def test_a_failed_write_leaves_the_old_file(points, tmp_path, monkeypatch):
    path = tmp_path / "p.png"
    path.write_bytes(b"old")

    def fail(self, data):
        with self.open("wb") as file:
            file.write(data[:9])
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        plot(points, path=path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_write_leaves_nothing_that_cannot_be_collected(points, tmp_path, monkeypatch):
    """The traceback of the error, the figure and what was drawn are garbage together."""
    failures = []

    def fail(self, data):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    monkeypatch.setattr(sys, "unraisablehook", failures.append)
    with suppress(OSError):
        plot(points, path=tmp_path / "p.png")
    gc.collect()
    assert failures == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: plot(np.zeros((5, 4))), "embedding must have 1, 2 or 3 columns"),
        (lambda p: plot(np.zeros((0, 2))), "embedding has 0 sample"),
        (lambda p: plot([[0.0, 1.0], [np.nan, 1.0]]), "row 1"),
        (lambda p: plot(np.zeros((5, 2)), [1, 2]), "labels"),
        (lambda p: plot(np.zeros((5, 2)), path=p / "x.docx"), r"\.png"),
        (lambda p: plot_gallery({}), "at least one"),
        (lambda p: plot_gallery({"a": np.zeros((3, 2)), "b": np.zeros((4, 2))}), "same points"),
    ],
)
def test_wrong_input_is_named(tmp_path, call, message):
    with pytest.raises(InputError, match=message):
        call(tmp_path)


def test_missing_matplotlib_names_the_extra(points, monkeypatch):
    monkeypatch.setattr("lowdim.plotting.drawing.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"lowdim\[plot\]"):
        plot(points)


@pytest.mark.slow
def test_no_global_state():
    code = (
        "import sys, lowdim.plotting as p; assert 'matplotlib' not in sys.modules; import numpy as np; "
        "p.plot(np.eye(2)); assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_reads_as_a_quantity():
    assert is_continuous(np.array([0.5, 1.0]))
    assert is_continuous(np.arange(1000))
    assert not is_continuous(np.arange(1000) % 200)
    assert not is_continuous(np.array([1.0, 2.0, np.nan]))
    assert not is_continuous(np.array(["a", "b"]))
    assert not is_continuous(np.array([True, False]))


def test_labels_by_the_name_of_a_column(points):
    columns = {"kind": np.arange(len(points)) % 3, "weight": np.linspace(0, 1, len(points))}
    figure = plot(points[:, :2], "kind", columns=columns)
    assert figure.legends[0].get_title().get_text() == "kind"
    figure = plot(points[:, :2], "weight", columns=columns)
    assert [axes.get_title() for axes in figure.axes] == ["", "weight"]
    with pytest.raises(
        InputError, match=r"labels must be one of the columns; got 'king', and those given are kind, weight"
    ):
        plot(points[:, :2], "king", columns=columns)
    with pytest.raises(InputError, match=r"none were given"):
        plot(points[:, :2], "king")


def test_a_series_brings_its_name(points):
    pandas = pytest.importorskip("pandas")
    figure = plot(points[:, :2], pandas.Series(["a", "b"] * (len(points) // 2), name="kind"))
    assert figure.legends[0].get_title().get_text() == "kind"


def test_a_picture_that_is_there_is_replaced(points, tmp_path):
    path = tmp_path / "p.png"
    path.write_bytes(b"old")
    plot(points, path=path)
    assert read(path).size > 1000


def test_axes_that_do_not_vary_are_left_out(points, tmp_path):
    """The first axis of a spectral clustering is constant: the map would be a line."""
    flat = np.column_stack([np.full(120, 0.3) + 1e-9 * points[:, 0], points[:, :2]])
    (axes,) = plot(flat, path=tmp_path / "map.png").axes
    np.testing.assert_array_equal(
        np.sort(np.asarray(axes.collections[0].get_offsets()), axis=0), np.sort(points[:, :2], axis=0)
    )
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("coordinate 2", "coordinate 3")
    (strip,) = plot(flat[:, :2]).axes
    assert strip.get_xlabel() == "coordinate 2"
    assert list(strip.get_yticks()) == []
    assert plot(np.zeros((5, 2))).axes[0].get_xlabel() == ""
    assert plot(points[:, :2] * [30.0, 1.0]).axes[0].get_xlabel() == ""
    assert plot(points * [30.0, 1.0, 30.0]).axes[0].get_xlabel() == "coordinate 1"
    assert plot(points * [5.0, 1.0, 5.0]).axes[0].get_xlabel() == ""
    assert plot(points * [100.0, 1.0, 2.0]).axes[0].get_ylabel() == "coordinate 3"
    (gallery,) = plot_gallery({"clusters": flat}).axes
    assert gallery.get_xlabel() == "coordinate 2"
    page = plot(flat, path=tmp_path / "map.html")
    assert "three dimensions" not in page.html
    assert 'aria-label="Move"' in page.html


def test_very_many_classes_have_a_legend_that_ends(points):
    labels = [f"kind {row % 110}" if row < 110 else f"rare {row}" for row in range(500)]
    figure = plot(np.random.default_rng(0).standard_normal((500, 3)), labels)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(texts) == 201
    assert texts[-1] == "and 300 more"


def test_text_is_no_quantity(points):
    with pytest.raises(InputError, match="labels must be numbers with continuous=True"):
        plot(points, ["a", "b"] * 60, continuous=True)
