"""``FileOracle``: similarities of features that are read from a file on request."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.similarity_oracles import MAX_WIDTH_ROWS, FeatureOracle
from hcviz.core.table_cells import MAX_NUMBER

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: Number of cells that are read at once: 32 MB.
CHUNK = 4_000_000


class FileOracle:
    """An oracle over features in an ``.npy`` file; only the requested rows are in memory.

    Parameters
    ----------
    path : str or Path
        A file that ``numpy.save`` wrote: numbers of any type, (n, d).
    kind : str
        As for :class:`FeatureOracle`; the similarities are equal up to 1e-12.
    width : float or None
        As for :class:`FeatureOracle`.

    Raises
    ------
    InvalidData
        The file does not exist or does not contain a table of numbers.
    InvalidParameter
        As for :class:`FeatureOracle`.

    Notes
    -----
    The file is mapped into memory. The constructor reads it twice, to check the cells and to
    compute means and standard deviations: O(n d) time, 100 MB. A pickled oracle contains only the
    path, so each worker of a cluster needs the same file under the same name. O(d) for each
    similarity and each item of a request. The value of a pair does not depend on the block.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/features.npy", np.eye(3))
    ...     FileOracle(f"{folder}/features.npy").n_items
    3
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
        self._scale = self._means_and_deviations()
        count = min(self.n_items, MAX_WIDTH_ROWS)
        sample = np.arange(count) * self.n_items // count
        self.width = FeatureOracle(self._raw[sample], kind, width, self._scale).width

    def part(self, items: ArrayLike) -> FeatureOracle:
        """Return an oracle over a selection of the items, with their features in memory.

        Parameters
        ----------
        items : int (k,)
            Items of this oracle. Item r of the result is ``items[r]``.

        Returns
        -------
        FeatureOracle
            Each pair has exactly the same similarity as in this oracle.

        Notes
        -----
        Reads k rows. O(k d).

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/features.npy", np.eye(3))
        ...     FileOracle(f"{folder}/features.npy", "cosine").part([2, 0]).n_items
        2
        """
        raw = self._raw[np.asarray(items, np.int64)]
        return FeatureOracle(raw, self.kind, self.width, self._scale)

    def similarity(self, rows: Int, cols: Int) -> Float:
        """Return the similarities of all ``rows`` with all ``cols``.

        Parameters
        ----------
        rows, cols : int32 (r,), int32 (c,)
            Items; repeats are allowed.

        Returns
        -------
        float64 (r, c)
            The similarities.

        Notes
        -----
        Reads r + c rows of the file. O(r c d).

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/features.npy", np.eye(3))
        ...     FileOracle(f"{folder}/features.npy", "cosine").similarity([0], [1, 2]).tolist()
        [[0.0, 0.0]]
        """
        first, second = np.arange(len(rows), dtype=np.int32), np.arange(len(cols), dtype=np.int32)
        if np.array_equal(rows, cols):
            return self.part(rows).similarity(first, first)
        return self.part(np.concatenate([rows, cols])).similarity(first, len(rows) + second)

    def _open(self) -> None:
        """Map the file into memory; its shape must not have changed."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about headers of Python 2
                raw: Any = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # NumPy raises many types for a damaged file
            raise InvalidData(
                f"The features cannot be read from {self.path} ({type(error).__name__}: {error}).",
                "Give an .npy file of numpy.save; on a cluster, a file that all workers can read.",
            ) from None
        if not isinstance(raw, np.ndarray) or raw.ndim != 2 or raw.dtype.kind not in "fiub":
            raise InvalidData(
                f"{self.path} does not contain a table of numbers with one row for each item.",
                "Write it with numpy.save(path, features), where features has the shape (n, d).",
            )
        if not len(raw) or (self.shape is not None and raw.shape != self.shape):
            wanted = ": no items" if self.shape is None else f", not {self.shape}"
            raise InvalidData(f"The features in {self.path} have shape {raw.shape}{wanted}.")
        self._raw, self.shape = raw, raw.shape

    def _means_and_deviations(self) -> tuple[Float, Float]:
        """Compute the means and standard deviations of the columns, and check each cell."""
        n, d = self._raw.shape
        mean = np.zeros(d)
        for begin, block in self._blocks():
            wrong = np.argwhere(~(np.abs(block) <= MAX_NUMBER))
            if len(wrong):
                row, column = wrong[0]
                raise InvalidData(
                    f"Row {begin + row}, column {column} of the features in {self.path} is "
                    f"{block[row, column]:g}.",
                    f"Cells must be numbers up to {MAX_NUMBER:g}; fill missing ones first.",
                )
            mean += block.sum(axis=0) / n
        variance = np.zeros(d)
        for _begin, block in self._blocks():
            variance += ((block - mean) ** 2).sum(axis=0) / n
        return mean, np.sqrt(variance)

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
