"""``PosteriorCache``: the sampled trees of the newest runs, so that undo finds them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hcviz.core.groups import NO_GROUPS, Groups
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.triplets import Triplets
from hcviz.jobs import Samples

#: Runs whose samples are kept.
KEPT_RUNS = 4

#: What a posterior depends on besides the method and its parameters: data, constraints, their mode.
Conditions = tuple[Any, tuple[bytes, bytes, bytes], str]


class PosteriorCache:
    """The :class:`hcviz.jobs.Samples` of the newest runs, by the number of the run."""

    def __init__(self) -> None:
        self._of_run: dict[int, Samples] = {}

    def of_run(self, run: int) -> Samples | None:
        """Return the samples that run ``run`` adds to; None if it does not sample."""
        return self._of_run.get(run)

    def __len__(self) -> int:
        return len(self._of_run)

    def put(self, run: int, samples: Samples) -> None:
        """Make ``samples`` those of run ``run``."""
        self._of_run = {**self._of_run, run: samples}

    def clear(self) -> None:
        """Forget all samples."""
        self._of_run = {}

    def begin(
        self,
        run: int,
        shown: int,
        method: str,
        params: Mapping[str, Any],
        problem: Problem,
        conditions: Conditions,
        start: Snapshot | None,
    ) -> Samples:
        """Return the samples that a new run adds to.

        These are the samples of the run ``shown``, whose tree is on the screen, if the new run
        continues it: same method, parameters, data and constraints, and ``start`` is one of its
        snapshots. Else they are new.
        """
        law = {name: x for name, x in params.items() if name not in ("steps", "every")}
        key = (method, repr(sorted(law.items())), *conditions)
        before = self._of_run.get(shown)
        continues = before is not None and before.key == key and before.contains_start(start)
        samples = before if before is not None and continues else Samples(problem.n_items, key)
        older = [each for each in self._of_run.items() if each[0] != shown]
        kept = dict(older[-KEPT_RUNS + 2 :])
        if before is not None:  # its tree is on the screen until the new run returns one
            kept[shown] = before
        self._of_run = {**kept, run: samples}
        return samples

    def newest(self, conditions: Conditions) -> Samples | None:
        """Return the newest samples of these conditions, of any method; None if there are none.

        Samples without a tree do not count.
        """
        for found in reversed(self._of_run.values()):
            with found.open() as posterior:
                if posterior is not None and found.key[2:] == conditions:
                    return found
        return None


def conditions(
    data: Any, triplets: Triplets, groups: Groups, mode: str, not_groups: Groups = NO_GROUPS
) -> Conditions:
    """Return the key of what a posterior depends on.

    ``mode`` is how the method treats constraints; without constraints it makes no difference.
    """
    rows = triplets.rows.tobytes() + groups.rows.tobytes()
    avoided = not_groups.rows.tobytes()
    weights = triplets.weights.tobytes() + groups.weights.tobytes()
    return data, (rows, weights, avoided), mode if rows else ""
