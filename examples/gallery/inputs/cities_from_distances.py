"""
A map from a table of distances
===============================

Capitals of Europe from the distances between them alone, by classical MDS.
"""

import numpy as np

import lowdim

CITIES = {
    "Lisbon": (38.7, -9.1),
    "Madrid": (40.4, -3.7),
    "Paris": (48.9, 2.4),
    "London": (51.5, -0.1),
    "Dublin": (53.3, -6.3),
    "Brussels": (50.8, 4.4),
    "Berlin": (52.5, 13.4),
    "Rome": (41.9, 12.5),
    "Vienna": (48.2, 16.4),
    "Prague": (50.1, 14.4),
    "Warsaw": (52.2, 21.0),
    "Athens": (38.0, 23.7),
    "Oslo": (59.9, 10.8),
    "Helsinki": (60.2, 24.9),
    "Kyiv": (50.5, 30.5),
}
places = np.radians(list(CITIES.values()))
half = np.sin((places[:, None] - places[None]) / 2) ** 2
cosines = np.cos(places[:, 0])
distances = 12742 * np.arcsin(np.sqrt(half[..., 0] + cosines[:, None] * cosines * half[..., 1]))
X = lowdim.ClassicalMDS(2, metric="precomputed").fit_transform(distances)

figure = lowdim.plot(X, point_size=30)
for name, place in zip(CITIES, X, strict=True):
    figure.axes[0].annotate(name, place, fontsize=7)
figure.savefig("cities_from_distances.png")
lowdim.plot(X, ids=list(CITIES), title="Capitals from distances", path="cities_from_distances.html")
