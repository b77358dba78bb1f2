"""The table of numbers in its quick form: few points, every estimator, every input."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from torture.numeric.cells import judge, judge_graph, judge_newcomers, judge_problem
from torture.numeric.estimators import every_estimator
from torture.numeric.graphs import GRAPHS
from torture.numeric.inputs import every_input
from torture.numeric.newcomers import NEWCOMERS
from torture.numeric.problems import ENDS, PROBLEMS, SOLVERS

POINTS = 40
WIDE = "D = 100000 sparse"
# One of each kind where rows of 100,000 columns take long.
QUICK_WHEN_WIDE = ("PCA", "PCA randomized", "LaplacianEigenmaps", "TSNE")


# One for each way from the data to the coordinates; `make torture` takes them all.
QUICK = (
    "PCA",
    "LLE standard",
    "TSNE fft",
)


def quickly(name):
    return name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)


SOME = [quickly(name) for name in every_estimator()]


def findings(judge_cell, row, columns):
    outcomes = {column: judge_cell(row, column, POINTS) for column in columns}
    return {column: outcome.words for column, outcome in outcomes.items() if outcome.kind == "FOUND"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_points(name):
    columns = [column for column in every_input() if column != WIDE or name in QUICK_WHEN_WIDE]
    assert findings(judge, name, columns) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", [quickly(name) for name, entry in every_estimator().items() if entry.graph])
def test_graphs(name):
    assert findings(judge_graph, name, list(GRAPHS)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_new_points(name):
    assert findings(judge_newcomers, name, list(NEWCOMERS)) == {}


@pytest.mark.covering
@pytest.mark.parametrize("problem", list(PROBLEMS))
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.every(3)
def test_spectral_problems(problem, end):
    def judge_cell(row, solver, size):
        return judge_problem(row, end, solver, size)

    assert findings(judge_cell, problem, list(SOLVERS)) == {}
