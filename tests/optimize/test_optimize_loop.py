"""The loop: every way to stop, what is kept, what is told."""

from __future__ import annotations

import itertools
import pickle
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from dense_objectives import RUN, Dense, Fenced, Quadratic, laplacian, neighbor_weights, problem

from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.errors import ConvergenceError, ConvergenceWarning, InterruptedWarning, Stop
from lowdim.objectives.protocol import Evaluation
from lowdim.optimize import DirectedDescent, Momentum, Schedule, Stopping, minimise
from lowdim.optimize.directions import GradientDescent, LimitedMemory, SpectralDirection
from lowdim.optimize.named import OPTIMIZERS, named_optimizer
from lowdim.optimize.progress import Log
from lowdim.optimize.protocol import kept

SD = DirectedDescent(SpectralDirection())


@dataclass(frozen=True)
class Standing:
    """A state without anything behind it."""

    X: np.ndarray
    value: float | None
    gradient: np.ndarray
    step: float = 0.5
    evaluations: int = 1
    choices: tuple = ()
    is_last: bool = False


class Scripted:
    """An optimiser whose values come from a list; None ends it, an exception is raised."""

    def __init__(self, values, gradient=1e-3):
        self.values, self.gradient = iter(values), gradient

    def _state(self, value):
        X = np.arange(6.0).reshape(3, 2) + (0.0 if value is None else 1e-3 * value)
        return Standing(X, value, np.full((3, 2), self.gradient))

    def init(self, objective, X, run, *, course=None, before=None, caution=1.0):
        return self._state(next(self.values))

    def step(self, state, *, value=True):
        following = next(self.values)
        if following is None:
            return replace(state, is_last=True)
        if isinstance(following, BaseException):
            raise following
        return self._state(following)

    def done(self, state):
        return state.is_last


OBJECTIVE = Quadratic(np.eye(3))
START = np.zeros((3, 2))


def scripted(values, stopping, **options):
    return minimise(OBJECTIVE, START, Scripted(values, **options), stopping)


def test_converges_by_the_relative_decrease():
    values = [100.0, 50.0, 49.0, 48.9, 48.899]
    outcome = scripted(values, Stopping(tolerance=1e-3))
    assert outcome.reason == "converged"
    assert outcome.iterations == 4
    assert outcome.value == 48.899
    # The same numbers on another scale end at the same place.
    outcome = scripted([1e9 * v for v in values], Stopping(tolerance=1e-3))
    assert outcome.iterations == 4


def test_window_bridges_one_small_step():
    values = [100.0, 99.99999, 80.0, 79.0, 78.999999, 78.9999989, 78.9999988, 78.9999987]
    assert scripted(values, Stopping(tolerance=1e-5)).iterations == 1
    assert scripted(values, Stopping(tolerance=1e-5, window=3)).iterations == 6


def test_stalls_where_no_step_is_left():
    outcome = scripted([3.0, 2.0, None], Stopping(tolerance=0.0))
    assert outcome.reason == "stalled"
    assert (outcome.iterations, outcome.value) == (1, 2.0)


def test_stall_on_a_steep_slope_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="E and its gradient do not agree"):
        scripted([3.0, 2.0, None], Stopping(tolerance=0.0), gradient=1.0)


