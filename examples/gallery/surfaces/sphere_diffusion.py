"""
A sphere without poles by a diffusion map
=========================================

Walks along the surface, with the density of the points divided out.
"""

import lowdim

roll = lowdim.datasets.severed_sphere(1500, random_state=0)
model = lowdim.DiffusionMap(2, n_neighbors=15, alpha=1.0).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="sphere_diffusion.png")
lowdim.plot(
    model.embedding_,
    roll.parameters[:, 0],
    title="A sphere without poles by a diffusion map",
    path="sphere_diffusion.html",
)
