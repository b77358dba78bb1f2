"""
Two methods, point by point
===========================

Which points do t-SNE and UMAP show among the same neighbours?
"""

import lowdim

digits = lowdim.datasets.load("digits").data[:600]
maps = {"t-SNE": lowdim.TSNE().fit_transform(digits), "UMAP": lowdim.UMAP().fit_transform(digits)}
both = lowdim.compare(digits, maps)

lowdim.plot(maps["t-SNE"], both.agreement[0], path="two_methods.png")
lowdim.plot(maps, both.agreement[0], title="Where both agree", path="two_methods.html")
