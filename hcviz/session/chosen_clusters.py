"""``ChosenClusters``: clusters that a person chose by hand."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.errors import InvalidData


@dataclass(frozen=True)
class ChosenClusters:
    """A partition of the items that a person made by splitting and merging clusters.

    It is stored as one number for each item. So every item is in exactly one cluster, whatever the
    tree is.

    Parameters
    ----------
    of_item : tuple of int
        The number of each item's cluster. They are stored from 1, in the order of first items.
    """

    of_item: tuple[int, ...]

    def __post_init__(self) -> None:
        known: dict[int, int] = {}
        numbers = (known.setdefault(int(each), len(known) + 1) for each in self.of_item)
        object.__setattr__(self, "of_item", tuple(numbers))

    @property
    def count(self) -> int:
        """The number of clusters."""
        return max(self.of_item, default=0)

    def sets(self) -> list[list[int]]:
        """Return the items of each cluster, in the order of the clusters' numbers. O(n)."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for item, number in enumerate(self.of_item):
            found[number - 1].append(item)
        return found


def check_clusters(chosen: ChosenClusters | None, n_items: int) -> None:
    """Raise :class:`InvalidData` unless there is one cluster for each of ``n_items`` items."""
    if chosen is not None and len(chosen.of_item) != n_items:
        raise InvalidData(
            f"The clusters are of {len(chosen.of_item)} items, but there are {n_items} items."
        )


__all__ = ["ChosenClusters", "check_clusters"]
