"""What UMAP minimises: not the cross-entropy that it was published with, but the loss that its sampling leaves.

The published loss of a pair is -mu log nu - (1 - mu) log(1 - nu), nu = 1 / (1 + a D^b), over all pairs. The optimiser
draws an edge with probability mu and m = 5 points against each of its ends, so that a pair is pushed apart with the
weight m (d_i + d_k) / (4 N) where the paper has 1 - mu (Damrich & Hamprecht 2021): N / d times less. Here 1,000 digits,
all sums exact. Three ways lead from one start: the sampled rule as umap-learn has it, in small batches; lowdim's full
batch; and descent of the published cross-entropy. Both losses are evaluated along all three. Those that are told are a
point's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lowdim
from lowdim.core.records import Floats, Sparse
from lowdim.core.run import Run
from lowdim.estimators.embeddings.umap import fit_curve
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.base import NeighborObjective
from lowdim.objectives.elastic import ElasticEmbedding
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import Power, RoundedLogarithm, Similarity
from lowdim.objectives.umap import UMAP
from lowdim.optimize import DirectedDescent, Stopping, minimise
from lowdim.optimize.directions import LimitedMemory

from .notebook import Notebook
from .umap_pictures import NEGATIVES, Judge

MIN_DIST = 0.1
WIDTH = 10.0
BATCHES = 20
"""Parts of an epoch of the sampled rule, each of which moves all its points at once."""
EVERY = 10
DRAWS = 100
SAMPLED, FULL, PUBLISHED = "sampled rule", "full batch", "descent of the cross-entropy"
EFFECTIVE, ENTROPY = "effective loss", "published cross-entropy"
MU, TARGET = "mu of the graph", "target mu / (mu + w)"
COLOURS = {
    SAMPLED: "tab:orange",
    FULL: "tab:blue",
    PUBLISHED: "tab:red",
    MU: "black",
    TARGET: "tab:green",
}
Frames = Sequence[tuple[int, Floats]]


@dataclass(frozen=True, slots=True)
class PublishedEdge(Similarity):
    """K = exp(r - f), f = -log nu, r = -log(1 - nu): the cross-entropy is r over all pairs and f - r over edges.

    For mu f + (1 - mu) r = r + mu (f - r).
    """

    pulled: Power
    pushed: RoundedLogarithm

    name: ClassVar[str] = "published-edge"
    is_smooth: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K = nu Q, Q = exp(r); Q_1 = Q r_1, Q_2 = Q (r_1^2 + r_2)."""
        nu = self.pulled.slope(D, 0)
        Q, r_1 = np.exp(self.pushed.slope(D, 0)), self.pushed.slope(D, 1)
        if order == 0:
            return np.asarray(nu * Q)
        nu_1 = self.pulled.slope(D, 1)
        if order == 1:
            return np.asarray(Q * (nu_1 + nu * r_1))
        bent = nu * (r_1**2 + self.pushed.slope(D, 2))
        return np.asarray(Q * (self.pulled.slope(D, 2) + 2.0 * nu_1 * r_1 + bent))

    @property
    def width(self) -> float:
        """Where that of the pull is."""
        return self.pulled.width


