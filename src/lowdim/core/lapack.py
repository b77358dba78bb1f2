"""Dense linear algebra that can be left: SciPy's LAPACK and BLAS, called with the interpreter unlocked.

SciPy's own wrappers keep the interpreter locked until a routine returns, which for some thousand rows takes minutes:
no thread runs meanwhile, and no interrupt arrives. Here a large call is made by a thread of its own, and the calling
thread waits for it where an interrupt can reach it. A call that was left goes on until its end, and is dropped.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cython_blas, cython_lapack

from .parallel import apart
from .records import Floats, Integers


def eigenpairs(
    matrix: Floats, first: int = 0, last: int | None = None, *, spoil: bool = False
) -> tuple[Floats, Floats]:
    """Eigenvalues of a symmetric matrix, rising, and eigenvectors in columns: all, or those from ``first`` to ``last``.

    Parameters
    ----------
    matrix
        Its lower triangle is read.
    first, last
        Places of the first and last eigenvalue wanted. LAPACK finds fewer where nearly all are equal.
    spoil
        Whether the matrix may be written to, if it is in Fortran's order.

    Raises
    ------
    LinAlgError
        The matrix is not finite, or the iteration does not converge.
    """
    if not np.isfinite(matrix).all():
        raise LinAlgError("the matrix has entries that are not finite")
    A = matrix if spoil and matrix.flags.f_contiguous else np.array(matrix, dtype=np.float64, order="F")
    if not matrix.size:
        return np.empty(0), np.empty((0, 0))
    return apart(lambda: _all(A) if last is None else _some(A, first, last), 4.0 * float(A.shape[0]) ** 3)


def _all(A: Floats) -> tuple[Floats, Floats]:
    """By divide and conquer, in place of the matrix."""
    n, values = A.shape[0], np.empty(A.shape[0])
    _with_work("dsyevd", b"V", b"L", n, A, n, values)
    return values, A


def _some(A: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """By relatively robust representations."""
    n, count, found = A.shape[0], last - first + 1, ctypes.c_int()
    values, vectors = np.empty(n), np.empty((n, count), order="F")
    support = np.empty(2 * n, np.intc)
    span = (0.0, 0.0, first + 1, last + 1, 0.0)
    _with_work("dsyevr", b"V", b"I", b"L", n, A, n, *span, found, values, vectors, n, support)
    return values[: found.value], vectors[:, : found.value]


def _with_work(name: str, *arguments: Any) -> None:
    """Ask a routine how much work space it wants, then call it."""
    size, whole = np.empty(1), np.empty(1, np.intc)
    _checked(name, *arguments, size, -1, whole, -1)
    work, integers = np.empty(int(size[0])), np.empty(int(whole[0]), np.intc)
    _checked(name, *arguments, work, work.size, integers, integers.size)


def _checked(name: str, *arguments: Any) -> None:
    if info := _call(name, *arguments):
        raise LinAlgError(f"LAPACK's {name} failed (info = {info})")


def cholesky(A: Floats) -> int:
    """M = R'R in place, R in the upper triangle of a matrix in Fortran's order; 0 where M is positive definite."""
    n = A.shape[0]
    return apart(lambda: _call("dpotrf", b"U", n, A, n), float(n) ** 3 / 3)


def to_standard(A: Floats, R: Floats) -> None:
    """R^-T A R^-1 in place, in the upper triangle of A; both in Fortran's order."""
    n = A.shape[0]
    apart(lambda: _call("dsygst", 1, b"U", n, A, n, R, n), float(n) ** 3)


def eliminate_symmetric(front: Floats, width: int) -> bool:
    """A = U'U of the first ``width`` pivots of a square in C order, in place in its upper triangle.

    Its rows may be longer than its columns. The rest of it becomes what is left of A; whether all pivots were positive.
    Fortran sees the transpose.
    """
    size, rest = front.shape[1], front.shape[0] - width
    pivots, right, _, left = _quarters(front, width)

    def work() -> bool:
        if _call("dpotrf", b"L", width, pivots, size):
            return False
        _call("dtrsm", b"R", b"L", b"T", b"N", rest, width, 1.0, pivots, size, right, size)
        _call("dsyrk", b"L", b"N", rest, width, -1.0, right, size, 1.0, left, size)
        return True

    return apart(work, float(size) ** 2 * width)


def eliminate(front: Floats, width: int) -> Integers | None:
    """A = LU of the first ``width`` pivots of a square in C order, in place, U with a diagonal of ones.

    The order of its columns, exchanged among the pivots; None where a pivot is zero.
    """
    size, rest = front.shape[1], front.shape[0] - width
    pivots, right, below, left = _quarters(front, width)

    def work() -> Integers | None:
        swaps, order = np.empty(width, np.intc), np.arange(width)
        if _call("dgetrf", width, width, pivots, size, swaps):
            return None
        for k, other in enumerate(swaps - 1):
            order[k], order[other] = order[other], order[k]
        front[width:, :width] = front[width:, order]
        _call("dtrsm", b"L", b"L", b"N", b"U", width, rest, 1.0, pivots, size, below, size)
        _call("dtrsm", b"R", b"U", b"N", b"N", rest, width, 1.0, pivots, size, right, size)
        _call("dgemm", b"N", b"N", rest, rest, width, -1.0, right, size, below, size, 1.0, left, size)
        return order

    return apart(work, 2.0 * float(size) ** 2 * width)


def _quarters(front: Floats, width: int) -> list[ctypes.c_void_p]:
    """Addresses of the pivots of a square in C order, of what stands to their right, below them, and of the rest."""
    assert front.flags.c_contiguous, "an array in another order than C's"
    start, row = front.ctypes.data, front.strides[0]
    right, below = width * front.itemsize, width * row
    return [ctypes.c_void_p(start + place) for place in (0, right, below, right + below)]


def _call(name: str, *arguments: Any) -> int:
    """Call a Fortran routine; its ``info``, where it has one."""
    info = ctypes.c_int()
    is_lapack = name in cython_lapack.__pyx_capi__
    converted = [_argument(value) for value in (*arguments, *((info,) if is_lapack else ()))]
    _routine(name)(*converted)
    return info.value


def _argument(value: Any) -> Any:
    """A pointer, as Fortran takes everything."""
    if isinstance(value, ctypes.c_void_p):
        return value
    if isinstance(value, bytes):
        return ctypes.c_char_p(value)
    if isinstance(value, np.ndarray):
        assert value.flags.f_contiguous, "an array in another order than Fortran's"
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, float):
        return ctypes.byref(ctypes.c_double(value))
    return ctypes.byref(value if isinstance(value, ctypes.c_int) else ctypes.c_int(int(value)))


@cache
def _routine(name: str) -> Callable[..., None]:
    """A routine by its address, which SciPy hands out in a capsule; ctypes unlocks the interpreter around it."""
    capsules: dict[str, object] = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}
    capsule = capsules[name]
    label = ctypes.pythonapi.PyCapsule_GetName
    label.restype, label.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(pointer(capsule, label(capsule)))
