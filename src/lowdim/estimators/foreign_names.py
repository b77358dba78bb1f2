"""Parameters by the names that other libraries give them: the error says what they are called here.

scikit-learn's protocol asks that a constructor lists its parameters and takes no others, so they cannot be accepted
on the quiet. `ForeignNames` looks at the names before the constructor does. It is no part of the constructor, whose
signature, and with it ``get_params`` and ``clone``, stays as it is.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Self

from sklearn.base import BaseEstimator

from ..core.messages import in_python, likely, setting
from ..core.messages import value as quoted
from ..core.rules import Rule
from ..errors import InputError, InputTypeError

OWN_KERNEL = "Values of another kernel are given as X, with affinity='precomputed'."
FOREIGN_NAMES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "eigen_solver": (("solver", "'arpack' is 'lanczos' or 'shift-invert', 'amg' is 'lobpcg'."),),
    "svd_solver": (("solver", "'full' is 'covariance' or 'snapshot'."),),
    "method": (
        ("variant", "The words are the same."),
        ("repulsion", "'barnes_hut' is 'barnes-hut'; 'fft' is quicker."),
    ),
    "gamma": (("bandwidth", "exp(-gamma d^2) is bandwidth=1 / sqrt(gamma)."),),
    "sigma": (("bandwidth", "The weight of a distance d is exp(-(d / bandwidth)^2)."),),
    "early_exaggeration": (("optimizer", "For t-SNE it is lowdim.optimize.Annealing(exaggeration=...)."),),
    "early_exaggeration_iter": (("optimizer", "It is 3/8 of lowdim.optimize.Annealing(iterations=...)."),),
    "exaggeration": (
        ("lam", "To exaggerate the attraction is to divide the repulsion: lam=1 / exaggeration."),
    ),
    "momentum": (
        ("optimizer", "It belongs to lowdim.optimize.Annealing(momentum=...) or Momentum(momentum=...)."),
    ),
    "learning_rate": (("optimizer", "It belongs to lowdim.optimize.Momentum(learning_rate=...)."),),
    "transform_seed": (("random_state", "Nothing is drawn by transform: it needs no seed."),),
    "target_n_neighbors": (("n_neighbors", "The graph of the targets has as many."),),
    "precomputed_knn": (("metric", "As in metric='precomputed', with the sparse graph of distances as X."),),
    "force_approximation_algorithm": (("search", "True is 'approximate'."),),
    "angular_rp_forest": (("metric", "As in metric='cosine'."),),
    "tqdm_kwds": (("verbose", "Or callback, which hears of every iteration."),),
    "disconnection_distance": (
        ("metric", "Leave longer edges out of a graph of distances: metric='precomputed'."),
    ),
    "a": (("min_dist", "a and b are fitted to min_dist and spread, and are a_ and b_ after the fit."),),
    "b": (("spread", "a and b are fitted to min_dist and spread, and are a_ and b_ after the fit."),),
    "initialization": (("init", ""),),
    "negative_gradient_method": (("repulsion", "Its 'bh' is 'barnes-hut'; 'fft' is the same."),),
    "angle": (("repulsion", "It is theta of lowdim.BarnesHut(theta=...)."),),
    "theta": (("repulsion", "It belongs to lowdim.BarnesHut(theta=...)."),),
    "n_iter": (("max_iter", ""),),
    "n_epochs": (("max_iter", ""),),
    "num_iters": (("max_iter", "Its three phases take 2/9, 2/9 and 5/9 of it."),),
    "min_grad_norm": (
        ("tolerance", "It is the share of the objective by which an iteration must lower it."),
    ),
    "n_iter_without_progress": (("tolerance", ""),),
    "kernel_params": (
        ("kernel", "Bind them to a function: kernel=functools.partial(function, ...)."),
        ("affinity", OWN_KERNEL),
    ),
    "degree": (("affinity", OWN_KERNEL),),
    "coef0": (("affinity", OWN_KERNEL),),
    "p": (("metric_params", "As in metric='minkowski', metric_params={'p': 3}."),),
    "metric_kwds": (("metric_params", ""),),
    "metric_kwargs": (("metric_params", ""),),
    "dissimilarity": (("metric", "The words are the same."),),
    "distance": (("metric", ""),),
    "neighbors_algorithm": (("search", "Its words are 'auto', 'exact' and 'approximate'."),),
    "nn_method": (("search", "Its words are 'auto', 'exact' and 'approximate'."),),
    "neighbors": (
        (
            "search",
            "Its words are 'auto', 'exact' and 'approximate'; the number of neighbours is n_neighbors.",
        ),
    ),
    "densmap": (("density", "densmap=True is density=2."),),
    "dens_lambda": (("density", ""),),
    "dens_frac": (("density_share", ""),),
    "dens_var_shift": (("density_shift", ""),),
    "n_landmarks": (("landmarks", ""), ("solver", "As in solver=LLL(n_landmarks=1000).")),
    "epsilon": (("radius", ""),),
    "k": (("n_neighbors", ""),),
    "n_comps": (("n_components", "scanpy counts the constant coordinate too."),),
    "t": (("time", ""),),
    "n_evecs": (("n_components", ""),),
    "n_eigs": (("n_components", ""),),
    "ndim": (("n_components", ""),),
    "neighbor_params": (("search", "And n_jobs for the threads."),),
    "weight_fxn": (("affinity", OWN_KERNEL),),
    "density_norm": (("alpha", "True is alpha=1, which divides the density out; False is alpha=0."),),
    "density_fxn": (
        ("alpha", "The density is that of the graph; alpha says how much of it is divided out."),
    ),
    "bandwidth_type": (("affinity", "A bandwidth for each point is affinity='self-tuning' or 'entropic'."),),
    "n_local": (("affinity", "As in affinity=lowdim.SelfTuning(k)."),),
    "knn": (("n_neighbors", ""),),
    "niter": (("max_iter", ""),),
    "maxit": (("max_iter", ""),),
    "maxiter": (("max_iter", ""),),
    "tol": (("tolerance", "It is the share of the objective by which an iteration must lower it."),),
    "weightmat": (("weights", ""),),
    "eps": (("tolerance", "It is the share of stress by which an iteration must lower it."),),
    "n_dims": (("n_components", ""),),
    "dimensions": (("n_components", ""),),
    "scalingRatio": (("scaling", ""),),
    "scaling_ratio": (("scaling", ""),),
    "strongGravityMode": (("strong_gravity", ""),),
    "linLogMode": (("lin_log", ""),),
    "linlog": (("lin_log", ""),),
    "lambda_": (("lam", ""),),
    "seed": (("random_state", ""),),
    "n_threads": (("n_jobs", ""),),
    "algorithm": (("solver", ""),),
}
"""For the name of another library: what it is called here, for the first of these that the class has, and a remark."""

FOREIGN_TO: Mapping[tuple[str, str], str] = {
    (
        "DiffusionMap",
        "epsilon",
    ): ": it is called 'bandwidth' here. exp(-d^2 / (4 epsilon)) is bandwidth=2 * sqrt(epsilon); "
    "the radius of a graph is 'radius'.",
    ("DiffusionMap", "kernel"): f": it is called 'affinity' here. {OWN_KERNEL}",
    (
        "Sammon",
        "metric_mds",
    ): ", and needs none. It counts distances; their order alone is lowdim.MDS(metric_mds=False).",
    (
        "Sammon",
        "weights",
    ): ", and needs none. A pair counts 1 / distance; other weights are lowdim.MDS(weights=...).",
}
"""What is said to users of one class alone, where a name means something else to them."""

FIRST_ELSEWHERE: Mapping[str, tuple[str, str]] = {"UMAP": ("umap-learn", "n_neighbors")}
"""Classes whose first parameter is another in the program that people know, and so is taken by name alone."""

NEEDLESS: Mapping[str, str] = {
    "copy": "Input is never changed.",
    "copy_X": "Input is never changed.",
    "tol": "Eigensolvers run to a stated residual, which report_ holds.",
    "eigen_tol": "Eigensolvers run to a stated residual, which report_ holds.",
    "max_iter": "Eigensolvers run to a stated residual, which report_ holds.",
    "iterated_power": "solver='randomized' goes on to a stated residual.",
    "n_oversamples": "solver='randomized' goes on to a stated residual.",
    "power_iteration_normalizer": "solver='randomized' goes on to a stated residual.",
    "path_method": "The search for shortest paths follows from the graph.",
    "hessian_tol": "Nothing has to be set for it.",
    "modified_tol": "Nothing has to be set for it.",
    "remove_zero_eig": "Coordinates without an eigenvalue above 0 are 0, with a warning.",
    "eigen_limits": "Nothing has to be set for it.",
    "n_init": "The start is computed, not drawn.",
    "low_memory": "Neighbours are found in blocks of rows; memory_limit bounds what a fit may hold.",
    "unique": "Equal rows are always collapsed and weighted, and share one place.",
    "output_metric": "The embedding is Euclidean.",
    "output_metric_kwds": "The embedding is Euclidean.",
    "target_metric_kwds": "The metric of numbers is Euclidean: scale y instead.",
    "transform_queue_size": "Neighbours of new points are found as those of the fitted ones.",
    "transform_mode": "New points are placed by transform.",
    "bandwidth_normalize": "Nothing has to be set for it.",
    "oos": "New points are placed by transform, through the Nystrom extension.",
    "neighbors_key": "A graph is given as X, with metric='graph'.",
    "distances": "Distances are given as X, with metric='precomputed'.",
    "normalized_stress": "stress_ and normalized_stress_ are both there after the fit.",
}
"""Names of other libraries that have no counterpart, and why."""

FOREIGN_WORDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("solver", "full"): ("covariance", "dense"),
    ("solver", "covariance_eigh"): ("covariance",),
    ("solver", "arpack"): ("lanczos", "randomized"),
    ("solver", "amg"): ("lobpcg",),
    ("solver", "randomized"): ("lanczos",),
    ("repulsion", "barnes_hut"): ("barnes-hut",),
    ("affinity", "rbf"): ("gaussian",),
    ("affinity", "heat"): ("gaussian",),
    ("affinity", "nearest_neighbors"): ("binary",),
    ("affinity", "perplexity"): ("entropic",),
    ("affinity", "self_tuning"): ("self-tuning",),
}
"""For a parameter and the word of another library: the words here, of which the first that is allowed is meant."""

FOREIGN_OBJECTS: Mapping[tuple[str, str], str] = {
    (
        "affinity",
        "nearest_neighbors",
    ): "affinity=lowdim.Binary(), with n_neighbors one less (no point counts itself)",
    ("affinity", "rbf"): "affinity=lowdim.Gaussian(1 / sqrt(gamma)), on the graph of n_neighbors or radius",
    (
        "affinity",
        "precomputed_nearest_neighbors",
    ): f"{setting('metric', 'precomputed')}, with the sparse graph of distances as X",
}
"""The same where more can be said of it in Python than by a word, or where what is meant is no word."""


class ForeignNames(BaseEstimator):
    """Base of classes whose constructor and ``set_params`` explain a parameter that they do not have."""

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Check the names before the constructor sees them."""
        if values and (first := FIRST_ELSEWHERE.get(cls.__name__)):
            program, name = first
            given = quoted(values[0])
            raise InputTypeError(
                f"{cls.__name__} takes parameters by name: the first one of {program} is {name}, that of other methods "
                f"here n_components. Got {given} without one. Write {name}={given} or n_components={given}."
            )
        parameters = _parameters_of(cls.__init__)
        if parameters is not None and (message := _explain(cls.__name__, parameters, named)):
            raise InputTypeError(message)
        made: Self = super().__new__(cls)
        return made

    def set_params(self, **named: Any) -> Self:
        """Set parameters by name; ``solver__n_landmarks`` sets that of a part, which is replaced by another one."""
        parameters = _parameters_of(type(self).__init__)
        own = {name: value for name, value in named.items() if "__" not in name}
        if parameters is not None and (message := _explain(type(self).__name__, parameters, own)):
            raise InputError(message)
        super().set_params(**own)
        for name, value in named.items():
            owner, between, field = name.partition("__")
            if between and is_dataclass(part := getattr(self, owner, None)) and not isinstance(part, type):
                setattr(self, owner, _with_field(part, owner, field, value))
            elif between:
                super().set_params(**{name: value})
        return self


