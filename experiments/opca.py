"""Oriented PCA: two speakers say two vowels; the direction found tells the vowels and not the speakers.

Synthetic cepstra (`lowdim.datasets.two_speaker_cepstra`): all frames are the signal, differences between the speakers
at the same vowel the noise. What varies most in the signal is the speaker, so that PCA finds him or her. A separation
is the distance of two class means over the standard deviation within the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lowdim

from .notebook import Notebook, spread

TOLD, IGNORED = 4.0, 0.5
"""Separation above which two classes are told apart, and below which they are mixed."""


def run(notebook: Notebook) -> None:
    """PCA and oriented PCA over five sets of frames."""
    n_frames, seeds = (60, 2) if notebook.quick else (300, 5)
    rows: list[dict[str, Any]] = []
    for seed in range(seeds):
        speech = lowdim.datasets.two_speaker_cepstra(n_frames, random_state=seed)
        rows += [
            {
                "seed": seed,
                "method": name,
                "direction": axis + 1,
                "vowels": separation(X[:, axis], speech.labels),
                "speakers": separation(X[:, axis], speech.speakers),
            }
            for name, X in _embeddings(speech).items()
            for axis in range(2)
        ]
    notebook.table(rows)
    speech = lowdim.datasets.two_speaker_cepstra(n_frames, random_state=0)
    notebook.figure(_draw(speech, _embeddings(speech)))
    _judge(notebook, rows, speech)


def separation(values: np.ndarray, classes: np.ndarray) -> float:
    """Distance of the means of two classes over the standard deviation within them."""
    one, other = (values[classes == name] for name in np.unique(classes))
    return float(abs(one.mean() - other.mean()) / np.sqrt((one.var() + other.var()) / 2))


def _embeddings(speech: Any) -> dict[str, np.ndarray]:
    return {
        "PCA": lowdim.PCA(2).fit_transform(speech.data),
        "oriented PCA": lowdim.OrientedPCA(2).fit_transform(speech.data, noise=speech.noise),
    }


def _judge(notebook: Notebook, rows: list[dict[str, Any]], speech: Any) -> None:
    def of(method: str, what: str) -> list[float]:
        return [row[what] for row in rows if row["method"] == method and row["direction"] == 1]

    vowels, speakers = of("oriented PCA", "vowels"), of("oriented PCA", "speakers")
    notebook.claim(
        "oriented PCA's direction separates the phonemes",
        "by eye",
        f"{spread(vowels)} standard deviations apart",
        min(vowels) > TOLD,
    )
    notebook.claim(
        "and ignores the speakers",
        "by eye",
        f"{spread(speakers)} standard deviations apart",
        max(speakers) < IGNORED,
    )
    notebook.claim(
        "PCA's first direction does the reverse",
        "by eye",
        f"speakers {spread(of('PCA', 'speakers'))} apart, phonemes {spread(of('PCA', 'vowels'))}",
        min(of("PCA", "speakers")) > TOLD and max(of("PCA", "vowels")) < 1.0,
    )
    plain, white = lowdim.PCA(4).fit(speech.data), lowdim.OrientedPCA(4).fit(speech.data)
    unit = white.components_ / np.linalg.norm(white.components_, axis=1, keepdims=True)
    signs = np.sign(np.sum(unit * plain.components_, axis=1, keepdims=True))
    difference = float(np.linalg.norm(unit - signs * plain.components_, axis=1).max())
    notebook.claim(
        "S_v = I gives PCA", "the same", f"directions differ by {difference:.1e}", difference < 1e-10
    )
    held_out = lowdim.datasets.two_speaker_cepstra(100, random_state=99)
    model = lowdim.OrientedPCA(1).fit(speech.data, noise=speech.noise)
    fresh = separation(model.transform(held_out.data)[:, 0], held_out.labels)
    notebook.remark(f"On frames that the direction was not fitted to the phonemes are {fresh:.1f} apart.")


def _draw(speech: Any, embeddings: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(10, 6.2), layout="constrained")
    panels = figure.subplots(2, 2, height_ratios=[2.4, 1.0], sharex="col")
    colours = {"bit": "#3f90da", "bet": "#e76300"}
    for column, (name, X) in enumerate(embeddings.items()):
        above, below = panels[:, column]
        bins = np.linspace(X[:, 0].min(), X[:, 0].max(), 50)
        for vowel, colour in colours.items():
            for speaker, marker in (("he", "o"), ("she", "^")):
                own = (speech.labels == vowel) & (speech.speakers == speaker)
                label = f"{speaker}, “{vowel}”"
                above.scatter(
                    *X[own].T,
                    s=16,
                    marker=marker,
                    facecolors="none" if speaker == "she" else colour,
                    edgecolors=colour,
                    linewidths=0.7,
                    label=label,
                )
                below.hist(
                    X[own, 0],
                    bins,
                    color=colour,
                    histtype="step" if speaker == "she" else "stepfilled",
                    alpha=1.0 if speaker == "she" else 0.55,
                    linewidth=1.3,
                )
        told = separation(X[:, 0], speech.labels), separation(X[:, 0], speech.speakers)
        above.set_title(f"{name}: vowels {told[0]:.1f} apart, speakers {told[1]:.1f}", fontsize=11)
        above.set(ylabel="second direction")
        below.set(xlabel="first direction", ylabel="frames")
    panels[0, 1].legend(frameon=False, fontsize=8)
    return figure
