"""t-SNE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import ClassVar

from ...core.messages import named, setting
from ...core.records import Floats
from ...core.rules import Either, OneOf, Real, Rule
from ...core.run import Run
from ...errors import InputError
from ...neighbors.neighborhood import Neighborhood
from ...objectives import t_sne
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import STUDENT, Similarity
from ...optimize.schedules import Annealing
from ..base import parameters
from ..choosing.words import perplexity_rule
from ..embedding_driver.embedding_parameters import described
from ..embedding_driver.embedding_schedule import usual_annealing
from ..embedding_driver.perplexity_embedding import EMBEDDING_RULES, PerplexityEmbedding
from .pair_probabilities import scaled_to_one, strength_of_field, weight_of_pair

EXAGGERATION = 12.0


@parameters
class TSNE(PerplexityEmbedding):
    """min KL(P | Q), q_nm ~ 1 / (1 + |x_n - x_m|^2): sum p log(1 + D) + lambda log sum 1 / (1 + D).

    t-SNE (van der Maaten & Hinton 2008). P are the entropic affinities of the data, made symmetric. New points are
    placed against the embedding as it stands, each alone.

    Beside the parameters of every neighbour embedding, below:

    early_exaggeration
        How much stronger the attraction is at the start of t-SNE's own schedule than at its end.
    learning_rate
        Step along the gradient in t-SNE's own schedule, as scikit-learn counts it without exaggeration, or ``"auto"``:
        half the number of points, from 10,000 points on their number.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.TSNE(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    __doc__ = described(__doc__)

    _: KW_ONLY
    early_exaggeration: float = EXAGGERATION
    learning_rate: float | str = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **EMBEDDING_RULES,
        "perplexity": perplexity_rule("bic"),
        "early_exaggeration": Real(0),
        "learning_rate": Either(OneOf("auto"), Real(0)),
    }
    _kernel: ClassVar[Similarity] = STUDENT
    _is_divergence: ClassVar[bool] = True
    _relocates: ClassVar[bool] = True
    _anneals: ClassVar[bool] = True
    _scaled = staticmethod(scaled_to_one)
    _pair_weight = staticmethod(weight_of_pair)
    _strength = staticmethod(strength_of_field)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        # Stretch X by s: sum p log(1 + D) grows as 2 log s, since p sums to 1, and log sum K falls as -2 log s, so that
        # E goes as 2 (1 - lambda) log s. At lambda = 1 E is a divergence and bounded, below it E is that and a part of
        # E+ >= 0. (Copies of a row, at D = 0 whatever s, bound E again, but then their number sets the picture's size.)
        if self.lam > 1.0:
            raise InputError(
                f"{named('lam')} must be at most 1 for TSNE: beyond that E falls for ever as the picture grows, and "
                f"has no minimum; got {self.lam!r}. Use {setting('lam', 1)}, or less for a stronger attraction."
            )
        settings = {"early_exaggeration": EXAGGERATION, "learning_rate": "auto"}
        for name, usual in settings.items():
            if self.optimizer != "auto" and getattr(self, name) != usual:
                raise InputError(
                    f"{name} belongs to {setting('optimizer', 'auto')}, t-SNE's own schedule; got "
                    f"{name}={getattr(self, name)!r} with {setting('optimizer', self.optimizer)}. Put it into "
                    "Annealing or Momentum of lowdim.optimize."
                )

    def _usual_annealing(self, objective: NeighborObjective, n_phases: int, run: Run) -> Annealing | None:
        if not self._has_own_schedule:
            return None
        most = None if self.max_iter is None else max(1, self.max_iter // n_phases)
        annealing = replace(
            usual_annealing(objective.size, most), exaggeration=float(self.early_exaggeration)
        )
        if not isinstance(self.learning_rate, str):
            # v changes by rate gain g / (mean degree).
            annealing = replace(annealing, rate=float(self.learning_rate) * float(objective.degrees.mean()))
        run.chosen(
            "optimizer", f"annealed momentum, {annealing.iterations} iterations", "the quickest measured"
        )
        return annealing

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return t_sne.TSNE(attraction, engine, self.lam, masses)

    def _largest_lambda(self, objective: NeighborObjective) -> float:
        """1: see where parameters are checked."""
        return 1.0

    def _planned(self, n_rows: int) -> int:
        if self._has_own_schedule:
            return usual_annealing(n_rows, self.max_iter).iterations
        return super()._planned(n_rows)
