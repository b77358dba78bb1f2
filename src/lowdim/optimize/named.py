"""The optimisers by the names that the parameter ``optimizer`` of an estimator takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.messages import named
from ..errors import InputError
from .descent import DirectedDescent
from .directions import (
    ConjugateGradient,
    DiagonalHessian,
    FixedPoint,
    GradientDescent,
    LimitedMemory,
    PartialHessian,
    SpectralDirection,
)
from .momentum import Momentum
from .protocol import Optimizer

OPTIMIZERS: Mapping[str, Callable[[], Optimizer[Any]]] = {
    "gd": lambda: DirectedDescent(GradientDescent()),
    "fp": lambda: DirectedDescent(FixedPoint()),
    "diagh": lambda: DirectedDescent(DiagonalHessian()),
    "sd": lambda: DirectedDescent(SpectralDirection()),
    "sd-": lambda: DirectedDescent(PartialHessian()),
    "cg": lambda: DirectedDescent(ConjugateGradient()),
    "lbfgs": lambda: DirectedDescent(LimitedMemory()),
    "momentum": Momentum,
}


def named_optimizer(name: str) -> Optimizer[Any]:
    """The optimiser of a name, as it comes."""
    if name not in OPTIMIZERS:
        raise InputError(f"{named('optimizer')} must be one of {', '.join(OPTIMIZERS)}; got {name!r}.")
    return OPTIMIZERS[name]()
