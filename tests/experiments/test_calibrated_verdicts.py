"""Verdicts of the experiments against seeds of another program: what further seeds would miss, and what is chance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from experiments import umap_equal
from experiments.notebook import Notebook
from experiments.pacmap_mammoth import Difference
from experiments.umap_pictures import FIGURES, PROCRUSTES, Comparison, Judge


@pytest.fixture(scope="module")
def compared():
    """A picture of lowdim's beside three of noise that are nearly one."""
    X, y = load_digits(return_X_y=True)
    judge = Judge.of(X[:150], y[:150])
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 2))
    seeds = [noise + 1e-3 * rng.normal(size=(150, 2)) for _ in range(3)]
    return judge, Comparison.of(judge, 0.1, seeds), noise


def test_a_seed_among_the_seeds_misses_nothing_and_a_worse_picture_does(compared):
    judge, found, noise = compared
    assert not any(found.is_worse(figure) for figure in FIGURES if figure != "loss")
    assert found.is_worse(PROCRUSTES)  # far from pictures that are nearly one
    again = found.instead(judge, 0.1, found.peers[1])
    assert not any(again.is_worse(figure) for figure in (*FIGURES, PROCRUSTES))
    folded = found.instead(judge, 0.1, np.roll(noise, 1, axis=0))
    assert folded.is_worse(PROCRUSTES)
    assert folded.seeds("trust") == found.seeds("trust")


def test_further_seeds_say_how_many_misses_are_umap_learn_s_own(compared, tmp_path):
    judge, found, _ = compared
    key = ("digits", 0.1)
    own = sum(map(found.is_worse, umap_equal.WORDS))
    for others, holds in (([found, found], True), ([found.instead(judge, 0.1, found.peers[0])], own == 0)):
        notebook = Notebook("umap-equal", tmp_path, echo=False)
        umap_equal._judge(notebook, {key: found}, {key: others})
        assert len(notebook.claims) == len(umap_equal.WORDS) + 1
        last = notebook.claims[-1]
        assert last.measured == f"{own} of 6"
        assert last.held == holds
    (row,) = umap_equal._rows({key: found}, {key: [found]})
    assert (row["misses"], row["of a further seed"]) == (own, str(own))


def test_means_differ_where_their_seeds_do_not_explain_it():
    rng = np.random.default_rng(0)
    same, other = rng.normal(0.86, 0.002, 20), rng.normal(0.86, 0.002, 20)
    alike, apart = Difference.of(same, other), Difference.of(same, other + 0.01)
    assert str(alike).endswith("no more than chance.")
    assert not alike.is_lower
    assert str(apart).endswith("a difference.")
    assert apart.is_lower
    assert not Difference.of(other + 0.01, same).is_lower
    one = Difference.of([0.8], [0.9])
    assert "one seed says no more" in str(one)
    assert one.is_lower
