"""
Digits by Laplacian eigenmaps
=============================

Only neighbours pull. The first two coordinates tell few groups apart: ask for ten to cluster.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.LaplacianEigenmaps(2, n_neighbors=15).fit(digits.data)

lowdim.plot(model.embedding_, digits.labels, path="digits_laplacian.png")
lowdim.plot(
    model.embedding_,
    digits.labels,
    images=digits.images,
    title="Digits by Laplacian eigenmaps",
    path="digits_laplacian.html",
)
