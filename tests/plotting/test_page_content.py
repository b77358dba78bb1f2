"""What goes into a page, without a browser."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib

import numpy as np
import pytest

import lowdim
from lowdim.errors import FileError, InputError
from lowdim.plotting.labels import named, table_of
from lowdim.plotting.page import Content, document, map_fragment
from lowdim.plotting.page.assemble import fill
from lowdim.plotting.page.sprites import sheets_of
from lowdim.plotting.thumbnails import Images


def unpacked(text):
    """Header and a function from a place in it to its array: what data.js does."""
    block = zlib.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", block)
    header = json.loads(block[8 : 8 + length])

    def array(place):
        assert place["at"] % 8 == 0
        return np.frombuffer(block, "<" + place["type"], place["size"], place["at"])

    return header, array


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((300, 2))


def test_everything_comes_back(points):
    rows = np.arange(300)
    columns = {
        "weight": rows / 7.0,
        "big": rows * 10**12,
        "flag": rows % 2 == 0,
        "many": [f"name {row}" for row in rows],
        "mixed": [None if row == 4 else "é" if row % 2 else "ü" for row in rows],
    }
    content = Content.of(points, named(rows % 12), title="t", columns=table_of(columns), ids=rows + 5)
    header, array = unpacked(content.packed(None))
    np.testing.assert_array_equal(
        np.stack([array(at) for at in header["coordinates"]], 1), points.astype("f4")
    )
    found = {column["name"]: column for column in header["columns"]}
    assert list(found) == ["id", "label", *columns]
    assert {name: column["kind"] for name, column in found.items()} == {
        "id": "text",
        "label": "classes",
        "weight": "quantity",
        "big": "quantity",
        "flag": "classes",
        "many": "text",
        "mixed": "classes",
    }
    np.testing.assert_array_equal(array(found["big"]["values"]), rows * 10**12)
    np.testing.assert_array_equal(array(found["weight"]["values"]), (rows / 7.0).astype("f4"))
    assert found["label"]["names"] == [str(code) for code in range(12)]
    assert [found["many"]["names"][code] for code in array(found["many"]["values"])] == columns["many"]
    assert found["mixed"]["names"] == ["é", "ü", ""]
    assert found["mixed"]["names"][array(found["mixed"]["values"])[4]] == ""
    assert header["colour"] == 0
    assert header["axes"] == ["x", "y"]


def test_names_that_are_taken(points):
    rows = np.arange(300) % 3
    content = Content.of(points, named(rows), columns=table_of({"label": rows + 1, "x": rows}), ids=None)
    header, _ = unpacked(content.packed(None))
    assert [column["name"] for column in header["columns"]] == ["label", "label (2)", "x"]
    assert header["axes"] == ["x_map", "y_map"]


def test_no_columns_and_no_values(points):
    header, _ = unpacked(Content.of(points, named(None)).packed(None))
    assert header["columns"] == []
    lost = Content.of(points, named(np.full(300, np.nan)), continuous=True)
    header, _ = unpacked(lost.packed(None))
    assert header["columns"][0]["missing"] == 300
    assert (header["columns"][0]["low"], header["columns"][0]["high"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [1, 2]}, "^labels"),
        ({"ids": [1, 2]}, "^ids"),
        ({"columns": {"a": np.zeros((300, 2))}}, r"^columns\['a'\] must hold one label"),
    ],
)
def test_wrong_lengths_are_named(points, tmp_path, given, message):
    with pytest.raises(InputError, match=message):
        lowdim.plot(points, path=tmp_path / "p.html", **given)
    assert list(tmp_path.iterdir()) == []


def test_nothing_hostile_reaches_the_markup(points, tmp_path):
    evil = "</script><img src=x onerror=alert(1)>"
    page = lowdim.plot(
        points,
        [evil] * 300,
        path=tmp_path / "p.html",
        title=evil,
        columns={evil: [evil] * 300},
        ids=[evil] * 300,
    )
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert html == page.html
    assert "<img" not in html
    assert html.count("</script>") == 2
    assert "https:" not in html
    assert "http:" not in html
    assert not re.search(r"""(src|href)=["'](?!data:)""", html)
    assert "default-src 'none'" in html
    assert page.path == tmp_path / "p.html"
    assert "&lt;script" in page._repr_html_()


