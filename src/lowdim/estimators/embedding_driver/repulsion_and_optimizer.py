"""The parameters ``repulsion`` and ``optimizer``: names or configured objects, and what ``auto`` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.events import Events
from ...core.messages import setting
from ...core.records import Sparse
from ...core.rules import Either, Instance, OneOf, Rule
from ...core.run import Run
from ...errors import InputError
from ...objectives.attraction import Attraction
from ...objectives.repulsion.barnes_hut import BarnesHut
from ...objectives.repulsion.exact import Exact
from ...objectives.repulsion.fft import FFT
from ...objectives.repulsion.protocol import Engine, Repulsion
from ...objectives.similarities import Similarity, Student
from ...optimize.descent import DirectedDescent
from ...optimize.momentum import Momentum
from ...optimize.named import OPTIMIZERS
from ...optimize.schedules import Annealing

ENGINES: tuple[type[Repulsion], ...] = (Exact, BarnesHut, FFT)
REPULSIONS: Mapping[str, type[Repulsion]] = {kind.name: kind for kind in ENGINES}
FEW_POINTS, FEW_BY_TABLE = 2500, 500
"""Points up to which the sum over all pairs is the quickest: for a kernel with code of its own, and for others."""
FEW_IN_PLANE, SOME_IN_PLANE = 1000, 3000
"""The same for Student's kernel in the plane, and points up to which a tree takes little longer than a grid: its
pictures are those of all pairs, where the errors of a grid show in pictures of so few points."""

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
    is_usual = n_components == 2 and isinstance(kernel, Student)
    few = FEW_IN_PLANE if is_usual else FEW_POINTS if kernel.has_code else FEW_BY_TABLE
    if n_points <= few:
        name, why = "exact", f"quickest for {n_points} points"
    elif is_usual and n_points <= SOME_IN_PLANE:
        name, why = "barnes-hut", f"quick and true for {n_points} points in {n_components} dimensions"
    elif n_components <= 2:
        name, why = "fft", f"quickest for {n_points} points in {n_components} dimensions"
    elif n_components == 3:
        name, why = "barnes-hut", "quickest in 3 dimensions"
    else:
        name, why = "exact", f"no other engine serves {n_components} dimensions"
    events.chosen("repulsion", name, why)
    return REPULSIONS[name]()


def attraction_beside(
    engine: Engine, repulsion: Any, weights: Sparse, kernel: Similarity, run: Run
) -> Attraction:
    """The attraction, in single precision where all pairs were not asked for; E is then told as it is, in double."""
    is_quick = repulsion == "auto" and isinstance(kernel, Student)
    single = is_quick or not engine.is_exact
    return Attraction(weights, kernel, run, single=single, double_values=engine.is_exact)


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
