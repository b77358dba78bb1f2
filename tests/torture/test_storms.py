"""Workers that are killed under a fit lose nothing: the short form of the storms."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_a_few_kills() -> None:
    pytest.importorskip("distributed")
    from torture import storms

    assert not storms.run(5)
