"""
A Swiss roll by LLE
===================

Each point is rebuilt by its neighbours; the same weights must rebuild the picture.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.LLE(n_neighbors=12).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_lle.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="A Swiss roll by LLE", path="roll_lle.html")
