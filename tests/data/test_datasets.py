"""Data sets: shapes that are what they claim, and readers that say what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.data import datasets
from lowdim.errors import FormatError, InputError, MissingDataError


@pytest.mark.parametrize("make", [datasets.swiss_roll, datasets.s_curve])
def test_parameters_are_the_isometric_flattening(make):
    """Points close on the surface are as far apart in space as in the plane."""
    made = make(6000, random_state=0)
    anchor, others = made.parameters[0], made.parameters[1:]
    flat = np.linalg.norm(others - anchor, axis=1)
    near = flat < 0.05 * np.ptp(made.parameters[:, 1])
    assert near.sum() > 5
    spatial = np.linalg.norm(made.data[1:] - made.data[0], axis=1)
    np.testing.assert_allclose(spatial[near], flat[near], rtol=0.02)


@pytest.mark.parametrize("aspect", [1.0, 4.0])
def test_the_roll_has_the_sides_asked_for(aspect):
    roll = datasets.swiss_roll(20000, aspect=aspect, random_state=0)
    length, width = np.ptp(roll.parameters, axis=0)
    assert length / width == pytest.approx(aspect, rel=0.01)
    radius = np.hypot(roll.data[:, 0], roll.data[:, 2])
    assert 1.5 * np.pi <= radius.min()
    assert radius.max() <= 4.5 * np.pi
    share = np.histogram(roll.parameters[:, 0], bins=10)[0] / 20000
    np.testing.assert_allclose(share, 0.1, atol=0.01)


@pytest.mark.parametrize("make", [datasets.swiss_roll, datasets.s_curve])
def test_the_hole_is_empty(make):
    made = make(3000, hole=True, random_state=1)
    low, high = made.parameters.min(axis=0), made.parameters.max(axis=0)
    square = (made.parameters - low) / (high - low)
    assert len(square) == 3000
    assert not np.any(np.all(np.abs(square - 0.5) < 0.16, axis=1))


def test_severed_sphere():
    made = datasets.severed_sphere(2000, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(made.data, axis=1), 1.0)
    longitude, polar = made.parameters.T
    np.testing.assert_allclose(made.data[:, 2], np.cos(polar), atol=1e-12)
    np.testing.assert_allclose(
        np.arctan2(made.data[:, 1], made.data[:, 0]) % (2 * np.pi), longitude, atol=1e-9
    )
    assert polar.min() >= np.pi / 8


@pytest.mark.parametrize("make", [datasets.swiss_roll, datasets.s_curve, datasets.severed_sphere])
def test_seeds_and_noise(make):
    clean, noisy = make(500, random_state=3), make(500, noise=0.1, random_state=3)
    np.testing.assert_array_equal(clean.data, make(500, random_state=np.random.default_rng(3)).data)
    np.testing.assert_array_equal(clean.parameters, noisy.parameters)
    assert np.std(noisy.data - clean.data) == pytest.approx(0.1, rel=0.1)


def test_digits_ship_with_scikit_learn():
    made = datasets.load("digits")
    assert made.data.shape == (1797, 64)
    assert set(made.labels) == set(range(10))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="mnist"):
        datasets.load("mnits")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two empty folders: the user's and the cache."""
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    cache.mkdir()
    monkeypatch.setenv("LOWDIM_DATA", str(own))
    monkeypatch.setenv("LOWDIM_CACHE", str(cache))
    return own, cache


def test_a_missing_file_names_the_variable(folders, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"coil20\.npz.*LOWDIM_DATA.*X \(1440 x 16384\), y, angle"):
        datasets.load("coil20")
    monkeypatch.delenv("LOWDIM_DATA")
    with pytest.raises(MissingDataError, match="not set"):
        datasets.load("coil20")


def test_files_are_read_without_pickle(folders):
    own, _ = folders
    np.savez(own / "coil20.npz", X=np.eye(3), y=np.arange(3), angle=np.zeros(3))
    made = datasets.load("coil20")
    np.testing.assert_array_equal(made.data, np.eye(3))
    np.testing.assert_array_equal(made.labels, [0, 1, 2])
    np.testing.assert_array_equal(made.parameters, np.zeros(3))
    np.savez(own / "mammoth.npz", X=np.array([{}], dtype=object))
    with pytest.raises(FormatError, match="unpickling"):
        datasets.load("mammoth")


