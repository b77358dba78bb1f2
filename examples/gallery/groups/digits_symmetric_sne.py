"""
Digits by symmetric SNE
=======================

t-SNE's older sister, with a Gaussian kernel in the picture: groups stay near each other.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.SymmetricSNE().fit(digits.data[:600])

lowdim.plot(model.embedding_, digits.labels[:600], path="digits_symmetric_sne.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:600],
    images=digits.images[:600],
    title="Digits by symmetric SNE",
    path="digits_symmetric_sne.html",
)
