"""Where a run starts, and the constraints in the form that its method reads."""

from __future__ import annotations

from typing import Any, Literal

from hcviz.core.build import build
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets


def start_tree(start: Any) -> Tree | None:
    """Return the tree of ``start``: itself, the tree of a snapshot, or None."""
    if start is None or isinstance(start, Tree):
        return start
    if isinstance(start, Snapshot):
        return start.tree
    raise InvalidParameter("start must be a Tree or a Snapshot of an earlier run.")


def check_start(start: Any, n_items: int) -> None:
    """Raise :class:`InvalidData` if ``start`` has a tree over another number of items."""
    tree = start_tree(start)
    if tree is not None and tree.n_leaves != n_items:
        raise InvalidData(
            f"The tree to start from has {tree.n_leaves} leaves, but the problem has "
            f"{n_items} items."
        )


def with_triplets_for_groups(problem: Problem, mode: Literal["hard", "soft", "ignored"]) -> Problem:
    """Return the problem with triplets in place of its groups.

    For hard constraints these are all that the groups imply, for soft ones a weighted part of them;
    ignored groups are left out. Raises :class:`InconsistentTriplets` if no tree satisfies hard
    constraints.
    """
    groups, n = problem.groups, problem.n_items
    if not len(groups):
        return problem
    if mode == "ignored":
        return problem.with_groups(())
    if mode == "hard":
        build(n, problem.triplets, groups)  # raises InconsistentTriplets
        more = Triplets(groups.triplets(n))
    else:
        more = Triplets(*groups.soft_triplets(n))
    return problem.with_triplets(problem.triplets + more).with_groups(())


__all__ = ["check_start", "start_tree", "with_triplets_for_groups"]
