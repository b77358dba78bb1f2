"""The parameters ``repulsion`` and ``optimizer``: names or configured objects, and what ``auto`` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.events import Events
from ..core.messages import setting
from ..core.rules import Either, Instance, OneOf, Rule
from ..errors import InputError
from ..objectives.repulsion.barnes_hut import BarnesHut
from ..objectives.repulsion.exact import Exact
from ..objectives.repulsion.fft import FFT
from ..objectives.repulsion.protocol import Repulsion
from ..optimize.descent import DirectedDescent
from ..optimize.momentum import Momentum
from ..optimize.named import OPTIMIZERS
from ..optimize.schedules import Annealing

REPULSIONS: Mapping[str, type[Exact | BarnesHut | FFT]] = {
    "exact": Exact,
    "barnes-hut": BarnesHut,
    "fft": FFT,
}
FEW_POINTS = 2500
"""Points up to which the sum over all pairs is the quickest."""

ENGINE_RULES: Mapping[str, Rule] = {
    "repulsion": Either(OneOf("auto", *REPULSIONS), Instance(Exact, BarnesHut, FFT)),
    "optimizer": Either(OneOf("auto", *OPTIMIZERS), Instance(DirectedDescent, Momentum, Annealing)),
}


def choose_repulsion(repulsion: Any, n_points: int, n_components: int, events: Events) -> Repulsion:
    """The engine asked for; ``auto`` takes the quickest that serves so many dimensions."""
    if not isinstance(repulsion, str):
        return repulsion  # type: ignore[no-any-return]
    if repulsion != "auto":
        return REPULSIONS[repulsion]()
    if n_points <= FEW_POINTS:
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
    most = {"fft": 2, "barnes-hut": 3}
    name = (
        repulsion
        if isinstance(repulsion, str)
        else {FFT: "fft", BarnesHut: "barnes-hut"}.get(type(repulsion), "")
    )
    if n_components > most.get(name, n_components):
        other = "'barnes-hut' for 3, or 'exact' for any number" if name == "fft" else "'exact'"
        raise InputError(
            f"{setting('repulsion', name)} serves at most {most[name]} dimensions; got "
            f"{setting('n_components', n_components)}. Use {other}."
        )
