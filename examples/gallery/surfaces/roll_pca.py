"""
A Swiss roll by PCA
===================

PCA looks from the side on which the data are widest. Layers of the roll lie on top of each other.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)
model = lowdim.PCA(2).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="roll_pca.png")
lowdim.plot(model.embedding_, roll.parameters[:, 0], title="A Swiss roll by PCA", path="roll_pca.html")
