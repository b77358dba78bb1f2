"""
A face that moves, by LLE
=========================

One face at 17 x 17 places of a picture full of noise: 2 true dimensions in thousands of pixels.
"""

import lowdim

faces = lowdim.datasets.translated_faces((17, 17))
model = lowdim.LLE(n_neighbors=4).fit(faces.data)

lowdim.plot(
    model.embedding_, faces.parameters[:, 0], continuous=True, images=faces.images, path="moving_face.png"
)
lowdim.plot(
    model.embedding_, faces.parameters[:, 0], continuous=True, images=faces.images, path="moving_face.html"
)
