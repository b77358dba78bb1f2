"""Curves of the objective and of eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError
from lowdim.optimize.outcome import History
from lowdim.plotting import plot_eigenvalues, plot_objective


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).standard_normal((120, 6))


def history(values, lam=None):
    count = len(values)
    lam = np.ones(count) if lam is None else lam
    return History.of(zip(range(count), np.arange(count) / 10, values, range(count), lam, strict=True))


def test_objective(tmp_path):
    figure = plot_objective(history([5.0, 3.0, 2.5]), tmp_path / "o.svg")
    left, right = figure.axes
    np.testing.assert_array_equal(left.lines[0].get_ydata(), [5.0, 3.0, 2.5])
    np.testing.assert_array_equal(right.lines[0].get_xdata(), [0.0, 0.1, 0.2])
    assert left.get_yscale() == "linear"
    assert left.get_legend() is None
    assert (tmp_path / "o.svg").stat().st_size > 1000


def test_each_lambda_has_its_piece():
    axes = plot_objective(history([9.0, 400.0, 3.0, 1.0], [4.0, 1.0, 1.0, 1.0])).axes[0]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[9.0], [400.0, 3.0, 1.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["λ = 4", "λ = 1"]
    assert axes.get_yscale() == "log"
    many = plot_objective(history(np.arange(20.0) + 1, np.arange(20.0))).axes[0]
    assert many.get_legend() is None


def test_of_a_fit(data):
    model = lowdim.TSNE(perplexity=10, max_iter=30, random_state=0).fit(data)
    assert plot_objective(model).axes[0].lines


@pytest.mark.parametrize("model", [lowdim.LaplacianEigenmaps(3), lowdim.PCA(4)])
def test_eigenvalues(model, data, tmp_path):
    model.fit(data)
    figure = plot_eigenvalues(model, tmp_path / "e.pdf")
    (axes,) = figure.axes
    values = getattr(model, "eigenvalues_", getattr(model, "explained_variance_", None))
    np.testing.assert_allclose(axes.lines[0].get_ydata(), values)
    assert ("variance" in axes.get_title()) == isinstance(model, lowdim.PCA)


def test_eigenvalues_alone():
    (axes,) = plot_eigenvalues(np.arange(60.0)[::-1]).axes
    assert axes.lines[0].get_linestyle() == "-"


def test_what_has_none():
    with pytest.raises(InputError, match="no eigenvalues"):
        plot_eigenvalues(lowdim.TSNE())
    with pytest.raises(InputError, match="history"):
        plot_objective(lowdim.TSNE())
    with pytest.raises(InputError, match="history"):
        plot_objective(history([np.nan]))


def test_several_runs_are_drawn_over_each_other(tmp_path):
    runs = {"gd": history([9.0, 5.0, 4.0]), "sd": history([9.0, 3.0, 2.0, 1.0], [2.0, 2.0, 1.0, 1.0])}
    figure = plot_objective(runs, tmp_path / "o.png")
    left, right = figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["gd", "sd"]
    colours = [line.get_color() for line in left.lines]
    assert len(colours) == len(right.lines) == 3
    assert colours[1] == colours[2] != colours[0]
    assert left.get_ylim()[1] > 8.9
    listed = plot_objective(list(runs.values())).axes[0]
    assert [text.get_text() for text in listed.get_legend().get_texts()] == ["run 1", "run 2"]
    with pytest.raises(InputError, match="at least one run"):
        plot_objective({})
    with pytest.raises(InputError, match="for 'third'"):
        plot_objective({"first": history([1.0]), "third": 3})
