"""Model files that earlier versions wrote load in this one, and place new points where they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim.models import describe, files
from lowdim.store import registry

FOLDER = Path(__file__).parent / "fixtures"
FILES = sorted(FOLDER.glob("format-*/*.lowdim"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_stored_models_load(path: Path) -> None:
    model = lowdim.load(path)
    fitted = files.steps_of(model)[-1][1]
    with np.load(path.parent / "expected.npz", allow_pickle=False) as expected:
        if f"{path.stem}.embedding" in expected:
            np.testing.assert_array_equal(fitted.embedding_, expected[f"{path.stem}.embedding"])
        # Other processors round otherwise.
        scale = np.abs(expected[path.stem]).max()
        np.testing.assert_allclose(
            model.transform(expected["new"]), expected[path.stem], rtol=1e-6, atol=1e-6 * scale
        )
    assert describe(path).method == type(fitted).__name__
    assert fitted.report_.method == type(fitted).__name__


def test_every_format_and_every_family_is_stored() -> None:
    assert {path.parent.name for path in FILES} == {f"format-{n}" for n in range(1, files.FORMAT + 1)}
    newest = {describe(path).method for path in FILES if path.parent.name == f"format-{files.FORMAT}"}
    assert newest == set(registry.ESTIMATORS)
    assert any(describe(path).after for path in FILES)
