"""Whether numbers look like counts: by what they are and how they spread, not by their largest alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim.data.counts import are_counts

RNG = np.random.default_rng(0)
# Cells that were read with very different depth, of genes that are active to very different degrees.
SHALLOW = RNG.poisson(np.outer(RNG.gamma(3.0, 0.3, 200), RNG.gamma(0.3, 1.0, 40)))
COUNTS = {
    "shallow, the largest below 20": np.minimum(SHALLOW, 15),
    "deep": RNG.poisson(30.0, (50, 12)),
    "one gene far above the others": np.array([[1, 0, 0], [0, 1, 7]]),
}
OTHERS = {
    "labels of ten classes": RNG.integers(0, 10, (50, 12)),
    "grades from 1 to 5": RNG.integers(1, 6, (50, 12)),
    "copies of an allele": RNG.binomial(2, 0.2, (50, 12)),
    "one or none": RNG.binomial(1, 0.2, (50, 12)),
    "pixels of 16 levels": np.where(RNG.random((50, 12)) < 0.5, 0, RNG.integers(0, 17, (50, 12))),
    "logarithms": np.log1p(SHALLOW),
    "differences": SHALLOW - 3,
    "nothing but zeros": np.zeros((5, 4)),
    "no entry": np.zeros((0, 4)),
    "true and false": SHALLOW > 0,
}


@pytest.mark.parametrize("make", [np.asarray, np.float32, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_known(name, make):
    assert are_counts(make(COUNTS[name]))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", OTHERS)
def test_other_whole_numbers_are_none(name, make):
    assert not are_counts(make(OTHERS[name]))


def test_zeros_that_are_stored_do_not_count():
    stored = sparse.csr_array((np.array([0, 0, 0, 3, 4]), ([0, 1, 2, 0, 1], [0, 0, 0, 1, 1])), shape=(3, 2))
    assert not are_counts(stored)
