"""
Where a map is torn
===================

A sphere cannot be laid flat. Points along the cut would land elsewhere if their row moved a little.
"""

import numpy as np

import lowdim

points = np.random.default_rng(0).normal(size=(1000, 3))
points /= np.linalg.norm(points, axis=1, keepdims=True)
model = lowdim.TSNE().fit(points)
found = lowdim.trust(points, model.embedding_, model)

lowdim.plot(model.embedding_, "perturbation", columns=found, path="torn_sphere.png")
lowdim.plot(model.embedding_, "perturbation", trust=found, title="A torn sphere", path="torn_sphere.html")
