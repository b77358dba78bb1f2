"""Translated faces: the face is where the parameters say, on a background that stands still or does not."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import datasets
from lowdim.data.faces import drawn_face
from lowdim.errors import InputError

FACE = np.arange(12.0).reshape(4, 3) / 11.0


def test_the_face_is_where_the_parameters_say():
    made = datasets.translated_faces((5, 7), face=FACE, noise=0.5)
    assert made.data.shape == (35, 9 * 10)
    assert made.image_shape == (9, 10)
    for image, (down, across) in zip(made.images, made.parameters.astype(int), strict=True):
        np.testing.assert_array_equal(image[down : down + 4, across : across + 3], FACE)
    assert made.data.min() >= 0
    assert {tuple(place) for place in made.parameters} == {(i, j) for i in range(5) for j in range(7)}


def test_the_background_stands_still_or_does_not():
    still = datasets.translated_faces((4, 4), face=FACE).images
    np.testing.assert_array_equal(still[0][-1], still[5][-1])
    moving = datasets.translated_faces((4, 4), face=FACE, still=False).images
    assert np.all(moving[0][-1] != moving[5][-1])
    np.testing.assert_array_equal(datasets.translated_faces((4, 4), face=FACE, noise=0.0).images[0][-1], 0.0)


def test_seeds():
    one, same = (datasets.translated_faces((2, 2), face=FACE, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(one.data, same.data)
    assert np.any(one.data != datasets.translated_faces((2, 2), face=FACE, random_state=5).data)


def test_the_face_falls_back_to_a_drawn_one(tmp_path, monkeypatch):
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    monkeypatch.setenv("LOWDIM_CACHE", str(tmp_path))
    made = datasets.translated_faces((3, 3))
    np.testing.assert_array_equal(made.images[0][:28, :20], drawn_face())
    np.savez(tmp_path / "frey_faces.npz", X=np.full((2, 560), 51, np.uint8))
    np.testing.assert_allclose(datasets.translated_faces((3, 3)).images[0][:28, :20], 0.2)
    assert np.any(datasets.translated_faces((3, 3), face="drawn").images[0][:28, :20] != 0.2)


def test_a_drawn_face_has_features():
    face = drawn_face()
    assert face.shape == (28, 20)
    assert face.min() >= 0
    assert face.max() <= 1
    # Eyes and mouth are darker than the cheek between them.
    assert face[11, 5] < face[16, 5] - 0.2
    assert face[21, 9] < face[16, 5] - 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shifts": (0, 3)}, "shifts="),
        ({"noise": -1.0}, "noise="),
        ({"noise": np.nan}, "noise="),
        ({"face": "smile"}, "face='smile'"),
        ({"face": np.ones(4)}, "height x width"),
        ({"face": np.full((2, 2), 7.0)}, "from 0 to 1"),
        ({"face": np.zeros((0, 2))}, "height x width"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(InputError, match=message):
        datasets.translated_faces(**{"face": FACE, **options})
