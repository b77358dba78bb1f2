"""Landmarks over rows in shards: stages of small tasks that read and write a store.

The rows are cut into canonical blocks by their numbers, and into cells by k-means on the landmarks. Every point is in
the two cells nearest to it, as one that asks for neighbours and as one that may be found, and what each cell finds is
merged. Sums run over blocks and cells in their order, so that no result depends on how the source is cut, who does the
work, or how often it died on the way.

    sample   blocks    check the numbers, read the landmarks
    route    blocks    weights of the points on their landmarks; the points to their cells
    search   cells     neighbours
    merge    blocks    the nearest of all that was found; each edge to a cell that has both its ends
    rows     blocks    of locally linear embedding: the points to their cells once more
    lend     cells     of locally linear embedding: points that are neighbours of others across a border
    sums     cells     A~ and B~ of the edges, or of the points with their neighbours
    place    blocks    coordinates

That is `fit_lll`. Where landmarks are embedded alone (`fit_alone`) there are two stages, sample and place.
"""
