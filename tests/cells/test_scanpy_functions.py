"""`lowdim.scanpy` on a stand-in for AnnData: what is read, what is computed, and where it is left."""

from __future__ import annotations

import copy as copying
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import lowdim
from lowdim.errors import DataWarning, DisconnectedWarning, InputError, InputTypeError
from lowdim.neighbors.euclidean import EuclideanIndex

GRAPH_METHODS = ("umap", "diffmap", "laplacian_eigenmaps", "isomap")
POINTS = np.random.default_rng(0).standard_normal((150, 4)) * [4, 2, 1, 1]


class StandIn(SimpleNamespace):
    """The fields of AnnData that are used, as plain dictionaries."""

    def copy(self):
        return copying.deepcopy(self)


def make_cells(X=POINTS, **fields):
    usual = {"obs": {}, "obsm": {}, "obsp": {}, "uns": {}, "var": {}, "varm": {}, "layers": {}}
    n_obs, n_vars = POINTS.shape if X is None else X.shape
    return StandIn(X=X, n_obs=n_obs, n_vars=n_vars, **(usual | fields))


@pytest.fixture(scope="module")
def with_graph():
    """Cells without X, which have a graph and nothing else."""
    cells = make_cells()
    lowdim.scanpy.neighbors(cells, 12)
    cells.X = None
    return cells


@pytest.fixture
def cells(with_graph):
    return with_graph.copy()


def test_the_graph_is_that_of_umap():
    cells = make_cells()
    lowdim.scanpy.neighbors(cells, 12, key_added="mine")
    assert cells.uns["mine"]["connectivities_key"] == "mine_connectivities"
    assert cells.uns["mine"]["params"] == {
        "n_neighbors": 12,
        "method": "umap",
        "metric": "euclidean",
        "random_state": 0,
    }
    squares = ((POINTS[:, None] - POINTS) ** 2).sum(axis=2)
    nearest = np.argsort(squares, axis=1)[:, 1:12]
    distances = cells.obsp["mine_distances"].toarray()
    assert_allclose(
        np.take_along_axis(distances, nearest, 1), np.sqrt(np.take_along_axis(squares, nearest, 1))
    )
    assert np.count_nonzero(distances) == 150 * 11
    W = cells.obsp["mine_connectivities"]
    assert_allclose(W.toarray(), W.toarray().T)
    theirs = lowdim.UMAP(n_neighbors=12, max_iter=3).fit_transform(POINTS)
    ours = lowdim.UMAP(metric="graph", max_iter=3, init=theirs).fit(W)
    again = lowdim.UMAP(n_neighbors=12, max_iter=3, init=theirs).fit(POINTS)
    assert_allclose(ours.embedding_, again.embedding_, atol=1e-4)


@pytest.mark.parametrize("name", GRAPH_METHODS)
def test_what_scanpy_found_is_enough(cells, name):
    """No X and no component is there: the graph alone is embedded, and the result is where plots look."""
    before = set(cells.obsp)
    assert getattr(lowdim.scanpy, name)(cells) is None
    found = cells.obsm[f"X_{name}"]
    assert found.shape == (150, 15 if name == "diffmap" else 2)
    assert np.isfinite(found).all()
    assert set(cells.obsp) == before
    assert f"{name}_evals" in cells.uns if name == "diffmap" else "params" in cells.uns[name]


def test_umap_is_that_of_the_graph(cells):
    given = {"min_dist": 0.3, "spread": 1.2, "random_state": 4}
    lowdim.scanpy.umap(cells, maxiter=20, gamma=1.5, negative_sample_rate=4, key_added="there", **given)
    model = lowdim.UMAP(
        metric="graph", max_iter=20, repulsion_strength=1.5, negative_sample_rate=4, **given
    ).fit(cells.obsp["connectivities"])
    assert_array_equal(cells.obsm["there"], model.embedding_)
    assert cells.uns["there"]["params"] == {"a": model.a_, "b": model.b_, "random_state": 4}


def test_a_and_b_of_umap_may_be_given(cells):
    lowdim.scanpy.umap(cells, maxiter=10)
    usual, curve = cells.obsm["X_umap"], cells.uns["umap"]["params"]
    lowdim.scanpy.umap(cells, maxiter=10, min_dist=0.01, **curve)
    assert_array_equal(cells.obsm["X_umap"], usual)
    lowdim.scanpy.umap(cells, maxiter=10, a=1.5, b=0.9)
    assert cells.uns["umap"]["params"] == {"a": 1.5, "b": 0.9}
    assert not np.array_equal(cells.obsm["X_umap"], usual)
    with pytest.raises(InputError, match="a and b belong together"):
        lowdim.scanpy.umap(cells, a=1.0)
    with pytest.raises(InputError, match="b must be a number above 0; got -1"):
        lowdim.scanpy.umap(cells, a=1.0, b=-1)


