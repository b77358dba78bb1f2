"""Rows that a model places: those beside a sample, and new ones on the picture of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.parallel import row_blocks
from ..core.records import Floats
from ..errors import InputError
from .protocol import CONTENT, Block
from .shown import in_view

if TYPE_CHECKING:
    from .session import Session

BLOCK_ROWS = 20_000
"""Rows that are placed between two looks at what else is wanted."""
FEW_BLOCKS = 40
"""Frames in which new rows arrive."""
PLACING = "placing all rows"


def place_all(session: Session) -> None:
    """Place every row that there is by the model of what is shown, and show them all."""
    source, model = session.source, session.model
    whole = source.whole
    if whole is None:
        raise InputError("All rows are shown already.")
    if model is None or session.setting_shown != session.setting:
        raise InputError("Only a settled picture has a place for other rows. Press Settle first.")
    placed = _placed(session, model, whole.X, PLACING)
    points = in_view(placed, session.axes)
    points[source.chosen] = in_view(np.asarray(model.embedding_), session.axes)
    session.is_whole = True
    content = whole.content(points).packed(None)
    session.outbox.put(Block(CONTENT, content.encode("ascii"), session.generation))
    session.outbox.forget("progress")
    session.outbox.note("stage", name=PLACING, state="finished")
    session.outbox.note(
        "badge", text=f"all {len(points):,} rows, placed by the model of the sample", generation=0
    )


def place_new(session: Session) -> Floats:
    """The picture of a model; rows that it was not fitted to wait below it and are placed a block at a time."""
    model, n_rows = session.model, session.source.n_rows
    fitted = np.asarray(model.embedding_, dtype=np.float64)
    count = n_rows - len(fitted)
    if count == 0:
        session.show(fitted, "the model's picture")
        return fitted
    low, high = fitted.min(axis=0), fitted.max(axis=0)
    waiting = np.tile(low - 0.12 * (high - low), (count, 1))
    waiting[:, 0] = np.linspace(low[0], high[0], count)
    picture = np.concatenate([fitted, waiting])
    session.show(picture, f"{count:,} new rows wait")
    X: Any = session.source.X
    for block in row_blocks(count, max(1, -(-count // FEW_BLOCKS))):
        rows = slice(len(fitted) + block.start, len(fitted) + block.stop)
        picture = picture.copy()
        picture[rows] = model.transform(X[rows])
        session.iteration += 1
        session.picture = picture
        session.frame(
            in_view(picture, session.axes), session.generation, f"placed {block.stop:,} of {count:,} new rows"
        )
        session.check()
    return picture


def _placed(session: Session, model: Any, X: Any, what: str) -> Floats:
    """Coordinates of rows a block at a time; something newer may come between two blocks."""
    n_rows = int(X.shape[0])
    made = []
    for block in row_blocks(n_rows, BLOCK_ROWS):
        made.append(np.asarray(model.transform(X[block]), dtype=np.float64))
        session.outbox.note("progress", name=what, done=block.stop, total=n_rows)
        session.check()
    return np.concatenate(made)
