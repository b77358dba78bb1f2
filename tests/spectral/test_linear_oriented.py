"""Oriented principal components: what makes them the answer, and what they become without noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.spectral.linear.covariance import covariance_pca
from lowdim.spectral.linear.oriented import oriented_pca


def run(signal, noise, count, ridge=0.0):
    return oriented_pca(
        Rows(signal),
        None if noise is None else Rows(noise),
        count,
        ridge,
        run=Run.of(),
    )


def make_pair(n_signal, n_noise, n_columns, seed=0):
    generator = np.random.default_rng(seed)
    mixing = generator.standard_normal((n_columns, n_columns))
    signal = generator.standard_normal((n_signal, n_columns)) * 0.9 ** np.arange(n_columns) + 5.0
    return signal, generator.standard_normal((n_noise, n_columns)) @ mixing - 2.0


def regularised(noise, ridge):
    covariance = np.cov(noise.T)
    return covariance + ridge * np.trace(covariance) / noise.shape[1] * np.eye(noise.shape[1])


@pytest.mark.parametrize(
    ("shape", "ridge"), [((80, 120, 15), 0.0), ((80, 120, 15), 0.1), ((20, 25, 90), 0.05)]
)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_generalised_eigenvectors(shape, ridge, form):
    signal, noise = make_pair(*shape)
    found = run(form(signal), form(noise), 6, ridge)
    of_signal, of_noise = np.cov(signal.T), regularised(noise, ridge)
    np.testing.assert_allclose(found.directions @ of_noise @ found.directions.T, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(
        found.directions @ of_signal @ found.directions.T, np.diag(found.ratios), atol=1e-8 * found.ratios[0]
    )
    expected = eigh(of_signal, of_noise, eigvals_only=True)[::-1][:6]
    np.testing.assert_allclose(found.ratios, expected, rtol=1e-8)
    np.testing.assert_allclose(found.mean, signal.mean(axis=0), atol=1e-12)


def test_without_noise_it_is_pca():
    signal, _ = make_pair(60, 1, 12)
    found = run(signal, None, 4)
    expected = covariance_pca(Rows(signal), 4, run=Run.of())
    np.testing.assert_array_equal(found.directions, expected.components)
    np.testing.assert_array_equal(found.ratios, expected.explained_variance)


def test_white_noise_gives_the_principal_components():
    signal, _ = make_pair(200, 1, 5)
    generator = np.random.default_rng(1)
    left, _ = np.linalg.qr(np.column_stack([np.ones(50), generator.standard_normal((50, 5))]))
    white = left[:, 1:] * 7.0
    found = run(signal, white, 5)
    expected = covariance_pca(Rows(signal), 5, run=Run.of()).components
    lengths = np.linalg.norm(found.directions, axis=1, keepdims=True)
    np.testing.assert_allclose(found.directions / lengths, expected, atol=1e-10)


def test_it_turns_away_from_the_noise():
    generator = np.random.default_rng(2)
    phoneme, speaker = np.array([1.0, 1.0, 0.0]) / np.sqrt(2), np.array([1.0, -1.0, 0.5]) / 1.5
    wobble = 0.1 * generator.standard_normal((400, 3))
    signal = np.outer(generator.choice([-1.0, 1.0], 400), phoneme) + wobble
    signal += np.outer(generator.choice([-4.0, 4.0], 400), speaker)
    noise = np.outer(generator.choice([-4.0, 4.0], 300), speaker) + 0.1 * generator.standard_normal((300, 3))
    direction = run(signal, noise, 1).directions[0]
    assert abs(direction @ speaker) < 0.01 * abs(direction @ phoneme)


@pytest.mark.parametrize("shape", [(30, 4, 10), (5, 6, 40)])
def test_singular_noise_needs_a_ridge(shape):
    signal, noise = make_pair(*shape)
    with pytest.raises(InputError, match="ridge"):
        run(signal, noise, 2)
    assert np.isfinite(run(signal, noise, 2, ridge=1e-3).directions).all()


def test_noise_that_does_not_vary_is_an_error():
    signal, _ = make_pair(30, 1, 6)
    with pytest.raises(InputError, match="noise"):
        run(signal, np.ones((10, 6)), 2, ridge=0.1)


def test_more_directions_than_the_rows_span():
    signal, noise = np.repeat(make_pair(2, 2, 30)[0], 3, axis=0), make_pair(2, 2, 30)[1]
    found = run(signal, noise, 5, ridge=0.01)
    np.testing.assert_allclose(
        found.directions @ regularised(noise, 0.01) @ found.directions.T, np.eye(5), atol=1e-8
    )
    assert np.all(found.ratios[1:] < 1e-10 * found.ratios[0])
