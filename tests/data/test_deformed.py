"""Deformed digits: the same rows however they are made, files whole or not at all, digits that stay what they are."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from lowdim import datasets, kernels
from lowdim.core.run import Run
from lowdim.data import deformed
from lowdim.data.stored import Dataset
from lowdim.errors import FileError, InputError


def made(n, **options):
    return datasets.deformed_digits(n, source="digits", **options)


def test_shapes_labels_and_sources(digits):
    images, labels = digits
    set_ = made(500, random_state=1)
    assert set_.data.shape == (500, 64)
    assert set_.data.dtype == np.uint8
    np.testing.assert_array_equal(set_.labels, labels[set_.parameters])
    assert set_.parameters.min() >= 0
    assert set_.parameters.max() < len(images)
    assert np.unique(set_.parameters).size > 400


def test_no_strength_gives_the_digits_themselves(digits):
    set_ = made(200, strength=0.0)
    np.testing.assert_array_equal(set_.data, np.rint(digits[0][set_.parameters] * (255 / 16)))


@pytest.mark.slow
def test_rows_are_deformed_and_recognisable(digits):
    set_ = made(300, random_state=2)
    plain = np.rint(digits[0] * (255 / 16))
    difference = np.abs(set_.data - plain[set_.parameters]).max(axis=1)
    assert (difference > 0).all()
    squared = np.square(set_.data[:, None, :].astype(float) - plain[None]).sum(axis=2)
    assert (digits[1][squared.argmin(axis=1)] == set_.labels).mean() > 0.95


@pytest.mark.slow
def test_two_rows_of_one_digit_differ():
    one = Dataset(np.full((1, 64), 200, np.uint8))
    set_ = datasets.deformed_digits(50, source=one)
    assert len(np.unique(set_.data, axis=0)) == 50
    assert set_.labels is None


def test_rows_depend_on_the_seed_and_their_number_alone(monkeypatch):
    few, many = made(100, random_state=5), made(1000, random_state=5)
    np.testing.assert_array_equal(few.data, many.data[:100])
    np.testing.assert_array_equal(few.parameters, many.parameters[:100])
    np.testing.assert_array_equal(many.data, made(1000, random_state=5, n_jobs=1).data)
    np.testing.assert_array_equal(many.data, made(1000, random_state=5, n_jobs=3).data)
    assert (made(100, random_state=6).data != few.data).any(axis=1).all()


@pytest.mark.parametrize("block_rows", [1, 7, 1000])
def test_blocks_change_nothing(block_rows):
    images, _ = deformed._images("digits")
    sources = np.arange(300)
    maker = deformed._Maker(images, sources, np.uint64(3), 1.0, 2)
    expected, out = np.empty((300, 64), np.uint8), np.empty((300, 64), np.uint8)
    maker.fill(expected, 0)
    maker.fill(out, 0, block_rows)
    np.testing.assert_array_equal(out, expected)
    maker.fill(out[:100], 200, block_rows)
    np.testing.assert_array_equal(out[:100], expected[200:])
    np.testing.assert_array_equal(
        np.concatenate([part.copy() for part in maker.chunks(block_rows)]), expected
    )


def test_generators_are_drawn_from_once():
    generator, same = np.random.default_rng(7), np.random.default_rng(7)
    first, second = made(50, random_state=generator), made(50, random_state=generator)
    np.testing.assert_array_equal(first.data, made(50, random_state=same).data)
    assert (first.data != second.data).any()


def test_sampling_is_bilinear_interpolation():
    """The compiled loop against SciPy's interpolation at the same places."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (9, 9)).astype(np.uint8)
    framed = np.zeros((11, 11), np.float32)
    framed[1:-1, 1:-1] = image
    affine = np.array([[0.9, 0.1, 0.7], [-0.2, 1.1, -1.3]], np.float32)
    down, right = rng.uniform(-4, 4, (2, 9, 9)).astype(np.float32)
    out = np.empty(81, np.uint8)
    kernels.deformation.sample(framed, affine, down, right, out)
    y, x = np.mgrid[-4:5, -4:5]
    rows = affine[0, 0] * y + affine[0, 1] * x + affine[0, 2] + down + 5
    columns = affine[1, 0] * y + affine[1, 1] * x + affine[1, 2] + right + 5
    expected = map_coordinates(
        framed.astype(float), [np.clip(rows, 0, 10), np.clip(columns, 0, 10)], order=1, mode="nearest"
    )
    np.testing.assert_allclose(out.reshape(9, 9), expected, atol=0.51)


def test_random_numbers_are_even_and_unrelated():
    numbers = np.array(
        [[kernels.counter.draw(key, k) for k in range(4)] for key in _keys(range(5000))], dtype=float
    )
    assert numbers.min() >= 0
    assert numbers.max() < 1
    np.testing.assert_allclose(np.histogram(numbers, bins=10, range=(0, 1))[0] / numbers.size, 0.1, atol=0.01)
    table = np.corrcoef(np.column_stack((numbers, np.roll(numbers, 1, axis=0))), rowvar=False)
    assert np.abs(table - np.eye(8)).max() < 0.06


