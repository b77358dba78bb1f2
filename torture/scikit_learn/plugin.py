"""pytest plugin: scikit-learn's packages with the adapters in them, and what became of each test as JSON lines.

Messages are each library's own, so that of an expected error or warning only the type is compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import adapters

OUTPUT = "LOWDIM_SCIKIT_LEARN_RESULTS"
"""Environment variable with the name of the file for the results."""

adapters.replace()
_raises, _warns = pytest.raises, pytest.warns


def _any_message(check: Any) -> Any:
    def checked(*arguments: Any, match: Any = None, **other: Any) -> Any:
        return check(*arguments, **other)

    return checked


pytest.raises, pytest.warns = _any_message(_raises), _any_message(_warns)  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Iterator[None]:
    """Count the adapters that a test fits."""
    adapters.USED.clear()
    return (yield)


def pytest_runtest_logreport(report: Any) -> None:
    """Write what became of a test, and whether it came near lowdim at all."""
    if report.when != "call" and report.outcome == "passed":
        return
    line = {
        "test": report.nodeid,
        "outcome": report.outcome,
        "ours": bool(adapters.USED),
        "why": _reason(report.longrepr) if report.failed else "",
    }
    with Path(os.environ[OUTPUT]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _reason(failure: Any) -> str:
    """The message of a failure in one line."""
    crash = getattr(failure, "reprcrash", None)
    return " ".join(str(failure if crash is None else crash.message).split())[:300]
