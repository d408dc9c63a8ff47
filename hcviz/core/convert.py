"""Convert the arrays of a ``Tree`` to and from scipy's linkage matrices and Newick texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidTree

Float = NDArray[np.float64]
Int = NDArray[np.int32]
#: A function from a node to its children, in the order of the output.
Children = Callable[[int], Int]


# ---------------------------------------------------------------------- linkage


def read_linkage(linkage: ArrayLike) -> tuple[Int, Float, Float]:
    """Return parents, heights, and the sizes in the fourth column (n - 1,). O(n).

    See :meth:`hcviz.core.tree.Tree.from_linkage`. :func:`check_sizes` checks the sizes.
    """
    try:
        z = np.asarray(linkage, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidTree("A linkage matrix must hold numbers.") from None
    if z.size == 0:
        return np.full(1, -1, np.int32), np.zeros(1), np.empty(0)
    if z.ndim != 2 or z.shape[1] != 4:
        raise InvalidTree(f"A linkage matrix has shape (n - 1, 4), not {z.shape}.")
    n = len(z) + 1
    wrong = np.flatnonzero(~np.isfinite(z[:, 2]))
    if wrong.size:
        row = int(wrong[0])
        raise InvalidTree(f"Row {row} of the linkage has the height {z[row, 2]}, not a number.")
    pairs = z[:, :2]
    merged = n + np.arange(n - 1)
    bad = ~np.isfinite(pairs) | (pairs != np.floor(pairs)) | (pairs < 0)
    bad |= pairs >= merged[:, None]
    if bad.any():
        row = int(np.flatnonzero(bad.any(axis=1))[0])
        raise InvalidTree(
            f"Row {row} of the linkage merges {z[row, 0]:g} and {z[row, 1]:g}; "
            f"only the clusters 0..{n + row - 1} exist by then."
        )
    children = pairs.astype(np.int64)
    uses = np.bincount(children.ravel(), minlength=2 * n - 1)
    if np.any(uses[:-1] != 1):
        cluster = int(np.flatnonzero(uses[:-1] != 1)[0])
        raise InvalidTree(f"The linkage merges cluster {cluster} {uses[cluster]} times, not once.")
    parent = np.full(2 * n - 1, -1, np.int32)
    parent[children[:, 0]] = merged
    parent[children[:, 1]] = merged
    height = np.concatenate([np.zeros(n), z[:, 2]])
    if np.any(height[:-1] > height[parent[:-1]]):
        height[n:] = np.arange(1, n)
    return parent, height, z[:, 3]


def check_sizes(size: Int, stated: Float) -> None:
    """Check that the fourth column of a linkage matrix has the sizes of the clusters. O(n)."""
    wrong = np.flatnonzero(size != stated)
    if wrong.size:
        row = int(wrong[0])
        raise InvalidTree(
            f"Row {row} of the linkage makes a cluster of {size[row]} items; "
            f"its fourth column says {stated[row]:g}."
        )


def write_linkage(n: int, height: Float, size: Int, children: Children) -> Float:
    """Return a linkage matrix; see :meth:`hcviz.core.tree.Tree.to_linkage`. O(m log m)."""
    z = np.empty((n - 1, 4))
    cluster = np.arange(height.size)  # scipy's number of each node's cluster
    inner = np.arange(n, height.size)
    row = 0
    for node in inner[np.argsort(height[inner], kind="stable")]:
        below = children(int(node))
        left = int(cluster[below[0]])
        count = int(size[below[0]])
        for child in below[1:]:
            right = int(cluster[child])
            count += int(size[child])
            z[row] = min(left, right), max(left, right), height[node], count
            left = n + row
            row += 1
        cluster[node] = left
    return z


# ---------------------------------------------------------------------- Newick

# Libraries were tried first. On a caterpillar tree of 20,000 leaves newick 1.9 and dendropy 5 raise
# RecursionError; treeswift 1.1 misreads '' in quoted names and has the GPL licence.
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^']|'')*')|(?P<mark>[(),:;])|\[&support=(?P<support>[^\]]*)\]"
    r"|(?P<plain>[^\s()\[\],:;']+))"
)
#: A comment that has the support of a clade, as other programs annotate nodes.
_SUPPORT = re.compile(r"\[&support=[^\]]*\]")
_PLAIN = re.compile(r"[^\s()\[\]{}/\\,;:='\"_]+")


@dataclass(frozen=True)
class NewickTree:
    """A tree in Newick.

    Attributes
    ----------
    parent : int32 (m,)
        The parents, as :class:`hcviz.core.tree.Tree` has them.
    height : float64 (m,) or None
        The heights; None without branch lengths.
    n_leaves : int
        Number of items.
    labels : sequence of str or None
        Their names.
    support : float64 (m - n,) or None
        The supports of the inner nodes, NaN where unknown; None if no node has one.
    group_names : dict of int to str
        The names of inner nodes that are no supports.
    is_uneven : bool
        True if the branch lengths put leaves at different distances from the root.
    """

    parent: Int
    height: Float | None
    n_leaves: int
    labels: Sequence[str] | None
    support: Float | None
    group_names: dict[int, str]
    is_uneven: bool


def read_newick(text: str, labels: Sequence[str] | None = None) -> NewickTree:
    """Read a Newick text. O(m). See :meth:`hcviz.core.tree.Tree.from_newick`."""
    nodes, kept, parent, length = _parse(text)
    names = [(nodes[v].name, not nodes[v].n_children) for v in kept]
    leaf_names = [name for name, is_leaf in names if is_leaf]
    n = len(leaf_names)
    if labels is None and all(leaf_names) and not all(name.isdecimal() for name in leaf_names):
        labels = leaf_names
    item = _match_names(leaf_names, labels)
    # parse_newick returns leaves first, then inner nodes, children before parents. Only the leaves
    # are renumbered.
    m = len(names)
    number = np.concatenate([item, np.arange(n, m)]).astype(np.int64)
    new_parent = np.full(m, -1, np.int32)
    new_parent[number] = parent
    edge = np.zeros(m)
    edge[number] = np.maximum(np.nan_to_num(length), 0.0)  # negative lengths count as 0
    inner = {v: name for v, (name, _) in enumerate(names) if v >= n and name}
    shares = _supports_among(inner)
    support = np.array([nodes[v].support for v in kept[n:]])
    if shares:
        support[[v - n for v in shares]] = list(shares.values())
        inner = {}
    known = support if np.isfinite(support).any() else None
    if np.all(np.isnan(length[:-1])):
        return NewickTree(new_parent, None, n, labels, known, inner, False)
    height, depth = np.zeros(m), np.zeros(m)
    for v in range(m - 1):
        p = new_parent[v]
        height[p] = max(height[p], height[v] + edge[v])
    for v in range(m - 2, -1, -1):
        depth[v] = depth[new_parent[v]] + edge[v]
    uneven = bool(np.ptp(depth[:n]) > 1e-6 * height[-1])
    return NewickTree(new_parent, height, n, labels, known, inner, uneven)


def _supports_among(names: Mapping[int, str]) -> dict[int, float]:
    """Return the names of inner nodes as supports, if all are shares, or all are percentages."""
    try:
        values = {node: float(name) for node, name in names.items()}
    except ValueError:
        return {}
    if not values or not all(0.0 <= value <= 100.0 for value in values.values()):
        return {}
    scale = 100.0 if max(values.values()) > 1.0 else 1.0
    return {node: value / scale for node, value in values.items()}


@dataclass
class _Node:
    parent: int
    name: str = ""
    length: float = np.nan
    support: float = np.nan
    n_children: int = 0


def parse_newick(
    text: str, most_nodes: float = np.inf
) -> tuple[list[tuple[str, bool]], NDArray[np.int64], Float]:
    """Parse a Newick text: leaves come first, then inner nodes, children before parents.

    Parameters
    ----------
    text : str
        One tree.
    most_nodes : float
        The largest number of nodes.

    Returns
    -------
    names : list of (str, bool)
        The name of each node, and whether it is a leaf.
    parent : int64 (m,)
        -1 for the root.
    length : float64 (m,)
        Length of the branch above each node, NaN if not given. Nodes with a single child are
        removed, and the lengths of their branches are added.

    Raises
    ------
    InvalidTree
        The text is not a tree, or has too many nodes.

    Notes
    -----
    O(length of the text).
    """
    nodes, kept, parent, length = _parse(text, most_nodes)
    return [(nodes[v].name, not nodes[v].n_children) for v in kept], parent, length


def _parse(
    text: str, most_nodes: float = np.inf
) -> tuple[list[_Node], list[int], NDArray[np.int64], Float]:
    """Return the nodes of a text, and those of :func:`parse_newick` with parents and lengths."""
    nodes = _read_nodes(text, most_nodes)
    leaves = [v for v, node in enumerate(nodes) if not node.n_children]
    # Nodes are in preorder; in the reverse order, children come before parents.
    inner = [v for v in range(len(nodes) - 1, -1, -1) if nodes[v].n_children > 1]
    kept = leaves + inner
    index = {v: place for place, v in enumerate(kept)}
    parent = np.full(len(kept), -1, np.int64)
    length = np.full(len(kept), np.nan)
    for place, v in enumerate(kept):
        above = v
        while above >= 0:
            piece = nodes[above].length
            if not np.isnan(piece):
                length[place] = piece + (0.0 if np.isnan(length[place]) else length[place])
            above = nodes[above].parent
            if above in index:
                parent[place] = index[above]
                break
    return nodes, kept, parent, length


def _read_nodes(text: str, most_nodes: float) -> list[_Node]:
    """Return the nodes of a Newick text in preorder, without recursion."""
    if not isinstance(text, str):
        raise InvalidTree("A Newick text must be a string.")
    body = _without_comments(text.strip())
    nodes = [_Node(-1)]
    here, place, named, wants_length, ended = 0, 0, False, False, False
    while place < len(body):
        found = _TOKEN.match(body, place)
        if found is None:
            if not body[place:].strip():
                break
            raise _syntax_error(body, place, "a quote or bracket that is never closed")
        if ended:
            raise _syntax_error(
                body, found.start(), "more after the semicolon; give one tree at a time"
            )
        if len(nodes) > most_nodes:
            raise InvalidTree(
                f"The Newick text has more than {most_nodes:,} nodes.",
                "A tree over these items cannot have so many nodes.",
            )
        place = found.end()
        mark = found["mark"]
        if found["support"] is not None:
            nodes[here].support = _share(found["support"])
            continue
        if wants_length:
            nodes[here].length = _length(body, found)
            wants_length = False
        elif mark == "(":
            if named or nodes[here].n_children:
                raise _syntax_error(body, found.start("mark"), "a bracket where a comma should be")
            nodes[here].n_children = 1
            nodes.append(_Node(here))
            here = len(nodes) - 1
        elif mark in (",", ")"):
            above = nodes[here].parent
            if above < 0:
                raise _syntax_error(body, found.start("mark"), f"{mark!r} outside all brackets")
            named = mark == ")"
            here = above
            if mark == ",":
                nodes[above].n_children += 1
                nodes.append(_Node(above))
                here = len(nodes) - 1
            named = False
        elif mark == ":":
            if not np.isnan(nodes[here].length):
                raise _syntax_error(body, found.start("mark"), "two lengths of one branch")
            wants_length = True
        elif mark == ";":
            ended = True
        elif named or not np.isnan(nodes[here].length):
            raise _syntax_error(body, found.start(), "two names without a comma between them")
        else:
            quoted = found["quoted"]
            nodes[here].name = quoted[1:-1].replace("''", "'") if quoted else found["plain"]
            named = True
        if mark in (",", "("):
            named = False
    if here != 0:
        raise InvalidTree("The Newick text has more opening than closing brackets.")
    if not ended:
        raise InvalidTree("The Newick text has no end: a tree ends with a semicolon.")
    return nodes


def _share(text: str) -> float:
    """Return a support, or NaN if the text is not a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if 0.0 <= value <= 1.0 else float("nan")


