"""Bad input over every estimator: a clear, early error that names what is wrong; never NaN, never lost rows."""

from __future__ import annotations

import numpy as np
import pytest
from registry import EMBEDDINGS, EVERY, NEIGHBOR_BASED, every_but, make
from scipy import sparse

import lowdim
from lowdim.errors import DisconnectedError, InputError, MemoryLimitError

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture(scope="module")
def good() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 5))


def spoil(X: np.ndarray, value: object) -> np.ndarray:
    bad = X.astype(object if isinstance(value, str) else float).copy()
    bad[7, 2] = value
    return bad


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), ("word", "word|string")],
)
def test_entries_that_are_not_finite_numbers(name: str, value: object, words: str, good: np.ndarray) -> None:
    with pytest.raises(ValueError, match=words):
        make(name).fit(spoil(good, value))
    if not isinstance(value, str):
        model = make(name).fit(good)
        with pytest.raises(ValueError, match=words):
            model.transform(spoil(good, value))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 5)])
def test_too_little_data(name: str, shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="minimum of"):
        make(name).fit(np.ones(shape))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", [(5,), (5, 5, 5)])
def test_wrong_number_of_dimensions(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"2D array|dim 3|dim <= 2"):
        make(name).fit(np.ones(shape))


@pytest.mark.parametrize("name", EVERY)
def test_complex_numbers(name: str, good: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        make(name).fit(good + 1j)


@pytest.mark.parametrize("name", EVERY)
def test_two_rows_give_one_dimension_or_a_clear_error(name: str) -> None:
    X = np.array([[0.0, 0, 0], [3.0, 4, 0]])
    if name.startswith("SpectralClustering"):
        with pytest.raises(InputError, match="n_clusters=3 with n_samples=2"):
            make(name, n_components=1).fit(X)
    elif name in ("LLE-modified", "LLE-hessian", "LLE-ltsa"):
        with pytest.raises(InputError, match=r"n_neighbors|neighbours"):
            make(name, n_components=1).fit(X)
    else:
        embedding = make(name, n_components=1).fit(X).embedding_
        assert embedding.shape == (2, 1)
        assert np.all(np.isfinite(embedding))


@pytest.mark.parametrize("name", EVERY)
def test_constant_data_is_an_error_or_a_single_point(name: str) -> None:
    """Methods of distances have nothing to embed; linear ones send every row to the origin."""
    X = np.full((30, 4), 7.0)
    if name in (*NEIGHBOR_BASED, *EMBEDDINGS, "SpectralClustering"):
        with pytest.raises(InputError, match="at least 2 distinct points; all its 30 rows are equal"):
            make(name).fit(X)
    else:
        embedding = make(name).fit(X).embedding_
        assert np.all(np.isfinite(embedding))
        assert np.allclose(embedding, embedding[0])


@pytest.mark.parametrize("name", EVERY)
def test_a_constant_column_changes_nothing(name: str, good: np.ndarray) -> None:
    with_constant = np.column_stack((good, np.full(len(good), 3.0)))
    if name in ("KernelPCA", "OrientedPCA"):
        embedding = make(name).fit(with_constant).embedding_
        assert np.all(np.isfinite(embedding))
    else:
        first, second = make(name).fit(good).embedding_, make(name).fit(with_constant).embedding_
        np.testing.assert_allclose(first, second, atol=1e-6 * np.abs(first).max())


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("value", [0, -1, 2.5, "two", True])
def test_n_components_of_the_wrong_kind(name: str, value: object, good: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"n_components of \w+ must be") as caught:
        make(name, n_components=value).fit(good)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("name", every_but(EMBEDDINGS, "points can be placed in any number of dimensions"))
def test_more_components_than_exist(name: str, good: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"n_components|n_neighbors|neighbour"):
        make(name, n_components=len(good) + 1).fit(good)


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
@pytest.mark.parametrize("k", [60, 1000])
def test_as_many_neighbours_as_points(name: str, k: int, good: np.ndarray) -> None:
    with pytest.raises(InputError, match=f"n_neighbors={k} with 60 points"):
        make(name, n_neighbors=k).fit(good)


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_neighbours_counted_after_duplicates_collapse(name: str, good: np.ndarray) -> None:
    X = np.repeat(good[:10], 6, axis=0)
    with pytest.raises(InputError, match="50 duplicates were collapsed"):
        make(name, n_neighbors=12).fit(X)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("random_state", -1),
        ("random_state", "seed"),
        ("n_jobs", 1.5),
        ("n_jobs", 0),
        ("memory_limit", -5),
        ("memory_limit", "four"),
        ("callback", 3),
        ("verbose", -1),
    ],
)
def test_common_parameters_of_the_wrong_kind(
    name: str, parameter: str, value: object, good: np.ndarray
) -> None:
    with pytest.raises(InputError, match=parameter):
        make(name, **{parameter: value}).fit(good)


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
@pytest.mark.parametrize(
    ("parameter", "value", "hint"),
    [
        ("metric", "euclidian", "euclidean"),
        ("on_disconnected", "connected", "connect"),
        ("search", "aproximate", "approximate"),
        ("solver", "lanczo", "lanczos"),
    ],
)
def test_misspelt_words_are_answered_with_the_nearest(
    name: str, parameter: str, value: str, hint: str, good: np.ndarray
) -> None:
    with pytest.raises(InputError, match=f"Did you mean '{hint}'"):
        make(name, **{parameter: value}).fit(good)


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
@pytest.mark.parametrize("radius", [0, -1.0, np.nan, "far"])
def test_radius_of_the_wrong_kind(name: str, radius: object, good: np.ndarray) -> None:
    with pytest.raises(InputError, match="radius of"):
        make(name, radius=radius).fit(good)


