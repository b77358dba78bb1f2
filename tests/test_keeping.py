"""Work over rows that several threads do and a checkpoint keeps a piece at a time."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import keeping
from lowdim.events import Events
from lowdim.persistence import budget, checkpoint
from lowdim.persistence.budget import Pace
from lowdim.persistence.identity import Identity


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_run_that_goes_on_does_only_the_pieces_that_are_missing(tmp_path, monkeypatch, n_jobs):
    monkeypatch.setattr(budget, "PACE", Pace(share=float("inf"), interval=0.0, worth=0.0))
    monkeypatch.setattr(keeping, "PIECE_BYTES", 4 * 8)

    def run(*, cut):
        """Squares of ten numbers in pieces of four, the rows that were worked on, and how far it said to be."""
        squares, rows, told, events = np.zeros(10), [], [], Events()

        def fill(block):
            if cut and block.start >= 4:
                raise RuntimeError
            rows.extend(range(block.start, block.stop))
            squares[block] = np.arange(block.start, block.stop) ** 2

        def take(piece, state):
            squares[piece] = state["squares"]

        with checkpoint.keeping(tmp_path / "kept", lambda: Identity("squares", {}, {}), events):
            keeping.map_pieces(
                fill,
                10,
                give=lambda piece: {"squares": squares[piece].copy()},
                take=take,
                name="squares",
                width=8,
                block_rows=2,
                n_jobs=n_jobs,
                keeper=events.keeper,
                done=told.append,
            )
        return squares, sorted(rows), told

    with pytest.raises(RuntimeError):
        run(cut=True)
    squares, rows, told = run(cut=False)
    assert squares.tolist() == [i * i for i in range(10)]
    assert rows in ([4, 5, 6, 7, 8, 9], list(range(10)))
    if n_jobs == 1:
        assert rows[0] == 4
        assert sorted(set(told)) == [6, 8, 10]
