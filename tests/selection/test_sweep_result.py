"""What a sweep leaves: rows, a table, the best point, a page of text, pictures."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import lowdim
from lowdim.errors import InputError, LowdimWarning, MissingExtraError
from lowdim.selection import sweep


@pytest.fixture(scope="module")
def found(digits):
    """Two parameters, one of them with a value that fails, two seeds."""
    data, labels = digits[0][:600], digits[1][:600]
    grid = {"n_neighbors": [12, 20, 5000], "bandwidth": [15.0, 20.0, 40.0]}
    with pytest.warns(LowdimWarning, match="6 of 18"):
        return sweep(lowdim.LaplacianEigenmaps(3), grid, data, labels, seeds=2)


def test_table(found):
    table = found.table
    assert table.shape[0] == 9
    first = ["n_neighbors", "bandwidth", "test_error", "test_error_std", "out_of_sample_error"]
    assert list(table.columns[:5]) == first
    stages = ["seconds", "seconds_neighbours", "seconds_affinities", "seconds_solve", "seconds_score"]
    assert {*stages, "seconds_transform", "seeds", "warnings", "status"} <= set(table.columns)
    assert table["n_neighbors"].dtype == np.int64
    assert table["seeds"].dtype == np.int64
    assert table["bandwidth"].dtype == np.float64
    assert table["test_error_std"].dtype == np.float64
    assert table["status"].map(type).eq(str).all()
    assert table["test_error"].isna().sum() == 3
    assert (table["seconds"] > 0).all()
    assert table.to_dict("records")[0] == found.rows[0]


def test_stages_fit_into_the_whole(found):
    for row in found.rows:
        stages = [value for name, value in row.items() if name.startswith("seconds_")]
        assert sum(stages) <= row["seconds"]


def test_without_pandas(found, monkeypatch):
    monkeypatch.setattr("lowdim.selection.result.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lowdim\[frames\]'"):
        _ = found.table
    assert len(found.rows) == 9


@pytest.mark.slow
def test_a_sweep_needs_neither_pandas_nor_matplotlib():
    code = (
        "import sys; sys.modules['pandas'] = sys.modules['matplotlib'] = None\n"
        "import numpy as np, lowdim; from lowdim.selection import sweep\n"
        "X = np.random.default_rng(0).standard_normal((60, 4))\n"
        "print(sweep(lowdim.PCA(), {'n_components': [1, 2]}, X, np.arange(60) % 2))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("PCA on 60 x 4: 2 grid points")


def test_best(found):
    good = [row for row in found.rows if row["status"] == "ok"]
    lowest = min(row["test_error"] for row in good)
    best = next(row for row in good if row["test_error"] == lowest)
    assert found.best == {name: best[name] for name in found.parameters}
    plain = found.best_estimator()
    assert plain.get_params()["bandwidth"] == found.best["bandwidth"]
    assert not hasattr(plain, "embedding_")


def test_best_estimator_is_fitted_to_what_is_given(found, digits):
    fitted = found.best_estimator(digits[0][:300])
    assert fitted.embedding_.shape == (300, 3)
    assert fitted.n_neighbors == found.best["n_neighbors"]


def test_a_point_that_failed_once_is_best_only_if_there_is_no_other(digits):
    def judge(fitted, X, y):
        if fitted.n_components == 3 and fitted.random_state == 1:
            raise ValueError("once")
        return float(fitted.n_components)

    with pytest.warns(LowdimWarning, match="1 of 4"):
        both = sweep(lowdim.PCA(), {"n_components": [2, 3]}, digits[0], score=judge, seeds=[0, 1])
    assert both.best == {"n_components": 2}
    assert both.rows[1]["status"] == "seed 1: once"
    assert both.rows[1]["judge"] == 3.0
    with pytest.warns(LowdimWarning, match="1 of 2"):
        alone = sweep(lowdim.PCA(), {"n_components": [3]}, digits[0], score=judge, seeds=[0, 1])
    assert alone.best == {"n_components": 3}


def test_warnings_stay_with_their_row(digits):
    data = np.concatenate([digits[0][:100], digits[0][:100] + 500])
    with pytest.warns(lowdim.errors.DisconnectedWarning):
        torn = sweep(lowdim.LaplacianEigenmaps(), {"n_neighbors": [5, 150]}, data, score=lambda *a: 1.0)
    assert "components" in torn.rows[0]["warnings"]
    assert torn.rows[1]["warnings"] == ""


def test_it_is_frozen(found):
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.complete = False


def test_page(found):
    text = str(found)
    lines = text.splitlines()
    assert lines[0].startswith("LaplacianEigenmaps on 600 x 64: 9 grid points x 2 seeds, ")
    assert "score: labels" in lines[1]
    assert lines[2].startswith("  best: n_neighbors=")
    assert lines[3].split()[:4] == ["n_neighbors", "bandwidth", "test_error", "out_of_sample_error"]
    assert len(lines) == 13
    assert sum(line.startswith("  *") for line in lines) == 1
    assert "±" in lines[4]
    assert "n_neighbors must be less" in lines[-1]
    assert max(map(len, lines)) < 160


def test_a_long_page_is_cut():
    X = np.random.default_rng(0).standard_normal((30, 3))
    long = sweep(lowdim.PCA(), {"memory_limit": list(range(10**9, 10**9 + 70))}, X, score=lambda *a: 0.5)
    assert "... 10 more in .rows" in str(long)


def test_heat_map(found, tmp_path):
    figure = found.plot(tmp_path / "map.png")
    assert isinstance(figure, Figure)
    assert (tmp_path / "map.png").stat().st_size > 10_000
    panels = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title() for axes in panels] == [
        "test error (less is better)",
        "out of sample error (less is better)",
    ]
    image = np.ma.filled(panels[0].images[0].get_array(), np.nan)
    expected = np.array([row["test_error"] for row in found.rows]).reshape(3, 3).T
    np.testing.assert_allclose(image, expected)


def test_curves(found, tmp_path):
    figure = found.plot(tmp_path / "curves.svg", kind="curves", x="bandwidth", score="test_error")
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines if line.get_label().startswith("n_neighbors")}
    assert list(lines) == ["n_neighbors = 12", "n_neighbors = 20", "n_neighbors = 5000"]
    expected = [row["test_error"] for row in found.rows if row["n_neighbors"] == 12]
    np.testing.assert_allclose(lines["n_neighbors = 12"].get_ydata(), expected)
    assert len(axes.collections) == 2
    assert axes.get_xlabel() == "bandwidth"


def test_one_parameter_is_a_curve(digits):
    one = sweep(lowdim.PCA(), {"n_components": [1, 2, 3]}, *digits)
    figure = one.plot()
    assert len(figure.axes) == 2
    assert not figure.legends
    with pytest.raises(InputError, match="needs two parameters"):
        one.plot(kind="heat map")


def test_further_parameters_are_taken_at_their_best(digits):
    def judge(fitted, X, y):
        return fitted.n_components + fitted.degree / 10 + fitted.coef0

    grid = {"n_components": [1, 2], "degree": [2, 3], "coef0": [0.0, 0.01]}
    three = sweep(lowdim.KernelPCA(kernel="poly", gamma=1e-3), grid, digits[0][:50], score=judge)
    figure = three.plot(x="degree", y="n_components")
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), [[1.21, 1.31], [2.21, 2.31]])
    assert figure.get_suptitle() == "best over coef0"
    assert len(three.plot().axes[0].get_legend_handles_labels()[1]) == 4


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"kind": "pie"}, "kind of plot must be one of 'auto', 'curves', 'heat map'"),
        ({"x": "n_neighbor"}, "Did you mean 'n_neighbors'"),
        ({"score": "test"}, "score of plot must be one of"),
        ({"kind": "curves", "y": "bandwidth"}, "y of plot belongs to"),
        ({"x": "bandwidth", "y": "bandwidth"}, "needs two parameters"),
        ({"path": "map.jpeg2"}, "must end in one of"),
    ],
)
def test_pictures_that_cannot_be(found, other, match):
    with pytest.raises(InputError, match=match):
        found.plot(**other)


def test_without_matplotlib(found, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "lowdim.plotting.drawing.find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    with pytest.raises(MissingExtraError, match=r"lowdim\[plot\]"):
        found.plot()


def test_grid_points_that_are_as_good_as_the_best_are_counted():
    X = np.random.default_rng(0).standard_normal((40, 3)) * [1e6, 1e-3, 1e-3]
    found = sweep(lowdim.PCA(), {"n_components": [1, 2, 3]}, X, score="trustworthiness")
    assert found.best == {"n_components": 1}
    assert "best: n_components=1 (the first of 3 that are as good)\n" in str(found)
    other = sweep(lowdim.PCA(), {"n_components": [1, 2]}, X * [1e-6, 1e3, 1e3], score="trustworthiness")
    assert "as good" not in str(other)
