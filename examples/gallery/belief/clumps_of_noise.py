"""
Clumps that are not there
=========================

One Gaussian cloud. With few neighbours t-SNE draws clumps; with more they vanish.
"""

import numpy as np

import lowdim

noise = np.random.default_rng(0).normal(size=(600, 20))
maps = {f"perplexity {p}": lowdim.TSNE(perplexity=p).fit_transform(noise) for p in (3, 60)}

lowdim.plot(maps, path="clumps_of_noise.png")
lowdim.plot(maps, title="Noise", path="clumps_of_noise.html")
