"""The map as another page uses it: created from arrays, moved, coloured, linked and exported by its methods."""

from __future__ import annotations

import base64
import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from lowdim.plotting.labels import column
from lowdim.plotting.page import Content, document, map_module, map_style

COUNT = 300
FIRST = np.random.default_rng(0).standard_normal((COUNT, 2))
SECOND = FIRST[:, ::-1] * [1.0, -3.0] + 40.0
SETUP = """
const bytes = (text) => new Float32Array(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);
window.first = bytes("{first}"), window.second = bytes("{second}"), window.told = [];
const axis = (at) => first.filter((_, place) => place % 2 === at);
for (const id of ["a", "b"]) {{
  const header = {{ count: {count}, coordinates: [axis(0), axis(1)], title: "<b>live</b>" }};
  window[id] = createMap(document.getElementById(id), header, {{ panel: id === "b", embedded: id === "a" }});
}}
for (const name of ["hover", "selection", "colour", "view"]) b.on(name, (what) => told.push([name, what]));
window.createMap = createMap;
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A page with two maps that are made from arrays."""
    path = tmp_path_factory.mktemp("live") / "live.html"
    packed = [base64.b64encode(places.astype("<f4").tobytes()).decode() for places in (FIRST, SECOND)]
    script = map_module() + SETUP.format(first=packed[0], second=packed[1], count=COUNT)
    body = '<div id="a" style="height:300px"></div><div id="b" style="height:400px"></div>'
    html = document("live", body, style=map_style(), script=script)
    path.write_text(html.replace("<script>", '<script type="module">'), encoding="utf-8")
    return path


def fitted(places):
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - (low + high) / 2) / ((high - low).max() / 2)


def points(browser, name="b"):
    return np.array(browser.run(f"[...{name}.points]")).reshape(-1, 2)


def pixels(browser, call):
    """A picture that the page made."""
    address = browser.run(call)
    return np.asarray(
        Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
    ).astype(int)


def check_moves(browser, live, painter):
    browser.open(live)
    assert browser.problems == []
    assert browser.run("b.painter.constructor.name") == painter
    assert browser.run("document.querySelector('#b .ld-title').textContent") == "<b>live</b>"
    np.testing.assert_allclose(points(browser), fitted(FIRST), atol=1e-5)
    start = browser.picture()
    # On its way from frame to frame, as far as it is told to be.
    browser.run("b.setPositions(second, { milliseconds: 1e9 })")
    browser.settle()
    assert browser.run("b.share") < 0.01
    assert np.mean(np.any(browser.picture() != start, axis=2)) < 0.01
    browser.run("b.setPositions(second, { milliseconds: 0 })")
    browser.settle()
    arrived = browser.picture()
    assert np.mean(np.any(arrived != start, axis=2)) > 0.01
    np.testing.assert_allclose(points(browser), fitted(SECOND), atol=1e-5)
    browser.run("b.setPositions(first, { milliseconds: 60 })")
    browser.until("b.share === 1 && !b.journey")
    browser.settle()
    assert np.mean(np.any(browser.picture() != start, axis=2)) < 0.01
    # The ghost is where they were before, faintly; it stays for the frames of one run.
    browser.run("b.ghost(true)")
    browser.settle()
    ghost = browser.picture()
    added = np.any(ghost != start, axis=2)
    assert 0.003 < np.mean(added) < np.mean(np.any(arrived != 255, axis=2))
    assert np.median(ghost[added]) > 150
    browser.run("b.setPositions(first, { milliseconds: 0, ghost: false })")
    browser.settle()
    np.testing.assert_array_equal(browser.picture(), ghost)
    with pytest.raises(RuntimeError, match=r"1, 2 or 3 numbers for each of 300 points; got 7"):
        browser.run("b.setPositions(new Float32Array(7))")
    browser.run(
        "b.setPositions(new Float32Array(900).map((_, at) => Math.sin(at * at)), { milliseconds: 0 })"
    )
    assert browser.run("b.deep") is True
    assert browser.problems == []


