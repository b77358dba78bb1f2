"""Damage to bytes that knows nothing of their format."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

NUMBERS = (
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**64 - 1,
)
"""Where sizes and counts overflow."""
WORDS = (
    b"\0", b"\xff\xff\xff\xff", b"NaN", b"inf", b"1e999", b"-1", b"99999999999999999999", b'"', b"'", b"\r\n", b"\r", b"\n\n",
    b",,,,", b"{" * 200, b"[" * 2000, b"../", b"/etc/passwd\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3\x28", b"PK\x03\x04", b"%n%s",
)  # fmt: skip


def mutated(data: bytes, random: Random, other: bytes = b"") -> bytes:
    """One to four changes; ``other`` is a second file of the kind, from which pieces are taken."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        data = random.choice(CHANGES)(data, random, other or data)
    return data


def _place(data: bytes, random: Random) -> int:
    """Anywhere, and often in the first or last bytes, where the headers are."""
    near = min(len(data), 128)
    start = random.choice((0, 0, max(0, len(data) - near), random.randrange(len(data) + 1)))
    return min(len(data), start + random.randrange(near + 1))


def flip(data: bytes, random: Random, other: bytes) -> bytes:
    """Other bits in one to eight bytes."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            place = min(_place(data, random), len(changed) - 1)
            changed[place] ^= random.choice((1, 2, 4, 8, 16, 32, 64, 128, 255, random.randrange(1, 256)))
    return bytes(changed)


def cut(data: bytes, random: Random, other: bytes) -> bytes:
    """The end is missing."""
    return data[: _place(data, random)]


def remove(data: bytes, random: Random, other: bytes) -> bytes:
    """A piece is missing."""
    place = _place(data, random)
    return data[:place] + data[place + random.choice((1, 2, 4, 8, random.randrange(1, 65))) :]


def insert(data: bytes, random: Random, other: bytes) -> bytes:
    """Something is there that was not."""
    place = _place(data, random)
    return data[:place] + random.choice((*WORDS, random.randbytes(random.randrange(1, 17)))) + data[place:]


def overwrite(data: bytes, random: Random, other: bytes) -> bytes:
    """A number in two, four or eight bytes is another, of either order."""
    place, width = _place(data, random), random.choice((1, 2, 4, 8))
    number = random.choice(NUMBERS) % (1 << 8 * width)
    return data[:place] + number.to_bytes(width, random.choice(("little", "big"))) + data[place + width :]


def repeat(data: bytes, random: Random, other: bytes) -> bytes:
    """A piece comes several times."""
    place, length = _place(data, random), random.randrange(1, 65)
    return data[:place] + data[place : place + length] * random.choice((2, 3, 50)) + data[place + length :]


def splice(data: bytes, random: Random, other: bytes) -> bytes:
    """The beginning of one and the end of another."""
    return data[: _place(data, random)] + other[_place(other, random) :]


def digits(data: bytes, random: Random, other: bytes) -> bytes:
    """A number that is written out is another."""
    places = [place for place, code in enumerate(data[:4096]) if 48 <= code <= 57]
    if not places:
        return flip(data, random, other)
    start = stop = random.choice(places)
    while stop < len(data) and 48 <= data[stop] <= 57:
        stop += 1
    return data[:start] + str(random.choice(NUMBERS)).encode() + data[stop:]


CHANGES: tuple[Callable[[bytes, Random, bytes], bytes], ...] = (
    flip, flip, flip, cut, remove, insert, overwrite, overwrite, repeat, splice, digits, digits,
)  # fmt: skip
