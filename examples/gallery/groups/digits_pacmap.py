"""
Digits by PaCMAP
================

Pairs of middle distance count too: groups and the large shape at once.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.PaCMAP().fit(digits.data[:1000])

lowdim.plot(model.embedding_, digits.labels[:1000], path="digits_pacmap.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:1000],
    images=digits.images[:1000],
    title="Digits by PaCMAP",
    path="digits_pacmap.html",
)