def _keys(rows):
    return [np.uint64(kernels.counter.stream(np.uint64(0), row)) for row in rows]


def test_the_spline_basis_sums_to_one():
    for side in (8, 28):
        basis = deformed._spline_basis(side)
        np.testing.assert_allclose(basis.sum(axis=1), 1.0, rtol=1e-6)
        assert (basis >= 0).all()


def test_a_file_is_a_memory_map_of_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(deformed, "CHUNK", 64)
    path = tmp_path / "digits.npy"
    set_ = made(150, path=path, random_state=4)
    assert isinstance(set_.data, np.memmap)
    assert not set_.data.flags.writeable
    expected = made(150, random_state=4)
    np.testing.assert_array_equal(set_.data, expected.data)
    np.testing.assert_array_equal(set_.labels, expected.labels)
    np.testing.assert_array_equal(np.load(path), expected.data)
    assert [entry.name for entry in tmp_path.iterdir()] == ["digits.npy"]


def test_an_existing_file_is_kept_unless_overwritten(tmp_path):
    path = tmp_path / "digits.npy"
    path.write_bytes(b"precious")
    with pytest.raises(FileError, match="overwrite=True"):
        made(10, path=str(path))
    assert path.read_bytes() == b"precious"
    np.testing.assert_array_equal(made(10, path=path, overwrite=True).data, made(10).data)
    with pytest.raises(FileError, match="is a folder"):
        made(10, path=tmp_path, overwrite=True)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileError, match="nowhere does not exist"):
        made(10, path=tmp_path / "nowhere" / "digits.npy")


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "digits.npy"
    path.write_bytes(b"old")

    def run_full(maker, chunk=0):
        yield np.zeros((5, 64), np.uint8)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(deformed._Maker, "chunks", run_full)
        with pytest.raises(OSError, match=r"digits\.npy: the disk is full") as caught:
            made(10, path=path, overwrite=True)
        assert caught.value.errno == errno.ENOSPC
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(OSError, match="100 B left"):
        made(10, path=path, overwrite=True)
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("digits.npy", b"old")]


def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(maker, chunk=0):
        yield np.zeros((5, 64), np.uint8)
        raise KeyboardInterrupt

    monkeypatch.setattr(deformed._Maker, "chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made(10, path=tmp_path / "digits.npy")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_refuses(tmp_path, monkeypatch):
    opened = Path.open

    def refuse(self, *arguments, **options):
        if ".part-" in self.name:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"digits\.npy: cannot be written: Permission denied"):
        made(10, path=tmp_path / "digits.npy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"strength": -1.0}, "strength=-1.0"),
        ({"strength": np.nan}, "strength=nan"),
        ({"source": "letters"}, "source='letters'"),
        ({"source": Dataset(np.zeros((3, 50)))}, "square images"),
        ({"source": Dataset(np.zeros((0, 64)))}, "square images"),
        ({"source": Dataset(np.full((3, 64), 300.0))}, "between 0 and 255"),
        ({"source": Dataset(np.full((3, 64), np.nan))}, "between 0 and 255"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(InputError, match=message):
        datasets.deformed_digits(**{"n": 5, "source": "digits", **options})


def test_the_source_falls_back_to_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    monkeypatch.setenv("LOWDIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("lowdim.data.download.OPENML", "http://127.0.0.1:9")
    assert datasets.deformed_digits(5).data.shape == (5, 64)
    with pytest.raises(FileNotFoundError, match=r"mnist\.npz"):
        datasets.deformed_digits(5, source="mnist")
    images = np.zeros((60_001, 784), np.uint8)
    images[60_000] = 255
    np.savez(tmp_path / "mnist.npz", X=images, y=np.zeros(60_001, np.uint8))
    set_ = datasets.deformed_digits(2000)
    assert set_.data.shape == (2000, 784)
    assert set_.data.max() == 0
    assert set_.parameters.max() < 60_000


@pytest.mark.slow
def test_mnist_stays_recognisable(data_folder):
    from lowdim.data.rows import Rows
    from lowdim.neighbors import build_index

    set_, plain = datasets.deformed_digits(500), datasets.load("mnist")
    found = build_index(Rows(plain.data[:60_000]), search="blocked", run=Run.of()).query(
        Rows(set_.data), 1, Run.of()
    )
    assert (plain.labels[found.indices] == set_.labels).mean() > 0.93


def test_a_file_that_cannot_be_mapped(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(FileError, match=r"digits\.npy: is written and in its place, but cannot be mapped"):
        made(10, path=tmp_path / "digits.npy")
    monkeypatch.undo()
    assert np.load(tmp_path / "digits.npy").shape == (10, 64)
