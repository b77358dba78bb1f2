"""What notebooks show: reports, scores, sweeps, data sets, and progress while a fit runs."""

from __future__ import annotations

import sys
import time
import types

import numpy as np
import pytest

import lowdim
from lowdim.core import markup
from lowdim.core.events import Events, LogLines
from lowdim.core.notebook import NotebookProgress, is_notebook, listener_for
from lowdim.core.records import Choice, Report, Stage
from lowdim.core.system import peak_memory

HOSTILE = "<img src=x onerror=alert(1)>"


def test_everything_is_escaped():
    made = markup.box(
        HOSTILE,
        markup.fold(HOSTILE, markup.plain_table([HOSTILE, ""], [[HOSTILE, markup.bar(2.0)]]), is_open=True),
    )
    assert "<img" not in made
    assert made.count("&lt;img") == 4
    assert "width:100.0%" in made
    assert markup.tag("a", "x", class_='"', id="").html == '<a class="&quot;">x</a>'
    assert "<thead>" not in markup.table(["", ""], [["a", "b"]]).html


def test_report():
    report = Report(
        HOSTILE,
        (10, 2),
        (Stage("a", 1.0), Stage("b", 0.5, 1)),
        (Choice("solver", "dense", "small"),),
        (HOSTILE,),
        {"x_y": np.arange(3.0)},
    )
    html = report._repr_html_()
    assert "<img" not in html
    for text in ("solver", "dense", "1.000 s", "x y", "0, 1, 2"):
        assert text in html
    assert "Decided" not in Report("m", (1, 1))._repr_html_()


def test_estimators():
    model = lowdim.PCA(2)
    assert "Seconds by stage" not in model._repr_html_()
    model.fit(np.random.default_rng(0).random((20, 4)))
    bundle = model._repr_mimebundle_()
    assert "Seconds by stage" in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)
    assert all(stage.memory > 1_000_000 for stage in model.report_.stages)
    assert model.report_.as_dict()["memory"].keys() == model.report_.as_dict()["seconds"].keys()


def test_scores_and_sweeps():
    points = np.random.default_rng(0).random((80, 4))
    scores = lowdim.score(points, points[:, :2], sample=40)
    html = scores._repr_html_()
    assert f"{scores.continuity.low:.4f} to" in html
    assert "40 of them sampled" in html
    assert "all of them" in lowdim.score(points, points[:, :2])._repr_html_()
    found = lowdim.sweep(lowdim.PCA(2), {"n_components": [1, 2]}, points, score="trustworthiness")
    html = found._repr_html_()
    assert "<b>" in html
    assert "n_components" in html


def test_data_sets():
    html = lowdim.datasets.load("digits")._repr_html_()
    assert "1,797 × 64" in html
    assert "0 to 16" in html
    assert "labels" in html
    assert "parameters" not in html
    names = type(lowdim.datasets.load("digits"))(np.zeros((0, 2)), np.array(["a", "b", "a"]))
    assert "2 different" in names._repr_html_()


class Kernel:
    """What IPython looks like inside a notebook."""

    def __init__(self, monkeypatch, *, kernel):
        self.shown = []
        shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))
        display = types.ModuleType("IPython.display")
        display.HTML = lambda text: text
        display.display = self.display
        package = types.ModuleType("IPython")
        package.get_ipython = lambda: shell
        package.display = display
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, html, display_id):
        self.shown.append(html)
        return types.SimpleNamespace(update=self.shown.append)


def test_progress_shows_itself_in_a_notebook(monkeypatch):
    kernel = Kernel(monkeypatch, kernel=True)
    assert is_notebook()
    lowdim.PCA(2, verbose=1).fit(np.random.default_rng(0).random((20, 4)))
    assert len(kernel.shown) > 2
    assert "done in" in kernel.shown[-1]


def test_progress_elsewhere_is_lines(monkeypatch, caplog):
    Kernel(monkeypatch, kernel=False)
    assert not is_notebook()
    assert isinstance(listener_for(1), LogLines)
    monkeypatch.delitem(sys.modules, "IPython")
    assert not is_notebook()
    lowdim.PCA(2, verbose=1).fit(np.random.default_rng(0).random((20, 4)))
    assert {record.name for record in caplog.records} == {"lowdim"}


def test_stages_bars_and_notes():
    shown = []
    events = Events(NotebookProgress(shown.append, every=0.0))
    with events.stage("outer"):
        events.progress(0, 0)
        with events.stage("inner"):
            events.progress(0, 100)
            assert "0 of 100" in shown[-1]
            events.progress(25, 100)
            assert "25 of 100" in shown[-1]
            assert "s left" in shown[-1]
            events.emit("iteration", iteration=1)
            events.chosen("solver", HOSTILE, "why")
        assert "…" in shown[-1]
    assert "&lt;img" in shown[-1]
    assert "done in" in shown[-1]
    with pytest.raises(KeyError), events.stage("bad"):
        raise KeyError("x")
    assert "failed" in shown[-1]
    events.emit("finished", took=1.0)


@pytest.mark.parametrize("booted", [0.0, 3.0, 1e6])
def test_it_does_not_flicker(monkeypatch, booted):
    """The beginning is shown however young the machine is, the clock of which may count from its start."""
    monkeypatch.setattr(time, "monotonic", lambda: booted)
    shown = []
    events = Events(NotebookProgress(shown.append, every=1000.0))
    with events.stage("work"):
        for done in range(100):
            events.progress(done, 100)
    assert len(shown) == 2
    assert "done in" not in shown[0]


def test_memory_where_the_system_does_not_tell(monkeypatch):
    assert peak_memory() > 10_000_000
    known = peak_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert peak_memory() < known
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() == 0
