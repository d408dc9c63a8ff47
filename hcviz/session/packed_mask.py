"""``PackedMask``: a query mask in compressed form, for undo."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hcviz.core.snapshot import Mask


@dataclass(frozen=True, eq=False)
class PackedMask:
    """A :class:`Mask` in a sixth of its bytes.

    The lists of a request usually increase, so their differences are small. The bytes are stored by
    position, all lowest bytes first, and zlib compresses the many zeros. (A bitmap of pairs would
    take n^2 / 16 bytes: 6 MB at 10,000 items, where a mask names 70,000.)
    """

    parts: tuple[bytes, bytes, bytes, bytes]

    @classmethod
    def of(cls, mask: Mask) -> Self:
        """Pack a mask. O(items named): 10 ms for 250,000."""
        return cls((
            _packed(mask.rows), _packed(mask.row_offsets),
            _packed(mask.cols), _packed(mask.col_offsets),
        ))  # fmt: skip

    @property
    def nbytes(self) -> int:
        return sum(map(len, self.parts))

    def mask(self) -> Mask:
        """Return the unpacked mask."""
        rows, row_offsets, cols, col_offsets = self.parts
        return Mask(
            _whole(rows, np.int32), _whole(row_offsets, np.int64),
            _whole(cols, np.int32), _whole(col_offsets, np.int64),
        )  # fmt: skip


def _packed(array: NDArray[np.int32] | NDArray[np.int64]) -> bytes:
    steps = np.diff(array, prepend=array.dtype.type(0)).astype(array.dtype, copy=False)
    planes = steps.view(np.uint8).reshape(-1, array.itemsize).T
    return zlib.compress(planes.tobytes(), 1)


def _whole(packed: bytes, kind: Any) -> NDArray[Any]:
    planes = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(np.dtype(kind).itemsize, -1)
    steps: NDArray[Any] = np.ascontiguousarray(planes.T).reshape(-1).view(kind)
    return np.cumsum(steps, dtype=kind)


__all__ = ["PackedMask"]
