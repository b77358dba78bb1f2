"""
An S curve by kernel PCA
========================

A Gaussian kernel bends the space in which PCA then looks for directions.
"""

import lowdim

roll = lowdim.datasets.s_curve(1500, random_state=0)
model = lowdim.KernelPCA(kernel="rbf", gamma=0.5).fit(roll.data)

lowdim.plot(model.embedding_, roll.parameters[:, 0], path="curve_kernel_pca.png")
lowdim.plot(
    model.embedding_, roll.parameters[:, 0], title="An S curve by kernel PCA", path="curve_kernel_pca.html"
)
