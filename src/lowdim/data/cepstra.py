"""Cepstra of two vowels by two speakers: what varies most is who speaks, what is wanted is what was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats
from ..errors import InputError
from .stored import Dataset, Seed

FORMANTS = {
    ("he", "bit"): (390.0, 1990.0, 2550.0),
    ("he", "bet"): (530.0, 1840.0, 2480.0),
    ("she", "bit"): (430.0, 2480.0, 3070.0),
    ("she", "bet"): (610.0, 2330.0, 2990.0),
}
"""Mean resonances of men and women in Hz (Peterson & Barney 1952, table II)."""
BANDWIDTHS = (60.0, 100.0, 120.0)
"""Widths of the three resonances in Hz."""
RATE = 8000.0
"""Samples a second."""
TILT = {"he": 0.75, "she": 0.55}
"""Pole of the voice itself: how steeply its spectrum falls."""


@dataclass(frozen=True, slots=True)
class Cepstra(Dataset):
    """Frames of speech as rows of cepstral coefficients: ``labels`` the vowel, ``speakers`` who said it.

    ``noise`` has as many rows: half the difference of each frame and one of the same vowel by the other speaker, which
    varies with the speaker and from frame to frame, but not with the vowel. Signal and noise are what
    `lowdim.OrientedPCA` takes, ``fit(data, noise=noise)``.
    """

    speakers: NDArray[Any] = field(kw_only=True)
    noise: Floats = field(kw_only=True)

    @property
    def signal_covariance(self) -> Floats:
        """Covariance of the frames."""
        return np.asarray(np.cov(self.data, rowvar=False))

    @property
    def noise_covariance(self) -> Floats:
        """Covariance of the differences that are not of the vowel."""
        return np.asarray(np.cov(self.noise, rowvar=False))


def two_speaker_cepstra(
    n: int = 200, *, n_coefficients: int = 12, spread: float = 0.03, random_state: Seed = 0
) -> Cepstra:
    """Cepstra of the vowels of "bit" and "bet", as a man and a woman would say them.

    Every frame is a voice through three resonances. The cepstrum of such an all-pole filter is known exactly:
    c_m = (1/m) sum_k p_k^m over its poles p_k = exp(-pi B_k / f + 2 pi i F_k / f) (Oppenheim & Schafer 1989, ch. 12).
    The resonances F_k are the averages of Peterson & Barney (1952).

    Parameters
    ----------
    n
        Frames of each vowel by each speaker: four times as many rows.
    n_coefficients
        Cepstral coefficients c_1, c_2, ... of each frame.
    spread
        Standard deviation of the logarithm of a resonance from frame to frame.
    random_state
        Seed or generator.
    """
    if n < 2:
        raise InputError(f"n={n!r}: must be at least 2.")
    if n_coefficients < 1:
        raise InputError(f"n_coefficients={n_coefficients!r}: must be at least 1.")
    generator = np.random.default_rng(random_state)
    frames = {
        key: _cepstra(np.array(formants), TILT[key[0]], n, n_coefficients, spread, generator)
        for key, formants in FORMANTS.items()
    }
    halves = {
        (speaker, vowel): (own - frames["she" if speaker == "he" else "he", vowel]) / 2
        for (speaker, vowel), own in frames.items()
    }
    return Cepstra(
        np.concatenate(list(frames.values())),
        np.repeat([vowel for _, vowel in frames], n),
        speakers=np.repeat([speaker for speaker, _ in frames], n),
        noise=np.concatenate(list(halves.values())),
    )


def _cepstra(
    formants: Floats, tilt: float, n: int, n_coefficients: int, spread: float, generator: np.random.Generator
) -> Floats:
    """Cepstra of n frames whose resonances scatter about the given ones."""
    frequency = formants * np.exp(spread * generator.standard_normal((n, len(formants))))
    width = np.array(BANDWIDTHS) * np.exp(3.0 * spread * generator.standard_normal((n, len(formants))))
    voice = tilt + spread * generator.standard_normal(n)
    poles = np.exp((2j * np.pi * frequency - np.pi * width) / RATE)
    order = np.arange(1, n_coefficients + 1)
    # A resonance is a pole and its conjugate; the voice is one real pole.
    powers = 2.0 * np.real(poles[:, :, None] ** order).sum(axis=1) + voice[:, None] ** order
    return np.asarray(powers / order)
