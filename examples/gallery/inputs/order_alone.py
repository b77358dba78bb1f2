"""
Only the order of distances: non-metric MDS
===========================================

Answers such as 'more alike than' fix an order, not a number. It is enough for a map.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
places = random.uniform(size=(120, 2))
distances = np.linalg.norm(places[:, None] - places[None], axis=2)
orders = distances**3  # any growing function leaves the order as it is
X = lowdim.MDS(2, metric="precomputed", metric_mds=False).fit_transform(orders)

lowdim.plot(X, places[:, 0], path="order_alone.png")
lowdim.plot(X, places[:, 0], title="From the order of distances", path="order_alone.html")
