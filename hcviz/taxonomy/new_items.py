"""Place new items in the groups of a taxonomy, each with a probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from hcviz.core.dataframes import cells_of_frame, is_frame
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.matching_rows import matching_rows
from hcviz.core.matrix_checks import feature_table
from hcviz.core.problem import as_problem, load_named
from hcviz.core.similarity import scaled
from hcviz.core.table_columns import column_mean
from hcviz.core.text import join_names
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.nesting import parents_of
from hcviz.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    import pandas

Float = NDArray[np.float64]
Int = NDArray[np.intp]

#: The widths and shares that are tried. A width is relative to the typical distance of two items.
SHARPNESS = 2.0 ** np.arange(-3, 9)
SHARED = (0.01, 0.02, 0.05, 0.1, 0.2)
#: The width is learnt on at most this many items.
MAX_LEARNT = 1000
#: Sets of missing columns with votes of their own.
MAX_KINDS = 8
#: Numbers of a block of distances.
BLOCK = 2_000_000


@dataclass(frozen=True)
class PlacedItem:
    """A new item, and where it belongs.

    Parameters
    ----------
    item : str
        Name of the item.
    path : tuple of Group
        Its groups, the outermost first. Empty if it is most like items without a group.
    probabilities : tuple of float
        The probability of each group of the path. They never increase.
    is_unplaced : bool
        True if the item fits nowhere, or has no group. The path is then only the best guess.

    Examples
    --------
    >>> taxonomy = Taxonomy.from_text("Low\\n  a\\n  b\\nHigh\\n  c\\n  d\\n")
    >>> table = Problem(features=[[1.0], [2.0], [8.0], [9.0]], labels=list("abcd"))
    >>> found = place(table, taxonomy, [[1.5], [50.0]]).items
    >>> [(each.item, each.group.name, each.is_unplaced) for each in found]
    [('0', 'Low', False), ('1', 'High', True)]
    """

    item: str
    path: tuple[Group, ...]
    probabilities: tuple[float, ...]
    is_unplaced: bool

    @property
    def group(self) -> Group | None:
        """The innermost group of the path, None without one."""
        return self.path[-1] if self.path else None

    @property
    def probability(self) -> float:
        """The probability of the innermost group; 0 without one."""
        return self.probabilities[-1] if self.probabilities else 0.0


@dataclass(frozen=True)
class PlacedItems:
    """New items with their groups.

    Parameters
    ----------
    items : tuple of PlacedItem
        In the order of the new rows.
    notes : tuple of str
        Sentences about columns that are ignored or missing.

    Examples
    --------
    >>> taxonomy = Taxonomy.from_text("Low\\n  a\\n  b\\nHigh\\n  c\\n  d\\n")
    >>> table = Problem(features=[[1.0], [2.0], [8.0], [9.0]], labels=list("abcd"))
    >>> place(table, taxonomy, [[1.5]]).frame()["group"].tolist()
    ['Low']
    """

    items: tuple[PlacedItem, ...]
    notes: tuple[str, ...] = ()

    def frame(self) -> pandas.DataFrame:
        """Return the items as a table.

        Returns
        -------
        pandas.DataFrame
            Indexed by the items. The columns are group, path (names with `` > `` between them),
            probability and unplaced.

        Examples
        --------
        >>> PlacedItems(()).frame().columns.tolist()
        ['group', 'path', 'probability', 'unplaced']
        """
        import pandas

        return pandas.DataFrame(
            {
                "group": [None if x.group is None else x.group.name for x in self.items],
                "path": [" > ".join(group.name for group in x.path) for x in self.items],
                "probability": [x.probability for x in self.items],
                "unplaced": [x.is_unplaced for x in self.items],
            },
            index=pandas.Index([x.item for x in self.items], name="item"),
        )


def place(
    data: Any, taxonomy: Taxonomy, new_rows: Any, *, sure: float = 0.5, outliers: float = 0.02
) -> PlacedItems:
    """Place new items in the named groups of a taxonomy, which stays as it is.

    Parameters
    ----------
    data : Dataset, Problem, DataFrame or float (n, d)
        The table of the taxonomy's items. A data set or a DataFrame has the units of the file;
        for a problem, the new rows need the problem's units.
    taxonomy : Taxonomy
        The groups. Their members are used, not their places in the tree.
    new_rows : DataFrame or float (m, d)
        The new items, with the columns of the table. Other columns are ignored. An item is compared
        by the columns in which it has a cell.
    sure : float
        Lowest probability of an inner group. Below it, the path ends at the group around it.
    outliers : float
        The share of the taxonomy's own items that would count as unplaced.

    Returns
    -------
    PlacedItems
        For each new item its groups, their probabilities, and whether it fits nowhere.

    Raises
    ------
    InvalidData
        If there are no features, the items are not those of the taxonomy, or a cell cannot be read.
    InvalidParameter
        If ``sure`` or ``outliers`` is not between 0 and 1.

    Notes
    -----
    Columns are scaled to mean 0 and standard deviation 1, and a data set's weights of columns count
    (:meth:`hcviz.datasets.Dataset.factors`). The words of a text have one weight. Each known item
    votes for its groups with the weight exp(-b d^2), where d is the Euclidean distance to the new
    item. A share e of the votes is the same for all items. The probability of a group is its share
    of the votes. So an item can be sure of an outer group and unsure of the groups in it. This is a
    probabilistic neural network (Specht 1990). Both b and e maximise the probability of the known
    items' own groups, each left out in turn.

    An item fits nowhere if it is farther from its nearest item than nearly all known items are from
    theirs: beyond the quantile 1 - ``outliers`` of those distances. All this is computed for each
    set of missing columns, of which the eight most frequent count. For other items, and for those
    without any cell, missing cells are the mean of the table.

    With 20 % of the items held out, 40 times: for the classes of Zoo, 95 % of the groups are right
    at a mean probability of 95 %. For Iris both are 95 % and 94 %. For kitchen.csv, cut into 8
    clusters of average linkage, they are 95 % and 96 %. For its column ``used_for``, given the
    other columns, they are 71 % and 73 %. Above a probability of 90 %, 99 %, 98 %, 98 % and 89 %
    are right. Of these ordinary items 3 % to 5 % count as unplaced.

    O((n + m) n d), and no more than 1,000 items are left out in turn.

    References
    ----------
    Specht (1990), "Probabilistic neural networks".

    Examples
    --------
    >>> zoo = load("zoo")
    >>> items = [list(zoo.labels[:90]), Tree.star(90)]
    >>> mammals = [k for k in range(90) if zoo.classes[k] == "mammal"]
    >>> taxonomy = Taxonomy(*items, [Group("Mammals", mammals)])
    >>> known = Problem(features=zoo.features[:90], labels=items[0])
    >>> found = place(known, taxonomy, zoo.features[90:])
    >>> [zoo.labels[90 + k] for k, each in enumerate(found.items) if each.path]
    ['vampire', 'vole', 'wallaby', 'wolf']
    """
    table = _as_table(data)
    known, names = _known_features(table, taxonomy)
    if is_frame(new_rows):
        cells = cells_of_frame(new_rows)
        columns = dict(zip(cells.names, cells.cells, strict=True))
        notes: list[str] = []
        fresh = matching_rows(columns, cells.labels, names, ",", notes, table)
        return _place(table, known, taxonomy, cells.labels, fresh, notes, sure, outliers)
    fresh = _checked_array(new_rows, known.shape[1])
    labels = [str(k) for k in range(len(fresh))]
    return _place(table, known, taxonomy, labels, fresh, [], sure, outliers)


def place_columns(
    data: Any,
    taxonomy: Taxonomy,
    labels: Sequence[str],
    columns: Mapping[str, Any],
    separator: str,
    *,
    sure: float = 0.5,
    outliers: float = 0.02,
) -> PlacedItems:
    """Place new items whose columns were read from a file, as :func:`place` does.

    ``columns`` and ``separator`` are those of :func:`hcviz.core.matching_rows.matching_rows`.
    """
    table = _as_table(data)
    known, names = _known_features(table, taxonomy)
    notes: list[str] = []
    fresh = matching_rows(columns, labels, names, separator, notes, table)
    return _place(table, known, taxonomy, labels, fresh, notes, sure, outliers)


def _place(
    table: Any,
    known: Float,
    taxonomy: Taxonomy,
    labels: Sequence[str],
    fresh: Float,
    notes: Sequence[str],
    sure: float,
    outliers: float,
) -> PlacedItems:
    for name, value in (("sure", sure), ("outliers", outliers)):
        if not 0 <= value <= 1:
            raise InvalidParameter(f"{name} must be between 0 and 1, not {value}.")
    known = column_mean(known)
    mean = known.mean(axis=0)
    missing = np.isnan(fresh)
    fresh = np.where(missing, mean, fresh)
    deviation = known.std(axis=0)
    factors = table.factors(known) if hasattr(table, "factors") else 1.0
    known = scaled(known, mean, deviation) * factors
    fresh = scaled(fresh, mean, deviation) * factors
    found: dict[int, PlacedItem] = {}
    for columns, rows in _by_missing_columns(missing):
        model = _Votes(known[:, columns], taxonomy.groups)
        limit = model.learn(outliers)
        names = [labels[row] for row in rows]
        placed = model.placed(names, fresh[np.ix_(rows, columns)], limit, sure)
        found.update(zip(rows.tolist(), placed, strict=True))
    return PlacedItems(tuple(found[row] for row in range(len(fresh))), tuple(notes))


def _by_missing_columns(missing: NDArray[np.bool_]) -> list[tuple[Int, Int]]:
    """Return the columns by which items are compared, and the rows of these items.

    ``missing`` is bool (m, d). All columns are in the last entry, for all other rows.
    """
    kinds, kind, count = np.unique(missing, axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    chosen = [k for k in np.argsort(-count, kind="stable") if not kinds[k].all()][:MAX_KINDS]
    found = [(np.flatnonzero(~kinds[k]), np.flatnonzero(kind == k)) for k in chosen]
    rest = np.flatnonzero(~np.isin(kind, chosen))
    if rest.size:
        found.append((np.arange(missing.shape[1]), rest))
    return found


def _as_table(data: Any) -> Any:
    """Return a table as a problem; a data set stays as it is, in the units of its file."""
    data = load_named(data)
    return data if hasattr(data, "features") else as_problem(data)


def _known_features(table: Any, taxonomy: Taxonomy) -> tuple[Float, tuple[str, ...]]:
    """Return the features of the taxonomy's items in its order, and the names of the features."""
    if getattr(table, "features", None) is None:
        raise InvalidData(
            "Items are placed by their features, but the data have none.",
            "Give the table of the items.",
        )
    row = {str(label): k for k, label in enumerate(table.labels)}
    missing = [label for label in taxonomy.labels if label not in row]
    if missing:
        raise InvalidData(
            f"The table lacks {len(missing):,} items of the taxonomy: {join_names(missing, 3)}.",
            "Give the table that the taxonomy was made of.",
        )
    chosen = np.asarray(table.features, np.float64)[[row[label] for label in taxonomy.labels]]
    names = table.feature_names or [f"feature {k + 1}" for k in range(chosen.shape[1])]
    return chosen, tuple(names)


