"""Digits: t-SNE and the elastic embedding of 20,000, minimised for the same time by SD, FP, L-BFGS and momentum.

MNIST, 50 principal components, entropic affinities of perplexity 50 over 150 neighbours, which sum to 1; t-SNE with
lambda = 1 and EE with lambda = 100, w- = 1; repulsion by FFT. All start from the same noise of deviation 0.01 and have
the same seconds, their preparations included. SD keeps the 7 strongest edges of each point (kappa = 7) and the whole
diagonal, with an exact factor, and steps that may grow, as FP has. There is no exaggeration and no homotopy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lowdim
from lowdim.embedding.objectives.divergence import negative_entropy
from lowdim.embedding.repulsion.exact import Exact
from lowdim.embedding.repulsion.fft import FFT
from lowdim.optimize import Outcome

from .data import digits
from .embeddings import COLOURS, affinities, objective, optimizers, run_for, show, warm_up
from .notebook import Notebook

LAMBDAS = {"t-SNE": 1.0, "EE": 100.0}
CHOSEN = ("FP", "SD", "L-BFGS", "momentum", "L-BFGS from SD")
KAPPA = 7
TOLERANCE, NOISE = 1e-3, 1e-6
"""Relative error of the force, and error of E relative to itself that line searches bear with."""
FAR = 0.5
"""SD counts as far below FP where its excess over the lowest E is no more than this share of FP's."""


def run(notebook: Notebook) -> None:
    """Minimise both objectives with each optimiser."""
    n_points, seconds, perplexity = (2000, 2.0, 20.0) if notebook.quick else (20_000, 60.0, 50.0)
    pixels, labels = digits(n_points)
    points = lowdim.PCA(50).fit_transform(pixels)
    P = affinities(points, perplexity, int(3 * perplexity))
    start = 1e-2 * np.random.default_rng(0).standard_normal((n_points, 2))
    outcomes: dict[str, dict[str, Outcome]] = {}
    rows: list[dict[str, Any]] = []
    for name, lam in LAMBDAS.items():
        E = objective(name, P, lam, FFT(TOLERANCE))
        exact = objective(name, P, lam, Exact())
        chosen = {key: optimizers(KAPPA, NOISE)[key] for key in CHOSEN}
        warm_up(E, start, chosen.values())
        outcomes[name] = {key: run_for(E, start, optimizer, seconds) for key, optimizer in chosen.items()}
        for key, outcome in outcomes[name].items():
            value = exact.evaluate(outcome.X).value
            rows.append({"objective": name, "optimiser": key} | _row(outcome, value, points, labels))
            if name == "t-SNE":
                rows[-1]["divergence"] = value + negative_entropy(P)
    notebook.table(rows)
    notebook.figure(_draw_curves(outcomes))
    for name in LAMBDAS:
        pictures = {key: outcome.X for key, outcome in outcomes[name].items()}
        notebook.figure(_draw_pictures(name, pictures, labels, rows), name.lower().replace("-", "_"))
        _judge(notebook, name, outcomes[name])
    notebook.remark(f"Seconds for each: {seconds:g}; E in the table is recomputed with exact sums.")