def _length(body: str, found: re.Match[str]) -> float:
    try:
        value = float(found["plain"] or "")
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise _syntax_error(body, found.start(), "a branch length that is not a number")
    return value


def _without_comments(text: str) -> str:
    """Remove comments but those with supports: ``[...]`` outside quotes. O(length of the text)."""
    pieces = re.split(r"('(?:[^']|'')*')", text)
    pieces[::2] = [_outside_brackets(piece) for piece in pieces[::2]]
    return "".join(pieces)


def _outside_brackets(text: str) -> str:
    """Remove each ``[...]`` from a text without quotes; keep an unclosed bracket."""
    kept = []
    place = 0
    while (start := text.find("[", place)) >= 0 and (end := text.find("]", start)) >= 0:
        kept.append(text[place:start])
        if _SUPPORT.fullmatch(text, start, end + 1):
            kept.append(text[start : end + 1])
        place = end + 1
    return "".join([*kept, text[place:]])


def _syntax_error(body: str, place: int, what: str) -> InvalidTree:
    near = body[max(0, place - 12) : place + 12].strip()
    return InvalidTree(f"The Newick text has {what}, at character {place} near {near!r}.")


def _match_names(found: list[str], labels: Sequence[str] | None) -> NDArray[np.int64]:
    """Return the item of each leaf name; each item must occur exactly once."""
    wanted = [str(i) for i in range(len(found))] if labels is None else [str(x) for x in labels]
    index = {name: i for i, name in enumerate(wanted)}
    item = np.empty(len(found), np.int64)
    seen: set[int] = set()
    for leaf, name in enumerate(found):
        # An underscore means a space, unless an item has the underscore in its name.
        place = index.get(name, index.get(name.replace("_", " ")))
        if place is None:
            hint = (
                "Without the names of the items, leaf names must be the integers 0 to n - 1."
                if labels is None
                else "Leaf names must be the items' names."
            )
            raise InvalidTree(f"The tree has a leaf {name!r}, which is not an item.", hint)
        if place in seen:
            raise InvalidTree(f"The tree has the leaf {name!r} twice.")
        seen.add(place)
        item[leaf] = place
    if len(seen) < len(wanted):
        missing = next(name for i, name in enumerate(wanted) if i not in seen)
        raise InvalidTree(f"The tree lacks {len(wanted) - len(seen)} item(s), {missing!r} first.")
    return item


