"""
A Swiss roll by Isomap
======================

Isomap measures along the roll, from neighbour to neighbour. So it can unroll it, with its lengths.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.Isomap(n_neighbors=10).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_isomap.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="A Swiss roll by Isomap", path="roll_isomap.html")
