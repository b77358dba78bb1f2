"""The parameters ``repulsion`` and ``optimizer``: names or configured objects, and what ``auto`` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.events import Events
from ...core.messages import setting
from ...core.rules import Either, Instance, OneOf, Rule
from ...errors import InputError
from ...objectives.repulsion.barnes_hut import BarnesHut
from ...objectives.repulsion.exact import Exact
from ...objectives.repulsion.fft import FFT
from ...objectives.repulsion.protocol import Repulsion
from ...objectives.similarities import Similarity
from ...optimize.descent import DirectedDescent
from ...optimize.momentum import Momentum
from ...optimize.named import OPTIMIZERS
from ...optimize.schedules import Annealing

ENGINES: tuple[type[Repulsion], ...] = (Exact, BarnesHut, FFT)
REPULSIONS: Mapping[str, type[Repulsion]] = {kind.name: kind for kind in ENGINES}
FEW_POINTS, FEW_BY_TABLE = 2500, 500
"""Points up to which the sum over all pairs is the quickest: for a kernel with code of its own, and for others."""

ENGINE_RULES: Mapping[str, Rule] = {
    "repulsion": Either(OneOf("auto", *REPULSIONS), Instance(*ENGINES)),
    "optimizer": Either(OneOf("auto", *OPTIMIZERS), Instance(DirectedDescent, Momentum, Annealing)),
}


def choose_repulsion(
    repulsion: Any, kernel: Similarity, n_points: int, n_components: int, events: Events
) -> Repulsion:
    """The engine asked for; ``auto`` takes the quickest that serves so many dimensions."""
    if not isinstance(repulsion, str):
        return repulsion  # type: ignore[no-any-return]
    if repulsion != "auto":
        return REPULSIONS[repulsion]()
    if n_points <= (FEW_POINTS if kernel.has_code else FEW_BY_TABLE):
        name, why = "exact", f"quickest for {n_points} points"
    elif n_components <= 2:
        name, why = "fft", f"quickest for {n_points} points in {n_components} dimensions"
    elif n_components == 3:
        name, why = "barnes-hut", "quickest in 3 dimensions"
    else:
        name, why = "exact", f"no other engine serves {n_components} dimensions"
    events.chosen("repulsion", name, why)
    return REPULSIONS[name]()


def check_repulsion(repulsion: Any, n_components: int) -> None:
    """Say early where an engine cannot serve so many dimensions."""
    if repulsion == "auto":
        return
    kind = REPULSIONS[repulsion] if isinstance(repulsion, str) else repulsion
    if not _serves(kind, n_components):
        others = [repr(other.name) for other in ENGINES if _serves(other, n_components)]
        raise InputError(
            f"{setting('repulsion', kind.name)} serves at most {kind.most_components} dimensions; got "
            f"{setting('n_components', n_components)}. Use {' or '.join(others)}."
        )


def _serves(kind: Repulsion | type[Repulsion], n_components: int) -> bool:
    return kind.most_components is None or n_components <= kind.most_components