@dataclass(frozen=True)
class Losses:
    """Both losses of one graph, and the rule that was meant to lower the one and lowers the other."""

    graph: Sparse
    a: float
    b: float
    effective: NeighborObjective
    faithful: NeighborObjective
    entropy: NeighborObjective

    @classmethod
    def of(cls, graph: Sparse) -> Losses:
        """All sums over pairs by the exact engine."""
        a, b = fit_curve(MIN_DIST, 1.0)
        pulled, pushed, run = Power(a, b), RoundedLogarithm.cut(a, b), Run.of()
        attraction, engine = Attraction(graph, pulled, run), Exact().start(pushed, graph.shape[0], 2, run)
        published = Attraction(graph, PublishedEdge(pulled, pushed), run)
        return cls(
            graph,
            a,
            b,
            UMAP(attraction, engine, negatives=NEGATIVES),
            UMAP(attraction, engine, negatives=NEGATIVES, faithful=True),
            ElasticEmbedding(published, engine),
        )

    def at(self, X: Floats) -> dict[str, float]:
        """Both, a point."""
        found = {EFFECTIVE: self.effective.evaluate(X).value, ENTROPY: self.entropy.evaluate(X).value}
        return {name: float(value or 0.0) / len(X) for name, value in found.items()}

    def along(self, frames: Frames) -> dict[str, list[float]]:
        """Both, at each of some pictures."""
        found = [self.at(X) for _, X in frames]
        return {name: [values[name] for values in found] for name in (EFFECTIVE, ENTROPY)}

    def lowered(self, loss: NeighborObjective, X: Floats, iterations: int, record: int = 0) -> Frames:
        """Pictures on the way down one of the losses by L-BFGS, the last one included."""
        stopping = Stopping(1e-7, iterations, is_budget=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = minimise(loss, X, DirectedDescent(LimitedMemory()), stopping, record=record)
        return [*outcome.frames, (outcome.iterations, outcome.X)]

    def draw(self, X: Floats, heads: NDArray, tails: NDArray, rng: np.random.Generator) -> Floats:
        """Where some edges and the points drawn against their heads would move all points (umap-learn's rule)."""
        a, b = self.a, self.b
        gaps = X[heads] - X[tails]
        D = np.maximum((gaps**2).sum(axis=1), 1e-12)
        pulls = np.clip((-2 * a * b * D ** (b - 1) / (1 + a * D**b))[:, None] * gaps, -4, 4)
        pushed = np.repeat(heads, int(NEGATIVES))
        gaps = X[pushed] - X[rng.integers(len(X), size=pushed.size)]
        D = (gaps**2).sum(axis=1)
        pushes = np.clip((2 * b / ((0.001 + D) * (1 + a * D**b)))[:, None] * gaps, -4, 4)
        ends = np.concatenate((heads, tails, pushed))
        moves = np.concatenate((pulls, -pulls, pushes))
        return np.column_stack([np.bincount(ends, moves[:, c], minlength=len(X)) for c in range(X.shape[1])])

    def chosen(self, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """The edges of an epoch: each with the probability mu, over the largest."""
        edges = self.graph.tocoo()
        taken = rng.permutation(np.flatnonzero(rng.random(edges.nnz) < edges.data / edges.data.max()))
        return edges.row[taken], edges.col[taken]

    def sampled(self, X: Floats, epochs: int) -> Frames:
        """Pictures on the way of the sampled rule, whose step falls from 1 to 0."""
        rng, X = np.random.default_rng(0), X.copy()
        frames = [(0, X.copy())]
        for epoch in range(epochs):
            heads, tails = self.chosen(rng)
            for part in np.array_split(np.arange(heads.size), BATCHES):
                X += (1 - epoch / epochs) * self.draw(X, heads[part], tails[part], rng)
            if (epoch + 1) % EVERY == 0:
                frames.append((epoch + 1, X.copy()))
        return frames

    def mean_step(self, X: Floats) -> Floats:
        """The mean of many epochs' steps, all taken at X."""
        rng, total = np.random.default_rng(0), np.zeros_like(X)
        for _ in range(DRAWS):
            total += self.draw(X, *self.chosen(rng), rng)
        return total / DRAWS

    def targets(self) -> tuple[Floats, Floats]:
        """mu of every edge, and the similarity at which its own part of the effective loss is least.

        mu f + w r is least at nu = mu / (mu + w), w = m (d_i + d_k) / (4 N).
        """
        edges, degrees = self.graph.tocoo(), np.asarray(self.graph.sum(axis=1)).ravel()
        w = NEGATIVES * (degrees[edges.row] + degrees[edges.col]) / (4 * self.graph.shape[0])
        return edges.data, edges.data / (edges.data + w)

    def similarities(self, X: Floats) -> Floats:
        """nu of every edge in a picture."""
        edges = self.graph.tocoo()
        return Power(self.a, self.b).slope(((X[edges.row] - X[edges.col]) ** 2).sum(axis=1))


def run(notebook: Notebook) -> None:
    """Go all three ways, evaluate both losses along them; quickly: 300 digits and few steps."""
    count, iterations = (300, 100) if notebook.quick else (1000, 500)
    raw = lowdim.datasets.load("digits")
    judge = Judge.of(raw.data[:count], raw.labels[:count])
    losses = Losses.of(judge.graph)
    start = lowdim.LaplacianEigenmaps(2, n_neighbors=15, on_disconnected="connect").fit_transform(judge.X)
    start = np.ascontiguousarray(start * (WIDTH / np.abs(start).max()))
    fit = lowdim.UMAP(init=start, record=EVERY, repulsion="exact", max_iter=iterations).fit(judge.X)
    ways: dict[str, Frames] = {
        SAMPLED: losses.sampled(start, iterations),
        FULL: [(0, start), *fit.frames_, (fit.n_iter_, np.asarray(fit.embedding_, dtype=np.float64))],
        PUBLISHED: [(0, start), *losses.lowered(losses.entropy, start, 4 * iterations, EVERY)],
    }
    curves = {name: losses.along(frames) for name, frames in ways.items()}
    notebook.keep(
        [
            {
                "way": name,
                "iteration": frame[0],
                **{loss: values[place] for loss, values in curves[name].items()},
            }
            for name, frames in ways.items()
            for place, frame in enumerate(frames)
        ],
        "curves",
    )
    ends = {name: frames[-1][1] for name, frames in ways.items()}
    _tell(notebook, judge, curves, ends)
    _judge_steps(notebook, losses, ways[SAMPLED])
    _judge_losses(notebook, losses, curves, ends)
    _judge_pictures(notebook, judge, losses, ends)
    notebook.figure(_draw(judge, losses, ways, curves))


def _tell(notebook: Notebook, judge: Judge, curves: Mapping[str, Any], ends: Mapping[str, Floats]) -> None:
    rows = []
    for name, X in ends.items():
        figures = judge.figures(X, MIN_DIST)
        rows.append(
            {"way": name, EFFECTIVE: curves[name][EFFECTIVE][-1], ENTROPY: curves[name][ENTROPY][-1]}
            | {key: figures[key] for key in ("recall@15", "10-NN", "trust", "Spearman")}
            | {"width": float(np.ptp(X, axis=0).max())}
        )
    notebook.table(rows)


def _judge_steps(notebook: Notebook, losses: Losses, frames: Frames) -> None:
    """The mean of sampled steps beside the descents of both losses, on the way, where it is more than noise."""
    said, held = [], True
    for epoch, X in frames[1:6:2]:
        step = losses.mean_step(X)
        to_effective, to_entropy = (
            _cosine(step, -loss.evaluate(X, value=False).gradient)
            for loss in (losses.faithful, losses.entropy)
        )
        held = held and to_effective > 0.95 and to_entropy < to_effective - 0.1
        said.append(f"epoch {epoch}: {to_effective:.3f} and {to_entropy:.3f}")
    notebook.claim(
        "the sampled step, in the mean, goes down the effective loss and not the cross-entropy",
        "equal in expectation",
        f"cosine to either descent, {'; '.join(said)}",
        held,
    )


def _judge_losses(
    notebook: Notebook, losses: Losses, curves: Mapping[str, Any], ends: Mapping[str, Floats]
) -> None:
    least = losses.at(losses.lowered(losses.effective, ends[FULL], 500)[-1][1])[EFFECTIVE]
    last = {name: {loss: values[-1] for loss, values in found.items()} for name, found in curves.items()}
    notebook.claim(
        "the sampled rule and the full batch end at a minimum of the effective loss",
        "yes",
        f"{last[SAMPLED][EFFECTIVE]:.4g} and {last[FULL][EFFECTIVE]:.4g}; descent from the latter ends at {least:.4g}",
        max(last[SAMPLED][EFFECTIVE], last[FULL][EFFECTIVE]) < 1.03 * least,
    )
    entropy = last[PUBLISHED][ENTROPY]
    over = last[SAMPLED][ENTROPY] / entropy
    notebook.claim(
        "they end far from a minimum of the published cross-entropy",
        "far",
        f"{last[SAMPLED][ENTROPY]:.4g} and {last[FULL][ENTROPY]:.4g} against {entropy:.4g}: {over:.2g} times",
        over > 1.2,
    )
    other = last[PUBLISHED][EFFECTIVE]
    notebook.claim(
        "and the minimum of the cross-entropy is far from one of the effective loss",
        "far",
        f"{other:.4g} against {least:.4g}: {other / least:.2g} times",
        other > 1.2 * least,
    )


def _judge_pictures(notebook: Notebook, judge: Judge, losses: Losses, ends: Mapping[str, Floats]) -> None:
    sizes = {name: float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())) for name, X in ends.items()}
    recalls = {name: judge.figures(X, MIN_DIST)["recall@15"] for name, X in ends.items()}
    notebook.claim(
        "the cross-entropy's picture is far wider: all pairs repel, not a few that are drawn",
        "by eye",
        f"{sizes[PUBLISHED] / sizes[FULL]:.1f} times as wide",
        sizes[PUBLISHED] > 2.0 * sizes[FULL],
    )
    notebook.remark(
        f"Groups fall together all the same: recall@15 is {recalls[PUBLISHED]:.3f} in the cross-entropy's picture, "
        f"{recalls[SAMPLED]:.3f} and {recalls[FULL]:.3f} in those of the sampled rule and of the full batch."
    )
    mu, target = losses.targets()
    nu = losses.similarities(ends[FULL])
    gaps = [float(np.abs(nu - wanted).mean()) for wanted in (target, mu)]
    high = [float(np.mean(values > 0.7)) for values in (mu, target, nu)]
    notebook.claim(
        "edges are drawn as all but binary, whatever their mu",
        "by eye",
        f"above 0.7 are {high[0]:.0%} of mu, {high[1]:.0%} of the targets mu / (mu + w) and {high[2]:.0%} in the "
        f"picture, which is {gaps[0]:.3f} from the targets and {gaps[1]:.3f} from mu in the mean",
        gaps[0] < gaps[1],
    )


