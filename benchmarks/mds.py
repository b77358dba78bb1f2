"""Metric, non-metric and Sammon's scaling, d = 2: MNIST by PCA to 50, a Swiss roll, noise without structure."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim

from .data import mnist
from .harness import Run, run

TITLE = "MDS by stress, d = 2"
DATA = ("digits", "roll", "noise")
STARTS = 4
MOST_ORDERED = 10**6
MOST_COMPARED = 5000
"""Points up to which the judge compares all pairs."""
Sets = dict[str, np.ndarray]


def load(size: int) -> Sets:
    """So many points of each kind."""
    return {
        "digits": mnist(size).X,
        "roll": lowdim.datasets.swiss_roll(size, random_state=0).data,
        "noise": np.random.default_rng(0).normal(size=(size, 20)),
    }


def _peer(X: np.ndarray, **other: Any) -> Any:
    from sklearn.manifold import MDS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged, and that its defaults will change
        return MDS(2, **({"random_state": 0} | other)).fit(X)


def _best_of(X: np.ndarray) -> Any:
    """scikit-learn from classical scaling and from some random starts: the lowest."""
    fits = [_peer(X, n_init=1, init="classical_mds")]
    fits += [_peer(X, n_init=1, init="random", random_state=seed) for seed in range(STARTS)]
    return min(fits, key=lambda fit: float(fit.stress_))


WAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "lowdim": lambda X: lowdim.MDS().fit(X),
    "lowdim, n_init=4": lambda X: lowdim.MDS(n_init=STARTS).fit(X),
    "lowdim, pivots=300": lambda X: lowdim.MDS(pivots=300).fit(X),
    "scikit-learn": _peer,
    "scikit-learn, best of 5": _best_of,
    "lowdim, non-metric": lambda X: lowdim.MDS(metric_mds=False).fit(X),
    "scikit-learn, non-metric": lambda X: _peer(X, metric_mds=False),
    "lowdim, Sammon": lambda X: lowdim.Sammon().fit(X),
    "lowdim, classical": lambda X: lowdim.ClassicalMDS(2).fit(X),
}


def _contestant(way: str, kind: str) -> Callable[[Sets], tuple[np.ndarray, np.ndarray, int]]:
    def work(data: Sets) -> tuple[np.ndarray, np.ndarray, int]:
        model = WAYS[way](data[kind])
        return data[kind], model.embedding_, int(getattr(model, "n_iter_", 0))

    return work


CONTESTANTS = {f"{way}: {kind}": _contestant(way, kind) for way in WAYS for kind in DATA}


def judge(data: Sets, found: tuple[np.ndarray, np.ndarray, int]) -> dict[str, Any]:
    """Stress of all pairs as a share of their squares, Kruskal's stress 1 of their order, and Sammon's.

    Of more than 5,000 points two million pairs are drawn, the same for everybody.
    """
    from sklearn.isotonic import IsotonicRegression

    X, embedding, iterations = found
    t, d = _distances(X), _distances(embedding)
    # The judge's own regression sorts, and takes longer than all contestants where pairs are many.
    order = IsotonicRegression().fit_transform(t, d) if t.size <= MOST_ORDERED else np.full(1, np.nan)
    return {
        "stress": f"{np.sum((t - d) ** 2) / np.sum(t**2):.5f}",
        "of the order": f"{np.sqrt(np.sum((order - d) ** 2) / np.sum(d**2)):.4f}",
        "Sammon's": f"{np.sum((t - d) ** 2 / t) / np.sum(t):.5f}",
        "iterations": iterations,
    }


def _distances(X: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import pdist

    if len(X) <= MOST_COMPARED:
        return pdist(X)
    first, second = np.random.default_rng(1).integers(len(X), size=(2, 2 * 10**6))
    apart = first != second
    pairs = zip(*(np.array_split(ends[apart], 20) for ends in (first, second)), strict=True)
    return np.concatenate([np.linalg.norm(X[a] - X[b], axis=1) for a, b in pairs])


def table(ways: list[str], kinds: tuple[str, ...], size: int, *, repeats: int = 3) -> str:
    """Seconds and stress of some ways on some kinds of data; the last way is run once."""
    lines = [
        f"{size:,} points.\n",
        "| data | | seconds | first fit | iterations | stress | of the order | Sammon's | MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        for way in ways:
            found: Run = run(
                "mds", f"{way}: {kind}", size, repeats=repeats if way.startswith("lowdim") else 1
            )
            f = found.figures
            shown = [
                f.get(name, found.failure) for name in ("iterations", "stress", "of the order", "Sammon's")
            ]
            lines.append(
                f"| {kind} | {way} | {found.seconds:.2f} | {found.first:.2f} | "
                + " | ".join(map(str, shown))
                + f" | {found.peak / 1e6:.0f} |"
            )
    return "\n".join(lines)


def report(quick: bool) -> str:
    """Speed at 3,000 points; at 1,000 the lowest of several starts, the order alone, and pivots; then many points."""
    few, many = (300, 500) if quick else (1000, 3000)
    return "\n\n".join(
        (
            table(["lowdim", "lowdim, pivots=300", "scikit-learn"], DATA, many),
            table(["lowdim", "lowdim, n_init=4", "lowdim, Sammon", "scikit-learn, best of 5"], DATA, few),
            table(["lowdim, non-metric", "scikit-learn, non-metric"], DATA, few),
            *(
                table(
                    ["lowdim", "lowdim, Sammon", "lowdim, non-metric", "lowdim, classical"],
                    DATA[:1],
                    size,
                    repeats=1,
                )
                for size in ((11_000,) if quick else (20_000, 50_000))
            ),
        )
    )
