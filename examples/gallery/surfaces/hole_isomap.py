"""
The same hole by Isomap
=======================

Ways around the hole are longer than the straight line. So the hole grows.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(2000, hole=True, random_state=0)
model = lowdim.Isomap(n_neighbors=12).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="hole_isomap.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="The same hole by Isomap", path="hole_isomap.html")