PRECOMPUTED = ["ClassicalMDS", *NEIGHBOR_BASED]


def distances_of(X: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(X, X)


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_precomputed_distances_that_cannot_be(name: str, good: np.ndarray) -> None:
    D = distances_of(good)
    asymmetric, negative, diagonal = D.copy(), D.copy(), D.copy()
    asymmetric[3, 5] += 1
    negative[4, 8] = negative[8, 4] = -1
    diagonal[2, 2] = 1
    for bad, words in [
        (asymmetric, "symmetric"),
        (negative, ">= 0"),
        (diagonal, "zero diagonal"),
        (D[:30], "square"),
        (np.where(D > 4, np.nan, D), "NaN"),
    ]:
        with pytest.raises(ValueError, match=words):
            make(name, metric="precomputed").fit(bad)


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_graphs_that_cannot_be(name: str, good: np.ndarray) -> None:
    W = np.exp(-distances_of(good))
    directed, negative = np.triu(W), -W
    for bad, words in [(directed, "undirected"), (negative, ">= 0"), (W[:30], "square")]:
        with pytest.raises(InputError, match=words):
            make(name, metric="graph").fit(sparse.csr_array(bad))


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_disconnected_is_an_error_where_asked(name: str, good: np.ndarray) -> None:
    X = np.vstack((good, good + 100))
    with pytest.raises(DisconnectedError, match="2 components of sizes 60, 60"):
        make(name, on_disconnected="error").fit(X)


@pytest.mark.parametrize("name", ["ClassicalMDS-manhattan", "KernelPCA", "Isomap"])
def test_dense_methods_refuse_what_would_not_fit(name: str, good: np.ndarray) -> None:
    with pytest.raises(MemoryLimitError, match=r"needs at least .* more than memory_limit of 10 kB"):
        make(name, solver="exact", memory_limit="10 kB").fit(good)


def test_noise_of_oriented_pca_must_match(good: np.ndarray) -> None:
    with pytest.raises(InputError, match="noise must have the columns of X"):
        lowdim.OrientedPCA().fit(good, noise=good[:, :3])
    with pytest.raises(ValueError, match="noise contains NaN"):
        lowdim.OrientedPCA().fit(good, noise=spoil(good, np.nan))


def test_more_clusters_than_points(good: np.ndarray) -> None:
    with pytest.raises(InputError, match="n_clusters=61 with n_samples=60"):
        lowdim.SpectralClustering(61).fit(good)


def test_bandwidth_beside_an_affinity_is_refused(good: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"Gaussian\(2\)"):
        lowdim.LaplacianEigenmaps(affinity=lowdim.Binary(), bandwidth=2.0).fit(good)


@pytest.mark.parametrize(("variant", "fewest"), [("modified", 4), ("ltsa", 4), ("hessian", 9)])
def test_variants_that_need_more_neighbours_say_so(variant: str, fewest: int, good: np.ndarray) -> None:
    with pytest.raises(InputError, match="n_neighbors"):
        lowdim.LLE(3, variant=variant, n_neighbors=fewest - 1).fit(good)


@pytest.mark.parametrize("name", EVERY)
def test_transform_before_fit(name: str, good: np.ndarray) -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        make(name).transform(good)
