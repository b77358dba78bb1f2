"""
Isomap with a radius
====================

All points within a radius are neighbours, instead of the ten nearest: epsilon-Isomap.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.Isomap(radius=4.0).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_isomap_radius.png")
lowdim.plot(
    model.embedding_, roll.parameters[:, 0], title="Isomap with a radius", path="roll_isomap_radius.html"
)
