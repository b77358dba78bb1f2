"""lowdim's estimators under scikit-learn's names and parameters: what its own tests are run against.

An adapter stores scikit-learn's parameters, translates them at ``fit``, and hands every other attribute to lowdim's
estimator. It computes nothing that lowdim ought to: what is missing there is missing here.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import distance
from sklearn import cluster, decomposition, manifold
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels

import lowdim

USED: set[str] = set()
"""Adapters that were fitted since this was last emptied."""


class Adapter(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of scikit-learn's name whose work is lowdim's."""

    same: ClassVar[tuple[str, ...]] = ()
    """Parameters of the same name and meaning."""
    renamed: ClassVar[dict[str, str]] = {}
    """Fitted attributes that are called otherwise in lowdim."""

    def translated(self, X: Any) -> Any:
        """lowdim's estimator for such data."""
        raise NotImplementedError

    def given(self, X: Any) -> Any:
        """The data as lowdim takes them."""
        return X

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit lowdim's estimator."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit lowdim's estimator, and return the embedding."""
        USED.add(type(self).__name__)
        model = self.translated(X)
        embedding = model.fit_transform(self.given(X))
        self.model_ = model
        if hasattr(model, "n_features_in_"):
            self.n_features_in_ = model.n_features_in_
        return embedding

    def transform(self, X: Any) -> Any:
        """Coordinates of new rows."""
        USED.add(type(self).__name__)
        return self._fitted().transform(X)

    def _fitted(self) -> Any:
        if "model_" not in vars(self):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"{type(self).__name__} is not fitted")
        return self.model_

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.embedding_.shape[1])

    def _own(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.same}

    def __getattr__(self, name: str) -> Any:
        model = vars(self).get("model_")
        if model is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        return getattr(model, self.renamed.get(name, name))


def metric_of(metric: Any, params: dict[str, Any] | None, p: float = 2) -> Any:
    """A metric with its parameters as one name or function."""
    if metric == "minkowski":
        p = (params or {}).get("p", p)
        return {1: "manhattan", 2: "euclidean"}.get(p) or partial(distance.minkowski, p=p)
    if not params:
        return metric
    if metric == "mahalanobis":
        return partial(
            distance.mahalanobis, VI=params.get("VI", np.linalg.inv(params["V"])) if params else None
        )
    return partial(metric if callable(metric) else getattr(distance, metric), **params)


EIGENSOLVERS = {"auto": "auto", None: "auto", "dense": "dense", "arpack": "lanczos", "randomized": "lanczos"}


class PCA(Adapter):
    """lowdim.PCA."""

    __init__ = decomposition.PCA.__init__
    same = ("n_components", "whiten", "random_state")
    renamed: ClassVar[dict[str, str]] = {"n_samples_": "n_samples_seen_"}
    solvers: ClassVar[dict[str, str]] = {"covariance_eigh": "covariance", "arpack": "randomized"}

    def translated(self, X: Any) -> Any:
        """``full`` is the smaller of two exact problems; a solver that must know the number is told all."""
        own, solver = self._own(), self.solvers.get(self.svd_solver, self.svd_solver)
        shape = np.shape(X)
        if solver == "full":
            solver = "covariance" if shape[0] >= shape[-1] else "snapshot"
        if solver == "randomized" and self.n_components is None:
            own["n_components"] = min(shape) - (self.svd_solver == "arpack")
        return lowdim.PCA(solver=solver, **own)


class IncrementalPCA(Adapter):
    """lowdim.PCA, in one pass."""

    __init__ = decomposition.IncrementalPCA.__init__
    same = ("n_components", "whiten")

    def translated(self, X: Any) -> Any:
        """All components where no number is given."""
        own = self._own()
        if self.n_components is None:
            own["n_components"] = min(np.shape(X))
        return lowdim.PCA(solver="streaming", **own)

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Any:
        """More rows."""
        USED.add(type(self).__name__)
        if "model_" not in vars(self):
            self.model_ = self.translated(X)
        self.model_.set_params(**{name: value for name, value in self._own().items() if value is not None})
        self.model_.partial_fit(X)
        return self


class KernelPCA(Adapter):
    """lowdim.KernelPCA."""

    __init__ = decomposition.KernelPCA.__init__
    same = ("n_components", "gamma", "degree", "coef0", "random_state", "fit_inverse_transform", "alpha")

    def translated(self, X: Any) -> Any:
        """A kernel with parameters is one function."""
        kernel = partial(self.kernel, **self.kernel_params) if self.kernel_params else self.kernel
        return lowdim.KernelPCA(kernel=kernel, solver=EIGENSOLVERS[self.eigen_solver], **self._own())

    def __sklearn_tags__(self) -> Any:
        """Rows and columns of a kernel matrix are split together."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class Isomap(Adapter):
    """lowdim.Isomap."""

    __init__ = manifold.Isomap.__init__
    same = ("n_neighbors", "radius", "n_components")

    def translated(self, X: Any) -> Any:
        """Shortest paths are lowdim's own choice."""
        metric = metric_of(self.metric, self.metric_params, self.p)
        return lowdim.Isomap(metric=metric, solver=EIGENSOLVERS[self.eigen_solver], **self._own())


