"""Parameters by the names that other libraries have for them: an error that says what they are called here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import LowdimError

EMBEDDING_HINTS: Mapping[str, str] = {
    "angle": "Use repulsion=BarnesHut(theta=...), which is the same number, or leave the choice to repulsion='auto'.",
    "method": "Use repulsion='exact' or repulsion='barnes-hut'.",
    "metric_params": "Give the metric as a function of two rows that has its parameters set.",
    "min_grad_norm": "Use tolerance=..., the relative decrease of the objective at which to stop.",
    "n_iter": "Use max_iter=...",
    "n_iter_without_progress": "Use tolerance=..., the relative decrease of the objective at which to stop.",
    "early_exaggeration": "Use homotopy=[lam / early_exaggeration]: lambda is what it divides.",
    "early_exaggeration_iter": "It is 3/8 of max_iter; Annealing of lowdim.optimize has the whole schedule.",
    "learning_rate": "Use optimizer=Momentum(learning_rate=...) of lowdim.optimize.",
    "momentum": "Use optimizer=Annealing(momentum=...) of lowdim.optimize.",
    "exaggeration": "Use lam=1 / exaggeration: to exaggerate the attraction is to divide the repulsion.",
    "initialization": "Use init=...",
    "negative_gradient_method": "Use repulsion='barnes-hut' or repulsion='fft'.",
    "theta": "Use repulsion=BarnesHut(theta=...).",
    "neighbors": "Use search='exact' or search='approximate'.",
}
"""What scikit-learn's and openTSNE's t-SNE call otherwise, or lack here, and what to do."""


def check_names(
    owner: str,
    given: Iterable[str],
    known: Iterable[str],
    hints: Mapping[str, str],
    error: type[LowdimError],
) -> None:
    """Raise ``error`` at a name that is not known here but has a hint."""
    for name in given:
        if name in hints and name not in known:
            raise error(f"{owner} has no parameter {name!r}. {hints[name]}")