def test_the_step_of_umap_is_relative(cells):
    lowdim.scanpy.umap(cells, maxiter=10)
    usual = cells.obsm["X_umap"]
    lowdim.scanpy.umap(
        cells, maxiter=10, alpha=1.0 + 1e-12
    )  # the schedule given, and the same as the usual one
    assert_allclose(cells.obsm["X_umap"], usual, atol=1e-6)
    lowdim.scanpy.umap(cells, maxiter=10, alpha=0.5)
    assert np.abs(cells.obsm["X_umap"] - usual).max() > 0.1


def test_umap_starts_where_it_is_told(cells):
    start = np.random.default_rng(1).standard_normal((150, 2))
    cells.obsm["X_start"] = start
    lowdim.scanpy.umap(cells, maxiter=2, init_pos="X_start", key_added="by_key")
    lowdim.scanpy.umap(cells, maxiter=2, init_pos=start, key_added="by_array")
    assert_array_equal(cells.obsm["by_key"], cells.obsm["by_array"])
    lowdim.scanpy.umap(cells, maxiter=2, init_pos=None, key_added="none")
    lowdim.scanpy.umap(cells, maxiter=2, init_pos="spectral", key_added="spectral")
    assert_array_equal(cells.obsm["none"], cells.obsm["spectral"])
    with pytest.raises(InputError, match=r"init_pos must be .* 'X_start'.*; got 'X_strat'"):
        lowdim.scanpy.umap(cells, init_pos="X_strat")
    for wide in ("X_start", start):
        with pytest.raises(InputError, match=r"^init_pos.* \(150, 3\); got \(150, 2\)"):
            lowdim.scanpy.umap(cells, n_components=3, init_pos=wide)


def test_umap_starts_at_the_groups_of_paga(cells):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"needs adata.uns\['paga'\]\['pos'\]"):
        lowdim.scanpy.umap(cells, init_pos="paga")
    groups = np.repeat(["a", "b", "c"], 50)
    cells.obs = pandas.DataFrame({"leiden": pandas.Categorical(groups)})
    cells.uns["paga"] = {
        "groups": "leiden",
        "pos": np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 30.0]]),
        "connectivities": sparse.csr_matrix([[0, 0.9, 0], [0.9, 0, 0], [0, 0, 0]]),
    }
    from lowdim.scanpy.cells import open_cells
    from lowdim.scanpy.layouts import _start

    found = _start(open_cells(cells, None, False), "paga", 3)
    assert (np.abs(found[:50, 0]) <= 5).all()
    assert (np.abs(found[50:100, 0] - 10) <= 5).all()
    assert np.ptp(found[:50, 0]) > 5
    assert_array_equal(found[100:], np.tile([0.0, 30.0], (50, 1)))  # tied to no other group
    lowdim.scanpy.umap(cells, maxiter=2, init_pos="paga")
    assert np.isfinite(cells.obsm["X_umap"]).all()


def dense_transitions(W):
    q = W.sum(axis=0)
    K = W / np.outer(q, q)
    z = np.sqrt(K.sum(axis=0))
    return np.linalg.eigh(K / np.outer(z, z))


def test_diffusion_maps_are_those_of_the_formula(cells):
    lowdim.scanpy.diffmap(cells, 8)
    values, vectors = dense_transitions(cells.obsp["connectivities"].toarray().astype(np.float64))
    found, wanted = cells.obsm["X_diffmap"], vectors[:, ::-1][:, :8]
    assert_allclose(cells.uns["diffmap_evals"], values[::-1][:8], atol=1e-10)
    assert_allclose(found * np.sign((found * wanted).sum(axis=0)), wanted, atol=1e-7)
    lowdim.scanpy.diffmap(cells, 8, key_added="walk")
    assert_array_equal(cells.obsm["walk"], found)
    assert_array_equal(cells.uns["walk_evals"], cells.uns["diffmap_evals"])


def two_parts():
    """A graph of two parts, the second with twice the cells of the first."""
    X = np.concatenate([POINTS[:50], POINTS[50:] + 1000])
    cells = make_cells(X)
    lowdim.scanpy.neighbors(cells, 8)
    return cells


