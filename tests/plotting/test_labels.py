"""Labels and columns from wherever they come: arrays, lists, data frames, AnnData."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from lowdim.errors import InputError
from lowdim.plotting import plot, write_report
from lowdim.plotting.labels import classes_of, column, is_quantity, named, table_of

POINTS = np.random.default_rng(0).standard_normal((60, 2))


def entries(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_classes_are_in_order():
    names, codes = classes_of(column(np.array(["10", "9", "b", "a", "9"])))
    assert names == ["9", "10", "a", "b"]
    assert codes.tolist() == [1, 0, 3, 2, 0]
    names, codes = classes_of(column(np.array(["x", None, float("nan")], dtype=object)))
    assert names == ["x", ""]
    assert codes.tolist() == [0, 1, 1]
    assert classes_of(column(np.array([1.0, np.nan])))[0] == ["1", ""]
    assert classes_of(column(["b", "a", float("nan")]))[0] == ["a", "b", ""]
    assert classes_of(column(np.array(["2026-01-01", "NaT"], dtype="M8[D]")))[0] == ["2026-01-01", ""]


def test_numbers_among_what_is_missing_are_numbers():
    assert column([1, None, 3]).values.dtype == np.float64
    assert classes_of(column([10, None, 9]))[0] == ["9", "10", ""]
    assert is_quantity(column([0.5, None]), None)
    assert not is_quantity(column([True, None]), None)
    masked = np.ma.masked_array([1.5, 2.5], mask=[True, False])
    np.testing.assert_array_equal(column(masked).values, [np.nan, 2.5])
    assert classes_of(column(np.ma.masked_array(["a", "b"], mask=[False, True])))[0] == ["a", ""]


def test_categories_keep_their_order():
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(
        ["large", "small", None, "medium"] * 15, categories=["small", "medium", "large", "huge"]
    )
    assert entries(plot(POINTS, pandas.Series(sizes))) == ["small", "medium", "large", "(missing)"]
    ordered = pandas.Categorical([2, 10] * 30, categories=[10, 2], ordered=True)
    assert entries(plot(POINTS, ordered)) == ["10", "2"]
    # What pandas sorted itself, as text, is no order that anybody chose.
    assert entries(plot(POINTS, pandas.Series(["9", "10"] * 30).astype("category"))) == ["9", "10"]
    fractions = pandas.Series([0.5, 1.5] * 30).astype("category")
    assert entries(plot(POINTS, fractions)) == ["0.5", "1.5"]


def test_categories_of_polars():
    polars = pytest.importorskip("polars")
    chosen = polars.Series("size", ["b", "a"] * 30, dtype=polars.Enum(["b", "a"]))
    assert entries(plot(POINTS, chosen)) == ["b", "a"]
    assert entries(plot(POINTS, chosen.cast(polars.Categorical))) == ["a", "b"]


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert classes_of(column(pandas.array(["a", None], dtype="string")))[0] == ["a", ""]
    assert classes_of(column(pandas.array([10, None, 9], dtype="Int64")))[0] == ["9", "10", ""]
    assert is_quantity(column(pandas.array([0.5, None], dtype="Float64")), None)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("suffix", ["png", "html"])
def test_a_data_frame_is_columns(library, suffix, tmp_path):
    module = pytest.importorskip(library)
    data = {"kind": ["b", "a"] * 30, "weight": np.linspace(0, 1, 60)}
    frame = module.table(data) if library == "pyarrow" else module.DataFrame(data)
    made = plot(POINTS, "kind", columns=frame, path=tmp_path / f"p.{suffix}")
    assert (tmp_path / f"p.{suffix}").stat().st_size > 1000
    if suffix == "png":
        assert entries(made) == ["a", "b"]
        assert made.legends[0].get_title().get_text() == "kind"
    assert list(table_of(frame)) == ["kind", "weight"]


class Annotated:
    """What AnnData offers, of which only this much is asked for."""

    def __init__(self, obs, genes, counts):
        self.obs, self.var_names, self.X, self.n_obs = obs, genes, counts, len(counts)


def check_genes(annotated, counts):
    found = named("CD3E", annotated)
    assert (found.name, found.kind) == ("CD3E", "quantity")
    np.testing.assert_array_equal(found.values, counts[:, 1])
    figure = plot(POINTS, "CD3E", columns=annotated)
    assert [axes.get_title() for axes in figure.axes] == ["", "CD3E"]
    assert entries(plot(POINTS, "kind", columns=annotated)) == ["b", "a"]
    with pytest.raises(
        InputError, match="columns or of the genes; got 'cd3', and those given are kind"
    ) as told:
        plot(POINTS, "cd3", columns=annotated)
    assert "Did you mean 'CD3E'" in str(told.value)


def test_a_gene_colours_by_its_counts():
    pandas = pytest.importorskip("pandas")
    counts = np.random.default_rng(1).poisson(2.0, (60, 3))
    obs = pandas.DataFrame({"kind": pandas.Categorical(["a", "b"] * 30, categories=["b", "a"])})
    check_genes(Annotated(obs, ["CD8A", "CD3E", "MS4A1"], counts), counts)


def test_a_gene_of_any_part_of_mudata():
    pandas = pytest.importorskip("pandas")
    counts = np.random.default_rng(1).poisson(2.0, (60, 3))
    obs = pandas.DataFrame({"kind": pandas.Categorical(["a", "b"] * 30, categories=["b", "a"])})
    cells = Annotated(obs, ["rna:CD8A", "prot:CD3"], counts[:, :2])
    cells.X = None
    other = Annotated(obs[:10], ["MS4A1"], counts[:10, :1])
    cells.mod = {"rna": Annotated(obs, ["CD8A", "CD3E", "MS4A1"], counts), "few": other}
    check_genes(cells, counts)
    np.testing.assert_array_equal(named("MS4A1", cells).values, counts[:, 2])


@pytest.mark.filterwarnings("ignore")  # what anndata and pandas say of each other
@pytest.mark.parametrize("is_on_disk", [False, True])
def test_a_gene_of_anndata(is_on_disk, tmp_path):
    anndata = pytest.importorskip("anndata")
    import pandas
    import scipy.sparse

    counts = np.random.default_rng(1).poisson(2.0, (60, 3)).astype(np.float32)
    obs = pandas.DataFrame(
        {"kind": pandas.Categorical(["a", "b"] * 30, categories=["b", "a"])},
        index=[f"c{row}" for row in range(60)],
    )
    genes = pandas.DataFrame(index=["CD8A", "CD3E", "MS4A1"])
    cells = anndata.AnnData(scipy.sparse.csr_matrix(counts), obs, genes)
    if is_on_disk:
        pytest.importorskip("h5py")
        cells.write_h5ad(tmp_path / "cells.h5ad")
        cells = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with warnings.catch_warnings():  # nothing is asked for that anndata means to drop
        warnings.simplefilter("error")
        named("CD3E", cells)
    check_genes(cells, counts)


def test_names_of_columns_in_place_of_labels_are_told():
    with pytest.raises(InputError, match=r"got 2\..*name alone: labels='kind'"):
        plot(POINTS, ["kind", "weight"], columns={"kind": POINTS[:, 0], "weight": POINTS[:, 1]})


def test_what_has_no_columns_is_named():
    with pytest.raises(
        InputError, match="columns: must be a mapping of names to arrays, a data frame or AnnData"
    ):
        plot(POINTS, "kind", columns=3)
    with pytest.raises(InputError, match=r"c0, c1, .*c19, …"):
        plot(POINTS, "kind", columns={f"c{place}": POINTS[:, 0] for place in range(30)})


def test_a_report_takes_a_data_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    import lowdim

    X = np.random.default_rng(0).standard_normal((60, 4))
    frame = pandas.DataFrame({"kind": ["a", "b"] * 30})
    path = write_report(tmp_path / "r.html", lowdim.PCA().fit(X), labels="kind", columns=frame)
    assert path.stat().st_size > 10_000
