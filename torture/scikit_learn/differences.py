"""Tests of scikit-learn that lowdim fails by convention, each with its reason, as docs/conventions.md lists them."""

from __future__ import annotations

from collections.abc import Mapping

_PCA = "decomposition/tests/test_pca.py::"
_INCREMENTAL = "decomposition/tests/test_incremental_pca.py::"
_KERNEL = "decomposition/tests/test_kernel_pca.py::"
_ISOMAP = "manifold/tests/test_isomap.py::"
_SPECTRAL = "manifold/tests/test_spectral_embedding.py::"
_TSNE = "manifold/tests/test_t_sne.py::"
_CLUSTERS = "cluster/tests/test_spectral.py::"

INTERNAL = "It looks into scikit-learn's own code."
FITTED_PRECISION = "What is fitted beside coordinates is float64."
IN_PIECES = "A precomputed graph in pieces is an error: nothing says how far apart they are."
PERPLEXITY = "The perplexity must be below the number of neighbours, where the entropy has a solution."
STANDARD_ERROR = "verbose writes to standard error, in words of its own."
NORMALISED = "The Laplacian is the normalised one, and its constant vector is left out."

DIFFERENCES: Mapping[str, str] = {
    _PCA + "test_pca_validation[arpack-*": "solver='randomized' finds all components too.",
    _PCA + "test_pca_score": "Whitening changes coordinates, not the density.",
    _PCA + "test_pca_score3": "n_components must be at least 1.",
    _PCA + "test_pca_zero_noise_variance_edge_cases[full]": "A singular covariance has no density.",
    _PCA + "test_pca_zero_noise_variance_edge_cases[randomized]": "A singular covariance has no density.",
    _PCA + "test_pca_svd_solver_auto": INTERNAL,
    _PCA + "test_pca_dtype_preservation": FITTED_PRECISION,
    _PCA + "test_pca_randomized_svd_n_oversamples": "Randomized solvers go on to a residual of 1e-6.",
    _PCA + "test_sparse_pca_solver_error": "Every solver takes sparse rows.",
    _INCREMENTAL + "test_incremental_pca_sparse": "partial_fit takes sparse rows.",
    _INCREMENTAL
    + "test_incremental_pca_validation": "A block may have fewer rows than components are asked for.",
    _INCREMENTAL + "test_incremental_pca_set_params": "n_components may change between blocks.",
    _KERNEL + "test_remove_zero_eig": "At least one component is kept, and zero ones are 0 for every point.",
    _KERNEL + "test_leave_zero_eig": "N points span N - 1 dimensions; more are refused.",
    _KERNEL + "test_kernel_pca_precomputed_non_symmetric": "A kernel matrix must be symmetric.",
    _KERNEL + "test_kernel_conditioning": "Eigenvalues are as they were found; tiny ones make no coordinate.",
    _KERNEL + "test_precomputed_kernel_not_psd": "Negative eigenvalues make coordinates 0, with a warning.",
    _ISOMAP + "test_isomap_clone_bug": "Models keep no neighbour search under nbrs_.",
    _ISOMAP + "test_isomap_fitted_attributes_dtype": "Models keep no matrix of all geodesics.",
    _ISOMAP + "test_isomap_dtype_equivalence": "Models keep no matrix of all geodesics.",
    _ISOMAP + "test_multiple_connected_components_metric_precomputed": IN_PIECES,
    _SPECTRAL + "test_fallback_amg": INTERNAL,
    _SPECTRAL + "test_spectral_eigen_tol_auto": INTERNAL,
    _SPECTRAL + "test_precomputed_nearest_neighbors_filtering": IN_PIECES,
    _SPECTRAL + "test_spectral_embedding_unnormalized": NORMALISED,
    _SPECTRAL + "test_spectral_embedding_first_eigen_vector": NORMALISED,
    _SPECTRAL + "test_spectral_embedding_preserves_dtype[float32-*": FITTED_PRECISION,
    _TSNE + "test_exact_no_precomputed_sparse": PERPLEXITY,
    _TSNE + "test_verbose": PERPLEXITY,
    _TSNE + "test_chebyshev_metric": PERPLEXITY,
    _TSNE + "test_reduction_to_one_component": PERPLEXITY,
    _TSNE + "test_bh_match_exact": PERPLEXITY,
    _TSNE + "test_init_ndarray": "Rows that are all equal are refused: there is nothing to embed.",
    _TSNE + "test_64bit[float64-*": "float64 rows give float64 coordinates.",
    _TSNE + "test_n_iter_without_progress": STANDARD_ERROR,
    _TSNE + "test_accessible_kl_divergence": STANDARD_ERROR,
    _TSNE + "test_tsne_with_mahalanobis_distance": "Without V, Mahalanobis takes the spread of the data.",
    _CLUSTERS + "test_spectral_clustering_np_matrix_raises": "An np.matrix is taken as the array that it is.",
    _CLUSTERS + "test_verbose": STANDARD_ERROR,
}
"""Test, with ``*`` for anything and all its parameters where none are given, and the reason."""

ROUNDED: Mapping[str, str] = {
    _TSNE + "test_tsne_with_different_distance_metrics": "Distances given and computed may round apart.",
    _TSNE + "test_optimization_minimizes_kl_divergence": "The schedule stretches with max_iter.",
}
"""The same for tests that ask for equal bits, or nearly: they may pass and they may fail."""
