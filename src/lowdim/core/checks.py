"""What a stage hands on must be numbers: each names itself, the likely cause and the next thing to try."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NumericalError


def finite(values: NDArray[Any], stage: str, cause: str, cure: str) -> None:
    """Raise a NumericalError where a stage made values that are NaN or infinite.

    Parameters
    ----------
    values
        What the stage hands on.
    stage
        What was made, as the beginning of a sentence: "The neighbour search".
    cause
        What it usually comes of.
    cure
        What to try.
    """
    # The sum of finite numbers is hardly ever infinite, and takes no second array.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    count = int(np.sum(~np.isfinite(values)))
    raise NumericalError(f"{stage} gave {count} of {values.size} values that are not finite: {cause}. {cure}")
