"""
A wave and its phase
====================

Sine curves that differ in their phase lie on a circle, whatever their number of samples.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
phase = random.uniform(0, 2 * np.pi, size=600)
Y = np.sin(np.linspace(0, 6, 100) + phase[:, None]) + 0.2 * random.normal(size=(600, 100))
X = lowdim.LaplacianEigenmaps(2, n_neighbors=15).fit_transform(Y)

lowdim.plot(X, phase, path="ring_of_waves.png")
lowdim.plot(X, phase, title="Waves by their phase", path="ring_of_waves.html")
