"""
Which points keep their neighbours
==================================

Recall of each point: the share of its 15 nearest that are shown near it.
"""

import lowdim

digits = lowdim.datasets.load("digits").data[:1000]
X = lowdim.PCA(2).fit_transform(digits)
found = lowdim.trust(digits, X)

lowdim.plot(X, "recall", columns=found, path="neighbours_kept.png")
lowdim.plot(X, "recall", trust=found, title="Recall of PCA", path="neighbours_kept.html")
