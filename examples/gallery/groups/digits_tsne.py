"""
Digits by t-SNE
===============

Most neighbours are kept: groups come apart.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.TSNE().fit(digits.data)

lowdim.plot(model.embedding_, digits.labels, path="digits_tsne.png")
lowdim.plot(
    model.embedding_, digits.labels, images=digits.images, title="Digits by t-SNE", path="digits_tsne.html"
)
