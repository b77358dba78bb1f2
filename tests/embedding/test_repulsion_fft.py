"""Repulsion by Fourier transforms against the sum over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_kernels import Tail, near_values

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT, FourierEngine, Parts
from lowdim.objectives.repulsion.near import Cells
from lowdim.objectives.similarities import GAUSSIAN, STUDENT, Power

ONE = Run.of(0, 1)
TOLERANCES = (2e-2, 1e-3, 1e-5, 1e-6)


def clouds(n_components: int, width: float = 30.0, count: int = 1500) -> np.ndarray:
    rng = np.random.default_rng(1)
    centres = rng.uniform(-width, width, (6, n_components))
    return centres[rng.integers(6, size=count)] + 2.0 * rng.standard_normal((count, n_components))


def relative(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN], ids=lambda k: k.name)
def test_error_keeps_to_the_tolerance_and_falls_with_it(kernel, n_components):
    X = clouds(n_components)
    exact = Exact().start(kernel, len(X), n_components, ONE).field(X)
    errors = []
    for tolerance in TOLERANCES:
        field = FFT(tolerance).start(kernel, len(X), n_components, ONE).field(X)
        assert relative(field.potential, exact.potential) < tolerance
        errors.append(relative(field.force, exact.force))
        assert errors[-1] < 2 * tolerance
    assert np.all(np.diff(errors) < 0)


@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN], ids=lambda k: k.name)
@pytest.mark.parametrize("width", [1e3, 1e5])
def test_wide_pictures(kernel, width):
    X = clouds(2, count=2000) / 30 * width
    exact = Exact().start(kernel, len(X), 2, ONE).field(X)
    field = FFT(1e-3).start(kernel, len(X), 2, ONE).field(X)
    assert np.isfinite(field.force).all()
    assert np.linalg.norm(field.force - exact.force) <= 1e-2 * np.linalg.norm(exact.force)
    assert np.abs(field.potential - exact.potential).sum() < 1e-3 * (exact.potential.sum() + len(X))


@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN], ids=lambda k: k.name)
@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_narrow_pictures_keep_to_the_tolerance(kernel, n_components, tolerance):
    rng = np.random.default_rng(3)
    shape, charges = rng.standard_normal((700, n_components)) + 5.0, rng.uniform(1, 3, 700)
    shape /= np.ptp(shape)
    engine = FFT(tolerance).start(kernel, len(shape), n_components, ONE)
    for width in (1e-7, 1e-4, 0.03, 0.05, 0.2, 0.4, 0.6, 1.0, 3.0, 7.0):
        X = width * shape
        exact, field = (
            Exact().start(kernel, len(X), n_components, ONE).field(X, charges),
            engine.field(X, charges),
        )
        assert relative(field.force, exact.force) < tolerance
        assert relative(field.potential, exact.potential) < tolerance


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2.0, 8.0])
def test_a_coarse_grid_and_near_pairs_are_as_good(scale, monkeypatch):
    X = clouds(2)
    engine = FFT(1e-3).start(STUDENT, len(X), 2, ONE)
    exact = Exact().start(STUDENT, len(X), 2, ONE)
    monkeypatch.setattr(
        FourierEngine,
        "_parts",
        lambda self, X, box: Parts(
            self._grid(scale),
            Cells.of(X, self._reach(scale), ONE),
            STUDENT.near(self._reach(scale) ** 2),
        ),
    )
    assert relative(engine.field(X).force, exact.field(X).force) < 1e-3
    charges = np.column_stack((np.ones(len(X)), X, X[:, :1] ** 2))
    for order in (0, 1, 2):
        assert relative(engine.sums(X, charges, order), exact.sums(X, charges, order)) < 2e-3


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("kernel", [STUDENT, Power(), Tail()], ids=lambda k: k.name)
def test_near_and_far_make_the_kernel(kernel, order):
    U = 25.0
    D = np.linspace(0.1, 40, 81)
    near = np.where(D < U, near_values(kernel.near(U), D, order), 0.0)
    assert np.allclose(kernel.far(U)(D, order) + near, kernel.slope(D, order), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN], ids=lambda k: k.name)
def test_sums_with_charges_of_either_sign(kernel):
    X = clouds(2)
    charges = np.random.default_rng(2).standard_normal((len(X), 3))
    exact, engine = (make.start(kernel, len(X), 2, ONE) for make in (Exact(), FFT(1e-4)))
    for order in (0, 1, 2):
        assert relative(engine.sums(X, charges, order), exact.sums(X, charges, order)) < 1e-3


def test_positive_charges_in_the_field():
    X = clouds(2)
    charges = np.random.default_rng(3).uniform(0.1, 5.0, len(X))
    exact, engine = (make.start(STUDENT, len(X), 2, ONE) for make in (Exact(), FFT(1e-4)))
    one, other = engine.field(X, charges), exact.field(X, charges)
    assert relative(one.force, other.force) < 1e-3
    assert relative(one.potential, other.potential) < 1e-4


def test_a_few_points_far_away_cost_nothing():
    X = np.vstack((clouds(2, count=3000), [[1e7, 0.0], [0.0, -3e6]]))
    engine = FFT(1e-3).start(STUDENT, len(X), 2, ONE)
    field = engine.field(X)
    exact = Exact().start(STUDENT, len(X), 2, ONE).field(X)
    assert relative(field.force, exact.force) < 2e-3
    assert np.allclose(field.potential[-2:], exact.potential[-2:])
    assert max(max(grid.shape, default=0) for grid in engine._grids.values()) < 4000


@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN])
@pytest.mark.parametrize("width", [1e14, 1e22, 1e40])
def test_a_picture_beyond_any_grid_is_summed_without_one(kernel, width):
    """A trial of a line search may be as far off; the number of nodes was beyond every integer."""
    X = clouds(2, 1.0, 200) * width
    engine, exact = FFT(1e-3).start(kernel, 200, 2, Run.of()), Exact().start(kernel, 200, 2, Run.of())
    found, expected = engine.field(X), exact.field(X)
    np.testing.assert_allclose(found.potential, expected.potential, rtol=1e-2, atol=1e-300)
    charges = np.ones((200, 1))
    np.testing.assert_array_equal(engine.sums(X, charges, 1), exact.sums(X, charges, 1))
    assert np.isfinite(engine.freeze(X).at(X[:3], Run.of()).potential).all()


def test_same_bits_whatever_the_threads():
    X = clouds(2, count=3000)
    one, two, seven = (FFT().start(STUDENT, len(X), 2, Run.of(0, jobs)).field(X) for jobs in (1, 2, 7))
    assert np.array_equal(one.force, two.force)
    assert np.array_equal(one.force, seven.force)
    assert np.array_equal(one.potential, two.potential)


@pytest.mark.parametrize("n_components", [1, 2])
def test_a_frozen_field_serves_new_places_one_by_one(n_components):
    X = clouds(n_components)
    places = np.vstack((clouds(n_components, count=40) + 0.3, np.full((1, n_components), 1e4)))
    frozen = FFT(1e-4).start(STUDENT, len(X), n_components, ONE).freeze(X)
    exact = Exact().start(STUDENT, len(X), n_components, ONE).freeze(X).at(places, ONE)
    together = frozen.at(places, ONE)
    assert relative(together.force, exact.force) < 1e-3
    assert np.allclose(together.potential, exact.potential, rtol=1e-3)
    alone = [frozen.at(place[None], ONE) for place in places]
    assert np.array_equal(np.vstack([field.force for field in alone]), together.force)
    assert np.array_equal(np.concatenate([field.potential for field in alone]), together.potential)


def test_all_points_equal_push_nowhere():
    X = np.full((50, 2), 3.0)
    field = FFT(1e-3).start(STUDENT, 50, 2, ONE).field(X)
    assert np.allclose(field.potential, 49, rtol=1e-3)
    assert np.abs(field.force).max() < 0.05


def test_a_grid_grows_and_shrinks_with_the_picture():
    engine = FFT().start(STUDENT, 1500, 2, ONE)
    exact = Exact().start(STUDENT, 1500, 2, ONE)
    for width in (1.0, 40.0, 45.0, 5.0):
        X = clouds(2) / 30 * width
        assert relative(engine.field(X).force, exact.field(X).force) < 4e-2


@pytest.mark.parametrize(
    ("settings", "words"), [({"tolerance": 1e-9}, "tolerance of FFT"), ({}, "n_components=3")]
)
def test_what_it_cannot_do_is_said(settings, words):
    with pytest.raises(InputError, match=words):
        FFT(**settings).start(STUDENT, 10, 3 if not settings else 2, ONE)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_splines_of_order_four_written_out_are_the_recursion(dtype):
    loops = kernels.embedding.interpolation
    rng = np.random.default_rng(4)
    X, charges, origin = rng.uniform(0, 20, (300, 2)), rng.uniform(0.5, 2, 300), np.zeros(2)
    members, one, other = np.arange(300), np.zeros((26, 26), dtype), np.zeros((26, 26), dtype)
    loops.spread_any(X, charges, origin, 1.1, 4, members, one)
    loops.spread_cubic(X, charges, origin, 1.1, members, other)
    precise = 20 * np.finfo(dtype).eps
    assert np.allclose(one, other, rtol=precise, atol=precise)
    assert one.sum() == pytest.approx(charges.sum(), rel=1e-5)
    found, same = (np.empty(300), np.empty((300, 2))), (np.empty(300), np.empty((300, 2)))
    loops.gather_any(X, one, origin, 1.1, 4, 0, 300, *found)
    loops.gather_cubic(X, one, origin, 1.1, 0, 300, *same)
    for a, b in zip(found, same, strict=True):
        assert np.allclose(a, b, rtol=precise, atol=precise * np.abs(b).max())
