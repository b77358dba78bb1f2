"""
Digits by LargeVis
==================

UMAP's form on t-SNE's affinities, as a function that every optimiser can minimise.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.LargeVis().fit(digits.data[:600])

lowdim.plot(model.embedding_, digits.labels[:600], path="digits_largevis.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:600],
    images=digits.images[:600],
    title="Digits by LargeVis",
    path="digits_largevis.html",
)
