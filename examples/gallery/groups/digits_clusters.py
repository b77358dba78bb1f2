"""
Spectral clustering
===================

Ten groups without labels: k-means on Laplacian coordinates, shown on a t-SNE map.
"""

import lowdim

digits = lowdim.datasets.load("digits")
Y = digits.data[:1000]
groups = lowdim.SpectralClustering(10, n_neighbors=10).fit(Y).labels_
map_of_points = lowdim.TSNE().fit_transform(Y)

lowdim.plot(map_of_points, groups, path="digits_clusters.png")
lowdim.plot(map_of_points, groups, columns={"digit": digits.labels[:1000]}, path="digits_clusters.html")
