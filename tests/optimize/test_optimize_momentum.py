"""Momentum with gains against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from dense_objectives import RUN, Dense, neighbor_weights, problem

from lowdim import kernels
from lowdim.errors import InputError
from lowdim.optimize import Momentum, Stopping, minimise


def reference(X, gradient, velocity, gains, rate, momentum, limit, changing):
    if changing:
        same = np.sign(gradient) == np.sign(velocity)
        gains = np.where(same, np.maximum(0.8 * gains, 0.01), gains + 0.2)
    velocity = momentum * velocity - rate * gains * gradient
    lengths = np.linalg.norm(velocity, axis=1, keepdims=True)
    velocity = velocity * np.where(lengths > limit, limit / np.maximum(lengths, 1e-300), 1.0)
    return X - X.mean(axis=0) + velocity, velocity, gains


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("changing", [True, False])
def test_kernel_is_the_formula(d, changing):
    rng = np.random.default_rng(d)
    X, g, v = rng.standard_normal((3, 50, d))
    v[:5], g[5:8] = 0.0, 0.0
    gains = rng.uniform(0.01, 2.0, (50, d))
    expected = reference(X, g, v, gains, 0.3, 0.8, 0.9, changing)
    out, centre = tuple(np.empty((3, 50, d))), kernels.embedding.momentum.centre_of(X)
    for rows in ((0, 20), (20, 50)):
        kernels.embedding.momentum.advance(X, g, (v, gains), centre, 0.3, 0.8, 0.9, changing, out, *rows)
    for found, wanted in zip(out, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    assert np.linalg.norm(out[1], axis=1).max() == pytest.approx(0.9)


def test_steps_follow_the_reference_and_leave_iterates_alone():
    objective, X = problem("t-sne")
    settings = Momentum(momentum=0.7, max_displacement=0.5)
    state = settings.init(objective, X, RUN)
    rate = 1 / (4 * objective.degrees.mean())
    expected, v, gains = X, np.zeros_like(X), np.ones_like(X)
    seen = []
    for _ in range(6):
        g = objective.evaluate(expected).gradient
        expected, v, gains = reference(expected, g, v, gains, rate, 0.7, 0.5, True)
        state = settings.step(state, value=False)
        assert state.value is None
        np.testing.assert_allclose(state.X, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state.X.mean(axis=0), v.mean(axis=0), atol=1e-12)
        seen.append((state, [part.copy() for part in (state.X, state.velocity, state.gains)]))
    for earlier, copies in seen:
        for part, copy in zip((earlier.X, earlier.velocity, earlier.gains), copies, strict=True):
            np.testing.assert_array_equal(part, copy)
    state = settings.step(state, value=True)
    assert state.value == objective.evaluate(state.X).value


def test_learning_rate_means_what_it_means_elsewhere():
    W = neighbor_weights(40)
    X = 1e-3 * np.random.default_rng(0).standard_normal((40, 2))
    for lam in (1.0, 1 / 12):
        objective = Dense("t-sne", W, lam)
        # Weights of sum 1: N / exaggeration times a gradient of E / lambda without its 4.
        auto, given = Momentum(), Momentum(learning_rate=40 * lam)
        assert auto.rate(objective, X) == pytest.approx(40 / 4)
        assert given.rate(objective, X) == pytest.approx(auto.rate(objective, X))
    with pytest.raises(InputError, match="lambda is 0"):
        Momentum(learning_rate=200.0).rate(Dense("t-sne", W, 0.0), X)


def test_automatic_rate_has_no_scale_and_heeds_stiff_repulsion():
    W = neighbor_weights(40)
    X = 1e-3 * np.random.default_rng(0).standard_normal((40, 2))
    one, many = (Momentum().rate(Dense("ee", s * W, 1e-3 * s), X) for s in (1.0, 100.0))
    assert one == pytest.approx(100 * many)
    stiff = Dense("ee", W, 1.0)
    wide = 1e3 * X
    assert Momentum().rate(stiff, wide) == pytest.approx(2 / stiff.diagonal(wide).mean())


def test_restart_keeps_gains_and_caution_shortens_steps():
    objective, X = problem("s-sne")
    settings = Momentum()
    first = settings.step(settings.init(objective, X, RUN))
    again = settings.init(objective, X, RUN, before=first)
    assert (again.gains == first.gains).all()
    assert (again.gains != 1).any()
    assert (again.velocity == 0).all()
    careful = settings.init(objective, X, RUN, before=again, caution=0.5)
    careful = settings.init(objective, X, RUN, before=careful, caution=0.5)
    assert (careful.gains == 1).all()
    assert settings.step(careful).step == pytest.approx(first.step / 4)


def test_gains_help():
    objective, X = problem("t-sne", n=60)
    stopping = Stopping(tolerance=0.0, max_iterations=150, is_budget=True)
    with_gains = minimise(objective, X, Momentum(), stopping)
    without = minimise(objective, X, Momentum(gains=False), stopping)
    assert with_gains.value < without.value < objective.evaluate(X).value
