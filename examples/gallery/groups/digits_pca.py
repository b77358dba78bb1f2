"""
Digits by PCA
=============

The first look. Nothing is bent or torn, and groups overlap.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.PCA(2).fit(digits.data)

lowdim.plot(model.embedding_, digits.labels, path="digits_pca.png")
lowdim.plot(
    model.embedding_, digits.labels, images=digits.images, title="Digits by PCA", path="digits_pca.html"
)