def write_newick(
    parent: Int,
    height: Float,
    children: Children,
    n: int,
    labels: Sequence[str] | None = None,
    inner: Mapping[int, str] | None = None,
    tags: Mapping[int, str] | None = None,
) -> str:
    """Return a Newick text; see :meth:`hcviz.core.tree.Tree.to_newick`. O(m).

    ``inner`` has names of inner nodes. ``tags`` has texts to write after a node and its length.
    """
    names = [str(i) for i in range(n)] if labels is None else [str(x) for x in labels]
    if len(names) != n:
        raise InvalidTree(f"The tree has {n} leaves, but there are {len(names)} labels.")
    root = parent.size - 1
    written = dict(enumerate(names)) | dict(inner or {})
    after = dict(tags or {})
    text = {
        node: name if _PLAIN.fullmatch(name) else _quoted(name) for node, name in written.items()
    }
    gap = np.append(height[parent[:-1]] - height[:-1], 0.0)
    # Depth-first search with a stack of (node, closing bracket?, first child?).
    pieces: list[str] = []
    stack = [(root, False, True)]
    while stack:
        node, closing, first = stack.pop()
        if closing or node < n:
            pieces.append((")" if closing else "" if first else ",") + text.get(node, ""))
            if node != root:
                pieces.append(f":{float(gap[node])!r}")
            pieces.append(after.get(node, ""))
            continue
        pieces.append("(" if first else ",(")
        stack.append((node, True, first))
        below = children(node)
        stack.extend((int(child), False, child == below[0]) for child in below[::-1])
    return "".join(pieces) + ";"


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