def test_a_page_that_cannot_be_written(points, tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        lowdim.plot(points, path=tmp_path / "nowhere" / "p.html")


def test_templates_are_filled_once():
    assert fill("a {{b}} c {{d}}", {"b": "{{d}}", "d": "x"}) == "a {{d}} c x"
    html = document("a < b", "<p>", style="")
    assert "<title>a &lt; b</title>" in html


def test_version_is_known_or_not(monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("lowdim.plotting.page.assemble.version", missing)
    assert "lowdim from source" in document("t", "", style="")


def test_embedded_maps_are_second_headings(points):
    assert "<h2 class" in map_fragment(Content.of(points, named(None)), embedded=True)
    assert "<h1 class" in map_fragment(Content.of(points, named(None)))


def decoded(sheet):
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet))))


def test_sheets_of_strokes():
    images = np.zeros((1100, 5, 7))
    images[np.arange(1100), np.arange(1100) % 5, 0] = 3.0
    layout, sheets = sheets_of(Images.of(images, 1100))
    assert len(sheets) == 2
    assert (layout["width"], layout["height"], layout["kind"]) == (7, 5, "png")
    for row in (0, 33, 1023, 1024, 1099):
        sheet = decoded(sheets[row // 1024])
        line, column = divmod(row % 1024, 32)
        found = sheet[line * 5 : line * 5 + 5, column * 7 : column * 7 + 7]
        np.testing.assert_array_equal(found, images[row] * 85)


@pytest.mark.parametrize("channels", [(), (3,)])
def test_sheets_of_photographs(channels):
    rng = np.random.default_rng(0)
    images = rng.random((40, 30, 20, *channels)).cumsum(axis=1) + 20
    layout, (sheet,) = sheets_of(Images.of(images, 40))
    assert (layout["height"], layout["width"], layout["down"], layout["right"]) == (30, 20, 32, 24)
    assert layout["kind"] == "jpeg"
    pixels = decoded(sheet).astype(float)
    assert pixels.shape == (64, 32 * 24, *channels)
    expected = Images.of(images, 40).thumbnails(np.array([33]), 64)[0]
    assert np.abs(pixels[32 : 32 + 30, 24 : 24 + 20] - expected).mean() < 16


def test_images_of_many_shapes():
    square = np.arange(2 * 16).reshape(2, 16)
    assert Images.of(square, 2).pixels.shape == (2, 4, 4)
    assert Images.of(square.reshape(2, 4, 4).tolist(), 2).count == 2
    for wrong in (
        np.zeros((2, 15)),
        np.zeros((3, 16)),
        np.zeros((2, 4, 4, 2)),
        np.zeros((2, 0, 0)),
        np.full((2, 4), "a"),
    ):
        with pytest.raises(InputError, match=r"^images"):
            Images.of(wrong, 2)


def test_small_images_are_means():
    images = np.arange(36.0).reshape(1, 6, 6)
    small = Images.of(images, 1).thumbnails(np.array([0]), 3)[0]
    means = images[0].reshape(3, 2, 3, 2).mean(axis=(1, 3))
    np.testing.assert_array_equal(small, np.round(means * 255 / 35))
    odd = Images.of(np.ones((1, 7, 5)) * [0, 1, 2, 3, 4], 1).thumbnails(np.array([0]), 3)
    assert odd.shape == (1, 3, 2)
    np.testing.assert_array_equal(odd[0, 0], np.round(np.array([0.8, 3.2]) * 255 / 4))


def test_images_without_contrast_or_values():
    flat = Images.of(np.full((3, 4, 4), 7.0), 3)
    assert flat.thumbnails(np.arange(3), 4).max() == 0
    lost = np.full((600, 2, 2), np.nan)
    lost[0] = [[0, 1], [2, np.inf]]
    found = Images.of(lost, 600).thumbnails(np.array([0, 5]), 2)
    np.testing.assert_array_equal(found[0].ravel(), [0, 128, 255, 255])
    assert not found[1].any()


def test_labels_that_have_a_name_are_one_column(points):
    columns = {"weight": np.linspace(0.0, 1.0, 300), "kind": np.arange(300) % 3}
    header, _ = unpacked(Content.of(points, named("kind", columns), columns=table_of(columns)).packed(None))
    assert [column["name"] for column in header["columns"]] == ["kind", "weight"]
    assert header["colour"] == 0
