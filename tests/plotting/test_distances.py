"""Distances and ranks of the data against those of the embedding, and grids of genes."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError
from lowdim.plotting import plot_coranking, plot_genes, plot_shepard
from lowdim.plotting.distances import coranking

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).standard_normal((120, 6)) * [5, 4, 1, 1, 1, 1]


def test_shepard_of_what_is_kept_lies_on_its_line(data, tmp_path):
    figure = plot_shepard(data, -3.0 * data[:, ::-1], tmp_path / "s.png", title="turned")
    assert (tmp_path / "s.png").stat().st_size > 1000
    assert figure.axes[0].get_title() == "turned\ncorrelation 1.000, by rank 1.000, stress 0.000"
    at, median = figure.axes[0].lines[1].get_data()
    np.testing.assert_allclose(median, at, rtol=1e-6)
    told = plot_shepard(data, data[:, :2], sample=50).axes[0].get_title()
    assert 0.7 < float(told.split()[1].rstrip(",")) < 1.0


def test_shepard_takes_distances(data):
    table = np.linalg.norm(data[:, None] - data[None], axis=2)
    one = plot_shepard(table, data[:, :2], metric="precomputed").axes[0].get_title()
    assert one == plot_shepard(data, data[:, :2]).axes[0].get_title()


def test_coranking_counts_pairs_by_their_ranks(data, tmp_path):
    ranks = np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    others = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
    np.testing.assert_array_equal(coranking(ranks, ranks), [[3, 0], [0, 3]])
    np.testing.assert_array_equal(coranking(ranks, others), [[2, 1], [1, 2]])
    figure = plot_coranking(data, data[:, :2], tmp_path / "c.svg")
    kept = 100 * float(lowdim.score(data, data[:, :2], sample="all").neighbor_recall)
    assert figure.axes[0].get_title() == f"{kept:.1f} % of the 15 nearest of 120 points kept"
    image = figure.axes[0].images[0].get_array()
    assert image.shape == (119, 119)
    assert np.ma.filled(image, 0).sum() == 120 * 119
    assert plot_coranking(data, data[:, :2], n_ranks=20).axes[0].images[0].get_array().shape == (20, 20)
    with pytest.raises(InputError, match="n_ranks"):
        plot_coranking(data, data[:, :2], n_ranks=1)


def test_a_grid_of_genes(data, tmp_path):
    columns = {
        "first": data[:, 0],
        "counts": np.arange(120) % 7,
        "type": np.array(["b", "t"])[np.arange(120) % 2],
    }
    model = lowdim.PCA(n_components=2).fit(data)
    figure = plot_genes(model, columns, path=tmp_path / "g.png", title="Genes")
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["first", "counts", "type"]
    drawn = figure.axes[0].collections[0]
    top = drawn.get_offsets()[-1]
    np.testing.assert_allclose(top, model.embedding_[np.argmax(data[:, 0])])
    (types,) = (axes for axes in figure.axes if axes.get_title() == "type")
    assert [text.get_text() for text in types.get_legend().get_texts()] == ["b", "t"]
    assert len(plot_genes(data[:, :2], columns, "counts").axes) == 2  # the map and its bar
    with pytest.raises(InputError, match="obsm"):
        plot_genes("X_pca", columns)
    with pytest.raises(InputError, match="labels must be one of the columns"):
        plot_genes(data[:, :2], columns, ["nowhere"])
    with pytest.raises(InputError, match="30 columns are more"):
        plot_genes(data[:, :2], {str(at): data[:, 0] for at in range(30)})


def test_names_on_the_data(data):
    labels = np.array(["left", "right"])[(data[:, 0] > 0).astype(int)]
    figure = lowdim.plot(data[:, :2], labels, names=True)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["left", "right"]
    assert figure.legends == []
    with pytest.raises(InputError, match="names: must be True, False or 'auto'"):
        lowdim.plot(data[:, :2], labels, names="some")


def test_small_multiples_of_a_sweep(data, tmp_path):
    found = lowdim.sweep(lowdim.LaplacianEigenmaps(), {"n_neighbors": [5, 9, 20]}, data, score="quality")
    embeddings = found.embeddings(data)
    assert list(embeddings) == ["n_neighbors=5", "n_neighbors=9", "n_neighbors=20"]
    alone = lowdim.LaplacianEigenmaps(n_neighbors=20).fit_transform(data)
    assert lowdim.procrustes(embeddings["n_neighbors=20"], alone).error < 1e-6
    turned = lowdim.procrustes(embeddings["n_neighbors=9"], embeddings["n_neighbors=5"])
    np.testing.assert_allclose(turned.aligned, embeddings["n_neighbors=9"], atol=1e-8)
    figure = lowdim.plot(embeddings, data[:, 0], path=tmp_path / "m.png")
    assert len([axes for axes in figure.axes if axes.get_title().startswith("n_neighbors")]) == 3
    with pytest.raises(InputError, match="the data of the sweep, 120 x 6; got 60 x 6"):
        found.embeddings(data[:60])
