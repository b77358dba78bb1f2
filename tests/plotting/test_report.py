"""The report: everything that a fit knows, on one page, whatever the texts in it."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import FileError, InputError
from lowdim.plotting import write_report

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    codes = np.arange(240) % 3
    return np.eye(3, 9)[codes] * 2 + rng.standard_normal((240, 9)), codes


@pytest.fixture(scope="module")
def model(data):
    return lowdim.LaplacianEigenmaps(2, n_neighbors=12).fit(data[0])


def written(path):
    return path.read_text(encoding="utf-8")


def test_everything_is_there(model, data, tmp_path):
    path = write_report(tmp_path / "r.html", model, *data, command=f"lowdim embed {HOSTILE}")
    html = written(path)
    for text in (
        "trustworthiness",
        "neighbor accuracy",
        "Eigenvalues",
        "n_neighbors=12",
        "peak",
        "Run it again",
    ):
        assert text in html
    for stage in model.report_.stages:
        assert stage.name in html
    for choice in model.report_.choices:
        assert choice.what in html
    assert "lowdim embed &lt;/script&gt;" in html
    assert "<img" not in html
    assert "var(--quiet)" in html.split("<svg")[-1]
    assert "<svg" in html


def test_in_the_browser(browser, model, data, tmp_path):
    path = write_report(tmp_path / "r.html", model, data[0], np.array(["a", "b", HOSTILE])[data[1]])
    for dark in (False, True):
        browser.open(path, dark=dark)
        assert browser.problems == []
        assert [url for url in browser.requests if not url.startswith("data:")] == [path.as_uri()]
        assert browser.run("document.querySelector('.ld').dataset.state") == "ready"
        assert browser.run("document.querySelectorAll('svg').length") > 1
    before = browser.run("document.querySelector('.ld').map.view.scale")
    box = browser.run(
        "(() => { const box = document.querySelector('.ld-over').getBoundingClientRect(); "
        "return [box.x + 200, box.y + 200]; })()"
    )
    browser.wheel(*box, 200)
    assert browser.run("document.querySelector('.ld').map.view.scale") == before
    browser.open(path, width=400)
    assert browser.run("document.documentElement.scrollWidth") <= 400


def test_given_scores_are_used(model, data, tmp_path):
    scores = lowdim.score(data[0], model.embedding_, sample=100)
    html = written(write_report(tmp_path / "r.html", model, scores=scores))
    assert f"{scores.continuity.low:.4f} to {scores.continuity.high:.4f}" in html
    assert "a sample of 100 of them" in html


def test_without_data(model, tmp_path):
    html = written(write_report(tmp_path / "r.html", model))
    assert "Not measured: give the data" in html


def test_quality_that_cannot_be_measured(model, data, tmp_path):
    assert "Could not be measured" in written(write_report(tmp_path / "a.html", model, data[0][:5]))
    graph = lowdim.LaplacianEigenmaps(2, metric="graph").fit(
        np.exp(-np.abs(np.subtract.outer(np.arange(30), np.arange(30))))
    )
    assert "the data are a graph" in written(write_report(tmp_path / "b.html", graph, data[0]))


def test_quantities_are_no_classes(model, data, tmp_path):
    html = written(write_report(tmp_path / "r.html", model, data[0], np.linspace(0, 1, 240)))
    assert "neighbor accuracy" not in html


def test_clusters_colour_the_map(data, tmp_path):
    model = lowdim.SpectralClustering(3).fit(data[0])
    path = write_report(tmp_path / "r.html", model, data[0], images=data[0])
    assert "ld-sheet" in written(path)


def test_an_optimisation(data, tmp_path):
    model = lowdim.TSNE(perplexity=10, max_iter=30, init=np.random.default_rng(0).random((240, 2))).fit(
        data[0]
    )
    html = written(write_report(tmp_path / "r.html", model, labels=data[1]))
    assert "Objective" in html
    assert "array of 240 × 2" in html


def test_warnings_come_first(data, tmp_path):
    far = data[0] + 100 * np.eye(3, 9)[data[1]]
    with pytest.warns(lowdim.errors.LowdimWarning):
        model = lowdim.LaplacianEigenmaps(2, n_neighbors=3).fit(far)
    html = written(write_report(tmp_path / "r.html", model))
    assert html.index('class="warning"') < html.index("<h2>What was done")
    assert "<span>warning</span>" in html


def test_a_method_that_says_little(tmp_path, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    from lowdim.core.records import Report

    def missing(name):
        raise PackageNotFoundError(name)

    class Quiet(lowdim.PCA):
        pass

    model = Quiet(2)
    model.embedding_ = np.random.default_rng(0).random((20, 2))
    model.report_ = Report("Quiet", (20, 3))
    monkeypatch.setattr("lowdim.plotting.report_parts.version", missing)
    html = written(write_report(tmp_path / "r.html", model))
    assert "Eigenvalues" not in html
    assert "Objective" not in html
    assert "scikit-learn" not in html


def test_many_dimensions_and_many_points(data, tmp_path, monkeypatch):
    model = lowdim.PCA(5).fit(data[0])
    assert "Coordinates 1 and 2 of 5 are shown" in written(write_report(tmp_path / "a.html", model))
    monkeypatch.setattr("lowdim.plotting.report._MOST_POINTS", 100)
    html = written(write_report(tmp_path / "b.html", model))
    assert 'src="data:image/png;base64' in html
    assert "ld-data" not in html.split("<script>")[0]


def test_what_cannot_be_reported(model, tmp_path):
    with pytest.raises(InputError, match="fitted"):
        write_report(tmp_path / "r.html", lowdim.TSNE())
    with pytest.raises(InputError, match=r"\.html"):
        write_report(tmp_path / "r.pdf", model)
    (tmp_path / "r.html").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="force"):
        write_report(tmp_path / "r.html", model)
    assert written(tmp_path / "r.html") == "mine"
    write_report(tmp_path / "r.html", model, force=True)
    assert written(tmp_path / "r.html") != "mine"
