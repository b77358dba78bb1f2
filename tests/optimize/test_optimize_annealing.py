"""The schedule of annealed momentum."""

from __future__ import annotations

import numpy as np
import pytest
from dense_objectives import RUN, problem

from lowdim.optimize import Annealing, Momentum, Phase, Stopping, minimise
from lowdim.optimize.schedules import Later


@pytest.mark.parametrize("iterations", [1, 5, 30, 200, 1000])
def test_the_schedule_rises_glides_and_settles(iterations):
    settings = Annealing(iterations)
    share, rate, momentum = np.array([settings.at(i)[:3] for i in range(iterations + 5)]).T
    assert (np.diff(share) >= 0).all()
    assert share[-1] == 1.0
    assert (np.diff(rate) <= 0).all()
    assert share[0] <= 1.0
    if iterations >= 30:
        assert share[0] == pytest.approx(1 / 12)
        assert rate[-1] == pytest.approx(0.1)
        assert momentum[0] == 0.8
        assert momentum.max() == 0.95
        assert momentum[-1] == pytest.approx(0.5)


def test_it_lowers_the_objective_and_knows_it_only_at_the_final_lambda():
    objective, X = problem("t-sne")
    optimizer, values = Momentum(), []
    state = optimizer.init(objective, X, RUN, course=Annealing(60))
    assert state.value == objective.evaluate(X).value
    for _ in range(60):
        state = optimizer.step(state, value=True)
        values.append(state.value)
    assert values[:20] == [None] * 20
    assert values[-1] < objective.evaluate(X).value
    phase = Phase(1.0, Stopping(0.0, 300, is_budget=True), Annealing(300, rate=0.25))
    outcome = minimise(objective, X, Momentum(), [phase])
    assert outcome.reason == "max_iterations"
    assert outcome.value == outcome.history.values.min()


def test_caution_shortens_steps():
    objective, X = problem("t-sne")
    optimizer, course = Momentum(), Annealing(60)
    state = optimizer.init(objective, X, RUN, course=course)
    later = optimizer.step(state)
    careful = optimizer.init(objective, X, RUN, course=course, before=later, caution=0.5)
    assert (careful.position, later.position) == (0, 1)
    assert (careful.gains == 1).all()
    assert optimizer.step(careful).step == pytest.approx(later.step / 2)


def test_the_rest_of_a_course_goes_on_from_where_points_are_although_e_was_lower_before():
    objective, X = problem("t-sne")
    settled = minimise(objective, X, Momentum(), [Phase(1.0, Stopping(0.0, 300, is_budget=True))]).X
    half, course = Stopping(0.0, 10, is_budget=True), Annealing(20)
    phases = [Phase(1.0, half, course), Phase(1.0, half, Later(course, 10))]
    outcome = minimise(objective, settled, Momentum(), phases, record=1)
    values, frames = outcome.history.values, dict(outcome.frames)
    assert values[1] > values[0]
    assert np.abs(frames[11] - frames[10]).max() < 0.5 * np.abs(frames[11] - settled).max()


def test_the_early_momentum_is_never_above_the_later_one():
    assert Annealing(100, early_momentum=0.9).at(0).momentum == 0.9
    assert Annealing(100, momentum=0.7, early_momentum=0.9).at(0).momentum == 0.7
