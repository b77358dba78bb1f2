"""The live page in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from live import HOSTILE, Page
from reading import Reader, blobs, session_of

import lowdim
from lowdim.explore.document import cell_style
from lowdim.explore.session import Session
from lowdim.explore.settings import Setting
from lowdim.explore.source import source_of
from lowdim.explore.widget import script
from lowdim.metrics.neighbor_recall import neighbor_recall

# A browser that does not say who draws its WebGL is taken for one with a graphics card.
UNNAMED = """
const known = WebGL2RenderingContext.prototype.getExtension;
WebGL2RenderingContext.prototype.getExtension = function (name) {
  return name.includes("debug") ? null : known.call(this, name);
};
"""
pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


def test_an_embedding_appears_moves_with_a_slider_and_is_judged(browser):
    X, codes = blobs()
    names = np.array(["ant", HOSTILE, "cat"])[codes]
    with Page(browser, session_of(X, names, method="laplacian-eigenmaps")) as page:
        page.rest(1)
        assert browser.run("location.href") == f"{page.server.guard.origin}{page.server.guard.page}"
        assert browser.run("document.referrer") == ""
        assert page.run("page.map.count") == 120
        # By keyboard: the slider of n_neighbors one step to the right.
        browser.run("document.getElementById('lx-n_neighbors').focus()")
        for _ in range(30):
            browser.press("ArrowRight", windowsVirtualKeyCode=39)
        wanted = page.run("page.controls.values.n_neighbors")
        page.rest(2, n_neighbors=wanted)
        state = page.session.strip.states[-1]
        assert state.setting.parameters["n_neighbors"] == wanted
        recall = neighbor_recall(X, state.coordinates, 15).mean()
        assert page.text("recall").startswith(f"{100 * recall:.1f} %")
        # The positions that are drawn are those of the session, to sixteen bits.
        points = np.array(page.run("[...page.map.data.coordinates[0]]"))
        shown = page.session.shown[:, 0]
        assert np.corrcoef(points, shown)[0, 1] > 0.999999
        # By mouse: settle, then the lines that make it again.
        page.click(".lx-settle")
        page.until("page.map.root.querySelector('.ld-badge').textContent === 'settled'")
        page.click("[data-export=python]")
        page.until("!page.$('lines').hidden")
        assert f"n_neighbors={wanted}" in page.text("lines")
        assert "token" not in browser.run("location.href")
        assert f"n_neighbors%22%3A{wanted}" in browser.run("location.hash")
        assert browser.run("window.broken") is None
        assert [
            url for url in browser.requests if not url.startswith((page.server.guard.origin, "data:"))
        ] == []
        assert browser.problems == []


@pytest.mark.slow
def test_every_kind_of_control_by_mouse_and_by_keyboard(browser):
    X, codes = blobs(150)
    with Page(browser, session_of(X, codes, method="tsne")) as page:
        page.rest(1)
        page.slide("perplexity", 0.3)
        value = page.run("page.controls.values.perplexity")
        assert 3 < value < 20
        page.rest(2, perplexity=value)
        page.click("[data-name=perplexity] .lx-auto input")
        page.until("page.controls.values.perplexity === null")
        page.slide("lam", 0.5)
        lam = page.run("page.controls.values.lam")
        assert 0.05 < lam < 0.3  # half of the way of a logarithmic slider
        page.rest(3, lam=lam)
        page.choose(".lx-method", "isomap")
        page.until("[...page.strip.cards.values()].at(-1).state.method === 'isomap'")
        page.choose("#lx-metric", "manhattan")
        page.rest(4, metric="manhattan")
        page.choose("#lx-solver", "lll")
        page.until("!document.querySelector('[data-name=n_landmarks]').hidden")
        page.choose(".lx-method", "pca")
        page.until("[...page.strip.cards.values()].at(-1).state.method === 'pca'")
        page.click("#lx-whiten")
        page.rest(5, whiten=True)
        browser.run("document.getElementById('lx-n_components').focus()")
        browser.press("ArrowRight", windowsVirtualKeyCode=39)
        page.rest(6, n_components=3)
        page.until("!page.$('axes').hidden")
        page.choose(".lx-y", "2")
        browser.run("document.activeElement.blur()")
        for key, name in (("g", "ghost"), ("k", "pause")):
            browser.press(key)
            page.until(f"page.$('{name}').getAttribute('aria-pressed') === 'true'")
            page.click(f".lx-{name}")
            page.until(f"page.$('{name}').getAttribute('aria-pressed') === 'false'")
        browser.press("s")
        page.until("map.root.querySelector('.ld-badge').textContent === 'settled'")
        page.until("page.$('heard').textContent.includes('settled')")
        assert browser.problems == []


@pytest.mark.slow
def test_pictures_come_in_the_order_of_their_generations(browser):
    X, codes = blobs(300)
    with Page(browser, session_of(X, codes, method="tsne")) as page:
        page.run(
            "void (window.drawn = [], page.root.addEventListener('lx-drawn', (e) => drawn.push(e.detail)))"
        )
        for lam in (0.9, 0.7, 0.5, 0.4, 0.3):
            page.run(f"void page.controls.change('lam', {lam})")
            browser.settle()
        page.rest(1, lam=0.3)
        drawn = browser.run("window.drawn.map(({ generation, iteration }) => [generation, iteration])")
        assert len(drawn) > 1
        assert drawn == sorted(drawn)
        assert drawn[-1][0] == page.session.generation


@pytest.mark.slow
def test_a_lost_context_of_webgl_comes_back(browser):
    X, codes = blobs()
    hidden = browser.call("Page.addScriptToEvaluateOnNewDocument", source=UNNAMED)["identifier"]
    try:
        with Page(browser, session_of(X, codes, method="laplacian-eigenmaps")) as page:
            page.rest(1)
            page.until("Boolean(map.painter.gl)")
            before = browser.picture()
            page.run(
                "void (window.lost = map.painter.gl.getExtension('WEBGL_lose_context'), lost.loseContext())"
            )
            page.run("void page.controls.change('n_neighbors', 12)")
            page.rest(2, n_neighbors=12)
            page.run("void window.lost.restoreContext()")
            page.until("!map.painter.gl.isContextLost()")
            browser.settle()
            page.run("void page.controls.change('n_neighbors', 9)")
            page.rest(3, n_neighbors=9)
            browser.settle()
            after = browser.picture()
            coloured = [(np.ptp(picture[100:700, 350:950], axis=2) > 60).sum() for picture in (before, after)]
            assert min(coloured) > 200
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=hidden)


@pytest.mark.slow
def test_a_reload_in_the_midst_goes_on_where_the_session_is(browser):
    X, codes = blobs(400)
    with Page(browser, session_of(X, codes, method="tsne")) as page:
        page.until("map.root.querySelector('.ld-badge').textContent.includes('iteration')")
        page.run("void page.controls.change('perplexity', 12)")
        page.until("page.generation === 1 && page.shown >= 0")
        browser.call("Page.reload")
        browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        assert page.run("page.controls.values.perplexity") == 12
        page.rest(1, perplexity=12)
        assert page.session.generation >= 1
        count = page.run("page.strip.cards.size")
        browser.call("Page.reload")
        browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        page.rest(count, perplexity=12)
        assert page.run("page.strip.cards.size") == count
        assert page.run("page.$('recall').textContent").endswith("(exact, all points)")
        # Another one of the same address is told that the session is taken.
        assert page.server.guard.token not in browser.run("location.href + document.referrer")


@pytest.mark.slow
def test_two_panes_share_hover_selection_and_view(browser):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="pca")) as page:
        page.rest(1)
        page.choose(".lx-method", "isomap")
        page.until("page.strip.cards.size >= 2")
        page.rest(2)
        page.click(".lx-state button", modifiers=8)  # with Shift
        page.until("page.panes.second?.count === 120")
        page.run("void map.selectRows([1, 5, 9])")
        assert page.run("[...page.panes.second.selectedRows()]") == [1, 5, 9]
        page.run("void page.panes.second.selectRows([2])")
        assert page.run("[...map.selectedRows()]") == [2]
        page.run("void page.panes.second.hover(7)")
        assert page.run("map.hovered") == 7
        page.run("void map.setView({ zoom: 3 })")
        assert page.run("page.panes.second.viewOf().zoom") == pytest.approx(3, rel=1e-3)
        page.until("page.$('count').textContent.startsWith('1 points')")
        page.click(".lx-compared button")
        page.until("page.panes.second === null")
        page.click(".lx-state button")
        page.until("page.controls.method === 'pca'")
        assert browser.problems == []


@pytest.mark.slow
def test_a_failing_fit_is_said_and_the_next_one_works(browser):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="pca")) as page:
        page.rest(1)
        page.run("void page.controls.show({ method: 'tsne', parameters: { lam: 1 } })")
        page.run("void page.controls.change('learning_rate', 200)")
        page.run("void page.controls.change('optimizer', 'gd')")
        page.until("!page.$('alert').hidden && page.$('alert').textContent.includes('learning_rate')")
        page.choose(".lx-method", "isomap")
        page.rest(2)
        assert page.run("page.$('alert').getAttribute('role')") == "alert"


@pytest.mark.slow
def test_columns_distances_selections_and_files(browser, tmp_path):
    X, codes = blobs()
    X[codes == 2, 1] += 30
    columns = {"weight": np.arange(120) / 7, HOSTILE: codes}
    with Page(browser, session_of(X, codes, method="pca", columns=columns)) as page:
        page.rest(1)
        page.choose(".lx-column", "feature 4")
        page.until("map.panel.column.name === 'feature 4'")
        np.testing.assert_allclose(page.run("[...map.panel.column.values]"), X[:, 4], rtol=1e-6)
        page.choose(".lx-column", HOSTILE)
        page.until(f"map.panel.column.name === {HOSTILE!r}")
        page.click(".lx-faithful")
        page.until("map.panel.column.name === 'faithfulness'")
        page.click(".lx-distances")
        page.run("void map.hover(11)")
        page.until("map.panel.column.name === 'distance in the data'")
        shown = page.run("[...map.panel.column.values]")
        np.testing.assert_allclose(shown, np.linalg.norm(X - X[11], axis=1), rtol=1e-5, atol=1e-4)
        page.run(f"void map.selectRows({np.flatnonzero(codes == 2).tolist()})")
        page.until("page.$('contrasts').textContent.includes('feature 1+')")
        page.click(".lx-settle")
        page.until("map.root.querySelector('.ld-badge').textContent === 'settled'")
        browser.downloads_to(tmp_path)
        for what in ("csv", "png", "svg", "npy"):
            page.click(f"[data-export={what}]")
            assert browser.finish_download() == "completed"
        expected = lowdim.PCA().fit(X).embedding_
        np.testing.assert_array_equal(np.load(tmp_path / "pca.npy"), expected)
        assert (tmp_path / "explorer.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "explorer.svg").read_text(encoding="utf-8")
        assert browser.run("window.broken") is None


@pytest.mark.slow
def test_the_address_holds_the_setting_for_another_time(browser):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="pca"), opens=False) as page:
        browser.go(page.server.address)
        browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        wanted = "method=isomap&parameters=%7B%22n_neighbors%22%3A17%7D"
        browser.go("about:blank")
        page.go(f"{page.server.guard.origin}{page.server.guard.page}#{wanted}")
        page.rest(1, n_neighbors=17)
        page.go(f"{page.server.guard.origin}{page.server.guard.page}#method=isomap&parameters=no-json")
        assert page.run("page.hello.rows") == 120


@pytest.mark.slow
def test_all_rows_are_shown_and_a_slider_comes_back_to_the_sample(browser, monkeypatch):
    X, codes = blobs(200)
    monkeypatch.setattr("lowdim.explore.source.MOST_ROWS", 150)
    monkeypatch.setattr("lowdim.explore.source.SAMPLE_ROWS", 60)
    with Page(browser, Session(source_of(X, codes).sampled(), Setting("pca"))) as page:
        page.rest(1)
        assert "60 of 200" in page.text("sample")
        page.click(".lx-settle")
        page.until("map.root.querySelector('.ld-badge').textContent === 'settled'")
        page.click(".lx-place")
        page.until("map?.count === 200")
        page.until("page.$('stage').textContent === '' && page.$('progress').hidden")
        assert page.text("sample").strip().startswith("All 200 rows are shown")
        assert page.run("page.$('place').getClientRects().length") == 0
        page.run("void map.selectRows([199, 3])")
        page.click(".lx-faithful")
        page.until("page.$('alert').textContent.includes('sample')")
        page.click("#lx-whiten")
        page.until("map?.count === 60")
        assert page.text("sample").startswith("Sliding on a sample of 60 of 200 rows.")
        assert page.run("page.$('place').getClientRects().length") == 1
        page.rest(3, whiten=True)
        page.until("page.$('recall').textContent.endsWith('(exact, all points of the sample)')")
        assert page.run("page.root.dataset.state") == "ready"
        assert browser.problems == []


@pytest.mark.slow
def test_the_module_of_the_notebook_runs_in_a_browser(browser, tmp_path):
    X, codes = blobs()
    session = session_of(X, codes, method="pca")
    with Reader(session, keeps=True) as reader:
        reader.until("scores")
        said = [text if isinstance(text, str) else base64.b64encode(text).decode() for text in reader.said]
        kinds = [isinstance(text, str) for text in reader.said]
    module = script().replace("export default { render };", "window.render = render;")
    path = tmp_path / "cell.html"
    style = f"<style>:root {{ --accent: lime; }}</style><style>{cell_style()}</style>"
    path.write_text(f'{style}<div id="cell"></div><script type="module">{module}</script>', encoding="utf-8")
    browser.open(path)
    browser.until("window.render !== undefined")
    browser.run(
        "(async () => { window.sent = []; window.model = { on: (name, heard) => (window.heard = heard), off() {},"
        " send: (content) => sent.push(content) };"
        " await render({ model, el: document.getElementById('cell') }) })()"
    )
    assert browser.run("window.sent[0]") == {"open": True}
    for text, is_text in zip(said, kinds, strict=True):
        feed = f"heard({{ text: {json.dumps(text)} }}, [])"
        if not is_text:
            feed = f"heard({{}}, [new DataView(Uint8Array.from(atob('{text}'), (at) => at.charCodeAt(0)).buffer)])"
        browser.run(f"void {feed}")
    browser.until("document.getElementById('cell').explorer.strip.cards.size === 1")
    assert browser.run("document.getElementById('cell').explorer.map.count") == 120
    assert browser.run("document.querySelector('.lx').offsetHeight") == 640
    # The cell has colours and a theme of its own, and leaves those of the notebook alone.
    colour = "getComputedStyle({}).getPropertyValue('--accent')"
    assert browser.run(colour.format("document.querySelector('.lx')")) == "#1763b8"
    browser.run("document.getElementById('cell').explorer.map.panel.setTheme('dark')")
    assert browser.run(colour.format("document.querySelector('.lx')")) == "#7db7ff"
    assert browser.run(colour.format("document.documentElement")) == "lime"
    assert browser.run("document.documentElement.dataset.theme") is None
    # In a narrow cell the panel of the map goes below it.
    below = "document.querySelector('.ld-panel').offsetTop > document.querySelector('.ld-map').offsetTop"
    assert not browser.run(below)
    browser.run("document.getElementById('cell').style.width = '700px'")
    browser.until(below)
