"""
Shading instead of points
=========================

Where many points share a pixel a scatter plot shows the last one. Shading counts them.
"""

import lowdim

digits = lowdim.datasets.deformed_digits(20_000, source="digits", random_state=0)
X = lowdim.PCA(2).fit_transform(digits.data)

lowdim.plot(X, digits.labels, density=True, path="shaded.png")
lowdim.plot(X, digits.labels, title="20,000 digits by PCA", path="shaded.html")
