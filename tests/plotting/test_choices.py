"""How parameters were chosen, drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError
from lowdim.plotting import plot_choices, write_report


def test_the_curve_has_what_was_tried_and_marks_what_was_chosen(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((60, 3)) @ np.eye(3, 8)
    X += 0.01 * np.random.default_rng(1).standard_normal(X.shape)
    model = lowdim.PCA("auto").fit(X)
    axes = plot_choices(model, tmp_path / "curve.svg").axes[0]
    tried, chosen, default, threshold = axes.lines
    np.testing.assert_array_equal(tried.get_xdata(), np.arange(1, 9))
    np.testing.assert_allclose(tried.get_ydata()[:3], model.singular_values_)
    assert chosen.get_xdata().tolist() == [3]
    assert (default.get_xdata()[0], default.get_linestyle()) == (2, "--")
    assert model.singular_values_[-1] > threshold.get_ydata()[0] > tried.get_ydata()[3]
    html = write_report(tmp_path / "r.html", model).read_text(encoding="utf-8")
    assert "Chosen parameters" in html
    assert "Chosen parameters" not in write_report(tmp_path / "p.html", lowdim.PCA(2).fit(X)).read_text(
        "utf-8"
    )


def test_estimates_have_their_names_and_several_choices_a_panel_each() -> None:
    X = lowdim.datasets.swiss_roll(80, random_state=0).data
    figure = plot_choices(lowdim.Isomap("auto", n_neighbors="auto:connected").fit(X))
    first, second = figure.axes
    assert [text.get_text() for text in first.get_xticklabels()] == ["mle", "two-nn", "local-pca"]
    assert second.get_ylabel() == "pieces of the graph"


def test_where_nothing_was_chosen_nothing_is_drawn() -> None:
    with pytest.raises(InputError, match="perplexity='auto'"):
        plot_choices(lowdim.PCA(2).fit(np.eye(5)))
