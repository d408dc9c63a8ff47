"""``FileOracle``: features that stay in their file, read where and when they are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.cells import LARGEST
from hcviz.core.errors import InvalidData
from hcviz.core.lazy import WIDTH_FROM, FeatureOracle

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Numbers that are read at once: 32 MB.
CHUNK = 4_000_000


class FileOracle:
    """Features in an ``.npy`` file and a kernel; nobody holds more than what is being compared.

    Parameters
    ----------
    path : str or Path
        Numbers of any type, (n, d), as ``numpy.save`` writes them.
    kind, width
        As :class:`FeatureOracle` has them; the similarities are the same to 1e-12.

    The file is mapped into memory, and at first read twice, to check its cells and measure its
    columns: O(n d) time, 100 MB. It travels as its path: the workers of a cluster read
    the rows that they compare, and need the same file under the same name.

    O(d) a similarity, and as much for each item of a request; a pair has one value, whatever block
    it is asked in. :class:`InvalidData` where there is no such file, or not such numbers in it;
    :class:`InvalidParameter` as :class:`FeatureOracle`.
    """

    cheap = thread_safe = symmetric = all_at_once = True

    def __init__(
        self, path: str | Path, kind: str = "cosine-z", width: float | None = None
    ) -> None:
        FeatureOracle.check_kind(kind)
        self.path, self.kind = Path(path).absolute(), kind
        self.shape: tuple[int, int] | None = None
        self._open()
        self.n_items = len(self._raw)
        self._scale = self._measured()
        few = min(self.n_items, WIDTH_FROM)
        near = np.arange(few) * self.n_items // few
        self.width = FeatureOracle(self._raw[near], kind, width, self._scale).width

    def part(self, items: ArrayLike) -> FeatureOracle:
        """An oracle of these items, in this order; a pair has the value that it has here, bit for
        bit. O(items d)."""
        raw = self._raw[np.asarray(items, np.int64)]
        return FeatureOracle(raw, self.kind, self.width, self._scale)

    def similarity(self, rows: Int, cols: Int) -> Float:
        first, second = np.arange(len(rows), dtype=np.int32), np.arange(len(cols), dtype=np.int32)
        if np.array_equal(rows, cols):
            return self.part(rows).similarity(first, first)
        return self.part(np.concatenate([rows, cols])).similarity(first, len(rows) + second)

    def _open(self) -> None:
        """Map the file; its shape must be the known one, if it is known."""
        try:
            raw: Any = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as fault:
            raise InvalidData(
                f"The features cannot be read from {self.path} ({type(fault).__name__}: {fault}).",
                "Give an .npy file that numpy.save wrote; on a cluster, one that each worker sees.",
            ) from None
        if not isinstance(raw, np.ndarray) or raw.ndim != 2 or raw.dtype.kind not in "fiub":
            raise InvalidData(
                f"{self.path} holds no table of numbers, an item a row.",
                "numpy.save(path, features), with features of shape (n, d).",
            )
        if not len(raw) or (self.shape is not None and raw.shape != self.shape):
            wanted = ": there are no items" if self.shape is None else f", not {self.shape}"
            raise InvalidData(f"The features in {self.path} have shape {raw.shape}{wanted}.")
        self._raw, self.shape = raw, raw.shape

    def _measured(self) -> tuple[Float, Float]:
        """Means and standard deviations of the columns, each cell checked."""
        n, d = self._raw.shape
        middle = np.zeros(d)
        for begin, block in self._blocks():
            wrong = np.argwhere(~(np.abs(block) <= LARGEST))
            if len(wrong):
                row, column = wrong[0]
                raise InvalidData(
                    f"Row {begin + row}, column {column} of the features in {self.path} is "
                    f"{block[row, column]:g}.",
                    f"Cells must be numbers up to {LARGEST:g}; fill missing ones first.",
                )
            middle += block.sum(axis=0) / n
        spread = np.zeros(d)
        for _begin, block in self._blocks():
            spread += ((block - middle) ** 2).sum(axis=0) / n
        return middle, np.sqrt(spread)

    def _blocks(self) -> Iterator[tuple[int, Float]]:
        stride = max(1, CHUNK // max(1, self._raw.shape[1]))
        for begin in range(0, self.n_items, stride):
            yield begin, np.asarray(self._raw[begin : begin + stride], np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_raw"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()


__all__ = ["FileOracle"]