def test_each_part_of_a_graph_has_its_steady_state():
    cells = two_parts()
    lowdim.scanpy.diffmap(cells, 6)
    W = cells.obsp["connectivities"].toarray().astype(np.float64)
    values = dense_transitions(W)[0][::-1][:6]
    found = cells.obsm["X_diffmap"]
    assert_allclose(cells.uns["diffmap_evals"], values, atol=1e-9)
    assert_allclose(values[:2], 1)
    assert_array_equal(found[:50, 0], 0)  # the largest part comes first
    assert_array_equal(found[50:, 1], 0)
    assert_allclose(found.T @ found, np.eye(6), atol=1e-8)


def test_parts_of_a_graph_are_side_by_side_or_an_error():
    cells = two_parts()
    for name in ("laplacian_eigenmaps", "isomap"):
        method = getattr(lowdim.scanpy, name)
        with pytest.warns(DisconnectedWarning, match="2 components"):
            method(cells)
        with pytest.raises(InputError, match="2 components"):
            method(cells, on_disconnected="error")
        with pytest.raises(InputError, match="on_disconnected must be 'per_component' or 'error'"):
            method(cells, on_disconnected="connect")


def test_neighbours_are_not_searched_for_again(monkeypatch):
    cells = make_cells()
    lowdim.scanpy.neighbors(cells, 12)
    wanted = {
        "lle": lowdim.LLE(n_neighbors=11, solver="exact").fit(POINTS),
        "isomap": lowdim.Isomap(n_neighbors=11).fit(POINTS),
    }

    def search(*_, **__):
        raise AssertionError("a search")

    monkeypatch.setattr(EuclideanIndex, "query", search)
    for name, model in wanted.items():
        getattr(lowdim.scanpy, name)(cells)
        found = cells.obsm[f"X_{name}"]
        signs = np.sign((found * model.embedding_).sum(axis=0))
        assert_allclose(found * signs, model.embedding_, atol=1e-6 * np.abs(found).max())
        assert_allclose(cells.uns[name]["eigenvalues"], model.eigenvalues_, rtol=1e-6)
    with pytest.raises(AssertionError, match="a search"):
        lowdim.scanpy.neighbors(cells, 12)


def test_locally_linear_embedding_takes_the_numbers_that_the_graph_came_of(cells):
    cells.obsm["X_other"] = POINTS[:, :3]
    cells.uns["neighbors"]["params"] |= {"use_rep": "X_other", "n_pcs": np.array([2])}
    lowdim.scanpy.lle(cells, variant="ltsa")
    of_params = cells.obsm["X_lle"]
    lowdim.scanpy.lle(cells, variant="ltsa", use_rep="X_other", n_pcs=2)
    assert_array_equal(cells.obsm["X_lle"], of_params)
    lowdim.scanpy.lle(cells, variant="ltsa", use_rep="X_other")
    assert not np.array_equal(cells.obsm["X_lle"], of_params)
    with pytest.raises(InputError, match=r"'hessian' needs 14 neighbours of each cell for 4 .* 11 of some"):
        lowdim.scanpy.lle(cells, 4, variant="hessian")


def test_equal_cells_do_not_break_the_methods():
    cells = make_cells(np.concatenate([POINTS, POINTS[:30], POINTS[:30]]))
    lowdim.scanpy.neighbors(cells, 12)
    for name in ("lle", *GRAPH_METHODS):
        getattr(lowdim.scanpy, name)(cells, **({"maxiter": 10} if name == "umap" else {}))
        assert np.isfinite(cells.obsm[f"X_{name}"]).all()
    assert_allclose(cells.obsm["X_isomap"][:30], cells.obsm["X_isomap"][150:180], atol=1e-9)


def test_tsne_of_a_representation_and_of_a_graph(cells):
    cells.obsm["X_mine"] = POINTS
    lowdim.scanpy.tsne(cells, use_rep="X_mine", n_pcs=3, perplexity=10, random_state=2)
    model = lowdim.TSNE(perplexity=10, random_state=2)
    assert_array_equal(cells.obsm["X_tsne"], model.fit_transform(POINTS[:, :3]))
    assert cells.uns["tsne"]["params"]["perplexity"] == 10
    lowdim.scanpy.tsne(cells, neighbors_key="neighbors", key_added="graph")
    assert cells.obsm["graph"].shape == (150, 2)
    with pytest.raises(InputError, match=r"got perplexity=10. Leave one of them out"):
        lowdim.scanpy.tsne(cells, neighbors_key="neighbors", perplexity=10)


