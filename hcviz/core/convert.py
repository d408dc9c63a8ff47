"""``Tree`` to and from scipy's linkage matrices and Newick texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import treeswift
from numpy.typing import ArrayLike, NDArray

from hcviz.core.errors import InvalidTree
from hcviz.core.tree import Tree

Float = NDArray[np.float64]


# ---------------------------------------------------------------------- linkage


def tree_from_linkage(linkage: ArrayLike) -> Tree:
    """See :meth:`Tree.from_linkage`. O(n)."""
    try:
        z = np.asarray(linkage, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidTree("A linkage matrix must hold numbers.") from None
    if z.size == 0:
        return Tree([-1], [0.0], 1)
    if z.ndim != 2 or z.shape[1] < 3:
        raise InvalidTree(f"A linkage matrix has shape (n - 1, 4), not {z.shape}.")
    n = len(z) + 1
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
    monotone = np.all(np.isfinite(height)) and np.all(height[:-1] <= height[parent[:-1]])
    if not monotone:
        height[n:] = np.arange(1, n)
    return Tree(parent, height, n)


def tree_to_linkage(tree: Tree) -> Float:
    """See :meth:`Tree.to_linkage`. O(m log m)."""
    n = tree.n_leaves
    z = np.empty((n - 1, 4))
    cluster = np.arange(tree.n_nodes)  # scipy's number of the cluster that stands for each node
    inner = np.arange(n, tree.n_nodes)
    row = 0
    for node in inner[np.argsort(tree.height[inner], kind="stable")]:
        below = tree.children(int(node))
        left = int(cluster[below[0]])
        count = int(tree.size[below[0]])
        for child in below[1:]:
            right = int(cluster[child])
            count += int(tree.size[child])
            z[row] = min(left, right), max(left, right), tree.height[node], count
            left = n + row
            row += 1
        cluster[node] = left
    return z


# ---------------------------------------------------------------------- Newick

# treeswift (1.1.45) parses and writes without recursion, but reads '' inside a quoted name as
# nothing and keeps comments in names: quoted names travel through it as placeholders, and comments
# are taken out first. To go when it reads them itself.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\[[^\]]*\]|[^'\[]+|.", re.DOTALL)
_PLAIN = re.compile(r"[^\s()\[\]{}/\\,;:='\"]+")
_AROUND = re.compile(r"\s*([(),:;])\s*")  # treeswift stumbles over "(\n (" and "a, (b"
_PLACE = "\N{SECTION SIGN}"


def tree_from_newick(text: str, labels: Sequence[str] | None = None) -> Tree:
    """See :meth:`Tree.from_newick`. O(m)."""
    names, parent, length = parse_newick(text)
    leaf_names = [name for name, is_leaf in names if is_leaf]
    n = len(leaf_names)
    item = _match_names(leaf_names, labels)
    # parse_newick lists leaves first, then inner nodes bottom-up; only the leaves are renumbered.
    m = len(names)
    number = np.concatenate([item, np.arange(n, m)]).astype(np.int64)
    new_parent = np.full(m, -1, np.int64)
    new_parent[number] = parent
    edge = np.zeros(m)
    edge[number] = np.maximum(np.nan_to_num(length), 0.0)
    if np.all(np.isnan(length[:-1])):
        return Tree.with_size_heights(new_parent, n) if m > 1 else Tree([-1], [0.0], 1)
    height = np.zeros(m)
    for v in range(m - 1):
        p = new_parent[v]
        height[p] = max(height[p], height[v] + edge[v])
    return Tree(new_parent, height, n)


def parse_newick(
    text: str,
) -> tuple[list[tuple[str, bool]], NDArray[np.int64], Float]:
    """``(names, parent, length)`` of a Newick text, leaves first, then inner nodes bottom-up.

    ``names[v]`` is (name, is a leaf); ``parent[v]`` is -1 at the root; ``length[v]`` is the branch
    above v, NaN where none is given. Nodes with one child vanish, their lengths added up.
    """
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith("[") and token.endswith("]"):
            return ""
        if token.startswith("'") and len(token) > 1:
            quoted.append(token[1:-1].replace("''", "'"))
            return f"{_PLACE}{len(quoted) - 1}{_PLACE}"
        if token in "'[":
            raise InvalidTree("The Newick text has a quote or bracket that is never closed.")
        return token

    if not isinstance(text, str):
        raise InvalidTree("A Newick text must be a string.")
    body = _AROUND.sub(r"\1", _TOKEN.sub(hide, text.strip()).strip())
    if body.count("(") != body.count(")"):
        raise InvalidTree(
            f"The Newick text has {body.count('(')} opening and {body.count(')')} closing "
            "parentheses."
        )
    if body.count(";") != 1 or not body.endswith(";"):
        raise InvalidTree(
            "A Newick text is one tree that ends with a semicolon.",
            "Give one tree at a time, and end it with ';'.",
        )
    try:
        swift = treeswift.read_tree_newick(body)
        nodes = list(swift.traverse_postorder())
    except RecursionError:
        raise
    except Exception:  # whatever the library raises for a malformed text
        start = text.strip()[:40]
        raise InvalidTree(
            f"The Newick text that begins {start!r} cannot be read.",
            "Look for a misplaced comma or colon, or a branch length that is no number.",
        ) from None

    def name_of(label: Any) -> str:
        name = "" if label is None else str(label).strip()
        if name.startswith(_PLACE) and name.endswith(_PLACE) and len(name) > 2:
            return quoted[int(name[1:-1])]
        return name

    leaves = [node for node in nodes if node.is_leaf()]
    inner = [node for node in nodes if node.num_children() > 1]
    kept = leaves + inner
    index = {id(node): v for v, node in enumerate(kept)}
    parent = np.full(len(kept), -1, np.int64)
    length = np.full(len(kept), np.nan)
    for v, node in enumerate(kept):
        above = node
        while above is not None:
            if above.edge_length is not None:
                try:
                    piece = float(above.edge_length)
                except (TypeError, ValueError):
                    raise InvalidTree(
                        f"A branch length in the Newick text is not a number: "
                        f"{above.edge_length!r}."
                    ) from None
                if not np.isfinite(piece):
                    raise InvalidTree("A branch length in the Newick text is not finite.")
                length[v] = piece + (0.0 if np.isnan(length[v]) else length[v])
            above = above.get_parent()
            if above is not None and id(above) in index:
                parent[v] = index[id(above)]
                break
    return [(name_of(node.label), node.is_leaf()) for node in kept], parent, length


def _match_names(found: list[str], labels: Sequence[str] | None) -> NDArray[np.int64]:
    """The item of each leaf name; every item exactly once."""
    wanted = [str(i) for i in range(len(found))] if labels is None else [str(x) for x in labels]
    index = {name: i for i, name in enumerate(wanted)}
    item = np.empty(len(found), np.int64)
    seen: set[int] = set()
    for leaf, name in enumerate(found):
        # Unquoted underscores stand for spaces, if no item is named with the underscore itself.
        place = index.get(name, index.get(name.replace("_", " ")))
        if place is None:
            hint = (
                "Without labels, leaf names must be the integers 0 to n - 1; give labels=..."
                if labels is None
                else "Leaf names must be the items' names."
            )
            raise InvalidTree(f"The tree has a leaf {name!r}, which is no item.", hint)
        if place in seen:
            raise InvalidTree(f"The tree has the leaf {name!r} twice.")
        seen.add(place)
        item[leaf] = place
    if len(seen) < len(wanted):
        missing = next(name for i, name in enumerate(wanted) if i not in seen)
        raise InvalidTree(f"The tree lacks {len(wanted) - len(seen)} item(s), {missing!r} first.")
    return item


def tree_to_newick(tree: Tree, labels: Sequence[str] | None = None) -> str:
    """See :meth:`Tree.to_newick`. O(m)."""
    names = [str(i) for i in range(tree.n_leaves)] if labels is None else [str(x) for x in labels]
    if len(names) != tree.n_leaves:
        raise InvalidTree(f"The tree has {tree.n_leaves} leaves, but {len(names)} labels came.")
    nodes = []
    for v in range(tree.n_nodes):
        gap = None if v == tree.root else float(tree.height[tree.parent[v]] - tree.height[v])
        label = f"{_PLACE}{v}{_PLACE}" if v < tree.n_leaves else None
        nodes.append(treeswift.Node(label=label, edge_length=gap))
    for v in range(tree.n_nodes - 1):
        nodes[tree.parent[v]].add_child(nodes[v])
    swift = treeswift.Tree()
    swift.root = nodes[tree.root]
    text = swift.newick()
    shown = [name if _is_plain(name) else _quoted(name) for name in names]
    text = re.sub(f"'?{_PLACE}(\\d+){_PLACE}'?", lambda hit: shown[int(hit.group(1))], text)
    return text if text.endswith(";") else text + ";"


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _is_plain(name: str) -> bool:
    # An unquoted underscore would be read as a space by others.
    return bool(_PLAIN.fullmatch(name)) and "_" not in name and _PLACE not in name
