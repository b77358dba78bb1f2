"""
A graph by symmetric SNE
========================

A grid of 20 x 20 nodes, given by its edges alone.
"""

import numpy as np
from scipy import sparse

import lowdim

path = sparse.diags_array([1.0, 1.0], offsets=[1, -1], shape=(20, 20))
one = sparse.eye_array(20)
grid = sparse.csr_array(sparse.kron(path, one) + sparse.kron(one, path))
X = lowdim.SymmetricSNE(metric="graph").fit_transform(grid)

lowdim.plot(X, np.arange(400) // 20, continuous=True, path="grid_graph.png")
lowdim.plot(X, np.arange(400) // 20, continuous=True, title="A grid from its edges", path="grid_graph.html")