class LocallyLinearEmbedding(Adapter):
    """lowdim.LLE."""

    __init__ = manifold.LocallyLinearEmbedding.__init__
    same = ("n_neighbors", "n_components", "reg", "random_state")

    def translated(self, X: Any) -> Any:
        """ARPACK works there on the inverse."""
        solver = {"arpack": "shift-invert"}.get(self.eigen_solver, self.eigen_solver)
        return lowdim.LLE(variant=self.method, solver=solver, **self._own())


def locally_linear_embedding(X: Any, *, n_neighbors: int, n_components: int, **other: Any) -> Any:
    """Embedding and error of `LocallyLinearEmbedding`."""
    model = LocallyLinearEmbedding(n_neighbors=n_neighbors, n_components=n_components, **other).fit(X)
    return model.embedding_, model.reconstruction_error_


class Laplacian(Adapter):
    """What spectral embedding and clustering share: the words for affinities."""

    solvers: ClassVar[dict[Any, str]] = {"arpack": "shift-invert", "amg": "lobpcg", None: "auto"}

    def _graph(self, X: Any) -> dict[str, Any]:
        """lowdim's parameters for the graph.

        The nearest neighbours of scikit-learn's graph count the point itself; its rbf kernel is over all pairs.
        """
        n_points = np.shape(X)[0]
        if self.affinity == "nearest_neighbors":
            count = max(n_points // 10, 1) if self.n_neighbors is None else self.n_neighbors
            return {"affinity": lowdim.Binary(), "n_neighbors": max(count - 1, 1)}
        if self.affinity == "precomputed_nearest_neighbors":
            return {"affinity": lowdim.Binary(), "metric": "precomputed", "n_neighbors": self.n_neighbors}
        if self.affinity == "rbf":
            gamma = 1.0 / np.shape(X)[1] if self.gamma is None else self.gamma
            return {"affinity": lowdim.Gaussian(float(gamma) ** -0.5), "n_neighbors": n_points - 1}
        return {"metric": "graph"}

    def given(self, X: Any) -> Any:
        """A kernel other than rbf is given as a graph."""
        words = ("nearest_neighbors", "precomputed_nearest_neighbors", "rbf", "precomputed")
        if isinstance(self.affinity, str) and self.affinity in words:
            return X
        return self._kernel(X)

    def _kernel(self, X: Any) -> Any:
        raise NotImplementedError


class SpectralEmbedding(Laplacian):
    """lowdim.LaplacianEigenmaps."""

    __init__ = manifold.SpectralEmbedding.__init__
    same = ("n_components", "random_state")

    def translated(self, X: Any) -> Any:
        """The same graph, the nearest eigensolver."""
        solver = self.solvers.get(self.eigen_solver, self.eigen_solver)
        return lowdim.LaplacianEigenmaps(solver=solver, **self._graph(X), **self._own())

    def _kernel(self, X: Any) -> Any:
        return self.affinity(X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and keep the diagonal of a kernel, which no Laplacian sees."""
        is_matrix = self.affinity == "precomputed" and isinstance(X, np.ndarray)
        self.diagonal_ = np.diag(np.diagonal(X)) if is_matrix else None
        return super().fit_transform(X)

    @property
    def affinity_matrix_(self) -> Any:
        """Dense, and with the diagonal that a kernel has, where every pair has a weight."""
        weights = self.model_.affinity_matrix_
        if self.affinity == "rbf" or callable(self.affinity):
            return weights.toarray() + np.eye(weights.shape[0])
        return weights if self.diagonal_ is None else weights.toarray() + self.diagonal_


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: str | None = None,
    random_state: Any = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Any:
    """The embedding of a graph by `SpectralEmbedding`."""
    USED.add("spectral_embedding")
    if not norm_laplacian or not drop_first:
        raise NotImplementedError("lowdim has the normalised Laplacian alone, and drops the constant vector")
    model = SpectralEmbedding(
        n_components, affinity="precomputed", eigen_solver=eigen_solver, random_state=random_state
    )
    return model.fit_transform(adjacency)


class SpectralClustering(Laplacian):
    """lowdim.SpectralClustering."""

    __init__ = cluster.SpectralClustering.__init__
    same = ("n_clusters", "n_components", "random_state", "n_init", "assign_labels", "verbose")

    def translated(self, X: Any) -> Any:
        """The same graph, the nearest eigensolver."""
        solver = self.solvers.get(self.eigen_solver, self.eigen_solver)
        return lowdim.SpectralClustering(solver=solver, **self._graph(X), **self._own())

    def _kernel(self, X: Any) -> Any:
        parameters = dict(self.kernel_params or {})
        if not callable(self.affinity):
            parameters |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **parameters)


def spectral_clustering(
    affinity: Any,
    *,
    n_clusters: int = 8,
    eigen_solver: str | None = None,
    random_state: Any = None,
    assign_labels: str = "kmeans",
    **_: Any,
) -> Any:
    """The labels of a graph by `SpectralClustering`."""
    model = SpectralClustering(
        n_clusters,
        affinity="precomputed",
        eigen_solver=eigen_solver,
        random_state=random_state,
        assign_labels=assign_labels,
    )
    return model.fit(affinity).labels_


class TSNE(Adapter):
    """lowdim.TSNE."""

    __init__ = manifold.TSNE.__init__
    same = (
        "n_components",
        "perplexity",
        "early_exaggeration",
        "learning_rate",
        "max_iter",
        "init",
        "verbose",
        "random_state",
        "n_jobs",
    )

    def translated(self, X: Any) -> Any:
        """The angle is that of the tree."""
        repulsion = "exact" if self.method == "exact" else lowdim.BarnesHut(self.angle)
        return lowdim.TSNE(
            metric=metric_of(self.metric, self.metric_params), repulsion=repulsion, **self._own()
        )

    @property
    def kl_divergence_(self) -> float:
        """The last value of the objective."""
        return float(self.model_.history_.values[-1])

    @property
    def n_iter_(self) -> int:
        """The last iteration, counted from 0."""
        return int(self.model_.history_.iterations[-1]) - 1


class ClassicalMDS(Adapter):
    """lowdim.ClassicalMDS."""

    __init__ = manifold.ClassicalMDS.__init__
    same = ("n_components",)

    def translated(self, X: Any) -> Any:
        """A metric with parameters is one function."""
        return lowdim.ClassicalMDS(metric=metric_of(self.metric, self.metric_params), **self._own())


REPLACED = {
    decomposition: (PCA, IncrementalPCA, KernelPCA),
    manifold: (
        Isomap,
        LocallyLinearEmbedding,
        locally_linear_embedding,
        SpectralEmbedding,
        spectral_embedding,
        TSNE,
        ClassicalMDS,
    ),
    cluster: (SpectralClustering, spectral_clustering),
}
"""What takes the place of scikit-learn's own in its packages."""


def replace() -> None:
    """Put the adapters into scikit-learn's packages, for modules that are imported after this."""
    for package, adapters in REPLACED.items():
        for adapter in adapters:
            setattr(package, adapter.__name__, adapter)
