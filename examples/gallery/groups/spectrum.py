"""
From t-SNE to Laplacian eigenmaps
=================================

One family of maps, from much repulsion to none. The page has a slider.
"""

import lowdim

digits = lowdim.datasets.load("digits")
model = lowdim.NeighborSpectrum(position=1, positions=5).fit(digits.data[:600])

lowdim.plot(model.frames_, digits.labels[:600], path="spectrum.png")
lowdim.plot(model.frames_, digits.labels[:600], title="From t-SNE to eigenmaps", path="spectrum.html")
