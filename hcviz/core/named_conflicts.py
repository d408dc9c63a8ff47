"""``named_conflicts``: errors about a conflict of constraints name the items."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from hcviz.core.errors import InconsistentTriplets
from hcviz.core.groups import Groups
from hcviz.core.text import names_text
from hcviz.core.triplets import Triplets

#: Number of conflicting constraints in an error message.
MOST = 5


@contextlib.contextmanager
def named_conflicts(
    triplets: Triplets, groups: Groups, labels: Sequence[str] | None
) -> Iterator[None]:
    """Within this context, an error about a conflict of constraints has names of items, if any."""
    try:
        yield
    except InconsistentTriplets as fault:
        if labels is None:
            raise
        rows = triplets.rows[list(fault.conflict)].tolist()
        texts = [f"{labels[a]}, {labels[b]} | {labels[c]}" for a, b, c in rows]
        texts += [
            "a group of " + names_text(groups.members[each].tolist(), labels)
            for each in fault.groups
        ]
        if not texts:
            raise
        more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
        raise InconsistentTriplets(
            f"No tree satisfies these {'constraints' if fault.groups else 'triplets'} together: "
            f"{'; '.join(texts[:MOST])}{more}.",
            fault.hint,
            fault.conflict,
            fault.groups,
        ) from None


__all__ = ["named_conflicts"]
