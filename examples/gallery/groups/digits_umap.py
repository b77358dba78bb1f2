"""
Digits by UMAP
==============

Stronger attraction: tighter groups, more space between. Nothing is drawn at random.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.UMAP().fit(digits.data[:1000])

lowdim.plot(model.embedding_, digits.labels[:1000], path="digits_umap.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:1000],
    images=digits.images[:1000],
    title="Digits by UMAP",
    path="digits_umap.html",
)
