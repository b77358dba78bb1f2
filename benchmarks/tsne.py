"""t-SNE from the columns to the picture, against openTSNE and scikit-learn-intelex, with three measures of quality."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from typing import Any

import numpy as np

import lowdim
from lowdim.affinities import Entropic
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.metrics import neighbor_accuracy
from lowdim.neighbors import build_index
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.divergence import kl_divergence
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import STUDENT
from lowdim.objectives.t_sne import TSNE

from .data import Labelled, mnist
from .harness import compare, run

TITLE = (
    "t-SNE, perplexity 30: seconds to the end state, KL (all pairs), recall of 15 neighbours, 10-NN accuracy"
)
PERPLEXITY = 30.0
FIGURES = ["KL", "recall@15", "10-NN accuracy", "stages"]
SETS = {1440: "coil20", 400: "olivetti", 50_000: "mammoth"}
"""Data sets by their size; any other size is so many digits."""


@lru_cache(maxsize=1)
def load(size: int) -> Labelled:
    """Digits in 50 columns, or one of the other data sets, in 50 columns where it has more."""
    if size not in SETS:
        return mnist(size)
    data = lowdim.datasets.load(SETS[size])
    X = np.asarray(data.data, dtype=np.float64)
    labels = np.zeros(len(X), dtype=np.int64) if data.labels is None else np.asarray(data.labels)
    return Labelled(lowdim.PCA(50).fit_transform(X) if X.shape[1] > 50 else X, labels)


def ours(**settings: Any) -> Any:
    """lowdim's, as it comes or with other settings."""
    return lambda data: lowdim.TSNE(perplexity=PERPLEXITY, **settings).fit(data.X)


def open_tsne(data: Labelled) -> Any:
    """openTSNE with its defaults: 250 iterations of early exaggeration and 500 more, FFT."""
    import openTSNE

    return openTSNE.TSNE(perplexity=PERPLEXITY, negative_gradient_method="fft", n_jobs=2, random_state=0).fit(
        data.X
    )


def intelex(data: Labelled) -> Any:
    """scikit-learn-intelex, its defaults."""
    from sklearnex import manifold

    return manifold.TSNE(perplexity=PERPLEXITY, init="pca", random_state=0, n_jobs=2).fit(data.X)


CONTESTANTS = {
    "lowdim": ours(),
    "lowdim, 500 iterations": ours(max_iter=500),
    "openTSNE": open_tsne,
    "scikit-learn-intelex": intelex,
}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """KL with the exact P and all pairs, recall and accuracy in the picture."""
    X = np.ascontiguousarray(getattr(model, "embedding_", model), dtype=np.float64)
    index = build_index(Rows(data.X), "euclidean", search="exact", run=Run.of())
    k = min(90, len(X) - 1)
    lists = index.query(None, k, Run.of())
    W = Entropic(PERPLEXITY).fit(lists, Run.of()).weights(lists, Run.of())
    objective = TSNE(Attraction(W / W.sum(), STUDENT, Run.of()), Exact().start(STUDENT, len(X), 2, Run.of()))
    near = build_index(Rows(X), "euclidean", search="exact", run=Run.of())
    found, true = near.query(None, 15, Run.of()).indices.reshape(-1, 15), lists.indices.reshape(-1, k)[:, :15]
    figures: dict[str, Any] = {
        "KL": kl_divergence(objective, X),
        "recall@15": float(np.mean([np.isin(a, b).mean() for a, b in zip(found, true, strict=True)])),
    }
    if np.unique(data.y).size > 1:
        figures["10-NN accuracy"] = neighbor_accuracy(X, data.y)
    if hasattr(model, "report_"):
        stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
        figures["stages"] = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
    return figures


def report(quick: bool) -> str:
    """70,000 digits, then the other data sets; the quick form 3000 digits."""
    names = list(CONTESTANTS)
    if quick:
        return compare("tsne", names[:3], 3000, FIGURES, repeats=1, peer_repeats=0)
    tables = [compare("tsne", names, 70_000, FIGURES, repeats=3, peer_repeats=1)]
    with tempfile.TemporaryDirectory() as cache:
        cold = run("tsne", names[0], 70_000, repeats=0, cache=cache).first
    tables.append(f"\nlowdim in a new process with an empty kernel cache: {cold:.1f} s\n")
    for size, name in SETS.items():
        tables.append(
            f"\n{name}\n" + compare("tsne", ["lowdim", "openTSNE"], size, FIGURES, repeats=1, peer_repeats=0)
        )
    return "\n".join(tables)
