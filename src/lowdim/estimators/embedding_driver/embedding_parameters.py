"""The parameters that all neighbour embeddings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from inspect import cleandoc
from typing import Any, ClassVar, Self

from ...core.records import PlannedStage
from ...core.rules import Either, Nothing, OneOf, Real, Rule, Share, Whole
from ...data.shards import Shards
from ...objectives.repulsion.protocol import Repulsion
from ...optimize.protocol import Optimizer
from ...optimize.schedules import Annealing
from ..base import COMMON_RULES, Estimator, parameters
from ..choosing.words import neighbors_rule
from ..graphs import METRIC_RULES
from ..shards.sampled_fit import fit_to_sample, plan_of_sample
from .initial_embedding import INIT_RULES
from .repulsion_and_optimizer import ENGINE_RULES

COMMON_EMBEDDING_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    **ENGINE_RULES,
    **INIT_RULES,
    "n_neighbors": neighbors_rule(1),
    **METRIC_RULES,
    "max_iter": Either(Whole(1), Nothing()),
    "max_seconds": Either(Real(0), Nothing()),
    "tolerance": Either(Real(0, closed=True), Nothing()),
    "record": Whole(0),
    "target_metric": OneOf("categorical", "euclidean"),
    "target_weight": Share(),
    "density": Real(0, closed=True),
    "density_share": Share(),
    "density_shift": Real(0),
    "search": OneOf("auto", "exact", "approximate"),
}

_EVERY = """
    Parameters
    ----------
    n_components
        Dimensions of the embedding. With ``repulsion="fft"`` 1 or 2, with ``"barnes-hut"`` up to 3, else any number.
    perplexity
        Effective number of neighbours of each point. None: 30, or a third of the others where there are fewer than 90.
        ``"auto"`` chooses it, by ``"auto:recall_area"`` or ``"auto:trustworthiness"``; t-SNE and
        symmetric SNE by ``"auto:bic"`` first: see docs/choosing.md.
    n_neighbors
        Neighbours that carry affinities; None: three times the perplexity. ``"auto"`` chooses it
        by ``"auto:recall_area"``, ``"auto:trustworthiness"`` or ``"auto:connected"``: see docs/choosing.md.
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds affinities: a weighted or unweighted graph).
    metric_params
        As in `LaplacianEigenmaps`.
    affinity
        ``"auto"`` (entropic, of the perplexity), `Gaussian`, `Entropic`, `Binary`, `SelfTuning` or their names
        ``"gaussian"``, ``"entropic"``, ``"binary"``, ``"self-tuning"``, or ``"precomputed"`` (as ``metric="graph"``).
    lam
        Weight of the repulsion; 1 is the method as it was published, less makes the attraction 1 / lam times as strong.
        Above 1 t-SNE has no minimum, SNE has none from some value below 2 on, and symmetric SNE may have none.
    optimizer
        ``"auto"`` (for t-SNE momentum on a schedule, else L-BFGS on the spectral direction), ``"gd"``, ``"fp"``,
        ``"diagh"``, ``"sd"``, ``"sd-"``, ``"cg"``, ``"lbfgs"``, ``"momentum"``, or a configured object of
        `lowdim.optimize`.
    repulsion
        ``"auto"``, ``"exact"``, ``"barnes-hut"``, ``"fft"``, or `Exact`, `BarnesHut`, `FFT` with their own tolerance.
    init
        Where to start: ``"auto"``, ``"pca"``, ``"spectral"`` (Laplacian eigenmaps of the same affinities),
        ``"random"``, or coordinates.
    homotopy
        Path of lambda: ``"auto"`` (10 steps, fewer where ``max_iter`` is below 250, none for t-SNE's own schedule), a
        number of steps in equal factors from the critical lambda to ``lam``, values of lambda to take before ``lam``,
        or None to minimise at ``lam`` at once.
    max_iter
        Iterations at most, of all steps together; None: 270 for t-SNE's own schedule (750 up to 10,000
        points), else 1000 at each lambda.
    max_seconds
        Seconds for the optimisation; the best embedding so far is kept. None: no bound.
    tolerance
        Stop where the objective falls by less than this share of itself an iteration; None: 1e-6, or no such
        stop for a schedule.
    record
        Keep the embedding of every so many iterations in ``frames_``; 0: none.
    target_metric
        What ``y`` of ``fit`` holds: ``"categorical"`` (labels; -1, NaN or None where one is not known) or
        ``"euclidean"`` (numbers, one or several columns; NaN where one is not known).
    target_weight
        How much ``y`` counts against the data, from 0 to 1. At 0, which is usual here, it is ignored: pipelines hand
        it on to every step. (UMAP has 0.5.)
    density
        How much the local radii of the data count, so that what is dense there is dense in the picture (densMAP and
        den-SNE, Narayan, Berger & Cho 2021): weight of the correlation of their logarithms. 0: not at all;
        0.1 is usual in t-SNE and SNE, 10 in the elastic embedding.
    density_share
        Share of a schedule's iterations, at its end, in which densities count. Other optimisers go on with them where
        they have come to rest without.
    density_shift
        Added to the variance of the logarithms of the picture's radii, so that radii all but equal do not count.
    search
        Neighbour search: ``"auto"``, ``"exact"`` or ``"approximate"``.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    objective_ : float, the objective at the end
    kl_divergence_ : float, KL(P | Q) at the end, by the repulsion that was used (t-SNE and symmetric SNE)
    n_iter_ : int
    history_ : iterations, seconds, values, evaluations and lambda wherever the objective was computed
    frames_ : list of (iteration, embedding), where ``record`` asked for them
    density_correlation_ : float, correlation of the logarithms of local radii in data and picture, where ``density``
        is above 0
    perplexity_, n_neighbors_ : what was chosen, of those that are ``"auto"``
    report_ : what was done and chosen, seconds per stage
    """


def described(own: str | None) -> str:
    """The docstring of a neighbour embedding, with what holds for every one below.

    From Python 3.13 on docstrings come without the indentation of their source, and other strings do not; with
    ``python -OO`` there are none.
    """
    return f"{cleandoc(own or '')}\n\n{cleandoc(_EVERY)}\n"


@parameters
class CommonEmbedding(Estimator):
    """What every neighbour embedding is told."""

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | str | None = None
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    optimizer: str | Optimizer[Any] | Annealing = "auto"
    repulsion: str | Repulsion = "auto"
    init: Any = "auto"
    max_iter: int | None = None
    max_seconds: float | None = None
    tolerance: float | None = None
    record: int = 0
    target_metric: str = "categorical"
    target_weight: float = 0.0
    density: float = 0.0
    density_share: float = 0.3
    density_shift: float = 0.1
    search: str = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = COMMON_EMBEDDING_RULES
    _anneals: ClassVar[bool] = False
    """Whether ``optimizer="auto"`` is a schedule of its own."""

    @property
    def _has_own_schedule(self) -> bool:
        return self._anneals and isinstance(self.optimizer, str) and self.optimizer == "auto"

    @property
    def _is_annealed(self) -> bool:
        """Whether lambda changes from step to step, so that a path is not needed."""
        return self._has_own_schedule or isinstance(self.optimizer, Annealing)

    def _fit_shards(self, source: Shards, y: Any = None) -> Self:
        fit_to_sample(self, source, y)
        return self

    def _plan_shards(self, source: Shards) -> list[PlannedStage]:
        return plan_of_sample(self, source)
