"""The adapters under which scikit-learn's tests run, and how the harness judges what became of them."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from sklearn import cluster, decomposition, manifold
from sklearn.base import clone

if not hasattr(manifold, "ClassicalMDS"):
    pytest.skip("the adapters stand for classes of newer releases of scikit-learn", allow_module_level=True)

from torture import scikit_learn as harness
from torture.scikit_learn import adapters
from torture.scikit_learn.differences import DIFFERENCES, ROUNDED

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

THEIRS = {
    adapters.PCA: decomposition.PCA,
    adapters.IncrementalPCA: decomposition.IncrementalPCA,
    adapters.KernelPCA: decomposition.KernelPCA,
    adapters.ClassicalMDS: manifold.ClassicalMDS,
    adapters.Isomap: manifold.Isomap,
    adapters.LocallyLinearEmbedding: manifold.LocallyLinearEmbedding,
    adapters.SpectralEmbedding: manifold.SpectralEmbedding,
    adapters.SpectralClustering: cluster.SpectralClustering,
    adapters.TSNE: manifold.TSNE,
}
SMALL = {"n_components": 2, "perplexity": 5, "max_iter": 251, "n_clusters": 2}


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 4))


@pytest.mark.parametrize("kind", THEIRS, ids=lambda kind: kind.__name__)
def test_an_adapter_has_their_parameters_and_our_work(kind: type, points: np.ndarray) -> None:
    theirs = THEIRS[kind]
    assert kind.__name__ == theirs.__name__
    assert inspect.signature(kind) == inspect.signature(theirs)
    model = kind(
        **{name: value for name, value in SMALL.items() if name in inspect.signature(kind).parameters}
    )
    adapters.USED.clear()
    embedding = clone(model).fit_transform(points)
    assert {kind.__name__} == adapters.USED
    own = model.fit(points).model_
    assert type(own).__module__.startswith("lowdim.")
    if model.get_params().get("random_state", 0) is not None:
        np.testing.assert_array_equal(embedding, own.embedding_)


def test_an_unfitted_adapter_has_no_fitted_attributes() -> None:
    assert not hasattr(adapters.PCA(), "components_")
    assert not hasattr(adapters.Isomap(), "embedding_")


def result(test: str, outcome: str) -> harness.Result:
    return harness.Result(test, outcome, ours=True, why="because")


def test_what_is_not_listed_must_pass_and_what_is_must_fail() -> None:
    module = harness.MODULES[0]
    listed = next(pattern for pattern in DIFFERENCES if pattern.startswith(module) and "[" not in pattern)
    others = [pattern for pattern in DIFFERENCES if pattern.startswith(module) and pattern != listed]
    good = [result(pattern.replace("*", "x"), "failed") for pattern in others]
    good += [result(f"{listed}[1-2]", "failed"), result(f"{module}::test_fine", "passed")]
    assert harness.judge(good) == []
    wrong = [*good[:-2], result(f"{listed}[1-2]", "passed"), result(f"{module}::test_fine", "failed")]
    assert len(harness.judge(wrong)) == 2
    assert any("no such test was run" in fault for fault in harness.judge(good[-1:]))


def test_every_difference_is_of_a_module_that_is_run_and_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
    for pattern, reason in {**DIFFERENCES, **ROUNDED}.items():
        assert pattern.split("::")[0] in harness.MODULES
        assert pattern.split("::")[1] in page
        assert reason in page


@pytest.mark.slow
def test_their_tests_run_against_ours() -> None:
    results = harness.results_of("manifold/tests/test_classical_mds.py", "-k", "equivalent_to_pca")
    assert [(one.outcome, one.ours) for one in results] == [("passed", True)]
