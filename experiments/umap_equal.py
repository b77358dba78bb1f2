"""UMAP in full batch beside five seeds of umap-learn: whether its picture is as good as any of them, and as near.

Digits, COIL-20, a mammoth, blood cells and Olivetti's faces, 15 neighbours, min_dist 0.1, 0 and 0.5, all else as it
comes. The effective loss is the potential, a point, of umap-learn's expected step (Damrich & Hamprecht 2021) over
one exact graph. A figure holds where lowdim's is no worse than that of the worst seed, and Procrustes distances where
that to some seed is no larger than the largest between two seeds.

One more picture of the same program is the worst of six in one figure of six: to miss none cannot be asked of it. So
five further seeds of umap-learn are judged by the same first five as lowdim's picture is, and say how many figures a
picture misses that is umap-learn's own. umap-learn is needed; its pictures are kept beside the table, so that a second
run fits lowdim's alone.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lowdim import procrustes

from .notebook import Notebook
from .umap_pictures import PROCRUSTES, Comparison, Judge, by_peer, need_peer, some

SETS = ("digits", "coil", "olivetti", "cells", "mammoth")
DISTANCES = (0.1, 0.0, 0.5)
SEEDS, FURTHER = 5, 5
"""Seeds that pictures are judged by, and further ones that are judged as lowdim's picture is."""
SHOWN = 0.1
"""min_dist of the pictures that are drawn."""
WORDS = {
    "loss": "effective loss higher than the worst seed's",
    "recall@15": "recall of the 15 nearest lower than the worst seed's",
    "10-NN": "10-NN accuracy lower than the worst seed's",
    "trust": "trustworthiness lower than the worst seed's",
    "Spearman": "Spearman correlation of distances lower than the worst seed's",
    PROCRUSTES: "Procrustes distance to every seed larger than between seeds",
}
Results = dict[tuple[str, float], Comparison]
Others = dict[tuple[str, float], list[Comparison]]


def run(notebook: Notebook) -> None:
    """Fit, judge and draw; quickly: 500 digits, three seeds, a further one and one distance."""
    need_peer()
    sets, distances = (SETS[:1], DISTANCES[:1]) if notebook.quick else (SETS, DISTANCES)
    seeds, further = (3, 1) if notebook.quick else (SEEDS, FURTHER)
    results: Results = {}
    others: Others = {}
    judges: dict[str, Judge] = {}
    for name in sets:
        X, y = some(name)
        judge = judges[name] = Judge.of(*((X[:500], y[:500]) if notebook.quick else (X, y)))
        for min_dist in distances:
            pictures = []
            for seed in range(seeds + further):
                path = notebook.folder / "seeds" / f"{name}-{len(judge.X)}-{min_dist:g}-{seed}.npy"
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that a start of its own in each part takes longer
                    pictures.append(by_peer(judge.X, min_dist, seed, path))
            found = results[name, min_dist] = Comparison.of(judge, min_dist, pictures[:seeds])
            others[name, min_dist] = [found.instead(judge, min_dist, X) for X in pictures[seeds:]]
            notebook.keep(_rows(results, others), "table")
    notebook.table(_rows(results, others))
    _judge(notebook, results, others)
    notebook.figure(_draw(results, judges))


def _rows(results: Results, others: Others) -> list[dict[str, Any]]:
    return [
        {"data": f"{name}, {len(found.own):,}", "min_dist": f"{min_dist:g}"}
        | {figure: found.cell(figure) for figure in WORDS}
        | {
            "misses": sum(map(found.is_worse, WORDS)),
            "of a further seed": ", ".join(
                str(sum(map(other.is_worse, WORDS))) for other in others[name, min_dist]
            ),
        }
        for (name, min_dist), found in results.items()
    ]


def _judge(notebook: Notebook, results: Results, others: Others) -> None:
    """A claim for each figure, over all pictures, and one for all figures; further seeds are the measure."""
    own, further = 0, np.zeros(len(next(iter(others.values()))), dtype=int)
    for figure, words in WORDS.items():
        worse = {key: found for key, found in results.items() if found.is_worse(figure)}
        peers = np.sum([[other.is_worse(figure) for other in found] for found in others.values()], axis=0)
        own, further = own + len(worse), further + peers
        said = [f"{name} at {min_dist:g}: {found.cell(figure)}" for (name, min_dist), found in worse.items()]
        measured = f"{len(worse)} of {len(results)} pictures"
        notebook.claim(
            f"{words} in no more pictures than for a further seed of umap-learn",
            f"further seeds: {', '.join(map(str, peers))}",
            "; ".join([measured, *said]).replace("**", ""),
            len(worse) <= peers.max(),
        )
    notebook.claim(
        "no more figures missed than by a further seed of umap-learn on average",
        f"{further.mean():.1f} of {len(WORDS) * len(results)}: {', '.join(map(str, further))}",
        f"{own} of {len(WORDS) * len(results)}",
        own <= further.mean(),
    )
    better = sum(found.value("loss") < found.seeds("loss")[0] for found in results.values())
    notebook.remark(f"In {better} of {len(results)} pictures lowdim's loss is below that of every seed.")
    farther = [
        f"{name} at {min_dist:g}"
        for (name, min_dist), found in results.items()
        if max(found.to_seeds) > max(found.between)
    ]
    notebook.remark(
        "The seed that is farthest from lowdim's picture is farther than any two seeds are from each other for "
        f"{', '.join(farther) or 'none'}."
    )


def _draw(results: Results, judges: dict[str, Judge]) -> Figure:
    """For each data set lowdim's picture, turned to the seed that is nearest, that seed and another."""
    figure = Figure(figsize=(9, 3 * len(judges)), layout="constrained")
    panels = figure.subplots(len(judges), 3, squeeze=False)
    for line, (name, judge) in zip(panels, judges.items(), strict=True):
        found = results[name, SHOWN]
        nearest = min(range(len(found.peers)), key=found.to_seeds.__getitem__)
        other = (nearest + 1) % len(found.peers)
        target = found.peers[nearest]
        drawn = {
            "lowdim": procrustes(found.own, target).aligned,
            f"umap-learn, seed {nearest}": target,
            f"umap-learn, seed {other}": procrustes(found.peers[other], target).aligned,
        }
        for axes, (title, X) in zip(line, drawn.items(), strict=True):
            axes.scatter(X[:, 0], X[:, 1], c=judge.y, s=max(1.0, 5000 / len(X)), cmap="tab20", linewidths=0)
            axes.set(xticks=[], yticks=[], aspect="equal", title=title)
        line[0].set_ylabel(f"{name}, {len(judge.X):,}")
    return figure
