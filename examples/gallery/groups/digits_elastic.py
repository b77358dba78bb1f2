"""
Digits by the elastic embedding
===============================

Springs between neighbours, and a push that fades quickly. An even picture that keeps more of the whole.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.ElasticEmbedding().fit(digits.data[:600])

lowdim.plot(model.embedding_, digits.labels[:600], path="digits_elastic.png")
lowdim.plot(
    model.embedding_,
    digits.labels[:600],
    images=digits.images[:600],
    title="Digits by the elastic embedding",
    path="digits_elastic.html",
)
