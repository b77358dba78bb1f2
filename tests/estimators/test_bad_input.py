"""Bad input over every estimator: a clear, early error that names what is wrong; never NaN, never lost rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from registry import EMBEDDINGS, EVERY, NEIGHBOR_BASED, every_but, make
from scipy import sparse

import lowdim
from lowdim.errors import DisconnectedError, InputError, InputTypeError, MemoryLimitError

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture(scope="module")
def good() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 5))


def spoil(X: np.ndarray, value: object) -> np.ndarray:
    bad = X.astype(object if isinstance(value, str) else float).copy()
    bad[7, 2] = value
    return bad


@pytest.mark.covering
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, r"X\[7, 2\] is NaN"),
        (np.inf, r"X\[7, 2\] is infinity"),
        (-np.inf, r"X\[7, 2\] is -infinity"),
        ("word", r"X\[7, 2\] is the text 'word'"),
    ],
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
    with pytest.raises(ValueError, match=r"must have two dimensions, rows and columns; got shape \(5,"):
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
@pytest.mark.every(3)
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


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.every(2)
def test_parameters_of_numpys_short_integers(name: str, good: np.ndarray) -> None:
    """Counts that follow from them overflowed, in an error of NumPy or a wrong plan."""
    given: dict[str, int] = {"n_components": 2, "n_neighbors": 12, "n_clusters": 3}
    model = make(name)
    known = {key: count for key, count in given.items() if key in model.get_params()}
    plain = make(name).set_params(**known).fit(good)
    short = model.set_params(**{key: np.int8(count) for key, count in known.items()}).fit(good)
    np.testing.assert_array_equal(short.embedding_, plain.embedding_)
    np.testing.assert_array_equal(short.transform(good[:5]), plain.transform(good[:5]))
    assert short.plan(good).bytes == plain.plan(good).bytes


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (lowdim.LLE(reg=10**400), "reg of LLE must be a finite number > 0"),
        (lowdim.LLE(reg=1e308), "reg of LLE must be a finite number > 0 and < 1e"),
        (lowdim.Isomap(radius=10**400), "radius of Isomap must be"),
        (lowdim.TSNE(perplexity=1e308), "perplexity must be below the number of neighbours"),
        (lowdim.LargeVis(perplexity=1e308), "perplexity must be below the number of neighbours"),
    ],
)
def test_numbers_beyond_all_bounds(estimator: object, words: str, good: np.ndarray) -> None:
    with pytest.raises(InputError, match=words):
        estimator.fit(good)


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
        (np.where(D > 4, np.nan, D), "is NaN"),
    ]:
        with pytest.raises(ValueError, match=words):
            make(name, metric="precomputed").fit(bad)


@pytest.mark.parametrize("name", [*NEIGHBOR_BASED, "TSNE", "UMAP", "PaCMAP", "ForceAtlas2"])
def test_distances_that_are_all_zero_leave_nothing_to_embed(name: str) -> None:
    zeros = np.zeros((30, 30))
    with pytest.raises(InputError, match="all distances between its 30 points are 0"):
        make(name, metric="precomputed").fit(zeros)


def test_a_neighbor_graph_of_zero_distances_leaves_nothing_to_embed() -> None:
    points = np.arange(30)
    ring = sparse.coo_array((np.ones(30), (points, (points + 1) % 30)), shape=(30, 30))
    zeros = sparse.csr_array(ring + ring.T)
    zeros.data[:] = 0.0
    with pytest.raises(InputError, match="are 0"):
        lowdim.UMAP(metric="precomputed", n_neighbors=2).fit(zeros)


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
    with pytest.raises(ValueError, match=r"noise\[7, 2\] is NaN"):
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


# Everything that takes data.
FITTED = lowdim.PCA(2).fit(np.random.default_rng(0).standard_normal((60, 5)))
TAKERS = {
    "fit": lambda X: lowdim.Isomap().fit(X),
    "fit_transform": lambda X: lowdim.PCA(2).fit_transform(X),
    "partial_fit": lambda X: lowdim.PCA(2).partial_fit(X),
    "transform": FITTED.transform,
    "plan": lambda X: lowdim.LaplacianEigenmaps().plan(X),
    "score": lambda X: lowdim.score(X, np.arange(120.0).reshape(60, 2)),
    "score, embedding": lambda X: lowdim.score(np.arange(300.0).reshape(60, 5), X),
    "sweep": lambda X: lowdim.sweep(lowdim.PCA(2), {"n_components": [1]}, X, np.arange(60) % 3),
    "procrustes": lambda X: lowdim.procrustes(X, np.ones((60, 5))),
    "estimate_dimension": lowdim.estimate_dimension,
}
ROWS = np.random.default_rng(0).standard_normal((60, 5))
RECORDS = np.zeros(60, dtype=[("height", "f8"), ("weight", "f8")])
NOT_DATA = {
    "None": (None, r"must be data, points as rows; got None"),
    "path": (
        "points.csv",
        r"got the path 'points.csv'. Read the file first: lowdim.data.files.read\('points.csv'\)",
    ),
    "Path": (Path("points.csv"), r"got the path 'points.csv'"),
    "dictionary": (
        {"data": ROWS, "target": 3},
        r"got a dict with the keys 'data', 'target'. Give one .*\['data'\]",
    ),
    "estimator": (lowdim.PCA(), r"got the estimator PCA\. Fit it, and give its embedding_"),
    "set": ({1.0, 2.0}, r"got an object of type set"),
    "generator": (
        (row for row in ROWS),
        r"object of type generator\. Convert it: numpy.array\(list\(...\)\)",
    ),
    "images": (np.zeros((60, 4, 4)), r"got shape \(60, 4, 4\).*\.reshape\(60, -1\)"),
    "number": (3.0, r"must have two dimensions, rows and columns; got shape \(\)"),
    "text": (ROWS.astype(str), r"must hold numbers; got text \(type <U"),
    "bytes": (ROWS.astype("S8"), r"must hold numbers; got text"),
    "records": (RECORDS, r"got records with the fields 'height', 'weight'"),
    "dates": (ROWS.astype("datetime64[s]"), r"got times \(type datetime64"),
    "durations": (ROWS.astype("timedelta64[s]"), r"got times .* / numpy.timedelta64\(1, 's'\)"),
    "complex": (ROWS + 1j, r"must hold real numbers; got complex128"),
    "ragged": ([[1.0, 2.0], [3.0]] * 30, r"row 1 has 1 entries where row 0 has 2 entries"),
    "ragged, flat": ([[1.0, 2.0], 3.0] * 30, r"row 1 has no entries where row 0 has 2 entries"),
    "missing": ([[1.0, 2.0], [None, 3.0]] * 30, r"\[1, 0\] is missing \(None"),
    "objects": (
        np.full((60, 2), object()),
        r"\[0, 0\] is <object .* nor a object but a number",
    ),
    "arrays": (np.array([[np.ones(2), 1.0]] * 60, dtype=object), r"\[0, 0\] is a ndarray of 2"),
    "masked": (
        np.ma.masked_greater(ROWS, 2.0),
        r"are masked, the first is \w+\[\d+, \d+\]\. Remove",
    ),
    "sparse, complex": (
        sparse.csr_array(ROWS + 1j),
        r"must hold real numbers; got complex128|must be a dense array",
    ),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("kind", NOT_DATA)
def test_what_is_no_data_is_named_wherever_it_is_given(taker: str, kind: str) -> None:
    given, words = NOT_DATA[kind]
    with pytest.raises((InputError, InputTypeError), match=words):
        TAKERS[taker](given)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("shape", [(0, 5), (60, 0)])
def test_nothing_at_all_is_named_wherever_it_is_given(taker: str, shape: tuple[int, int]) -> None:
    if taker != "plan":
        with pytest.raises(InputError, match=r"while a minimum of \d is required"):
            TAKERS[taker](np.zeros(shape))


def test_one_row_is_too_few_to_fit() -> None:
    with pytest.raises(
        InputError, match=r"X has 1 sample\(s\) .* minimum of 2 is required by Isomap. Give more"
    ):
        lowdim.Isomap().fit(ROWS[:1])


@pytest.mark.parametrize("name", EVERY)
def test_nan_among_sparse_rows_is_named_with_row_and_column(name: str, good: np.ndarray) -> None:
    dense = np.where(good > 0, good, 0)
    dense[7, 2] = dense[9, 1] = np.nan
    bad = sparse.csr_array(dense)
    with pytest.raises(InputError, match=r"X\[7, 2\] is NaN \(2 such entries in 2 rows\)"):
        make(name).fit(bad)


def test_columns_of_frames_are_named(good: np.ndarray) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(good, columns=["a", "b", "c", "d", "age"])
    text, dates = ["Paris"] * 60, pandas.date_range("2020-01-01", periods=60)
    for column, words in [
        (text, "column 'city' .*text.* 'Paris'"),
        (pandas.Series(text, dtype=object), "row 0 of column 'city' of X is the text 'Paris'"),
        (pandas.Categorical(text), r"column 'city' is categorical, .* 'Paris'.*pandas.get_dummies\(X\)"),
        (dates, r"column 'city' holds entries of type datetime64.*give times as numbers"),
        ([1.0] * 59 + [None], "row 59 of column 'city' of X is NaN"),
        (pandas.array([1] * 59 + [None], dtype="Int64"), "row 59 of column 'city' of X is NaN"),
        (pandas.Series([1] * 59 + [None], dtype=object), "row 59 of column 'city' of X is missing"),
        ([1 + 2j] * 60, "Complex data not supported.*'city'"),
    ]:
        with pytest.raises(InputError, match=words):
            lowdim.PCA(2).fit(frame.assign(city=column))
    with pytest.raises(InputTypeError, match="column names that are all strings, or none of them"):
        lowdim.PCA(2).fit(frame.rename(columns={"age": 4}))
    with pytest.raises(InputError, match="got one column, a Series"):
        lowdim.PCA(2).fit(frame["age"])


def test_columns_of_arrow_and_polars_are_named(good: np.ndarray) -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = polars.DataFrame(good, schema=["a", "b", "c", "d", "age"])
    for column, words in [
        (polars.Series(["Paris"] * 60), "column 'city' holds text, such as 'Paris'"),
        (polars.Series(["Paris"] * 60, dtype=polars.Categorical), "column 'city' is categorical"),
        (polars.Series([1.0] * 59 + [None]), "row 59 of column 'city' of X is missing"),
        (polars.Series([None] * 60), "row 0 of column 'city' of X is missing"),
        (polars.Series([1.0] * 59 + [np.nan]), "row 59 of column 'city' of X is NaN"),
    ]:
        bad = frame.with_columns(column.alias("city"))
        for form in (bad, bad.to_arrow(), bad.to_arrow().to_batches()[0]):
            with pytest.raises(InputError, match=words):
                lowdim.PCA(2).fit(form)
    for one in (arrow.array([1.0, 2.0]), arrow.chunked_array([[1.0], [2.0]])):
        with pytest.raises(InputError, match=r"got one column, of type .*pyarrow.table"):
            lowdim.PCA(2).fit(one)


def test_other_columns_than_those_of_the_fit(good: np.ndarray) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(good, columns=list("abcde"))
    model = lowdim.PCA(2).fit(frame)
    with pytest.raises(InputError, match=r"(?s)same order.*Give the columns of the fit"):
        model.transform(frame[list("edcba")])
    with pytest.raises(InputError, match=r"(?s)unseen at fit time:\n- z\n.*now missing:\n- a\n"):
        model.transform(frame.rename(columns={"a": "z"}))
    with pytest.raises(InputError, match="X has 4 features, but PCA is expecting 5 features"):
        lowdim.PCA(2).fit(good).transform(good[:, :4])


FUNCTIONS = {
    "negative": (lambda a, b: -float(np.abs(a - b).sum()), r"a number >= 0; it gave -"),
    "text": (lambda a, b: "far", r"a number; it gave a str: 'far'"),
    "array": (lambda a, b: np.abs(a - b), r"a number; it gave a ndarray"),
    "directed": (lambda a, b: float(np.maximum(a - b, 0).sum()), r"the same for \(a, b\) and \(b, a\)"),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("method", ["TSNE", "LaplacianEigenmaps", "LLE", "ClassicalMDS", "Isomap"])
def test_functions_that_are_no_distances_are_refused_everywhere_alike(
    method: str, kind: str, good: np.ndarray
) -> None:
    function, words = FUNCTIONS[kind]
    with pytest.raises(InputError, match=rf"metric=<lambda> must be a distance: it must give ({words})"):
        getattr(lowdim, method)(metric=function).fit(good)


@pytest.mark.parametrize("name", PRECOMPUTED)
def test_rounding_of_distances_is_no_error(name: str, good: np.ndarray) -> None:
    """Cosine distances leave 2e-16 on the diagonal, and as little below 0."""
    D = distances_of(good)
    rounded = D + 2e-16 * np.eye(60)
    rounded[3, 5] = rounded[5, 3] = 0.0
    exact = np.where(rounded < 1e-12, 0.0, rounded)
    rounded[3, 5] = rounded[5, 3] = -1e-16
    for form in (np.asarray, np.asfortranarray):
        reference, model = (make(name, metric="precomputed").fit(form(held)) for held in (exact, rounded))
        np.testing.assert_array_equal(model.embedding_, reference.embedding_)
        np.testing.assert_array_equal(model.transform(exact[:5]), reference.transform(exact[:5]))


@pytest.mark.parametrize(
    "name", ["Isomap", "LLE", "LaplacianEigenmaps", "DiffusionMap", "SpectralClustering"]
)
@pytest.mark.parametrize("n_neighbors", [60, 10**9])
def test_more_neighbours_than_points_are_told_before_what_they_would_cost(
    name: str, n_neighbors: int, good: np.ndarray
) -> None:
    model = getattr(lowdim, name)(n_neighbors=n_neighbors)
    for call in (model.fit, model.plan):
        with pytest.raises(
            InputError, match=f"less than the number of points; got n_neighbors={n_neighbors} with 60"
        ):
            call(good)


def test_a_name_that_is_not_there_is_told_with_those_that_are_near() -> None:
    near = {"tsne": r" Did you mean 'TSNE'\?", "Umap": r" Did you mean 'UMAP'", "PHATE": "$"}
    for wrong, told in near.items():
        with pytest.raises(AttributeError, match=rf"has no attribute '{wrong}'\.{told}"):
            getattr(lowdim, wrong)
