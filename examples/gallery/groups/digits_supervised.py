"""
UMAP that follows labels
========================

Half of the labels are known and guide the map; where a label is not known it is -1.
"""

import numpy as np

import lowdim

digits = lowdim.datasets.load("digits")
Y, labels = digits.data[:800], digits.labels[:800]
known = np.where(np.arange(800) % 2, labels, -1)
model = lowdim.UMAP().fit(Y, known)

lowdim.plot(model.embedding_, labels, path="digits_supervised.png")
lowdim.plot(model.embedding_, labels, title="Guided by half of the labels", path="digits_supervised.html")
