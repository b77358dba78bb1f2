"""Models through skops' files, as docs/models.md says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lowdim

io = pytest.importorskip("skops.io")
POINTS = np.random.default_rng(0).normal(size=(80, 6))


@pytest.mark.parametrize(
    "make",
    [
        lambda: lowdim.PCA(2),
        lambda: lowdim.KernelPCA(2, kernel="rbf"),
        lambda: lowdim.LaplacianEigenmaps(n_neighbors=8, solver=lowdim.LLL(20)),
        lambda: lowdim.Isomap(n_neighbors=8),
        lambda: lowdim.TSNE(perplexity=8, max_iter=20, random_state=0),
    ],
    ids=["PCA", "KernelPCA", "LLL", "Isomap", "TSNE"],
)
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_a_model_comes_back_with_the_same_bits(make):
    model = make().fit(POINTS)
    file = io.dumps(model)
    kinds = io.get_untrusted_types(data=file)
    assert all(kind.startswith("lowdim.") or kind == "scipy.sparse._csr.csr_array" for kind in kinds)
    loaded = io.loads(file, trusted=kinds)
    assert_array_equal(loaded.embedding_, model.embedding_)
    assert_array_equal(loaded.transform(POINTS[:5] + 0.1), model.transform(POINTS[:5] + 0.1))
