"""
A Swiss roll by Isomap
======================

Isomap measures distances along the roll, from neighbour to neighbour. So it can unroll it.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
flat = lowdim.Isomap(n_neighbors=10).fit_transform(roll.data)

lowdim.plot(flat, roll.parameters[:, 0], title="Isomap", path="isomap_roll.png")
lowdim.plot(flat, roll.parameters[:, 0], title="Isomap", path="isomap_roll.html")