def test_positions_are_replaced(browser, live):
    check_moves(browser, live, "GraphicsPainter")
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]
    )
    browser.run("b.setPositions(second, { milliseconds: 1e9 })")
    assert browser.run("[b.share, b.deep]") == [1, False]


@pytest.mark.slow
def test_positions_are_replaced_without_webgl(plain_browser, live):
    check_moves(plain_browser, live, "PlainPainter")


def test_columns_selections_and_views_are_told(browser, live):
    browser.open(live)
    classes = Content.of(FIRST, column(np.array(["x", "y", "z"])[np.arange(COUNT) % 3], "kind")).columns[0]
    header = {
        key: list(value) if isinstance(value, tuple) else value for key, value in classes.header().items()
    }
    browser.run(f"b.setColumn({header!r}, Uint8Array.from({{ length: {COUNT} }}, (_, row) => row % 3))")
    browser.run(
        "b.setColumn({ name: 'depth', kind: 'quantity' }, first.subarray(0, 300).map((x, at) => at ? x : NaN))"
    )
    options = "[...document.querySelectorAll('#b .ld-by option')].map((each) => each.textContent)"
    assert browser.run(options) == ["kind", "depth"]
    assert browser.run("document.querySelectorAll('#b .ld-classes button').length") == 3
    browser.run("b.colourBy('depth')")
    assert "missing: 1" in browser.run("document.querySelector('#b .ld-key').textContent")
    browser.run("b.setColumn({ name: 'depth', kind: 'quantity' }, new Float32Array(300).map((_, at) => at))")
    assert browser.run("[b.panel.column.high, document.querySelector('#b .ld-by').value]") == [299, "depth"]
    with pytest.raises(RuntimeError, match="no column nowhere"):
        browser.run("b.colourBy('nowhere')")
    with pytest.raises(RuntimeError, match="must hold 300 values; got 2"):
        browser.run("b.setColumn({ name: 'short', kind: 'quantity' }, new Float32Array(2))")
    # Two maps that tell each other do not go on for ever.
    browser.run(
        "a.on('selection', (rows) => b.selectRows(rows)), b.on('selection', (rows) => a.selectRows(rows))"
    )
    browser.run("a.on('view', (view) => b.setView(view)), b.on('view', (view) => a.setView(view))")
    browser.run(
        "told.length = 0, a.selectRows([3, 5]), a.hoverRow(9), b.hover(7), b.hover(7), a.setView({ zoom: 2 })"
    )
    heard = browser.run("told.map(([name, what]) => [name, what.length ? [...what] : what.zoom ?? what])")
    assert heard == [["selection", [3, 5]], ["hover", 7], ["view", 2]]
    assert browser.run("[...b.selectedRows()]") == [3, 5]
    assert browser.run("a.hovered") == 9
    assert browser.run("document.querySelector('#a .ld-tip').hidden")
    browser.run("b.badge('preview, iteration 43')")
    assert browser.run("document.querySelector('#b .ld-badge').textContent") == "preview, iteration 43"
    browser.run("b.badge('')")
    assert browser.run("document.querySelector('#b .ld-badge').hidden")
    assert browser.problems == []


