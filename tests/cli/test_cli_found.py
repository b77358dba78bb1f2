"""Values that once did harm: what ``python -m torture fuzz`` found in the command line's own reading of them."""

from __future__ import annotations

import pytest

from lowdim.cli.options.table import Parameter
from lowdim.cli.options.values import convert


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 4301, "+" + "1" * 400])
def test_more_digits_than_python_reads(digits: str) -> None:
    assert convert(digits, Parameter("value", "float | None")) in (
        float("inf"),
        float("-inf"),
        1e400,
    )


def test_a_whole_number_stays_one() -> None:
    assert convert("1" * 300, Parameter("value", "Any")) == int("1" * 300)


def test_a_name_that_no_file_can_have() -> None:
    for text in ("x." + "9" * 5000, "a\0.npy", "/" * 5000 + ".npy"):
        assert convert(text, Parameter("value", "Any")) == text
