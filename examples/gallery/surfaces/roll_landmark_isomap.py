"""
Landmark Isomap
===============

Geodesics from 150 landmarks only. The other points are placed by their distances to these.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.Isomap(n_neighbors=10, landmarks=150).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_landmark_isomap.png")
lowdim.plot(
    model.embedding_, roll.parameters[:, 0], title="Landmark Isomap", path="roll_landmark_isomap.html"
)
