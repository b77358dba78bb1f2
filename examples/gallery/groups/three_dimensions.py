"""
t-SNE in three dimensions
=========================

More room for groups. Turn it on the page.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.TSNE(3, max_iter=400).fit(digits.data[:600])

lowdim.plot(model.embedding_, digits.labels[:600], path="three_dimensions.png")
lowdim.plot(model.embedding_, digits.labels[:600], title="Three dimensions", path="three_dimensions.html")