def _with_field(part: Any, owner: str, field: str, value: Any) -> Any:
    """A configured object with another value of one of its fields."""
    known = [each.name for each in fields(part) if each.init]
    if field not in known:
        raise InputError(
            f"{owner}__{field} is no parameter: {type(part).__name__} has no {field!r}.{likely(field, known)} It has "
            f"{', '.join(known)}."
        )
    return replace(part, **{field: value})


def own_word(parameter: str, value: object, rule: Rule) -> str:
    """The end of a message about a value that is not allowed: what it is called here, or nothing."""
    if not isinstance(value, str):
        return ""
    words = [word for word in FOREIGN_WORDS.get((parameter, value), ()) if rule.allows(word)]
    meant = [quoted(word) for word in words[:1]]
    if (parameter, value) in FOREIGN_OBJECTS:
        more = FOREIGN_OBJECTS[parameter, value]
        meant.append(in_python(f", as in {more}") if words else more)
    return f" What other libraries call {value!r} is {''.join(meant)}." if meant else ""


@cache
def _parameters_of(constructor: Callable[..., None]) -> tuple[str, ...] | None:
    """The names that a constructor takes; None where it takes any."""
    parameters = list(inspect.signature(constructor).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def _explain(owner: str, parameters: tuple[str, ...], names: Iterable[str]) -> str:
    """What to say of the first name that is no parameter; nothing where all are."""
    unknown = next((name for name in names if name not in parameters), None)
    if unknown is None:
        return ""
    opening = f"{owner} has no parameter {unknown!r}"
    if (owner, unknown) in FOREIGN_TO:
        return opening + FOREIGN_TO[owner, unknown]
    for own, remark in FOREIGN_NAMES.get(unknown, ()):
        if own in parameters:
            return f"{opening}: it is called {own!r} here. {remark}".rstrip()
    if unknown in NEEDLESS:
        return f"{opening}, and needs none. {NEEDLESS[unknown]}"
    close = difflib.get_close_matches(unknown, parameters, n=1)
    if close:
        return f"{opening}. Did you mean {close[0]!r}?"
    return f"{opening}. It has {', '.join(parameters)}."
