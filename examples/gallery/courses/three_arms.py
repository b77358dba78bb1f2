"""
Branches by Laplacian eigenmaps
===============================

Three noisy arms in 30 columns. Noise across an arm is averaged away.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
arm, along = random.integers(3, size=900), random.uniform(size=900)
Y = 10 * along[:, None] * np.eye(30)[arm] + random.normal(size=(900, 30))
X = lowdim.LaplacianEigenmaps(2, n_neighbors=20).fit_transform(Y)

lowdim.plot(X, along, path="three_arms.png")
lowdim.plot(X, along, columns={"arm": arm}, title="Three arms", path="three_arms.html")
