"""How soon a change is seen, by the plan of the fit: instant, a second, or seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import LowdimError
from .controls import controls_of
from .settings import Setting
from .warm import KERNEL, LIGHT, can_go_on

INSTANT, SECOND = 0.4, 1.6
"""Seconds up to which a change is called instant, or a second."""
SEARCHED = {"metric", "search"}
"""Parameters for which the neighbours are searched for again."""
WORDS = ("instant", "a second", "seconds")


def marks(setting: Setting, shape: tuple[int, int]) -> dict[str, str]:
    """A word for each control of the method of a setting."""
    try:
        model = setting.estimator()
        stages = model.plan(np.broadcast_to(0.0, shape)).stages
    except LowdimError:
        return {}
    seconds = {stage.name: stage.seconds for stage in stages}
    search = sum(took for name, took in seconds.items() if "neighbour" in name or "search" in name)
    rest = sum(seconds.values()) - search
    warm = can_go_on(model)
    return {
        control.name: _word(_cost(control.name, seconds, search, rest, warm=warm))
        for control in controls_of(setting.method)
    }


def _cost(name: str, seconds: dict[str, Any], search: float, rest: float, *, warm: bool) -> float:
    if name in SEARCHED:
        return search + rest
    if not warm:
        return rest
    if name in LIGHT | KERNEL:
        return 0.0
    return float(seconds.get("affinities", 0.0))


def _word(seconds: float) -> str:
    return WORDS[0] if seconds <= INSTANT else WORDS[1] if seconds <= SECOND else WORDS[2]
