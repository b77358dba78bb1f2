"""
A hundred landmarks carry all points
====================================

Laplacian eigenmaps by locally linear landmarks.
"""

import lowdim

curve = lowdim.datasets.s_curve(5000, random_state=0)
model = lowdim.LaplacianEigenmaps(2, solver=lowdim.LLL(100)).fit(curve.data)

lowdim.plot(model.embedding_, curve.parameters[:, 0], path="landmarks.png")
lowdim.plot(model.embedding_, curve.parameters[:, 0], title="100 landmarks", path="landmarks.html")
