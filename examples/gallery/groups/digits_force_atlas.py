"""
Digits by ForceAtlas2
=====================

Springs and charges, as graphs are drawn.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.ForceAtlas2(n_neighbors=15).fit(digits.data[:600])

lowdim.plot(model.embedding_, digits.labels[:600], path="digits_force_atlas.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:600],
    images=digits.images[:600],
    title="Digits by ForceAtlas2",
    path="digits_force_atlas.html",
)
