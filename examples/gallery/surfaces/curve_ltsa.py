"""
An S curve by LTSA
==================

Tangent planes of all patches, aligned with each other.
"""

import lowdim

roll = lowdim.datasets.s_curve(1500, random_state=0)
model = lowdim.LLE(n_neighbors=12, variant="ltsa").fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="curve_ltsa.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="An S curve by LTSA", path="curve_ltsa.html")
