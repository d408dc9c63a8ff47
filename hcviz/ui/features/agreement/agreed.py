"""``Agreed``: the result of one of the methods that are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree


@dataclass(frozen=True, eq=False)
class Agreed:
    """The result of one method when several are compared.

    Attributes
    ----------
    tree
        Its tree; None if it returned none.
    labels
        Its own partition, int32 (n,); None if it makes none.
    sentence
        A sentence about the run; "" if there is none.
    """

    tree: Tree | None
    labels: NDArray[np.int32] | None = None
    sentence: str = ""


__all__ = ["Agreed"]
