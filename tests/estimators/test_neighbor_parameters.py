"""Affinities by name and by object, neighbours by number or by radius: said before any work where they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lowdim
from lowdim.errors import InputError
from lowdim.neighbors import build

POINTS = np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may look for neighbours."""
    monkeypatch.setattr(build, "resolve_metric", None)


@pytest.mark.parametrize("method", [lowdim.LaplacianEigenmaps, lowdim.TSNE])
@pytest.mark.parametrize(
    "affinity",
    [lowdim.Binary("error"), lowdim.SelfTuning(2.5), lowdim.Gaussian("a"), lowdim.Entropic(np.nan)],
)
def test_wrong_affinities_are_named_before_the_search(
    method: type, affinity: object, no_search: None
) -> None:
    with pytest.raises(InputError, match=f"of {type(affinity).__name__} must be"):
        method(affinity=affinity).fit(POINTS)


@pytest.mark.parametrize("method", [lowdim.LaplacianEigenmaps, lowdim.SpectralClustering, lowdim.TSNE])
def test_words_of_other_libraries_get_ours(method: type, no_search: None) -> None:
    with pytest.raises(InputError, match=r"call 'rbf' is 'gaussian', as in affinity=lowdim\.Gaussian\("):
        method(affinity="rbf").fit(POINTS)
    with pytest.raises(
        InputError, match=r"call 'nearest_neighbors' is 'binary', as in affinity=lowdim\.Binary\("
    ):
        method(affinity="nearest_neighbors").fit(POINTS)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("binary", lowdim.Binary()),
        ("entropic", lowdim.Entropic(10 / 3)),
        ("self-tuning", lowdim.SelfTuning()),
    ],
)
def test_affinities_by_name(name: str, same: object) -> None:
    by_name, by_object = (lowdim.LaplacianEigenmaps(affinity=one).fit(POINTS) for one in (name, same))
    assert_array_equal(by_name.embedding_, by_object.embedding_)
    assert_array_equal(by_name.transform(POINTS[:5] + 0.1), by_object.transform(POINTS[:5] + 0.1))


def test_an_embedding_takes_names_too() -> None:
    by_name, by_object = (
        lowdim.SymmetricSNE(affinity=one, max_iter=5).fit(POINTS) for one in ("entropic", lowdim.Entropic())
    )
    assert_array_equal(by_name.embedding_, by_object.embedding_)


@pytest.mark.parametrize(
    "method", [lowdim.Isomap, lowdim.LLE, lowdim.LaplacianEigenmaps, lowdim.SpectralClustering]
)
def test_neighbours_by_number_or_by_radius(method: type, no_search: None) -> None:
    with pytest.raises(InputError, match=rf"of {method.__name__} decides .* n_neighbors=5 and radius=2\.0"):
        method(n_neighbors=5, radius=2.0).fit(POINTS)


def test_an_endless_radius_ties_everybody_to_everybody() -> None:
    every = lowdim.Isomap(radius=np.inf, solver="dense").fit(POINTS)
    expected = lowdim.Isomap(n_neighbors=79, solver="dense").fit(POINTS)
    assert_array_equal(every.embedding_, expected.embedding_)
    assert_array_equal(every.transform(POINTS[:3]), expected.transform(POINTS[:3]))
