"""`lowdim.scanpy` with the packages themselves: anndata's objects and files, scanpy's numbers and plots, MuData."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import lowdim

needs_anndata = pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed")
needs_scanpy = pytest.mark.skipif(find_spec("scanpy") is None, reason="scanpy is not installed")
needs_mudata = pytest.mark.skipif(find_spec("mudata") is None, reason="mudata is not installed")
# What those packages say of each other and of pandas is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


def loaded(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


@pytest.fixture
def blobs():
    """A small AnnData with a sparse X of three groups, and its graph."""
    anndata = loaded("anndata")
    rng = np.random.default_rng(0)
    X = np.maximum(rng.standard_normal((120, 20)) + np.repeat(np.eye(3, 20) * 3, 40, axis=0), 0)
    made = anndata.AnnData(sparse.csr_matrix(X.astype(np.float32)))
    lowdim.scanpy.neighbors(made, 10)
    return made


@pytest.fixture
def writing():
    """anndata, allowed to write the strings of pandas 3 where it has to be asked for it."""
    anndata = loaded("anndata")
    name = "allow_write_nullable_strings"
    with anndata.settings.override(**({name: True} if hasattr(anndata.settings, name) else {})):
        yield anndata


@pytest.fixture(scope="module")
def with_neighbors():
    sc = loaded("scanpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = sc.datasets.pbmc68k_reduced()
        sc.pp.neighbors(cells)
    return cells


@pytest.fixture
def blood(with_neighbors):
    return with_neighbors.copy()


@needs_anndata
def test_objects_of_anndata_take_every_result(blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowdim.scanpy.umap(blobs, maxiter=10)
        lowdim.scanpy.tsne(blobs, perplexity=10)
        for name in ("diffmap", "laplacian_eigenmaps", "isomap", "lle"):
            getattr(lowdim.scanpy, name)(blobs)
        lowdim.scanpy.spectral_clustering(blobs, 3)
    names = {"umap", "tsne", "diffmap", "laplacian_eigenmaps", "isomap", "lle"}
    assert {f"X_{name}" for name in names} <= set(blobs.obsm)
    assert blobs.obs["spectral"].dtype == "category"
    assert blobs.obs["spectral"].value_counts().sum() == 120
    copied = lowdim.scanpy.umap(blobs, maxiter=5, key_added="new", copy=True)
    assert "new" in copied.obsm
    assert "new" not in blobs.obsm


@needs_anndata
def test_a_view_becomes_an_object_of_its_own(blobs):
    part = blobs[:60]
    lowdim.scanpy.neighbors(part, 8, use_rep="X")
    lowdim.scanpy.diffmap(part)
    assert part.obsm["X_diffmap"].shape == (60, 15)
    assert "X_diffmap" not in blobs.obsm


@needs_anndata
@pytest.mark.skipif(find_spec("h5py") is None, reason="h5py is not installed")
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_files_that_stay_on_disk(blobs, form, writing, tmp_path):
    if form == "dense":
        blobs.X = blobs.X.toarray()
    path = tmp_path / "cells.h5ad"
    blobs.write_h5ad(path)
    backed = writing.read_h5ad(path, backed="r+")
    for each in (backed, blobs):
        lowdim.scanpy.umap(each, maxiter=5)
        lowdim.scanpy.tsne(each, use_rep="X", perplexity=10)
        lowdim.scanpy.spectral_clustering(each, 3)
    assert backed.isbacked
    copied = lowdim.scanpy.diffmap(backed, copy=True)
    assert not copied.isbacked
    assert "X_diffmap" not in backed.obsm
    backed.write_h5ad()
    backed.file.close()
    again = writing.read_h5ad(path)
    for key in ("X_umap", "X_tsne"):
        assert_array_equal(again.obsm[key], blobs.obsm[key])
    assert again.uns["umap"]["params"] == blobs.uns["umap"]["params"]
    assert list(again.obs["spectral"]) == list(blobs.obs["spectral"])
    assert again.obs["spectral"].dtype == "category"


@needs_anndata
@pytest.mark.skipif(find_spec("h5py") is None, reason="h5py is not installed")
def test_counts_in_a_file_draw_advice(blobs, writing, tmp_path):
    blobs.X = (blobs.X * 10).ceil()
    blobs.write_h5ad(tmp_path / "counts.h5ad")
    backed = writing.read_h5ad(tmp_path / "counts.h5ad", backed="r")
    with pytest.warns(lowdim.errors.DataWarning, match="look like raw counts"):
        lowdim.scanpy.tsne(backed, use_rep="X", perplexity=10)


@needs_mudata
@needs_anndata
def test_modalities_of_mudata(blobs):
    mudata = loaded("mudata")
    whole = mudata.MuData({"rna": blobs, "atac": blobs.copy()})
    lowdim.scanpy.umap(whole, modality="rna", maxiter=5)
    assert whole.mod["rna"].obsm["X_umap"].shape == (120, 2)
    assert "X_umap" not in whole.mod["atac"].obsm
    whole.obsm["X_joint"] = np.hstack([blobs.X.toarray(), blobs.X.toarray()])
    lowdim.scanpy.neighbors(whole, 10, use_rep="X_joint")
    lowdim.scanpy.diffmap(whole)
    assert whole.obsm["X_diffmap"].shape == (120, 15)
    copied = lowdim.scanpy.lle(whole, modality="atac", copy=True)
    assert "X_lle" in copied.mod["atac"].obsm
    assert "X_lle" not in whole.mod["atac"].obsm


@needs_scanpy
def test_neighbours_are_those_of_scanpy(blood):
    ours = lowdim.scanpy.neighbors(blood, copy=True)
    for key, error in (("distances", 1e-5), ("connectivities", 1e-4)):
        assert ours.obsp[key].nnz == blood.obsp[key].nnz
        assert abs(ours.obsp[key] - blood.obsp[key]).max() < error
    assert ours.uns["neighbors"] == blood.uns["neighbors"]


@needs_scanpy
def test_diffusion_maps_are_those_of_scanpy_to_six_digits(blood):
    sc = loaded("scanpy")
    sc.tl.diffmap(blood)
    values, vectors = blood.uns["diffmap_evals"], blood.obsm["X_diffmap"]
    lowdim.scanpy.diffmap(blood)
    found = blood.obsm["X_diffmap"]
    assert_allclose(blood.uns["diffmap_evals"], values, atol=1e-6)
    assert_allclose(found * np.sign((found * vectors).sum(axis=0)), vectors, atol=1e-6)
    blood.uns["iroot"] = 0
    sc.tl.dpt(blood)
    assert blood.obs["dpt_pseudotime"].between(0, 1).all()


@needs_scanpy
def test_umap_keeps_neighbours_as_well_as_that_of_scanpy(blood):
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    def recall(embedding):
        search = NearestNeighbors(n_neighbors=10)
        wanted, found = (
            search.fit(X).kneighbors(return_distance=False) for X in (blood.obsm["X_pca"], embedding)
        )
        return np.mean([len(set(a) & set(b)) / 10 for a, b in zip(wanted, found, strict=True)])

    loaded("scanpy").tl.umap(blood, key_added="theirs")
    lowdim.scanpy.umap(blood)
    theirs, ours = blood.obsm["theirs"], blood.obsm["X_umap"]
    assert recall(ours) > recall(theirs) - 0.02
    scores = [trustworthiness(blood.obsm["X_pca"], each, n_neighbors=10) for each in (ours, theirs)]
    assert scores[0] > scores[1] - 0.01
    assert blood.uns["umap"]["params"] == pytest.approx(blood.uns["theirs"]["params"], abs=1e-4)


@needs_scanpy
def test_plots_of_scanpy_find_the_results(blood):
    sc = loaded("scanpy")
    figures = loaded("matplotlib.pyplot")
    loaded("matplotlib").use("agg")
    lowdim.scanpy.umap(blood, maxiter=5)
    lowdim.scanpy.tsne(blood, neighbors_key="neighbors")
    lowdim.scanpy.spectral_clustering(blood, 4)
    names = ("diffmap", "laplacian_eigenmaps", "lle", "isomap")
    for name in names:
        getattr(lowdim.scanpy, name)(blood)
    plots = [sc.pl.umap, sc.pl.tsne, sc.pl.diffmap]
    axes = [plot(blood, color="spectral", show=False) for plot in plots]
    axes += [sc.pl.embedding(blood, name, color="spectral", show=False) for name in names]
    assert [ax.get_xlabel() for ax in axes] == ["UMAP1", "tSNE1", "DC1", "DC1", *(f"{n}1" for n in names[1:])]
    assert all(sum(len(drawn.get_offsets()) for drawn in ax.collections) >= 700 for ax in axes)
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["0", "1", "2", "3"]
    figures.close("all")


@needs_scanpy
@pytest.mark.parametrize(
    ("name", "left_out", "otherwise"),
    [
        ("umap", {"method"}, {"neighbors_key": None}),
        ("tsne", {"use_fast_tsne"}, {"learning_rate": "auto"}),
        ("diffmap", set(), {}),
    ],
)
def test_signatures_are_those_of_scanpy(name, left_out, otherwise):
    theirs = inspect.signature(getattr(loaded("scanpy").tl, name)).parameters
    ours = inspect.signature(getattr(lowdim.scanpy, name)).parameters
    assert set(theirs) - set(ours) == left_out
    for each in set(theirs) & set(ours):
        assert ours[each].kind == theirs[each].kind
        assert ours[each].default == otherwise.get(each, theirs[each].default)


@needs_scanpy
def test_the_page_about_single_cells_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # its last block writes a model
    text = (Path(__file__).parents[2] / "docs" / "single-cells.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 4
    loaded("matplotlib").use("agg")
    names = {}
    for block in blocks:
        exec(block, names)
    assert {"X_umap", "X_diffmap", "X_isomap_wide"} <= set(names["adata"].obsm)
    loaded("matplotlib.pyplot").close("all")
