"""
Digits by Sammon's map
======================

Distances, the short ones more than the long ones.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.Sammon().fit(digits.data[:500])

lowdim.plot(model.embedding_, digits.labels[:500], path="digits_sammon.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:500],
    images=digits.images[:500],
    title="Digits by Sammon's map",
    path="digits_sammon.html",
)
