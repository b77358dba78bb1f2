"""Parameters by other libraries' names: the error says what they are called here, and the protocol does not notice."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn import cluster, decomposition, manifold
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim.errors import InputError, InputTypeError
from lowdim.estimators.foreign_names import FOREIGN_NAMES, FOREIGN_OBJECTS, FOREIGN_WORDS, NEEDLESS

PAIRS = {
    lowdim.PCA: decomposition.PCA,
    lowdim.KernelPCA: decomposition.KernelPCA,
    lowdim.Isomap: manifold.Isomap,
    lowdim.LLE: manifold.LocallyLinearEmbedding,
    lowdim.LaplacianEigenmaps: manifold.SpectralEmbedding,
    lowdim.SpectralClustering: cluster.SpectralClustering,
    lowdim.TSNE: manifold.TSNE,
    lowdim.MDS: manifold.MDS,
}
if hasattr(manifold, "ClassicalMDS"):  # older releases of scikit-learn have none
    PAIRS[lowdim.ClassicalMDS] = manifold.ClassicalMDS
UMAP_LEARN = [
    "n_neighbors",
    "n_components",
    "metric",
    "metric_kwds",
    "output_metric",
    "output_metric_kwds",
    "n_epochs",
    "learning_rate",
    "init",
    "min_dist",
    "spread",
    "low_memory",
    "n_jobs",
    "set_op_mix_ratio",
    "local_connectivity",
    "repulsion_strength",
    "negative_sample_rate",
    "transform_queue_size",
    "a",
    "b",
    "random_state",
    "angular_rp_forest",
    "target_n_neighbors",
    "target_metric",
    "target_metric_kwds",
    "target_weight",
    "transform_seed",
    "transform_mode",
    "force_approximation_algorithm",
    "verbose",
    "tqdm_kwds",
    "unique",
    "disconnection_distance",
    "precomputed_knn",
]
DIFFUSION = [
    "n_comps",
    "neighbors_key",
    "random_state",
    "copy",
    "n_evecs",
    "epsilon",
    "alpha",
    "k",
    "kernel_params",
    "neighbor_params",
    "metric",
    "metric_params",
    "weight_fxn",
    "density_fxn",
    "bandwidth_type",
    "bandwidth_normalize",
    "oos",
    "kernel",
    "n_eigs",
    "sigma",
    "n_local",
    "density_norm",
    "distances",
    "knn",
    "t",
]
"""Parameters of umap-learn 0.5, and of scanpy, pydiffmap and destiny."""
THEIRS = {ours: tuple(inspect.signature(theirs).parameters) for ours, theirs in PAIRS.items()} | {
    lowdim.Sammon: (*inspect.signature(manifold.MDS).parameters, "weights", "niter", "tol"),
    lowdim.UMAP: UMAP_LEARN,
    lowdim.PaCMAP: ["n_components", "n_neighbors", "MN_ratio", "FP_ratio", "lr", "num_iters"],
    lowdim.ForceAtlas2: [
        "scalingRatio",
        "strongGravityMode",
        "linLogMode",
        "gravity",
        "scaling_ratio",
        "linlog",
    ],
    lowdim.DiffusionMap: DIFFUSION,
}
FOREIGN = [
    (ours, name)
    for ours, theirs in THEIRS.items()
    for name in theirs
    if name not in inspect.signature(ours).parameters
]


@pytest.mark.parametrize(("ours", "name"), FOREIGN, ids=lambda value: getattr(value, "__name__", value))
def test_every_name_of_another_library_is_explained(ours: type, name: str) -> None:
    with pytest.raises(InputTypeError, match=f"{ours.__name__} has no parameter '{name}'") as caught:
        ours(**{name: None})
    assert "is called" in str(caught.value) or "needs none" in str(caught.value)
    assert isinstance(caught.value, TypeError)
    with pytest.raises(InputError, match=f"has no parameter '{name}'"):
        ours().set_params(**{name: None})


def test_the_name_meant_depends_on_the_class() -> None:
    with pytest.raises(TypeError, match="'method': it is called 'variant' here"):
        lowdim.LLE(method="ltsa")
    with pytest.raises(TypeError, match="'method': it is called 'repulsion' here"):
        lowdim.TSNE(method="exact")
    with pytest.raises(TypeError, match="'gamma': it is called 'bandwidth' here"):
        lowdim.LaplacianEigenmaps(gamma=1.0)
    assert lowdim.KernelPCA(gamma=1.0).gamma == 1.0


def test_a_slip_gets_the_nearest_name_and_nonsense_the_list() -> None:
    with pytest.raises(TypeError, match="Did you mean 'n_neighbors'"):
        lowdim.LLE(n_neighbours=5)
    with pytest.raises(TypeError, match=r"It has n_components, .*whiten"):
        lowdim.PCA(quux=5)


@pytest.mark.parametrize(("parameter", "word"), [*FOREIGN_WORDS, *FOREIGN_OBJECTS])
def test_every_word_of_another_library_is_explained(parameter: str, word: str) -> None:
    made = {
        "solver": [lowdim.PCA, lowdim.LLE],
        "repulsion": [lowdim.TSNE],
        "affinity": [lowdim.LaplacianEigenmaps],
    }
    messages = []
    for kind in made[parameter]:
        try:
            kind(**{parameter: word}).fit(np.eye(5))
        except InputError as error:
            messages.append(str(error))
    assert any(f"call '{word}' is" in message for message in messages)


def test_what_is_named_exists() -> None:
    every = {name for kind in THEIRS for name in inspect.signature(kind).parameters} | {"lam"}
    assert {own for entries in FOREIGN_NAMES.values() for own, _ in entries} <= every
    # What classes without a tolerance are told is another thing.
    assert FOREIGN_NAMES.keys() & NEEDLESS.keys() == {"tol"}


def test_a_name_that_means_something_else_to_one_class() -> None:
    with pytest.raises(TypeError, match="'epsilon': it is called 'bandwidth' here"):
        lowdim.DiffusionMap(epsilon=1.0)
    with pytest.raises(TypeError, match="'epsilon': it is called 'radius' here"):
        lowdim.Isomap(epsilon=1.0)
    with pytest.raises(TypeError, match="'tol': it is called 'tolerance' here"):
        lowdim.MDS(tol=1e-3)
    with pytest.raises(TypeError, match="'tol', and needs none"):
        lowdim.LLE(tol=1e-3)


@pytest.mark.parametrize("kind", PAIRS, ids=lambda kind: kind.__name__)
def test_the_protocol_does_not_notice(kind: type) -> None:
    signature = inspect.signature(kind)
    assert signature == inspect.signature(kind.__init__).replace(
        parameters=list(inspect.signature(kind.__init__).parameters.values())[1:],
        return_annotation=signature.return_annotation,
    )
    model = kind(n_jobs=2, random_state=3)
    assert set(model.get_params()) == set(signature.parameters)
    for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params() == model.get_params()
    assert model.set_params(n_jobs=1) is model
    assert model.n_jobs == 1


def test_a_class_that_takes_any_name_is_let_alone() -> None:
    class Own(lowdim.PCA):
        def __init__(self, **named) -> None:
            self.named = named
            super().__init__()

    assert Own(method="mine").named == {"method": "mine"}


def test_umap_takes_parameters_by_name_alone():
    with pytest.raises(
        InputTypeError,
        match=r"first one of umap-learn is n_neighbors.*Write n_neighbors=15 or n_components=15\.",
    ):
        lowdim.UMAP(15)
    assert {each.kind for each in inspect.signature(lowdim.UMAP).parameters.values()} == {
        inspect.Parameter.KEYWORD_ONLY
    }
    model = lowdim.UMAP(n_components=3)
    assert clone(model).n_components == pickle.loads(pickle.dumps(model)).n_components == 3


def test_fields_of_a_part_are_set_by_name():
    """As scikit-learn's searches set them; the part itself may be another model's too, and stays as it is."""
    solver = lowdim.LLL(50)
    model = lowdim.LaplacianEigenmaps(solver=solver)
    model.set_params(solver__n_landmarks=20, n_components=3)
    assert (repr(model.solver), repr(solver), model.n_components) == ("LLL(20)", "LLL(50)", 3)
    model.set_params(solver=lowdim.Nystrom(30), solver__n_landmarks=40)
    assert repr(model.solver) == repr(lowdim.Nystrom(40))
    with pytest.raises(InputError, match=r"LLL has no 'n_landmark'\. Did you mean 'n_landmarks'"):
        lowdim.LaplacianEigenmaps(solver=solver).set_params(solver__n_landmark=20)
    search = GridSearchCV(
        make_pipeline(
            lowdim.LaplacianEigenmaps(2, n_neighbors=8, solver=lowdim.LLL(20)), KNeighborsClassifier(3)
        ),
        {"laplacianeigenmaps__solver__n_landmarks": [10, 30]},
        cv=2,
    )
    X = np.random.default_rng(0).normal(size=(80, 3))
    search.fit(X, X[:, 0] > 0)
    assert search.best_params_["laplacianeigenmaps__solver__n_landmarks"] in (10, 30)
