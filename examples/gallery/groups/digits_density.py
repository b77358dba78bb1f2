"""
Densities kept
==============

One group is ten times as wide as the other. Usually a neighbour embedding gives both the same
room; ``density`` keeps the difference.
"""

import numpy as np

import lowdim

random = np.random.default_rng(0)
wide, narrow = random.normal(size=(300, 10)), 0.1 * random.normal(size=(300, 10)) + 6
Y, group = np.vstack([wide, narrow]), np.repeat(["wide", "narrow"], 300)
maps = {"UMAP": lowdim.UMAP().fit_transform(Y), "UMAP(density=2)": lowdim.UMAP(density=2).fit_transform(Y)}

lowdim.plot(maps, group, path="digits_density.png")
lowdim.plot(maps, group, title="Densities", path="digits_density.html")