def test_clusters_are_categories_the_largest_first(cells):
    pytest.importorskip("pandas")
    lowdim.scanpy.spectral_clustering(cells, 4, key_added="groups")
    groups = cells.obs["groups"]
    assert list(groups.categories) == ["0", "1", "2", "3"]
    counts = np.bincount(groups.codes)
    assert (np.diff(counts) <= 0).all()
    assert counts.sum() == 150
    labels = lowdim.SpectralClustering(4, affinity="precomputed").fit_predict(cells.obsp["connectivities"])
    assert len(set(zip(labels.tolist(), groups.codes.tolist(), strict=True))) == 4
    assert cells.uns["groups"]["params"] == {"n_clusters": 4, "assign_labels": "kmeans"}


def test_a_copy_leaves_the_original(cells):
    found = lowdim.scanpy.diffmap(cells, copy=True)
    assert "X_diffmap" in found.obsm
    assert "X_diffmap" not in cells.obsm


def test_a_modality_by_its_name(cells):
    whole = make_cells(None, mod={"rna": cells})
    found = lowdim.scanpy.diffmap(whole, modality="rna", copy=True)
    assert "X_diffmap" in found.mod["rna"].obsm
    assert "X_diffmap" not in found.obsm
    assert "X_diffmap" not in cells.obsm
    with pytest.raises(InputError, match=r"modality must be one of 'rna'.*; got 'atac'"):
        lowdim.scanpy.diffmap(whole, modality="atac")
    with pytest.raises(InputError, match="found by modality: 'rna'"):
        lowdim.scanpy.diffmap(whole)
    with pytest.raises(InputError, match="Give modality, one of 'rna'"):
        lowdim.scanpy.tsne(whole)
    with pytest.raises(InputError, match="which has no parts"):
        lowdim.scanpy.diffmap(cells, modality="rna")


def test_files_of_old_keep_the_graph_in_uns(cells):
    lowdim.scanpy.laplacian_eigenmaps(cells)
    wanted = cells.obsm["X_laplacian_eigenmaps"]
    old = make_cells(None, uns={"neighbors": {"connectivities": cells.obsp["connectivities"]}})
    lowdim.scanpy.laplacian_eigenmaps(old)
    assert_array_equal(old.obsm["X_laplacian_eigenmaps"], wanted)
    with pytest.raises(InputError, match=r"the distances of its graph are adata.obsp\['distances'\]"):
        lowdim.scanpy.isomap(old)


def test_what_is_missing_is_named(cells):
    with pytest.raises(InputTypeError, match=r"AnnData or a MuData; got .* ndarray.*lowdim.UMAP"):
        lowdim.scanpy.umap(POINTS)
    with pytest.raises(InputError, match=r"graphs under 'neighbors': give one as neighbors_key"):
        lowdim.scanpy.umap(cells, neighbors_key="wnn")
    with pytest.raises(InputError, match=r"Run sc.pp.neighbors\(adata\)"):
        lowdim.scanpy.umap(make_cells())
    with pytest.raises(InputError, match=r"There is no X.*'X_one'"):
        lowdim.scanpy.tsne(make_cells(None, obsm={"X_one": POINTS}))
    with pytest.raises(InputError, match=r"n_comps must be a whole number from 3 to 149.*; got 2"):
        lowdim.scanpy.diffmap(cells, 2)
    with pytest.raises(InputError, match=r"n_neighbors must be a whole number from 2 to 150.*; got 151"):
        lowdim.scanpy.neighbors(make_cells(), 151)
    alone = cells.obsp["connectivities"].tolil()
    alone[7] = 0
    alone[:, 7] = 0
    cells.obsp["connectivities"] = alone.tocsr()
    with pytest.raises(InputError, match=r"1 cells have no connectivity .* row 7"):
        lowdim.scanpy.diffmap(cells)


def test_a_failure_leaves_nothing(cells):
    before = {field: set(getattr(cells, field)) for field in ("obs", "obsm", "obsp", "uns")}
    for name in GRAPH_METHODS:
        with pytest.raises(InputError):
            getattr(lowdim.scanpy, name)(cells, random_state="none")
    assert {field: set(getattr(cells, field)) for field in before} == before


