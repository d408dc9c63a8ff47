"""Types of arrays by their shape. mypy checks the number of dimensions where it is known.

The letters after the type are the lengths of the axes: n items, m nodes, k triplets, d columns.
Other lengths have a comment where the type is used.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Vector: TypeAlias = tuple[int]
Table: TypeAlias = tuple[int, int]

#: One number for each node.
IntM: TypeAlias = np.ndarray[Vector, np.dtype[np.int32]]
FloatM: TypeAlias = np.ndarray[Vector, np.dtype[np.float64]]
BoolM: TypeAlias = np.ndarray[Vector, np.dtype[np.bool_]]
#: The parent of each node, -1 at the root.
Parents: TypeAlias = IntM
#: One number for each item, triplet or column.
IntN: TypeAlias = np.ndarray[Vector, np.dtype[np.int32]]
FloatN: TypeAlias = np.ndarray[Vector, np.dtype[np.float64]]
FloatK: TypeAlias = np.ndarray[Vector, np.dtype[np.float64]]
FloatD: TypeAlias = np.ndarray[Vector, np.dtype[np.float64]]
#: Features: one row for each item.
FloatND: TypeAlias = np.ndarray[Table, np.dtype[np.float64]]
#: Rows of a few fields; named constants give the numbers of the columns.
IntRows: TypeAlias = np.ndarray[Table, np.dtype[np.int32]]
FloatRows: TypeAlias = np.ndarray[Table, np.dtype[np.float64]]
#: Triplets ab|c, (k, 3).
TripletRows: TypeAlias = IntRows
#: A list of any length, and counters that kernels change.
IntList: TypeAlias = np.ndarray[Vector, np.dtype[np.int32]]
Counters: TypeAlias = np.ndarray[Vector, np.dtype[np.int64]]
