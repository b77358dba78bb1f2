"""scikit-learn's own checks and conventions, over every estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import LANDMARKED, SOME, make
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

CHECKED = [
    lowdim.PCA(),
    lowdim.OrientedPCA(),
    lowdim.ClassicalMDS(),
    lowdim.KernelPCA(),
    lowdim.Isomap(),
    lowdim.LLE(),
    lowdim.LaplacianEigenmaps(),
    lowdim.SpectralClustering(n_clusters=2),
    lowdim.TSNE(max_iter=10),
    lowdim.UMAP(max_iter=10),
    lowdim.MDS(),
]
# Variants of a class above, and classes that differ from one in their objective alone.
KIN = [
    lowdim.LLE(variant="modified"),
    lowdim.LLE(variant="hessian"),
    lowdim.LLE(variant="ltsa"),
    lowdim.ElasticEmbedding(max_iter=10, homotopy=3),
    lowdim.DiffusionMap(),
    lowdim.PaCMAP(max_iter=9),
    lowdim.SymmetricSNE(max_iter=30),
    lowdim.SNE(max_iter=30),
    lowdim.Sammon(),
    lowdim.LargeVis(max_iter=10),
    lowdim.ForceAtlas2(max_iter=10),
    lowdim.NeighborSpectrum(positions=3, max_iter=5),
]


@parametrize_with_checks(CHECKED)
@pytest.mark.every(2)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(KIN)
def test_scikit_learn_checks_of_kin(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def few_digits(digits) -> tuple[np.ndarray, np.ndarray]:
    X, y = digits
    return X[:300], y[:300]


@pytest.mark.parametrize("name", [*SOME, *LANDMARKED])
@pytest.mark.every(2)
def test_clone_and_pickle(name: str, few_digits) -> None:
    X, _ = few_digits
    model = make(name, n_components=2).fit(X)
    again = clone(model).fit(X)
    assert_array_equal(again.embedding_, model.embedding_)
    restored = pickle.loads(pickle.dumps(model))
    assert_array_equal(restored.transform(X[:20]), model.transform(X[:20]))
    assert str(restored.report_) == str(model.report_)


@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(name, marks=pytest.mark.slow) for name in LANDMARKED)]
)
@pytest.mark.every(2)
def test_pipeline_and_grid_search(name: str, few_digits) -> None:
    X, y = few_digits
    pipeline = make_pipeline(StandardScaler(), make(name, n_components=2), KNeighborsClassifier(3))
    step = type(make(name)).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__n_components": [2, 6]}, cv=2, error_score="raise").fit(X, y)
    # In a picture that keeps neighbours two coordinates may tell digits apart as well as six.
    few, many = search.cv_results_["mean_test_score"]
    assert many > few - 0.1
    assert search.best_score_ > 0.4


@pytest.mark.parametrize("name", [*SOME, *LANDMARKED])
@pytest.mark.every(2)
def test_set_output_and_feature_names(name: str, few_digits) -> None:
    pd = pytest.importorskip("pandas")
    X, _ = few_digits
    frame = pd.DataFrame(X, columns=[f"pixel{i}" for i in range(X.shape[1])], index=range(1000, 1300))
    model = make(name, n_components=2).set_output(transform="pandas")
    out = model.fit_transform(frame)
    prefix = type(model).__name__.lower()
    width = model.embedding_.shape[1]
    assert list(out.columns) == [f"{prefix}{i}" for i in range(width)]
    assert list(out.index) == list(frame.index)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert_allclose(out.to_numpy(), model.embedding_)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"pixel0": "other"}))


@pytest.mark.parametrize("name", [*SOME, *LANDMARKED])
@pytest.mark.every(2)
def test_report_tells_what_was_done(name: str, few_digits) -> None:
    X, _ = few_digits
    model = make(name, n_components=2).fit(X)
    report = model.report_
    assert report.shape == X.shape
    assert report.seconds > 0
    assert {stage.name for stage in report.stages} > {"check"}
    assert report.method in str(report)
    assert report.as_dict()["method"] == report.method


@pytest.mark.parametrize("name", [*SOME, *LANDMARKED])
def test_plan_costs_nothing_and_names_stages(name: str) -> None:
    X = np.zeros((5000, 30))
    plan = make(name, n_components=2).plan(X)
    assert plan.seconds > 0
    assert plan.bytes > 0
    assert plan.shape == X.shape
    assert plan.method in str(plan)


@pytest.mark.parametrize("name", [*SOME, *LANDMARKED])
@pytest.mark.every(2)
def test_callback_hears_every_stage(name: str, few_digits) -> None:
    X, _ = few_digits
    heard = []
    model = make(name, n_components=2, callback=heard.append).fit(X)
    started = [event.stage for event in heard if event.kind == "started"]
    assert started == [stage.name for stage in model.report_.stages]


def test_a_new_fit_forgets_the_old_and_a_failed_one_loses_nothing(few_digits) -> None:
    X, _ = few_digits
    model = make("LaplacianEigenmaps").fit(X)
    before = model.embedding_
    assert hasattr(model, "affinity_matrix_")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 15, np.nan, X))
    assert_array_equal(model.embedding_, before)
    model.set_params(on_disconnected="per_component").fit(np.vstack((X, X + 1000)))
    assert not hasattr(model, "affinity_matrix_")
    assert len(model.embedding_) == 600


def test_fit_after_partial_fit_begins_anew(few_digits) -> None:
    X, _ = few_digits
    model = make("PCA", n_components=3).partial_fit(X[:100])
    assert_allclose(model.fit(X).explained_variance_, make("PCA", n_components=3).fit(X).explained_variance_)
    assert not hasattr(model, "sketch_")
