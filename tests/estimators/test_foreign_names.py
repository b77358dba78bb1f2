"""Parameters by other libraries' names: the error says what they are called here, and the protocol does not notice."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn import cluster, decomposition, manifold
from sklearn.base import clone

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
    lowdim.ClassicalMDS: manifold.ClassicalMDS,
}
FOREIGN = [
    (ours, name)
    for ours, theirs in PAIRS.items()
    for name in inspect.signature(theirs).parameters
    if name not in inspect.signature(ours).parameters
]


@pytest.mark.parametrize(("ours", "name"), FOREIGN, ids=lambda value: getattr(value, "__name__", value))
def test_every_name_of_scikit_learn_is_explained(ours: type, name: str) -> None:
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
    every = {name for kind in PAIRS for name in inspect.signature(kind).parameters} | {
        "variant",
        "repulsion",
        "lam",
        "time",
    }
    assert {own for entries in FOREIGN_NAMES.values() for own, _ in entries} <= every
    assert not FOREIGN_NAMES.keys() & NEEDLESS.keys()


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
