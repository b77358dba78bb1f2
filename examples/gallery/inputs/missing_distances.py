"""
Half of the distances are missing
=================================

``MDS`` leaves out what is not known (NaN), and still finds the shape.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
angle = np.linspace(0, 2 * np.pi, 300, endpoint=False)
star = (1 + 0.4 * np.cos(5 * angle))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
distances = np.linalg.norm(star[:, None] - star[None], axis=2)
hidden = np.triu(random.uniform(size=(300, 300)) < 0.5, 1)
distances[hidden | hidden.T] = np.nan
X = lowdim.MDS(2, metric="precomputed").fit_transform(distances)

lowdim.plot(X, angle, path="missing_distances.png")
lowdim.plot(X, angle, title="A star from half of its distances", path="missing_distances.html")
