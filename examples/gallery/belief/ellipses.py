"""
What becomes of a small ball
============================

The map draws a small ball as an ellipse: where ellipses are long it is not true to shape.
"""

import lowdim

sphere = lowdim.datasets.severed_sphere(800, random_state=0)
X = lowdim.Isomap(2).fit_transform(sphere.data)
found = lowdim.trust(sphere.data, X)

lowdim.plot(X, sphere.parameters[:, 0], trust=found, ellipses=True, path="ellipses.png")
lowdim.plot(X, "distortion", trust=found, title="Distortion", path="ellipses.html")
