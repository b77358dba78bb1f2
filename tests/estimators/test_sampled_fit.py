"""Neighbour embeddings of rows in shards: a sample is embedded, all rows are placed, whatever the chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import InputError, MemoryLimitError
from lowdim.estimators.shards import sampled_fit

DIGITS, LABELS = (each[:600] for each in load_digits(return_X_y=True))


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_fit, "USUAL_ROWS", 200)
    monkeypatch.setattr(sampled_fit, "FEWEST_ROWS", 50)


def tsne(**other: Any) -> Any:
    return lowdim.TSNE(**{"max_iter": 60, "random_state": 1} | other)


def test_a_sample_is_embedded_and_all_rows_are_placed() -> None:
    array = pytest.importorskip("dask.array")
    model = tsne().fit(InMemory.of(DIGITS))
    assert model.embedding_.shape == (200, 2)
    alone = tsne().fit(DIGITS[model.sample_rows_])
    np.testing.assert_array_equal(model.embedding_, alone.embedding_)
    placed = np.asarray(model.transform(InMemory.of(DIGITS)))
    np.testing.assert_array_equal(placed, alone.transform(DIGITS))
    assert model.report_.choices[0].choice == "200 of 600"
    lazy = tsne().fit_transform(array.from_array(DIGITS, chunks=(77, 50)))
    np.testing.assert_allclose(lazy.compute(scheduler="synchronous"), placed, atol=1e-9)


def test_few_rows_are_all_embedded() -> None:
    whole = tsne().fit(DIGITS[:150])
    found = tsne().fit(InMemory.of(DIGITS[:150]))
    np.testing.assert_array_equal(found.embedding_, whole.embedding_)
    np.testing.assert_array_equal(found.sample_rows_, np.arange(150))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UMAP", "PaCMAP", "LargeVis", "SymmetricSNE", "ElasticEmbedding"])
def test_the_others_do_the_same(name: str) -> None:
    model = getattr(lowdim, name)(max_iter=20).fit(InMemory.of(DIGITS))
    assert model.transform(InMemory.of(DIGITS)).shape == (600, 2)


def test_targets_are_those_of_the_sample() -> None:
    model = tsne(target_weight=0.5).fit(InMemory.of(DIGITS), LABELS)
    alone = tsne(target_weight=0.5).fit(DIGITS[model.sample_rows_], LABELS[model.sample_rows_])
    np.testing.assert_array_equal(model.embedding_, alone.embedding_)
    with pytest.raises(InputError, match="y must have an entry for each of the 600 rows"):
        tsne(target_weight=0.5).fit(InMemory.of(DIGITS), LABELS[:7])


def test_the_sample_is_as_large_as_memory_allows() -> None:
    source = InMemory.of(DIGITS)
    whole = sampled_fit._needed(tsne(), source, 200)
    limited = tsne(memory_limit=whole - 1)
    count, why = sampled_fit.sample_size(limited, source)
    assert 50 <= count < 200
    assert "more need over" in why
    assert f"{count:,} rows" in str(limited.plan(source))
    with pytest.raises(MemoryLimitError, match="TSNE of 50 rows needs"):
        tsne(memory_limit=1000).fit(source)


def test_distances_cannot_be_sampled() -> None:
    with pytest.raises(InputError, match="needs all rows in memory, because X holds values"):
        tsne(metric="precomputed").fit(InMemory.of(DIGITS))


def test_names_and_numbers_of_rows_are_in_the_model_file(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(300.0), "b": np.arange(300.0) ** 2})
    model = tsne(max_iter=5, perplexity=5).fit(lowdim.shards(table))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    lowdim.save(model, tmp_path / "m.lowdim")
    again = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(again.sample_rows_, model.sample_rows_)
    np.testing.assert_array_equal(
        again.transform(lowdim.shards(table)).rows(0, 9), model.transform(table)[:9]
    )
