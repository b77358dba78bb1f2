"""A store of tasks that is cut off after some writes, as a process that dies is."""

from __future__ import annotations

from typing import Any

import pytest

from lowdim.store import tasks


class CutWrites:
    """While the patch holds, ``left`` more files are written; who comes after them is interrupted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self._write = tasks._write
        monkeypatch.setattr(tasks, "_write", self._cut)

    def _cut(self, *arguments: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self._write(*arguments)
