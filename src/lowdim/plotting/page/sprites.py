"""Thumbnails for the page, many to a sheet, so that the browser decodes only the sheets it shows."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..thumbnails import Images

_ACROSS = 32
_PIXELS = 60_000_000
_SIDES = (16, 64)
_BLOCK = 8


def sheets_of(images: Images) -> tuple[dict[str, Any], list[str]]:
    """How the thumbnails lie on their sheets, and the sheets in base64.

    The longer side of a thumbnail is at most 64 pixels, fewer where there are very many. Strokes on an empty ground
    are kept in PNG with sixteen greys, which is half the size of 256; photographs in JPEG, each in whole blocks of
    8 x 8, so that no picture bleeds into its neighbour.
    """
    from PIL import Image

    side = int(np.clip(np.sqrt(_PIXELS / images.count), *_SIDES))
    ink = images.is_ink()
    per_sheet = _ACROSS * _ACROSS
    sheets: list[str] = []
    layout: dict[str, Any] = {"across": _ACROSS, "per_sheet": per_sheet, "kind": "png" if ink else "jpeg"}
    for start in range(0, images.count, per_sheet):
        block = images.thumbnails(np.arange(start, min(start + per_sheet, images.count)), side)
        layout |= {"height": block.shape[1], "width": block.shape[2]}
        if ink:
            block = block // 16 * 17
        else:
            block = _in_blocks(block)
        layout |= {"down": block.shape[1], "right": block.shape[2]}
        written = io.BytesIO()
        Image.fromarray(_sheet(block)).save(written, layout["kind"], **({} if ink else {"quality": 82}))
        sheets.append(b64encode(written.getvalue()).decode("ascii"))
    return layout, sheets


def _in_blocks(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Each picture with its last lines repeated up to a multiple of 8."""
    below, beside = -block.shape[1] % _BLOCK, -block.shape[2] % _BLOCK
    return np.pad(block, [(0, 0), (0, below), (0, beside), *[(0, 0)] * (block.ndim - 3)], mode="edge")


def _sheet(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pictures in rows of 32, the last row filled up with black."""
    lines = -(-len(block) // _ACROSS)
    full = np.zeros((lines * _ACROSS, *block.shape[1:]), dtype=np.uint8)
    full[: len(block)] = block
    grid = full.reshape(lines, _ACROSS, *block.shape[1:]).swapaxes(1, 2)
    return grid.reshape(lines * block.shape[1], _ACROSS * block.shape[2], *block.shape[3:])
