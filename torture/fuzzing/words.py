"""Hostile values for options and grids of the command line."""

from __future__ import annotations

from random import Random

from .bytes import mutated

VALUES = (
    "5", "-1", "0", "1.5", "1e999", "-1e999", "nan", "inf", "none", "None", "true", "FALSE", "auto", "", " ", ",", "1,2,3", "1,,3", "1,x", "9" * 5000,
    "-" + "9" * 5000, "1" * 400, "0x10", "1_000", "١٢", "²", "1e", "--", "-", "=", "a=b", "\0", "a\0b", "x" * 5000, "/" * 5000, "../../etc/passwd",
    "/dev/zero", "/dev/null", "/proc/self/mem", "fifo.npy", "é", "\U0001f600", "\ud800", "\udcff", "1\n2", "\x1b[31m", "%s%n", "{0}", "lll", "exact",
    "euclidean", "precomputed", "4 GB", "1e400 GB", "-4 GB", "GB", "1 2", "1;2", "[1,2]", "(1)", "x.npy", "nowhere.csv", "input.npy", "1" + "0" * 308,
)  # fmt: skip
NAMES = (
    "n_neighbors", "n-neighbors", "--n-neighbors", "perplexity", "n_components", "landmarks", "n_landmarks", "solver", "affinity", "init", "metric",
    "random_state", "memory_limit", "affinity__bandwidth", "solver__x", "__class__", "_rules", "callback", "verbose", "", "=", "x" * 3000, "é", "a__b__c",
)  # fmt: skip


def word(random: Random) -> str:
    """One value."""
    text = random.choice(VALUES)
    if random.random() < 0.3:
        text = mutated(
            text.encode("utf-8", "surrogateescape" if "\udcff" in text else "replace"), random
        ).decode("utf-8", "surrogateescape")
    return text


def grid(random: Random) -> str:
    """NAME=VALUES."""
    values = ",".join(word(random) for _ in range(random.choice((1, 1, 2, 3))))
    return random.choice(NAMES) + random.choice(("=", "=", "=", "=", "", "==", " = ")) + values