def _cosine(A: Floats, B: Floats) -> float:
    return float((A * B).sum() / np.linalg.norm(A) / np.linalg.norm(B))


def _draw(judge: Judge, losses: Losses, ways: Mapping[str, Frames], curves: Mapping[str, Any]) -> Figure:
    figure = Figure(figsize=(11, 7), layout="constrained")
    panels = figure.subplots(2, 3)
    for axes, loss in zip(panels[0], (EFFECTIVE, ENTROPY), strict=False):
        for name, frames in ways.items():
            places = np.maximum([place for place, _ in frames], 1)
            axes.plot(places, curves[name][loss], color=COLOURS[name], label=name)
        axes.set(xscale="log", yscale="log", xlabel="iteration", title=f"{loss}, a point")
        axes.grid(alpha=0.3)
    panels[0, 0].legend(fontsize=8)
    mu, target = losses.targets()
    shown = {MU: mu, TARGET: target}
    shown |= {name: losses.similarities(ways[name][-1][1]) for name in (FULL, PUBLISHED)}
    for name, values in shown.items():
        panels[0, 2].hist(
            values, np.linspace(0, 1, 21), histtype="step", label=name, color=COLOURS[name], density=True
        )
    panels[0, 2].set(title="similarities of edges: how many")
    panels[0, 2].legend(fontsize=8, loc="upper center")
    for axes, (name, frames) in zip(panels[1], ways.items(), strict=True):
        X = frames[-1][1]
        axes.scatter(X[:, 0], X[:, 1], c=judge.y, s=4, cmap="tab10", linewidths=0)
        axes.set(xticks=[], yticks=[], aspect="equal", title=name)
    return figure
