"""
A metric of your own
====================

Any function of two rows can be the distance. Here: the share of places in which two genomes differ.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
ancestors = random.integers(4, size=(4, 200))
family = random.integers(4, size=240)
genomes = ancestors[family]
changed = random.uniform(size=genomes.shape) < 0.4
genomes[changed] = random.integers(4, size=changed.sum())
X = lowdim.UMAP(metric=lambda a, b: float(np.mean(a != b))).fit_transform(genomes)

lowdim.plot(X, family, path="own_metric.png")
lowdim.plot(X, family, title="Families of genomes", path="own_metric.html")
