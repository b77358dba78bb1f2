"""
The sphere by metric MDS
========================

Least stress: all distances as well as a plane can hold them.
"""

import lowdim

roll = lowdim.datasets.severed_sphere(600, random_state=0)
model = lowdim.MDS(2).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="sphere_mds.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="The sphere by metric MDS", path="sphere_mds.html")
