"""``first_tree``: where a sampler starts, shown while a worker compiles the sampler.

A sampler begins with a tree that joins similar items and satisfies the constraints. That tree needs
no draws. Its kernels run as plain Python, in hundredths of a second for a hundred items.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from hcviz.core.plain_kernels import plain_kernels
from hcviz.core.snapshot import Snapshot
from hcviz.jobs.task import Task, initial_tree, start_stream


def first_tree(task: Task) -> Snapshot | None:
    """Return the snapshot of a task before its first step; None if it has none.

    The run itself gives the same tree again as its first one.

    Raises
    ------
    HcvizError
        If the task cannot run, for example because its parameters are not valid.

    Examples
    --------
    >>> import hcviz
    >>> problem = hcviz.Problem(features=[[0.0], [1.0], [5.0]])
    >>> task = Task(1, "ddt", "hcviz.algorithms.ddt", problem, {}, seed=0, start=None)
    >>> found = first_tree(task)
    >>> found.step, found.tree.leaves(3).tolist()
    (0, [0, 1])
    """
    with plain_kernels(), closing(cast(Any, start_stream(task))) as stream:
        found: Snapshot | None = next((each for each in stream if each is not None), None)
        if found is None or found.step:
            return None
        tree = initial_tree(task) or found.tree
        return replace(found, tree=tree)


__all__ = ["first_tree"]