@pytest.mark.parametrize("content", [b"", b"not an archive", "other", "cut", "lone"])
def test_damaged_archives_are_named(folders, content):
    path = folders[0] / "mammoth.npz"
    np.savez(path, Z=np.zeros((40, 3))) if content == "other" else np.savez(path, X=np.zeros((40, 3)))
    if content == "cut":
        path.write_bytes(path.read_bytes()[:300])
    elif content == "lone":
        with path.open("wb") as file:
            np.save(file, np.zeros((40, 3)))
    elif content != "other":
        path.write_bytes(content)
    with pytest.raises(FormatError, match=r"mammoth\.npz cannot be read.*X \(50000 x 3\)"):
        datasets.load("mammoth")


def test_the_folder_of_the_user_comes_before_the_cache(folders):
    own, cache = folders
    np.savez(cache / "mammoth.npz", X=np.zeros((2, 3)))
    assert datasets.load("mammoth").data.max() == 0
    np.savez(own / "mammoth.npz", X=np.ones((2, 3)))
    assert datasets.load("mammoth").data.max() == 1


@pytest.mark.slow
def test_images_are_row_by_row(folders):
    image = np.arange(1024.0).reshape(32, 32)
    np.savez(folders[0] / "isomap_faces_32x32.npz", X=image.T.reshape(1, -1), params=np.zeros((1, 3)))
    made = datasets.load("isomap_faces")
    np.testing.assert_array_equal(made.images[0], image)
    np.testing.assert_array_equal(made.data[0], image.ravel())
    with pytest.raises(InputError, match="not images"):
        _ = datasets.swiss_roll(5).images
    assert datasets.load("digits").images.shape == (1797, 8, 8)
    assert datasets.deformed_digits(3, source="digits").images.shape == (3, 8, 8)


def test_what_is_available(folders):
    np.savez(folders[1] / "mammoth.npz", X=np.zeros((2, 3)))
    listed = {one.name: one for one in datasets.available()}
    assert listed["digits"].where == "scikit-learn"
    assert listed["mammoth"].where == str(folders[1] / "mammoth.npz")
    assert listed["mnist"].where == "OpenML"
    assert listed["olivetti"].where == "download"
    assert listed["coil20"].where == "not here"
    text = str(datasets.available())
    assert len(text.splitlines()) == len(listed) + 1
    assert "70,000" in text
    assert repr(datasets.available()) == text
    page = datasets.available()._repr_html_()
    assert page.count("<tr>") == len(listed) + 1
    assert "AT&amp;T" in page


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, ".cache/lowdim"),
        ("linux", {"XDG_CACHE_HOME": "/somewhere"}, "/somewhere/lowdim"),
        ("darwin", {}, "Library/Caches/lowdim"),
        ("win32", {}, "AppData/Local/lowdim/cache"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/lowdim/cache"),
        ("linux", {"LOWDIM_CACHE": "~/mine"}, "mine"),
    ],
)
def test_the_cache_folder_is_the_platforms(tmp_path, monkeypatch, platform, variables, expected):
    for name in ("LOWDIM_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert datasets.cache_folder() == tmp_path / expected


def test_real_files(data_folder):
    faces = datasets.load("isomap_faces")
    assert faces.data.shape == (698, 1024)
    assert faces.parameters.shape == (698, 3)


@pytest.mark.parametrize(
    ("name", "arrays", "message"),
    [
        ("coil20", {"X": np.eye(3), "y": np.arange(2), "angle": np.zeros(3)}, "not of as many rows"),
        ("coil20", {"X": np.eye(3), "y": np.int64(3), "angle": np.zeros(3)}, "not of as many rows"),
        ("mammoth", {"X": np.zeros(3)}, "not of as many rows"),
        ("mammoth", {"X": np.zeros((3, 2), complex)}, "complex numbers"),
        ("isomap_faces", {"X": np.eye(3), "params": np.eye(3)}, "no images of 32 x 32"),
    ],
)
def test_arrays_that_do_not_belong_together(folders, name, arrays, message):
    file = "isomap_faces_32x32.npz" if name == "isomap_faces" else f"{name}.npz"
    np.savez(folders[0] / file, **arrays)
    with pytest.raises(FormatError, match=rf"{file} cannot be read as an archive .*{message}"):
        datasets.load(name)


@pytest.mark.parametrize("make", [datasets.swiss_roll, datasets.s_curve, datasets.severed_sphere])
@pytest.mark.parametrize("n", [-3, 0, 2.5, "many"])
def test_the_number_of_points_is_checked(make, n):
    with pytest.raises(InputError, match="n, the number of points, must be a whole number >= 1; got"):
        make(n)


def test_a_name_that_is_near_is_asked_for():
    with pytest.raises(InputError, match=r"'mnst' is no data set; known are .*Did you mean 'mnist'"):
        datasets.load("mnst")
