"""Cepstra: those of the filter that they are said to be of, signal and noise as oriented PCA wants them."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import OrientedPCA, datasets
from lowdim.data import cepstra
from lowdim.errors import InputError


def test_they_are_cepstra_of_the_filter():
    """c_m from the poles equals the inverse Fourier transform of the log spectrum of the all-pole filter."""
    made = datasets.two_speaker_cepstra(2, n_coefficients=8, spread=0.0)
    first = made.data[0]
    formants = np.array(cepstra.FORMANTS["he", "bit"])
    poles = np.exp((2j * np.pi * formants - np.pi * np.array(cepstra.BANDWIDTHS)) / cepstra.RATE)
    z = np.exp(2j * np.pi * np.arange(4096) / 4096)
    response = 1.0 / (1.0 - cepstra.TILT["he"] / z)
    for pole in poles:
        response = response / ((1.0 - pole / z) * (1.0 - np.conj(pole) / z))
    # Of the logarithm of the modulus, an even function: half of c_m at m and half at -m.
    coefficients = 2.0 * np.real(np.fft.ifft(np.log(np.abs(response))))[1:9]
    np.testing.assert_allclose(first, coefficients, atol=1e-9)


def test_shapes_and_classes():
    made = datasets.two_speaker_cepstra(30, n_coefficients=10)
    assert made.data.shape == made.noise.shape == (120, 10)
    for vowel in ("bit", "bet"):
        for speaker in ("he", "she"):
            assert np.sum((made.labels == vowel) & (made.speakers == speaker)) == 30
    np.testing.assert_allclose(made.signal_covariance, np.cov(made.data.T))
    np.testing.assert_allclose(made.noise_covariance, made.noise.T @ made.noise / 119, atol=1e-12)


def test_the_noise_knows_no_vowel():
    """The mean of the noise over a speaker is that speaker's, whichever the vowel."""
    made = datasets.two_speaker_cepstra(50)
    np.testing.assert_allclose(made.noise.mean(axis=0), 0.0, atol=1e-12)
    own = made.data[(made.labels == "bit") & (made.speakers == "he")]
    other = made.data[(made.labels == "bit") & (made.speakers == "she")]
    half = made.noise[(made.labels == "bit") & (made.speakers == "he")]
    np.testing.assert_allclose(half, (own - other) / 2)


def test_oriented_pca_tells_the_vowels():
    made = datasets.two_speaker_cepstra(80, random_state=3)
    found = OrientedPCA(1).fit_transform(made.data, noise=made.noise)[:, 0]
    bit, bet = found[made.labels == "bit"], found[made.labels == "bet"]
    assert bit.max() < bet.min() or bet.max() < bit.min()


def test_seeds():
    one, same = (datasets.two_speaker_cepstra(5, random_state=2) for _ in range(2))
    np.testing.assert_array_equal(one.data, same.data)
    assert np.any(one.data != datasets.two_speaker_cepstra(5, random_state=3).data)


@pytest.mark.parametrize(
    ("options", "message"), [({"n": 1}, "n=1"), ({"n_coefficients": 0}, "n_coefficients=0")]
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(InputError, match=message):
        datasets.two_speaker_cepstra(**options)
