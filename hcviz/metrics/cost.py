"""Dasgupta's cost of a tree (2016), and its sum with the triplets it violates (paper 001)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from hcviz.core.cost import dasgupta_cost
from hcviz.core.errors import InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets


def regularised_cost(tree: Tree, similarity: ArrayLike, triplets: Any, lam: float) -> float:
    """Dasgupta's cost plus ``lam`` times the sum of c_k |T[a_k,b_k]| over the violated triplets.

    c_k are the triplets' weights (paper 001, the regularised objective for conflicting
    constraints). ``lam`` is 0 or more.
    """
    if not lam >= 0:
        raise InvalidParameter(f"lam must be 0 or more, not {lam}.")
    known = Triplets.of(triplets, tree.n_leaves)
    broken = ~tree.satisfies(known)
    a, b = known.rows[broken, 0], known.rows[broken, 1]
    penalty = float(known.weights[broken] @ tree.size[tree.lca(a, b)]) if len(a) else 0.0
    return dasgupta_cost(tree, similarity) + lam * penalty


__all__ = ["dasgupta_cost", "regularised_cost"]
