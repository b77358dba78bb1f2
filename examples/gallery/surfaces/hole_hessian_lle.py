"""
A strip with a hole by Hessian LLE
==================================

Isomap must walk around a hole and widens it. Hessian LLE looks at small patches alone and keeps it.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(2000, hole=True, random_state=0)
model = lowdim.LLE(n_neighbors=12, variant="hessian").fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="hole_hessian_lle.png")
lowdim.plot(
    model.embedding_,
    roll.parameters[:, 0],
    title="A strip with a hole by Hessian LLE",
    path="hole_hessian_lle.html",
)