def test_pictures_come_out(browser, live):
    browser.open(live)
    browser.run(
        "b.setColumn({ name: '<x>', kind: 'classes', names: ['<i>', 'two'], colours: ['#ff0000', '#0000ff'], "
        "dark: ['#ff0000', '#0000ff'], shapes: [0, 2] }, Uint8Array.from({ length: 300 }, (_, row) => row % 2))"
    )
    browser.settle()
    small = pixels(browser, "b.thumbnail(90, 60)")
    assert small.shape == (60, 90, 3)
    assert 0.02 < np.mean(np.any(small < 200, axis=2)) < 0.9
    read = "new Promise((done) => {{ const reader = new FileReader(); reader.onload = () => done(reader.result); {} }})"
    png = pixels(browser, read.format("b.exportPNG().then((blob) => reader.readAsDataURL(blob))"))
    width, height = browser.run("[b.width, b.height]")
    assert png.shape == (2 * height, 2 * width, 3)
    assert browser.run("b.painter.canvas.width") == width
    assert np.mean((png[..., 0] > 150) & (png[..., 2] < 120)) > 0.003
    drawing = ElementTree.fromstring(browser.run("b.exportSVG()"))
    kinds = [part.tag.rpartition("}")[2] for part in drawing]
    assert kinds.count("circle") == kinds.count("polygon") == 150
    assert {part.text for part in drawing if part.tag.endswith("text")} <= {"<i>", "two"}
    browser.run("a.remove()")
    browser.settle()
    assert browser.run("document.querySelectorAll('.ld').length") == 1
    assert browser.problems == []


def layer(browser, name):
    """The points of a map alone, without what lies over them."""
    return pixels(browser, f"({name}.draw(), {name}.painter.canvas.toDataURL())")


@pytest.mark.parametrize("dark", [False, True])
def test_points_drawn_by_the_processor_look_as_those_of_the_graphics_card(browser, live, dark):
    browser.open(live, dark=dark)
    if browser.run("b.painter.constructor.name") != "GraphicsPainter":
        pytest.skip("this browser has no WebGL")
    browser.run(
        "a.remove(), Object.assign(document.getElementById('a').style, { height: '400px', width: `${b.width}px` }),"
        " window.c = createMap(document.getElementById('a'), b.data, { panel: false, raster: true }), 0"
    )
    browser.settle()
    # The same view of the same points in the same colours, a few of them selected.
    browser.run("b.selectRows([4, 5]), c.paints.set(b.paints), c.painter.colour(c.paints)")
    browser.run("for (const map of [b, c]) Object.assign(map.view, { x: 0, y: 0, scale: 150 }), map.size = 9")
    assert browser.run("[c.painter.constructor.name, c.width, c.height]") == [
        "RasterPainter",
        *browser.run("[b.width, b.height]"),
    ]
    ground = browser.run("getComputedStyle(b.root).getPropertyValue('--paper').trim()")
    paper = np.array([int(ground[at : at + 2], 16) for at in (1, 3, 5)])
    drawn = pixels(browser, "(c.drawPoints(true), c.painter.canvas.toDataURL())")
    expected = pixels(
        browser,
        "(() => { const canvas = b.over.cloneNode(), pen = canvas.getContext('2d');"
        f" pen.fillStyle = '{ground}'; pen.fillRect(0, 0, canvas.width, canvas.height);"
        " b.drawPoints(true); pen.drawImage(b.painter.canvas, 0, 0); return canvas.toDataURL() })()",
    )
    assert drawn.shape == expected.shape
    assert (drawn[0, 0] == paper).all()
    is_marked = np.any(expected != paper, axis=2)
    assert 0.01 < is_marked.mean() < 0.9
    # Edges are smoothed in two ways; what lies within differs by rounding.
    apart = np.abs(drawn - expected).max(axis=2)
    assert apart.mean() < 1.5
    assert np.median(apart[is_marked]) <= 3
    assert browser.problems == []


def test_a_line_at_the_top_covers_no_point_and_no_name(browser, live):
    browser.open(live)
    browser.run("b.setPositions(first, { milliseconds: 0 }), b.reset(), b.badge('preview, iteration 43')")
    browser.settle()
    below, highest = browser.run(
        "[document.querySelector('#b .ld-badge').getBoundingClientRect().bottom - b.over.getBoundingClientRect().top,"
        " Math.min(...Array.from({ length: b.count }, (_, row) => b.screen(row)[1]))]"
    )
    assert highest > below
    browser.run("b.badge('')")
    browser.settle()
    assert browser.run("Math.min(...Array.from({ length: b.count }, (_, row) => b.screen(row)[1]))") < highest
