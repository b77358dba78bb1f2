"""What rooms hand to each other, as people read it."""

from __future__ import annotations

import pytest

from lowdim.core.records import Plan, PlannedStage


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 s"),
        (0.00123, "0.0012 s"),
        (0.5, "0.50 s"),
        (3.14, "3.1 s"),
        (154.0, "150 s"),
        (98765.0, "99,000 s"),
    ],
)
def test_a_plan_tells_two_digits_and_no_power_of_ten(seconds, shown):
    plan = Plan("PCA", (10, 2), (PlannedStage("solve", seconds, 1000, ""),))
    assert f" {shown} " in str(plan).splitlines()[1]
