"""
A tree by ForceAtlas2
=====================

A binary tree of 255 nodes, drawn by springs and charges.
"""

import numpy as np
from scipy import sparse

import lowdim

child = np.arange(1, 255)
parent = (child - 1) // 2
tree = sparse.coo_array((np.ones(254), (child, parent)), shape=(255, 255)).tocsr()
level = np.floor(np.log2(np.arange(255) + 1)).astype(int)
X = lowdim.ForceAtlas2(metric="graph").fit_transform(sparse.csr_array(tree + tree.T))

figure = lowdim.plot(X, level)
for a, b in zip(child, parent, strict=True):
    figure.axes[0].plot(*X[[a, b]].T, color="#c8ccd2", linewidth=0.8, zorder=0)
figure.savefig("tree_graph.png")
lowdim.plot(X, level, title="A tree", path="tree_graph.html")
