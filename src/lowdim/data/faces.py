"""One face at every place of a picture full of noise: a surface of images whose two coordinates are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.records import Floats
from ..errors import InputError
from .catalogue import CATALOGUE
from .stored import Dataset, Seed, find, load

DRAWN_SHAPE = (28, 20)


def translated_faces(
    shifts: tuple[int, int] = (31, 31),
    *,
    face: ArrayLike | str | None = None,
    noise: float = 1.0,
    still: bool = True,
    random_state: Seed = 0,
) -> Dataset:
    """Images of one face, moved over a background of noise to every place of a grid (Saul & Roweis 2003).

    The images are a curved surface in the space of all pixels, with two coordinates: where the face is.

    Parameters
    ----------
    shifts
        Places down and across; the image is larger than the face by so many pixels. The default, with a face of
        28 x 20, is the paper's: 961 images of 59 x 51.
    face
        An image with values from 0 to 1 (height x width); ``"frey"``, the first of the Frey faces; ``"drawn"``, one
        made of ellipses. None: Frey's where it is on this machine, else the drawn one.
    noise
        The background is uniform from 0 to this.
    still
        One background for all images, which the face moves over. False: another for every image, so that any two of
        them differ by noise as well.
    random_state
        Seed or generator.

    Returns
    -------
    Dataset
        ``data``: the images as rows, values from 0 to 1; ``parameters``: how far down and across the face is.
    """
    down, across = shifts
    if down < 1 or across < 1:
        raise InputError(f"shifts={shifts!r}: must be two whole numbers of at least 1.")
    if not (np.isfinite(noise) and noise >= 0):
        raise InputError(f"noise={noise!r}: must be a number of at least 0.")
    image = _face(face)
    height, width = image.shape
    generator = np.random.default_rng(random_state)
    places = np.array([(i, j) for i in range(down) for j in range(across)])
    shape = (height + down, width + across)
    images = np.empty((len(places), *shape))
    images[:] = noise * generator.uniform(size=shape if still else images.shape)
    for picture, (i, j) in zip(images, places, strict=True):
        picture[i : i + height, j : j + width] = image
    return Dataset(images.reshape(len(places), -1), parameters=places.astype(np.float64), image_shape=shape)


def drawn_face() -> Floats:
    """A face of 28 x 20 pixels: a head lit from the left, hair, eyes, nose and mouth."""
    height, width = DRAWN_SHAPE
    y, x = np.mgrid[-1.0 : 1.0 : height * 1j, -1.0 : 1.0 : width * 1j]

    def spot(down: float, across: float, tall: float, wide: float) -> NDArray[Any]:
        spot: NDArray[Any] = np.exp(-(((y - down) / tall) ** 2) - ((x - across) / wide) ** 2)
        return spot

    head = 1.0 / (1.0 + np.exp(24.0 * (np.hypot(y / 0.98, x / 0.88) - 0.95)))
    face = head * (0.72 - 0.18 * x)
    face -= 0.55 * head * spot(-1.0, 0.0, 0.32, 0.9)
    for side in (-0.42, 0.42):
        face -= 0.5 * spot(-0.2, side, 0.09, 0.2)
        face -= 0.25 * spot(-0.4, side, 0.06, 0.26)
    face -= 0.18 * spot(0.12, 0.1, 0.26, 0.1)
    face -= 0.3 * spot(0.3, 0.0, 0.05, 0.2)
    face -= 0.45 * spot(0.56, 0.0, 0.08, 0.36)
    drawn: Floats = np.clip(face + 0.06, 0.0, 1.0)
    return drawn


def _face(face: ArrayLike | str | None) -> Floats:
    if face is None:
        face = "frey" if find(CATALOGUE["frey_faces"]) else "drawn"
    if isinstance(face, str):
        if face not in ("frey", "drawn"):
            raise InputError(f"face={face!r}: must be 'frey', 'drawn', an image or None.")
        return drawn_face() if face == "drawn" else load("frey_faces").images[0] / 255.0
    image = np.asarray(face, dtype=np.float64)
    if image.ndim != 2 or not image.size or not (np.all(image >= 0) and np.all(image <= 1)):
        raise InputError(
            f"face: must be an image, height x width, with values from 0 to 1; got shape {image.shape}."
        )
    return image
