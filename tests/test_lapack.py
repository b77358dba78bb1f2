"""Calls of LAPACK with the interpreter unlocked: the same results as SciPy's, and calls that can be left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from scipy import linalg

import lowdim
from lowdim.core import lapack, parallel


@pytest.fixture
def A():
    return np.asfortranarray(np.random.default_rng(0).normal(size=(40, 40)))


@pytest.fixture
def positive(A):
    return np.asfortranarray(A @ A.T + np.eye(40))


@pytest.fixture(params=[False, True], ids=["at once", "apart"])
def either(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(parallel, "LARGE", 0.0)


@pytest.mark.parametrize(("first", "last"), [(0, None), (0, 2), (37, 39), (5, 5)])
def test_eigenpairs(positive, either, first, last):
    values, vectors = lapack.eigenpairs(positive, first, last)
    subset = None if last is None else [first, last]
    np.testing.assert_allclose(values, linalg.eigh(positive, eigvals_only=True, subset_by_index=subset))
    np.testing.assert_allclose(positive @ vectors, vectors * values, atol=1e-12 * values[-1])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(values.size), atol=1e-13)


def test_the_lower_triangle_is_read_and_only_spoiled_on_demand(positive):
    half = np.tril(positive)
    before = half.copy()
    values, _ = lapack.eigenpairs(half)
    np.testing.assert_array_equal(half, before)
    np.testing.assert_allclose(values, linalg.eigvalsh(positive))
    spoiled = np.asfortranarray(half)
    assert lapack.eigenpairs(spoiled, spoil=True)[1] is spoiled


def test_nothing_and_what_is_not_finite():
    values, vectors = lapack.eigenpairs(np.empty((0, 0)))
    assert values.shape == (0,)
    assert vectors.shape == (0, 0)
    with pytest.raises(LinAlgError, match="not finite"):
        lapack.eigenpairs(np.full((3, 3), np.nan))


def test_a_failure_is_an_error(monkeypatch, positive, either):
    monkeypatch.setattr(lapack, "_call", lambda *_: 7)
    with pytest.raises(LinAlgError, match="dsyevd failed"):
        lapack.eigenpairs(positive)


def test_cholesky_and_its_standard_problem(A, positive, either):
    R = positive.copy(order="F")
    assert lapack.cholesky(R) == 0
    R = np.asfortranarray(np.triu(R))
    np.testing.assert_allclose(R.T @ R, positive, atol=1e-12)
    assert lapack.cholesky(-positive) > 0
    C = np.asfortranarray(A + A.T)
    expected = linalg.solve(R.T, C) @ linalg.inv(R)
    lapack.to_standard(C, R)
    np.testing.assert_allclose(np.triu(C), np.triu(expected), atol=1e-10)


@pytest.mark.parametrize("width", [1, 17, 40])
def test_pivots_of_a_square(A, positive, width, either):
    """What is left is the Schur complement, and the panels give back the rest."""
    front = np.triu(positive)
    assert lapack.eliminate_symmetric(front, width)
    U = np.triu(front)[:width]
    np.testing.assert_allclose(U.T @ U[:, :width], positive[:, :width], atol=1e-12)
    left = positive[width:, width:] - U[:, width:].T @ U[:, width:]
    np.testing.assert_allclose(np.triu(front[width:, width:]), np.triu(left), atol=1e-12)
    assert not lapack.eliminate_symmetric(np.ascontiguousarray(-positive), width)

    front = np.array(A, order="C")
    order = lapack.eliminate(front, width)
    assert order is not None
    U = np.triu(front, 1)[:width] + np.eye(width, 40)
    L = np.tril(front)[:, :width]
    exchanged = np.concatenate((order, np.arange(width, 40)))
    product = L @ U
    np.testing.assert_allclose(product[:width], A[:width, exchanged], atol=1e-12)
    np.testing.assert_allclose(product[:, :width], A[:, order], atol=1e-12)
    np.testing.assert_allclose(front[width:, width:], (A - product)[width:, width:], atol=1e-12)
    assert lapack.eliminate(np.zeros((40, 40)), width) is None


def test_another_order_than_fortrans_is_refused(A):
    with pytest.raises(AssertionError, match="order"):
        lapack.cholesky(np.ascontiguousarray(A))
    with pytest.raises(AssertionError, match="order"):
        lapack.eliminate(np.asfortranarray(A), 3)


def test_other_threads_run_meanwhile():
    """The interpreter is free while a routine runs: a thread that has only waited for that goes on."""
    matrix = np.eye(600, order="F")
    gate, passed = threading.Lock(), []
    gate.acquire()
    other = threading.Thread(target=lambda: passed.append(gate.acquire()))
    other.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)  # nothing but the routine hands the interpreter over
    try:
        gate.release()
        rounds = 0
        while not passed and rounds < 10_000:  # the system may not run the other at once
            assert lapack.cholesky(matrix) == 0
            rounds += 1
    finally:
        sys.setswitchinterval(interval)
    other.join()
    assert 0 < rounds < 10_000


LEFT = """
import signal, threading
from lowdim.core import parallel
signal.signal(signal.SIGINT, signal.default_int_handler)
began, end = threading.Event(), threading.Event()
def call():
    began.set()
    end.wait()
def interrupt():
    began.wait()
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    parallel.apart(call)
except KeyboardInterrupt:
    print("left", end.is_set(), parallel.has_left())
end.set()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
print("over", parallel.has_left())
"""


def test_an_interrupt_leaves_a_long_call():
    source = str(Path(lowdim.__file__).parents[1])
    answer = subprocess.run(
        [sys.executable, "-c", LEFT],
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.stdout == "left False True\nover False\n", answer.stderr


def test_few_rows_and_other_threads_need_no_thread():
    makers = [parallel.apart(threading.current_thread, work) for work in (1.0, parallel.LARGE)]
    assert makers[0] is threading.main_thread()
    assert makers[1] is not threading.main_thread()
    inside = []
    other = threading.Thread(target=lambda: inside.append(parallel.apart(threading.current_thread)))
    other.start()
    other.join()
    assert inside == [other]
    assert parallel.map_blocks(lambda _: parallel.apart(threading.current_thread), 1, n_jobs=1) == [
        threading.main_thread()
    ]
