"""Copy an array into another in kernels.

``target[:] = source`` does the same. But numba compiles its error message with it, which takes 1.5
seconds at each place.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from hcviz.core.jit import njit


@njit
def copy_vector(target, source):
    """Copy ``source`` into ``target``, which are as long."""
    for i in range(target.size):
        target[i] = source[i]


@njit
def copy_matrix(target, source):
    """Copy the matrix ``source`` into ``target``, which has the same shape."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


__all__ = ["copy_matrix", "copy_vector"]
