"""
A circle of uneven density by a diffusion map
=============================================

Most points are on one side. A diffusion map with ``alpha=1`` divides the density out.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
angle = random.vonmises(0, 1.5, size=1000)
Y = np.column_stack([np.cos(angle), np.sin(angle), 0.05 * random.normal(size=1000)])
X = lowdim.DiffusionMap(2, n_neighbors=30, alpha=1.0).fit_transform(Y)

lowdim.plot(X, angle, path="uneven_circle.png")
lowdim.plot(X, angle, title="Density divided out", path="uneven_circle.html")
