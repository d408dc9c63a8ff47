"""The noisy hierarchical block matrix of Krishnamurthy et al. (2012), without an n x n array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer
from hcviz.datasets import kernels
from hcviz.datasets.dataset import Dataset


class BlockOracle:
    """Computes similarities of a noisy hierarchical block matrix, each in O(1) (about 15 ns).

    The similarity of two items is (depth of the LCA of their blocks) / ``levels`` + N(0, sigma^2).
    The 2^levels blocks are the leaves of a balanced binary hierarchy. Within a block, the depth is
    ``levels``. The noise is a function of seed and pair, so repeated queries agree.

    Parameters
    ----------
    block : int32 (n,)
        The block of each item.
    levels : int
        Height of the hierarchy.
    sigma : float
        Standard deviation of the noise.
    seed : int
        Seed of the noise.

    References
    ----------
    Krishnamurthy, Balakrishnan, Xu and Singh (2012), definition 2.
    """

    cheap = thread_safe = symmetric = all_at_once = True

    def __init__(self, block: NDArray[np.int32], levels: int, sigma: float, seed: int) -> None:
        self.block = np.ascontiguousarray(block, dtype=np.int32)
        self.n_items = len(self.block)
        self.levels, self.sigma, self.seed = levels, sigma, seed
        self.ideal = kernels.ideal_similarities(levels)

    def similarity(self, rows: Any, cols: Any) -> NDArray[np.float64]:
        """Return the similarities of ``rows`` int (r,) and ``cols`` int (c,), float64 (r, c)."""
        return np.asarray(
            kernels.block_similarities(
                self.block, self.ideal, self.sigma, self.seed,
                np.asarray(rows, np.int32), np.asarray(cols, np.int32),
            )
        )  # fmt: skip


def noisy_blocks(
    n: int = 1024, levels: int = 5, sigma: float = 0.3, seed: int = 0, shuffled: bool = True
) -> Dataset:
    """Return a noisy hierarchical block matrix as a data set with an oracle. O(n).

    Parameters
    ----------
    n : int
        Number of items.
    levels : int
        Height of the hierarchy, with 2^levels blocks of nearly equal size.
    sigma : float
        Standard deviation of the noise.
    seed : int
        Seed of the order and of the noise.
    shuffled : bool
        True for a random order of the items, False for an order by block.

    Returns
    -------
    Dataset
        ``oracle`` is a :class:`BlockOracle`, ``target`` has the blocks as polytomies, and
        ``classes`` are the blocks.

    Raises
    ------
    InvalidParameter
        If there are fewer items than blocks, or a parameter is out of range.

    Notes
    -----
    The ideal values alpha = beta of a level are its depth / levels. The paper does not specify
    them.

    References
    ----------
    Krishnamurthy, Balakrishnan, Xu and Singh (2012), section 3.2.

    Examples
    --------
    >>> noisy_blocks(8, levels=2, shuffled=False).classes[:3]
    ('block 0', 'block 0', 'block 1')
    """
    n = check_integer(n, "n", InvalidParameter, 1)
    levels = check_integer(levels, "levels", InvalidParameter, 1)
    seed = check_integer(seed, "The seed", InvalidParameter)
    if levels > 24 or n < 2**levels:
        raise InvalidParameter(
            f"{levels} levels make 2^{levels} blocks, too many for {n} items.",
            "Use fewer levels (24 at most), or more items.",
        )
    if not (math.isfinite(sigma) and sigma >= 0):
        raise InvalidParameter(f"sigma must be 0 or more, not {sigma}.")
    block = (np.arange(n, dtype=np.int64) * 2**levels // n).astype(np.int32)
    if shuffled:
        block = block[np.random.default_rng(seed).permutation(n)]
    return Dataset(
        name="noisy-blocks",
        title=f"Noisy block matrix ({n} items)",
        labels=tuple(map(str, range(n))),
        classes=tuple(np.char.add("block ", np.arange(2**levels).astype(str))[block].tolist()),
        target=block_tree(block, levels),
        oracle=BlockOracle(block, levels, float(sigma), seed),
        provenance=(
            f"Drawn: noisy hierarchical block matrix, n={n}, levels={levels}, sigma={sigma:g}, "
            f"seed={seed}; CC0."
        ),
    )


def block_tree(block: NDArray[np.int32], levels: int) -> Tree:
    """Return the hierarchy of the items' blocks, int32 (n,). Each block must occur. O(n)."""
    n = len(block)
    sizes = np.bincount(block, minlength=2**levels)
    if n == 1:
        return Tree.star(1)
    own = np.cumsum(sizes > 1) - 1 + n  # the node of each block of two items or more
    above = int((sizes > 1).sum()) + n  # the first node of the level above the blocks
    parent = np.full(above + 2**levels - 1, -1, np.int64)
    over = above + np.arange(2**levels) // 2
    parent[:n] = np.where(sizes[block] > 1, own[block], over[block])
    parent[own[sizes > 1]] = over[sizes > 1]
    first, width = above, 2 ** (levels - 1)
    while width > 1:
        parent[first : first + width] = first + width + np.arange(width) // 2
        first, width = first + width, width // 2
    return Tree.with_size_heights(parent.astype(np.int32), n)


__all__ = ["BlockOracle", "block_tree", "noisy_blocks"]
