"""The four solvers of principal components against a dense SVD, against each other and on awkward data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.decomposition import PCA

from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import ConvergenceWarning, InputError
from lowdim.spectral.linear.choose import SOLVERS, choose_solver, estimate, fit_pca
from lowdim.spectral.linear.dimension import likeliest_dimension
from lowdim.spectral.linear.moments import column_moments, moments
from lowdim.spectral.linear.probabilistic import Density
from lowdim.spectral.linear.randomized import randomized_pca
from lowdim.spectral.linear.result import fix_signs, resolve_components
from lowdim.spectral.linear.snapshot import snapshot_pca
from lowdim.spectral.linear.streaming import Sketch, sketch_capacity

SHAPES = [(300, 40), (40, 300), (60, 60)]


def make_rows(n_rows, n_columns, *, decay=0.7, offset=0.0, seed=0):
    """Rows with a geometric spectrum, so that every component is well separated."""
    generator = np.random.default_rng(seed)
    rank = min(n_rows, n_columns)
    left, _ = np.linalg.qr(generator.standard_normal((n_rows, rank)))
    right, _ = np.linalg.qr(generator.standard_normal((n_columns, rank)))
    return (left * 10 * decay ** np.arange(rank)) @ right.T * np.sqrt(n_rows) + offset


def fit(values, n_components, solver):
    return fit_pca(Rows(values), n_components, solver, run=Run.of())


def dense_reference(values, count):
    centred = values - values.mean(axis=0)
    _, singular, right = np.linalg.svd(centred, full_matrices=False)
    return fix_signs(right[:count]), singular[:count]


def angle_error(a, b):
    """Largest distance between matching unit rows, whatever their signs."""
    signs = np.sign(np.einsum("ij,ij->i", a, b))
    return np.abs(a - signs[:, None] * b).max()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["dense", "fortran", "sparse", "view"])
def test_solvers_agree_with_the_dense_svd(solver, shape, form):
    values = make_rows(*shape)
    held = {
        "dense": values,
        "fortran": np.asfortranarray(values),
        "sparse": csr_array(values),
        "view": np.repeat(values, 2, axis=1)[:, ::2],
    }[form]
    components, singular = dense_reference(values, 5)
    found = fit(held, 5, solver)
    assert angle_error(found.components, components) < 1e-8
    np.testing.assert_allclose(found.singular_values, singular, rtol=1e-9)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.total_variance, values.var(axis=0, ddof=1).sum(), rtol=1e-12)


@pytest.mark.parametrize("solver", ["covariance", "snapshot"])
def test_attributes_are_those_of_scikit_learn(digits, solver):
    data = digits[0][:300]
    ours, theirs = fit(data, 10, solver), PCA(10, svd_solver="full").fit(data)
    np.testing.assert_allclose(ours.explained_variance, theirs.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio, theirs.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(ours.singular_values, theirs.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(ours.noise_variance, theirs.noise_variance_, rtol=1e-10)
    assert angle_error(ours.components, theirs.components_) < 1e-10


def test_snapshot_and_covariance_give_the_same_eigenvectors():
    values = make_rows(50, 400, decay=0.8)
    small, large = fit(values, 20, "snapshot"), fit(values, 20, "covariance")
    np.testing.assert_allclose(small.components, large.components, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_huge_offset_costs_no_digits(solver):
    values = make_rows(200, 30)
    # An offset by a power of two rounds the rows once and for all: the reference sees the same rounded rows.
    shifted = values + 2.0**27
    components, singular = dense_reference(shifted - 2.0**27, 4)
    found = fit(shifted, 4, solver)
    assert angle_error(found.components, components) < 1e-9
    np.testing.assert_allclose(found.singular_values, singular, rtol=1e-8)


def test_a_drift_between_blocks_costs_no_digits():
    values = make_rows(9000, 6, decay=0.5)
    values[:4500] += 2.0**20
    centred = values - values.mean(axis=0)
    gathered = moments(Rows(values), Run.of())
    np.testing.assert_allclose(np.tril(gathered.scatter), np.tril(centred.T @ centred), rtol=1e-10)
    np.testing.assert_allclose(column_moments(Rows(values)).scatter, (centred**2).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.bool_])
def test_scatter_of_bytes_is_exact(dtype):
    generator = np.random.default_rng(1)
    values = generator.integers(0, 2 if dtype is np.bool_ else 256, (3000, 12)).astype(dtype)
    whole = values.astype(np.int64)
    gathered = moments(Rows(values), Run.of())
    exact = whole.T @ whole - np.outer(whole.sum(axis=0), whole.sum(axis=0)) / 3000
    np.testing.assert_allclose(np.tril(gathered.scatter), np.tril(exact), rtol=1e-13, atol=1e-6)
    np.testing.assert_allclose(gathered.mean, whole.mean(axis=0), atol=1e-13)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_rows_keep_single_precision(solver):
    values = make_rows(500, 30).astype(np.float32)
    components, singular = dense_reference(values.astype(np.float64), 3)
    found = fit(values, 3, solver)
    assert found.components.dtype == np.float64
    assert angle_error(found.components, components) < 1e-5
    np.testing.assert_allclose(found.singular_values, singular, rtol=2e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_float32_rows_of_any_size(solver, scale):
    values = make_rows(100, 12)
    found = fit((values * scale).astype(np.float32), 3, solver)
    np.testing.assert_allclose(found.singular_values / scale, dense_reference(values, 3)[1], rtol=1e-5)


def test_a_memory_map_is_read_by_blocks(tmp_path):
    values = make_rows(200, 20)
    np.save(tmp_path / "rows.npy", values)
    held = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_allclose(fit(held, 3, "covariance").components, fit(values, 3, "covariance").components)


def test_sparse_moments_of_columns():
    sparse = csr_array(random_array((400, 50), density=0.05, rng=np.random.default_rng(2)))
    dense = sparse.toarray()
    gathered = column_moments(Rows(sparse))
    np.testing.assert_allclose(gathered.mean, dense.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(gathered.total_variance, dense.var(axis=0, ddof=1).sum(), rtol=1e-13)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["constant", "rank one", "two equal rows", "one column"])
def test_degenerate_rows_have_zero_variance_and_orthonormal_components(solver, kind):
    line = np.arange(12.0)
    values, count, rank = {
        "constant": (np.full((12, 7), 3.7), 4, 0),
        "rank one": (np.outer(line, np.arange(1.0, 8.0)), 4, 1),
        "two equal rows": (np.ones((2, 9)), 2, 0),
        "one column": (line[:, None], 1, 1),
    }[kind]
    found = fit(values, count, solver)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(count), atol=1e-12)
    assert np.all(found.explained_variance[rank:] == 0)
    assert np.all(found.explained_variance[:rank] > 0)
    assert np.isfinite(found.explained_variance_ratio).all()


@given(
    n_rows=st.integers(2, 30),
    n_columns=st.integers(1, 30),
    scale=st.sampled_from([1e-100, 1e-8, 1.0, 1e8, 1e100]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_components_are_orthonormal_and_variances_fall(n_rows, n_columns, scale, seed):
    values = np.random.default_rng(seed).standard_normal((n_rows, n_columns)) * scale
    count = min(n_rows, n_columns)
    reference = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)
    for solver in SOLVERS:
        found = fit(values, count, solver)
        np.testing.assert_allclose(found.components @ found.components.T, np.eye(count), atol=1e-10)
        assert np.all(np.diff(found.explained_variance) <= 0)
        np.testing.assert_allclose(found.singular_values, reference, atol=1e-6 * reference[0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_signs_do_not_depend_on_the_solver(solver):
    values = make_rows(80, 25)
    found = fit(values, 4, solver)
    leading = np.abs(found.components).argmax(axis=1)
    assert np.all(found.components[np.arange(4), leading] > 0)


def test_near_ties_of_signs_go_to_the_first_entry():
    rows = np.array([[-0.5, 0.5 + 1e-9, 0.0], [0.1, -0.9, 0.2]])
    np.testing.assert_array_equal(fix_signs(rows), [[0.5, -0.5 - 1e-9, 0.0], [-0.1, 0.9, -0.2]])


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
@pytest.mark.parametrize("solver", ["covariance", "snapshot"])
def test_a_share_of_variance_keeps_as_many_as_scikit_learn(digits, share, solver):
    data = digits[0][:200]
    theirs = PCA(share, svd_solver="full").fit(data)
    found = fit(data, share, solver)
    assert found.components.shape[0] == theirs.n_components_
    assert angle_error(found.components, theirs.components_) < 1e-7


def test_resolve_components():
    variances = np.array([4.0, 3.0, 2.0, 1.0])
    assert resolve_components(variances, 10.0, None, 9) == 4
    assert resolve_components(variances, 10.0, 3, 9) == 3
    assert resolve_components(variances, 10.0, 9, 9) == 4
    assert resolve_components(variances, 10.0, 0.39, 9) == 1
    assert resolve_components(variances, 10.0, 0.69, 9) == 2
    assert resolve_components(variances, 10.0, 0.9999, 9) == 4
    assert resolve_components(np.zeros(4), 0.0, 0.5, 9) == 1


@pytest.mark.parametrize("solver", ["covariance", "snapshot"])
def test_none_keeps_all(solver):
    assert fit(make_rows(10, 25), None, solver).components.shape == (10, 25)


@pytest.mark.parametrize("solver", ["randomized", "streaming"])
@pytest.mark.parametrize("count", [None, 0.9, "mle"])
def test_solvers_that_need_a_count_say_so(solver, count):
    with pytest.raises(InputError, match="n_components"):
        fit(make_rows(20, 10), count, solver)


def test_randomized_states_a_true_residual(digits):
    data = digits[0]
    found = randomized_pca(Rows(data), 8, run=Run.of(3), oversampling=2, max_blocks=4)
    covariance = np.cov(data.T)
    true = np.linalg.norm(
        found.components @ covariance - found.explained_variance[:, None] * found.components, axis=1
    )
    assert found.residuals.max() <= 1e-6
    np.testing.assert_allclose(true / found.explained_variance[0], found.residuals, atol=1e-9)


def test_randomized_does_not_depend_on_the_seed(digits):
    fits = [randomized_pca(Rows(digits[0]), 5, run=Run.of(seed), oversampling=5) for seed in (0, 1)]
    np.testing.assert_allclose(fits[0].components, fits[1].components, atol=1e-4)


@pytest.mark.parametrize("max_passes", [2, 5, 8])
def test_randomized_warns_when_the_passes_run_out(max_passes):
    """At a restart too, after five blocks."""
    flat = np.random.default_rng(0).standard_normal((400, 300))
    with pytest.warns(ConvergenceWarning, match="passes"):
        found = randomized_pca(Rows(flat), 5, run=Run.of(), max_passes=max_passes)
    assert found.residuals.max() > 1e-6


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", ["geometric", "offset", "tiny", "huge", "constant", "rank one", "single"])
def test_randomized_on_awkward_rows_that_its_blocks_do_not_fill(kind, form):
    values = make_rows(200, 120)
    values = {
        "geometric": values,
        "offset": values + 2.0**20,
        "tiny": values * 1e-100,
        "huge": values * 1e100,
        "constant": np.full((200, 120), 3.7),
        "rank one": np.outer(np.arange(200.0), np.arange(120.0)),
        "single": values.astype(np.float32),
    }[kind]
    rank = {"constant": 0, "rank one": 1}.get(kind, 4)
    components, singular = dense_reference(values.astype(np.float64), 4)
    found = fit(form(values), 4, "randomized")
    assert found.residuals is not None
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(4), atol=1e-10)
    assert angle_error(found.components[:rank], components[:rank]) < 1e-5 if rank else True
    np.testing.assert_allclose(
        found.singular_values[:rank], singular[:rank], rtol=1e-5 if kind == "single" else 1e-9
    )
    assert np.all(found.singular_values[rank:] <= 1e-12 * np.linalg.norm(values) * (rank < 4))


def test_randomized_takes_the_covariance_where_its_blocks_would_fill_the_space():
    values = make_rows(100, 60)
    np.testing.assert_array_equal(
        fit(values, 4, "randomized").components, fit(values, 4, "covariance").components
    )


@pytest.mark.parametrize(("n_rows", "n_columns", "rank"), [(300, 12, 4), (1000, 30, 9), (40, 40, 3)])
def test_the_likeliest_dimension_is_that_of_scikit_learn(n_rows, n_columns, rank):
    generator = np.random.default_rng(n_rows)
    values = generator.standard_normal((n_rows, rank)) @ generator.standard_normal((rank, n_columns)) * 5
    values += generator.standard_normal((n_rows, n_columns))
    found = fit(values, "mle", "covariance")
    assert found.components.shape[0] == PCA("mle", svd_solver="full").fit(values).n_components_
    assert n_rows < 100 or found.components.shape[0] == rank


def test_the_likeliest_dimension_of_equal_or_missing_variances():
    assert likeliest_dimension(np.array([4.0, 4.0, 1.0, 1.0, 1.0]), 100) == 2
    assert likeliest_dimension(np.array([4.0, 3.0, 0.0, 0.0]), 100) == 2
    assert likeliest_dimension(np.array([2.0]), 100) == 1
    assert likeliest_dimension(np.zeros(3), 100) == 1


def test_the_likeliest_dimension_needs_samples():
    with pytest.raises(InputError, match="20 samples of 30 features"):
        fit(make_rows(20, 30), "mle", "auto")


@pytest.mark.parametrize("count", [3, 19, 20])
def test_density_is_that_of_scikit_learn(count):
    values = make_rows(60, 20, decay=0.9, offset=3.0)
    found, theirs = fit(values, count, "covariance"), PCA(count, svd_solver="full").fit(values)
    density = Density(found.mean, found.components, found.explained_variance, found.noise_variance)
    np.testing.assert_allclose(density.covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(density.precision() @ density.covariance(), np.eye(20), atol=1e-8)
    np.testing.assert_allclose(density.log_density(Rows(values)), theirs.score_samples(values), rtol=1e-9)
    np.testing.assert_allclose(
        density.log_density(Rows(csr_array(values))), density.log_density(Rows(values)), rtol=1e-12
    )


def test_a_singular_density_says_why():
    found = fit(np.outer(np.arange(9.0), np.ones(4)), 2, "covariance")
    density = Density(found.mean, found.components, found.explained_variance, found.noise_variance)
    with pytest.raises(InputError, match="singular"):
        density.precision()


def test_sketch_updates_and_merges_like_one_pass(digits):
    data = digits[0][:900]
    capacity = sketch_capacity(6, data.shape[1])

    def sketch(*blocks):
        made = Sketch.empty(data.shape[1], capacity)
        for block in blocks:
            made = made.update(block)
        return made

    merged = sketch(data[:200], data[200:201]).merge(sketch(data[201:500], data[500:]))
    exact = fit(data, 6, "covariance")
    assert merged.count == 900
    np.testing.assert_allclose(merged.mean, data.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(merged.scatter, ((data - data.mean(axis=0)) ** 2).sum(), rtol=1e-12)
    found = merged.fit(6)
    np.testing.assert_allclose(found.explained_variance, exact.explained_variance, rtol=2e-3)
    assert angle_error(found.components, exact.components) < 0.05


def test_a_sketch_of_full_capacity_is_exact():
    values = make_rows(200, 10, decay=0.9)
    sketch = Sketch.empty(10, 10)
    for start in range(0, 200, 7):
        sketch = sketch.update(values[start : start + 7])
    exact = fit(values, 10, "covariance")
    np.testing.assert_allclose(sketch.fit(10).components, exact.components, atol=1e-9)
    np.testing.assert_allclose(sketch.fit(10).explained_variance, exact.explained_variance, rtol=1e-10)


def test_an_empty_sketch_is_neutral():
    sketch = Sketch.empty(5, 3).update(np.random.default_rng(0).standard_normal((9, 5)))
    assert sketch.merge(Sketch.empty(5, 3)) is sketch
    joined = Sketch.empty(5, 3).merge(sketch)
    np.testing.assert_allclose(joined.singular, sketch.singular)


@pytest.mark.parametrize(
    ("shape", "count", "limit", "solver"),
    [
        ((400, 16384), 50, None, "snapshot"),
        ((70000, 784), 50, None, "covariance"),
        ((50000, 20000), 20, None, "randomized"),
        ((50000, 20000), None, None, "covariance"),
        ((3000, 2000), 10, 1 << 25, "randomized"),
    ],
)
def test_auto_chooses_by_cost_and_says_why(shape, count, limit, solver):
    rows = Rows(np.broadcast_to(np.float32(0), shape))
    chosen, why = choose_solver(rows, count, limit)
    assert chosen == solver
    assert len(why) > 20


@pytest.mark.parametrize("solver", SOLVERS)
def test_estimates_grow_with_the_rows(solver):
    small, large = (estimate(solver, Rows(np.broadcast_to(0.0, (n, 500))), 10) for n in (1000, 4000))
    assert 0 < small[0] < large[0]
    assert 0 < small[1] <= large[1]


def test_auto_reports_its_choice():
    heard = []
    fit_pca(Rows(make_rows(20, 50)), 2, "auto", run=Run(Events(heard.append)))
    assert any(event.kind == "chosen" and event.data["choice"] == "snapshot" for event in heard)


def test_snapshot_on_faces(data_folder):
    with np.load(data_folder / "olivetti.npz") as archive:
        faces = archive["X"][:, :1024]
    small, large = snapshot_pca(Rows(faces), 30, run=Run.of()), fit(faces, 30, "covariance")
    np.testing.assert_allclose(small.components, large.components, atol=1e-10)
