"""Data that several tests share."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run: a failure is of the code, and can be seen again.
settings.register_profile("lowdim", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("torture", derandomize=True, deadline=None, max_examples=200)
settings.load_profile(os.environ.get("LOWDIM_EXAMPLES", "lowdim"))

sys.path.insert(0, str(Path(__file__).parent / "estimators"))


LONG = Path(__file__).parent / "long.txt"
LARGE = ("sklearn.manifold", "scipy.stats", "pandas", "polars", "matplotlib.figure", "distributed")


def pytest_configure() -> None:
    """Let each process of the tests begin with other packages: in a fresh clone all would compile the same at one time.

    Whoever comes to a package later reads the bytecode that another process has left.
    """
    if worker := os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw"):
        first = 2 * int(worker) % len(LARGE)
        for name in LARGE[first:] + LARGE[:first]:
            with suppress(ImportError):
                importlib.import_module(name)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `make torture` what is long, and of many like cases all but some."""
    _leave_listed(config, items)
    _leave_others_of_every(items)
    _leave_uncovering(items)


def _leave_listed(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what the list of long tests names."""
    lines = LONG.read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if not line.startswith("#")}
    found = set()
    for item in items:
        for name in {item.nodeid, item.nodeid.partition("[")[0]} & listed:
            item.add_marker(pytest.mark.slow)
            found.add(name)
    if config.args == [str(LONG.parent)] or config.args == ["tests"]:
        assert listed == found, f"{LONG.name} names tests that are not there: {sorted(listed - found)}"


def _leave_others_of_every(items: list[pytest.Item]) -> None:
    """Of a test marked as every(n) mark all cases but each n-th as slow, by name: the tests may have been shuffled.

    Where it begins hangs on the test, so that of the same list one test tries other cases than the next.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("every"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for test, of_test in cases.items():
        for number, item in enumerate(
            sorted(of_test, key=lambda item: item.nodeid), start=crc32(test.encode())
        ):
            if number % item.get_closest_marker("every").args[0]:
                item.add_marker(pytest.mark.slow)


def _leave_uncovering(items: list[pytest.Item]) -> None:
    """Of a test marked as covering, leave all but so many cases to `make torture` that each value is tried once.

    They lie along the diagonal of the product, so that neighbours in the one list meet different values of the other.
    """
    cases: dict[str, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("covering"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_test in cases.values():
        # By name: the tests may have been shuffled, and which are left to torture must not hang on that.
        quick = sorted(
            (item for item in of_test if not item.get_closest_marker("slow")), key=lambda item: item.nodeid
        )
        if not quick:
            continue
        # The values of a parameter by their number: they need not be such that they can be compared.
        numbers: dict[str, dict[int, int]] = {name: {} for name in quick[0].callspec.params}
        places = [
            {name: numbers[name].setdefault(id(value), len(numbers[name])) for name, value in params.items()}
            for params in (item.callspec.params for item in quick)
        ]
        longest = max(numbers, key=lambda name: len(numbers[name]))
        on_diagonal = [
            all(number == place[longest] % len(numbers[name]) for name, number in place.items())
            for place in places
        ]
        seen: set[tuple[str, int]] = set()
        for which in sorted(range(len(quick)), key=lambda which: not on_diagonal[which]):
            values = set(places[which].items())
            if values <= seen:
                quick[which].add_marker(pytest.mark.slow)
            seen |= values


def pytest_collection_finish() -> None:
    """Keep the collector of garbage away from what lives to the end: eight thousand tests, and all that they import."""
    gc.collect()
    gc.freeze()


def unwritable(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays that no test can change for those after it."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, np.ndarray]:
    """The 8 x 8 digits that ship with scikit-learn."""
    from sklearn.datasets import load_digits

    return unwritable(*load_digits(return_X_y=True))


@pytest.fixture(scope="session")
def roll() -> tuple[np.ndarray, np.ndarray]:
    """A Swiss roll of 600 points and its true coordinates."""
    from lowdim import datasets

    made = datasets.swiss_roll(600, random_state=0)
    return unwritable(made.data, made.parameters)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, where there is one."""
    folder = os.environ.get("LOWDIM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("LOWDIM_DATA does not name a folder of data sets")
    return Path(folder)


@pytest.fixture
def heard() -> Iterator[None]:
    """Processes hear what ends them, also where a shell runs the tests in its background, or nohup, and ignores it."""
    from lowdim.cli.terminal.signals import ENDING

    usual = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(ENDING, signal.SIG_DFL)}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
