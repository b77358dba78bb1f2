"""Data sets: shapes that are what they claim, and readers that say what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.data import datasets
from lowdim.errors import InputError


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


def test_a_missing_file_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"LOWDIM_DATA.*mnist\.npz|mnist\.npz.*LOWDIM_DATA"):
        datasets.load("mnist")
    monkeypatch.delenv("LOWDIM_DATA")
    with pytest.raises(FileNotFoundError, match="not set"):
        datasets.load("coil20")


def test_files_are_read_without_pickle(tmp_path, monkeypatch):
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    np.savez(tmp_path / "coil20.npz", X=np.eye(3), y=np.arange(3), angle=np.zeros(3))
    made = datasets.load("coil20")
    np.testing.assert_array_equal(made.data, np.eye(3))
    np.testing.assert_array_equal(made.labels, [0, 1, 2])
    np.testing.assert_array_equal(made.parameters, np.zeros(3))
    np.savez(tmp_path / "mammoth.npz", X=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        datasets.load("mammoth")


def test_real_files(data_folder):
    faces = datasets.load("isomap_faces")
    assert faces.data.shape == (698, 1024)
    assert faces.parameters.shape == (698, 3)
