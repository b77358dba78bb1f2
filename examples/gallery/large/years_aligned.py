"""
Two years on one map
====================

Two data sets of the same things, fitted together so that their pictures can be laid on each other.
"""

import numpy as np

import lowdim

digits = lowdim.datasets.load("digits").data[:300]
later = digits + np.random.default_rng(0).normal(size=digits.shape)
first, second = lowdim.align(lowdim.TSNE(), [digits, later])
maps = {"first year": first.embedding_, "second year": second.embedding_}
labels = lowdim.datasets.load("digits").labels[:300]

lowdim.plot(maps, labels, path="years_aligned.png")
lowdim.plot(maps, labels, title="Aligned", path="years_aligned.html")
