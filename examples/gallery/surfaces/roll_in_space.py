"""
A cloud in three dimensions
===========================

A picture may have three dimensions; on the page it can be turned.
"""

import lowdim

roll = lowdim.datasets.swiss_roll(1500, random_state=0)

lowdim.plot(roll.data, roll.parameters[:, 0], path="roll_in_space.png")
lowdim.plot(roll.data, roll.parameters[:, 0], title="A Swiss roll in space", path="roll_in_space.html")