def test_max_iterations_warns_unless_it_is_a_budget():
    values = itertools.chain([10.0], (9.0 - k for k in itertools.count()))
    with pytest.warns(
        ConvergenceWarning, match=r"after 4 iterations, above tolerance=1e-06\. Raise max_iter"
    ):
        outcome = scripted(values, Stopping(max_iterations=4))
    assert (outcome.reason, outcome.iterations) == ("max_iterations", 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scripted([3.0, 2.0, 1.0], Stopping(max_iterations=2, is_budget=True))


def test_deadline_keeps_the_best(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("lowdim.optimize.loop.time.perf_counter", lambda: now[0])

    class Slow(Scripted):
        def step(self, state, *, value=True):
            now[0] += 1.0
            return super().step(state, value=value)

    optimizer = Slow(itertools.chain([10.0, 4.0], itertools.count(7.0)))
    outcome = minimise(OBJECTIVE, START, optimizer, Stopping(tolerance=0.0, max_seconds=2.5))
    assert outcome.reason == "max_seconds"
    assert outcome.value == 4.0
    assert outcome.iterations == 3
    assert outcome.seconds == 3.0


def test_interrupt_keeps_the_best_and_says_so():
    with pytest.warns(InterruptedWarning, match="after 2 iterations: the best embedding so far is kept"):
        outcome = scripted([5.0, 2.0, 3.0, KeyboardInterrupt()], Stopping(tolerance=0.0))
    assert (outcome.reason, outcome.value) == ("interrupted", 2.0)
    np.testing.assert_allclose(outcome.X, np.arange(6.0).reshape(3, 2) + 2e-3)


def test_interrupt_before_the_first_step_keeps_the_start():
    class Early:
        def init(self, objective, X, run, **options):
            raise KeyboardInterrupt

    X = np.ones((3, 2))
    with pytest.warns(InterruptedWarning):
        outcome = minimise(OBJECTIVE, X, Early())
    assert outcome.X is X
    assert np.isnan(outcome.value)
    assert outcome.history.values.size == 0


def test_a_callback_can_stop():
    objective, X = problem("t-sne")

    def listener(event):
        if event.kind == "iteration" and event.data["iteration"] == 3:
            raise Stop

    outcome = minimise(objective, X, SD, Stopping(tolerance=0.0), run=Run(Events(listener)))
    assert (outcome.reason, outcome.iterations) == ("stopped by callback", 3)
    assert outcome.value == outcome.history.values[-1]


def test_other_errors_of_a_callback_are_not_hidden():
    objective, X = problem("t-sne")

    def listener(event):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        minimise(objective, X, SD, run=Run(Events(listener)))


def test_every_iteration_is_told():
    objective, X = problem("s-sne")
    seen = []
    stopping = Stopping(tolerance=0.0, max_iterations=7, is_budget=True)
    outcome = minimise(objective, X, SD, stopping, run=Run(Events(seen.append)))
    choices = [event for event in seen if event.kind == "chosen"]
    assert choices[0].data["what"] == "spectral direction"
    told = [event.data for event in seen if event.kind == "iteration"]
    assert [data["iteration"] for data in told] == list(range(1, 8))
    assert told[-1]["embedding"] is outcome.X
    for data in told:
        evaluation = objective.evaluate(data["embedding"])
        assert data["value"] == pytest.approx(evaluation.value, rel=1e-12)
        assert data["gradient_norm"] == pytest.approx(np.linalg.norm(evaluation.gradient))
        assert data["lam"] == objective.lam
        assert data["step"] > 0
    message = next(event.message for event in seen if event.kind == "iteration")
    assert message.startswith("iteration 1: E ")


def test_history_holds_every_known_value():
    objective, X = problem("ee")
    objective.evaluations = 0
    outcome = minimise(objective, X, DirectedDescent(LimitedMemory()), Stopping(tolerance=1e-4))
    history = outcome.history
    assert history.values[0] == objective.evaluate(X).value
    np.testing.assert_array_equal(history.iterations, np.arange(outcome.iterations + 1))
    assert history.values[-1] == outcome.value == history.values.min()
    assert (np.diff(history.evaluations) >= 1).all()
    assert history.evaluations[-1] == outcome.evaluations == objective.evaluations - 1
    assert (np.diff(history.seconds) >= 0).all()
    assert (history.lam == objective.lam).all()


def test_values_that_are_not_free_are_asked_for_now_and_then():
    objective, X = problem("t-sne")
    stopping = Stopping(tolerance=0.0, max_iterations=25, value_every=10, is_budget=True)
    outcome = minimise(objective, X, Momentum(), stopping)
    np.testing.assert_array_equal(outcome.history.iterations, [0, 10, 20, 25])
    assert outcome.value == outcome.history.values.min()
    assert outcome.evaluations == 26


def test_decrease_is_per_iteration_over_the_window():
    # 10 iterations lower E by 1e-4 of itself: 1e-5 an iteration.
    values = [1.0 - 1e-4 * (-(-k // 10)) for k in range(100)]

    class Dear(Scripted):
        def step(self, state, *, value=True):
            following = super().step(state, value=value)
            return following if value else replace(following, value=None)

    outcome = minimise(OBJECTIVE, START, Dear(values), Stopping(tolerance=1.1e-5))
    assert (outcome.reason, outcome.iterations) == ("converged", 10)


def test_rising_values_are_not_convergence():
    outcome = scripted([5.0, 4.0, 4.5, 4.6, 4.6], Stopping(tolerance=1e-3))
    assert outcome.iterations == 4
    assert outcome.value == 4.0


def test_growth_from_a_tiny_start_is_not_convergence():
    objective, X = problem("t-sne")
    for optimizer in (SD, Momentum()):
        outcome = minimise(objective, 1e-6 * X, optimizer, Stopping(tolerance=1e-5, max_iterations=2000))
        assert outcome.reason == "converged"
        assert np.std(outcome.X) > 0.1


def test_recovers_from_values_that_are_not_finite():
    inside, X = problem("ee")
    minimum = minimise(inside, X, SD, Stopping(tolerance=1e-8))
    reach = 1.02 * np.abs(minimum.X - minimum.X.mean(axis=0)).max()

    class Fence(Fenced):
        diagonal = inside.diagonal

    # Steps 300 times too long leave the fence at once; halved often enough they stay inside.
    wild = Momentum(learning_rate=2000 * Momentum().rate(inside, X), max_displacement=None, gains=False)
    stopping = Stopping(tolerance=0.0, max_iterations=200, value_every=1, max_recoveries=40, is_budget=True)
    outcome = minimise(Fence(inside, reach), X, wild, stopping)
    assert np.isfinite(outcome.value)
    assert outcome.value < inside.evaluate(X).value
    assert np.abs(outcome.X).max() <= reach


def test_recoveries_are_limited():
    inside, X = problem("ee")
    objective = Fenced(inside, 1.2 * np.abs(X).max())
    wild = Momentum(learning_rate=1e12, max_displacement=None)
    with pytest.raises(ConvergenceError, match=r"however short the steps \(3 times halved\)"):
        minimise(objective, X, wild, Stopping(max_recoveries=3))


def test_recoveries_that_run_out_later_keep_the_best():
    class Breaking(Scripted):
        def init(self, objective, X, run, *, course=None, before=None, caution=1.0):
            return self._state(9.0 if before is None else 4.0)

    optimizer = Breaking([4.0, np.nan, np.nan, np.nan])
    with pytest.warns(ConvergenceWarning, match="steps halved 2 times: the best embedding before is kept"):
        outcome = minimise(OBJECTIVE, START, optimizer, Stopping(tolerance=0.0, max_recoveries=2))
    assert (outcome.reason, outcome.value) == ("not finite", 4.0)


def test_a_start_that_is_not_finite_is_an_error():
    inside, X = problem("ee")
    with pytest.raises(ConvergenceError, match="not finite at the start"):
        minimise(Fenced(inside, 1e-3), X, SD)


def test_line_searches_stay_inside_by_themselves():
    inside, X = problem("s-sne")
    objective = Fenced(inside, 1.5)
    outcome = minimise(objective, X, SD, Stopping(tolerance=1e-7, max_iterations=50, is_budget=True))
    assert np.isfinite(outcome.value)
    assert outcome.value < inside.evaluate(X).value


def test_gradients_that_lie_are_told():
    inside, X = problem("t-sne")

    class Lying(Dense):
        def evaluate(self, X, *, value=True):
            true = super().evaluate(X, value=value)
            return Evaluation(true.value, -true.gradient)

    with pytest.warns(ConvergenceWarning, match="E and its gradient do not agree"):
        outcome = minimise(Lying("t-sne", inside.W), X, DirectedDescent(GradientDescent()))
    assert outcome.iterations == 0
    assert outcome.X is X


def test_quadratic_is_solved():
    A = 4 * laplacian(neighbor_weights(25, total=25.0))
    X = np.random.default_rng(0).standard_normal((25, 2))
    outcome = minimise(Quadratic(A), X, SD, Stopping(tolerance=1e-12))
    np.testing.assert_allclose(outcome.X - outcome.X.mean(axis=0), 0.0, atol=1e-6)
    assert outcome.iterations <= 3


def test_states_are_values():
    """Whatever comes later, a state that was reached stays as it was, and leads to the same end."""
    objective, X = problem("t-sne")
    for name in OPTIMIZERS:
        optimizer = named_optimizer(name)
        state = optimizer.init(objective, X, RUN)
        for _ in range(3):
            state = optimizer.step(state)
        before = pickle.dumps(kept(state))
        first = optimizer.step(optimizer.step(state))
        assert pickle.dumps(kept(state)) == before, name
        restored = optimizer.restore(objective, pickle.loads(before), RUN)
        second = optimizer.step(optimizer.step(restored))
        np.testing.assert_array_equal(first.X, second.X, err_msg=name)


def test_recorded_frames_count_through_phases():
    objective, X = problem("t-sne")
    seen = {}
    run = Run(Events(lambda event: seen.update({event.data["iteration"]: event.data["embedding"]})))
    stopping = Stopping(tolerance=0.0, max_iterations=4, is_budget=True)
    optimizer = DirectedDescent(GradientDescent())
    outcome = minimise(objective, X, optimizer, Schedule.path([0.5, 1.0], stopping), 3, run)
    assert [iteration for iteration, _ in outcome.frames] == [3, 6]
    for iteration, frame in outcome.frames:
        assert frame is seen[iteration]


def test_a_log_is_a_value():
    one = Log().plus("a")
    two, other = one.plus("b"), one.plus("c")
    assert (one.all(), two.all(), other.all()) == (["a"], ["a", "b"], ["a", "c"])