@pytest.mark.parametrize(
    ("given", "columns"),
    [({}, 50), ({"n_pcs": 7}, 7), ({"n_pcs": 0}, 60), ({"use_rep": "X"}, 60), ({"use_rep": "X_a"}, 3)],
)
def test_the_representation_is_chosen_as_in_scanpy(given, columns):
    from lowdim.scanpy.cells import open_cells
    from lowdim.scanpy.representation import represent

    X = np.random.default_rng(0).standard_normal((80, 60))
    cells = make_cells(X, obsm={"X_pca": X[:, :50], "X_a": X[:, :3]})
    arguments = {"use_rep": None, "n_pcs": None} | given
    assert represent(open_cells(cells, None, False), **arguments).shape == (80, columns)
    few = make_cells(X[:, :50], obsm={"X_pca": X[:, :2]})
    assert represent(open_cells(few, None, False), None, None).shape == (80, 50)


def test_representations_that_are_not_there_are_named():
    X = np.random.default_rng(0).standard_normal((80, 60))
    cells = make_cells(X, obsm={"X_pca": X[:, :50]}, layers={"counts": X})
    with pytest.raises(InputError, match=r"n_pcs must be at most 50.*; got 51"):
        lowdim.scanpy.tsne(cells, 51)
    with pytest.raises(InputError, match=r"n_pcs must be a whole number.*; got 1.5"):
        lowdim.scanpy.tsne(cells, 1.5)
    with pytest.raises(InputError, match=r"'X_pca'; got 'counts'.*sc.pp.pca\(adata, layer='counts'\)"):
        lowdim.scanpy.tsne(cells, use_rep="counts")
    with pytest.raises(InputError, match=r"n_pcs must be at most 59.*; got 60"):
        lowdim.scanpy.tsne(make_cells(X), 60)
    cells.obsm["X_pca"][3, 2] = np.nan
    with pytest.raises(InputError, match=r"adata\.obsm\['X_pca'\]\[3, 2\] is NaN"):
        lowdim.scanpy.tsne(cells)


def test_what_is_missing_in_X_is_told_by_its_own_place(recwarn):
    X = np.random.default_rng(0).standard_normal((80, 60))
    X[7, 5] = np.nan
    marked = make_cells(X, var={"highly_variable": np.arange(60) % 2 == 1})
    for given in ({}, {"use_rep": "X"}):
        with pytest.raises(InputError, match=r"adata\.X\[7, 5\] is NaN"):
            lowdim.scanpy.tsne(marked, **given)
    assert not recwarn  # no components were found and kept
    assert not marked.obsm


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_components_are_made_where_there_are_none(marked, form):
    X = np.random.default_rng(0).standard_normal((80, 60)) * np.linspace(0.5, 3, 60)
    used = np.arange(60) % 2 == 0 if marked else np.ones(60, dtype=bool)
    cells = make_cells(form(X), var={"highly_variable": used} if marked else {})
    with pytest.warns(DataWarning, match=f"no 'X_pca', so 5 principal components of the {used.sum()} genes"):
        lowdim.scanpy.neighbors(cells, 10, n_pcs=5)
    model = lowdim.PCA(5).fit(X[:, used])
    assert_allclose(cells.obsm["X_pca"], model.embedding_, atol=1e-6)
    assert_allclose(cells.varm["PCs"][used], model.components_.T, atol=1e-6)
    assert_array_equal(cells.varm["PCs"][~used], 0)
    assert_allclose(cells.uns["pca"]["variance_ratio"], model.explained_variance_ratio_, atol=1e-8)


def count_cells(**uns):
    X = np.random.default_rng(0).poisson(20, (60, 55)).astype(np.float32)
    return make_cells(sparse.csr_matrix(X), obsm={"X_pca": X[:, :5]}, uns=uns)


@pytest.mark.parametrize(
    ("uns", "given", "is_told"),
    [
        ({}, {"use_rep": "X"}, True),
        ({"log1p": {}}, {"use_rep": "X"}, False),
        ({"pca": {"params": {}}}, {}, True),
        ({"pca": {"params": {"layer": "normal"}}}, {}, False),
        ({}, {}, False),  # nobody knows what these components are of
    ],
)
def test_raw_counts_draw_advice(uns, given, is_told, recwarn):
    lowdim.scanpy.neighbors(count_cells(**uns), 10, **given)
    said = [str(warning.message) for warning in recwarn]
    assert [("sc.pp.normalize_total" in text) for text in said] == ([True] if is_told else [])


def test_a_graph_of_raw_counts_draws_the_same():
    cells = count_cells()
    with pytest.warns(DataWarning, match="look like raw counts"):
        lowdim.scanpy.neighbors(cells, 10, use_rep="X")
    with pytest.warns(DataWarning, match="look like raw counts"):
        lowdim.scanpy.laplacian_eigenmaps(cells)
    cells.X = cells.X.log1p()
    lowdim.scanpy.laplacian_eigenmaps(cells)
