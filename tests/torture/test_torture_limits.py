"""Memory: a hard limit ends in a result or in words, a limit of the user's is kept, and peaks grow as they should."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import lowdim
from lowdim.core import parallel
from lowdim.errors import MemoryLimitError
from torture import limits

LINEAR = {
    "PCA": lambda: lowdim.PCA(2),
    "LaplacianEigenmaps": lambda: lowdim.LaplacianEigenmaps(2, solver="exact"),
    "LaplacianEigenmaps by LLL": lambda: lowdim.LaplacianEigenmaps(2, solver=lowdim.LLL(100)),
    "LLE by LLL": lambda: lowdim.LLE(2, solver=lowdim.LLL(100)),
    "LLE by LandmarkZ": lambda: lowdim.LLE(2, solver=lowdim.LandmarkZ(100)),
    "Isomap by landmarks": lambda: lowdim.Isomap(2, landmarks=100),
    "KernelPCA by Nystrom": lambda: lowdim.KernelPCA(2, solver=lowdim.Nystrom(100)),
    "SpectralClustering": lambda: lowdim.SpectralClustering(3),
    "TSNE": lambda: lowdim.TSNE(max_iter=5, repulsion="fft"),
    "TSNE, trees": lambda: lowdim.TSNE(max_iter=2, repulsion="barnes-hut"),
}
QUICK = ("PCA", "LaplacianEigenmaps")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TSNE", "Isomap"])
def test_a_hard_limit_ends_in_a_result_or_in_words(name):
    pytest.importorskip("resource")
    assert limits.broken(name, (0, 8, 26, 400)) == ""


def test_without_room_no_threads_are_started(monkeypatch):
    monkeypatch.setattr(parallel, "address_room", lambda: 1 << 20)
    monkeypatch.setattr(parallel._thread, "start_new_thread", None)
    assert parallel.map_blocks(lambda block: block.start, 10, n_jobs=4, block_rows=2) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in LINEAR]
)
def test_peaks_grow_with_the_rows(name):
    # Rows on a bent sheet; a step of memory that does not depend on N only makes the ratio smaller.
    peaks = []
    for size in (2500, 10_000):
        data = lowdim.datasets.swiss_roll(size, random_state=0).data @ np.eye(3, 5)
        LINEAR[name]().fit(data[:500].copy())
        tracemalloc.start()
        LINEAR[name]().fit(data)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4.4 * peaks[0]


def test_a_limit_is_kept_by_landmarks_or_by_stopping():
    data = lowdim.datasets.swiss_roll(3000, random_state=0).data
    limit = 40 << 20
    model = lowdim.Isomap(2, memory_limit=limit)
    tracemalloc.start()
    model.fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit
    assert any("would hold" in choice.why for choice in model.report_.choices)
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        lowdim.Isomap(2, solver="exact", memory_limit=limit).fit(data)
    with pytest.raises(MemoryLimitError, match=r"TSNE needs at least .* more than memory_limit"):
        lowdim.TSNE(memory_limit="5 MB").fit(data)
