"""
Modified LLE
============

Several weight vectors for each patch instead of one. The strip comes out straight.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.LLE(n_neighbors=12, variant="modified").fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_modified_lle.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="Modified LLE", path="roll_modified_lle.html")
