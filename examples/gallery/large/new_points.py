"""
New points on an old map
========================

Half of the digits are fitted, the others are placed among them, each alone.
"""

import numpy as np

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.TSNE().fit(digits.data[:900])
both = np.vstack([model.embedding_, model.transform(digits.data[900:])])
kind = np.repeat(["fitted", "new"], [900, 897])

lowdim.plot(both, kind, path="new_points.png")
lowdim.plot(both, digits.labels, columns={"kind": kind}, title="Old and new", path="new_points.html")