def _checked_array(new_rows: Any, width: int) -> Float:
    fresh = feature_table(new_rows)
    if fresh.shape[1] != width:
        raise InvalidData(
            f"The new rows have {fresh.shape[1]} columns, and the table has {width}.",
            "Give a DataFrame with the names of the columns.",
        )
    if np.isinf(fresh).any():
        raise InvalidData("The new rows hold an infinite number.", "Correct it, or use NaN.")
    return fresh


class _Votes:
    """The votes of the known items, scaled float64 (n, d), for their groups."""

    def __init__(self, known: Float, groups: Sequence[Group]) -> None:
        self.known, self.groups = known, groups
        n = len(known)
        self.parents = parents_of(groups)
        self.members = np.zeros((n, len(groups)))
        for k, group in enumerate(groups):
            self.members[list(group.members), k] = 1
        # Items with the same groups are of one class.
        _, self.classes = np.unique(self.members, axis=0, return_inverse=True)
        self.classes = self.classes.reshape(-1)
        self.sharpness, self.shared = 0.0, 0.0

    def _blocks(self, rows: Float) -> list[Any]:
        size = max(1, BLOCK // max(len(self.known), 1))
        return [slice(at, at + size) for at in range(0, len(rows), size)]

    def learn(self, outliers: float) -> float:
        """Choose sharpness and share; return the largest squared distance of items that fit."""
        n = len(self.known)
        chosen = np.unique(np.linspace(0, n - 1, min(n, MAX_LEARNT)).astype(np.int64))
        sample = cdist(self.known[chosen], self.known[chosen], "sqeuclidean")
        typical = float(sample.std()) or 1.0
        score = np.zeros((len(SHARPNESS), len(SHARED)))
        nearest = np.empty(chosen.size)
        for part in self._blocks(self.known[chosen]):
            items = chosen[part]
            distance = cdist(self.known[items], self.known, "sqeuclidean")
            distance[np.arange(items.size), items] = np.inf
            nearest[part] = distance.min(axis=1)
            same = self.classes[items][:, None] == self.classes[None, :]
            same[np.arange(items.size), items] = False
            has_peer = same.any(axis=1)  # an item alone in its class cannot be foreseen
            prior = same.sum(axis=1) / max(n - 1, 1)
            for a, sharpness in enumerate(SHARPNESS / typical):
                weight = _weights(distance, sharpness)
                own = (weight * same).sum(axis=1)
                for b, shared in enumerate(SHARED):
                    likely = (1 - shared) * own + shared * prior
                    score[a, b] += np.log(likely[has_peer]).sum()
        # Of equal scores the first, whatever the rounding.
        first = int(np.flatnonzero(score.ravel() >= score.max() - 1e-9)[0])
        best = np.unravel_index(first, score.shape)
        self.sharpness, self.shared = SHARPNESS[best[0]] / typical, SHARED[best[1]]
        return float(np.quantile(nearest, 1 - outliers))

    def placed(
        self, labels: Sequence[str], fresh: Float, limit: float, sure: float
    ) -> list[PlacedItem]:
        """Return the groups of new items, scaled float64 (m, d)."""
        found: list[PlacedItem] = []
        inside: dict[int | None, list[int]] = {}
        for k, parent in enumerate(self.parents):
            inside.setdefault(parent, []).append(k)
        free = 1.0 - self.members.max(axis=1, initial=0.0)
        for part in self._blocks(fresh):
            distance = cdist(fresh[part], self.known, "sqeuclidean")
            vote = _weights(distance, self.sharpness)
            vote = (1 - self.shared) * vote + self.shared / len(self.known)
            chances = np.minimum(vote @ self.members, 1.0)
            none = vote @ free
            for k, label in enumerate(labels[part]):
                path = _path(chances[k], none[k], inside, sure)
                fits = bool(distance[k].min() <= limit) and bool(path)
                found.append(
                    PlacedItem(
                        label,
                        tuple(self.groups[group] for group in path),
                        tuple(float(chances[k, group]) for group in path),
                        not fits,
                    )
                )
        return found


def _weights(distance: Float, sharpness: float) -> Float:
    """Return weights that sum to 1 in each row."""
    nearest = distance.min(axis=1, keepdims=True)
    weight = np.exp(-sharpness * (distance - nearest))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _path(
    chances: Float, none: float, inside: dict[int | None, list[int]], sure: float
) -> list[int]:
    """Return the groups of one item, the outermost first."""
    path: list[int] = []
    here: int | None = None
    while below := inside.get(here):
        best = max(below, key=lambda k: (chances[k], -k))
        enough = chances[best] >= none if here is None else chances[best] >= sure
        if not enough:
            break
        path.append(best)
        here = best
    return path


__all__ = ["PlacedItem", "PlacedItems", "place", "place_columns"]
