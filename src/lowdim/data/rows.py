"""The one form in which data travels: rows that hand out blocks, whatever holds them.

A block is cast when it is asked for, so that an integer image set or a memory map is never copied whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from ..core.records import Integers
from .mapped import Mapped, guarded, in_memory


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Rows:
    """N points of D columns: a NumPy array of any numeric type, a memory map, or compressed sparse rows."""

    values: NDArray[Any] | csr_array

    def __post_init__(self) -> None:
        """Read mapped files with care: see `Mapped`."""
        if isinstance(self.values, np.ndarray):
            object.__setattr__(self, "values", guarded(self.values))

    @property
    def shape(self) -> tuple[int, int]:
        """(N, D)."""
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)

    @property
    def n_rows(self) -> int:
        """N."""
        return self.shape[0]

    @property
    def n_columns(self) -> int:
        """D."""
        return self.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are held in compressed sparse form."""
        return isinstance(self.values, csr_array)

    @property
    def is_mapped(self) -> bool:
        """Whether the rows lie in a mapped file, so that only blocks of them may be handed on."""
        return isinstance(self.values, Mapped)

    def block(self, rows: slice, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Consecutive rows as a dense, C-ordered array; a view where nothing had to change."""
        return self._dense(self.values[rows], dtype)

    def take(self, rows: Integers, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Any rows as a dense, C-ordered array."""
        return self._dense(self.values[rows], dtype)

    def select(self, rows: Integers) -> Rows:
        """Any rows, in the form that they have."""
        return Rows(self.values[rows])

    def compressed(self) -> csr_array:
        """All rows in compressed sparse form, float64."""
        held: Any = in_memory(self.values) if isinstance(self.values, np.ndarray) else self.values
        return cast(csr_array, csr_array(held, dtype=np.float64))

    def _dense(self, part: NDArray[Any] | csr_array, dtype: DTypeLike) -> NDArray[Any]:
        array = part.toarray() if isinstance(part, csr_array) else part
        return np.ascontiguousarray(array, dtype=dtype)

    def block_rows(self, bytes_per_block: int = 1 << 25) -> int:
        """Rows in a float64 block of about ``bytes_per_block``: what a walk over all rows should ask for."""
        return max(1, bytes_per_block // (8 * max(1, self.n_columns)))
