"""Trees as nested JSON: names, heights, supports, names of groups, and how the tree was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from hcviz.core.errors import InvalidTree
from hcviz.core.tree import Tree
from hcviz.core.tree_info import TreeInfo


def nested(
    tree: Tree, names: Sequence[str], group_names: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """Return the tree as nested dictionaries, without recursion."""
    n, given = tree.n_leaves, group_names or {}
    found: list[dict[str, Any]] = [{"name": name} for name in names]
    for node in range(n, tree.n_nodes):  # children come before their parents
        entry: dict[str, Any] = {"name": given[node]} if node in given else {}
        entry["height"] = float(tree.height[node])
        if tree.support is not None and np.isfinite(tree.support[node - n]):
            entry["support"] = float(tree.support[node - n])
        entry["children"] = [found[child] for child in tree.children(node)]
        found.append(entry)
    top = found[tree.root]
    if tree.info is not None:
        top["info"] = asdict(tree.info)
    return top


def json_of_tree(
    tree: Tree, names: Sequence[str], group_names: Mapping[int, str] | None = None
) -> str:
    """Return the text of :func:`nested`."""
    try:
        return json.dumps(nested(tree, names, group_names), ensure_ascii=False, default=str)
    except RecursionError:
        raise InvalidTree(
            "The tree is too deep for JSON.", "Write it as .nwk or as .npy."
        ) from None


def is_tree_json(text: str) -> bool:
    """Return True if a text begins as the JSON of a tree, and not as that of a taxonomy."""
    return text.lstrip()[:1] == "{" and '"children"' in text and '"format"' not in text[:200]


def tree_of_json(text: str) -> tuple[Tree, dict[int, str]]:
    """Read the text of :func:`json_of_tree`: the tree, and the names of its inner nodes.

    Raises
    ------
    InvalidTree
        The text is not JSON, or not a tree.

    Examples
    --------
    >>> text = '{"height": 1.0, "children": [{"name": "owl"}, {"name": "elm"}]}'
    >>> tree_of_json(text)[0].labels
    ('owl', 'elm')
    """
    try:
        top = json.loads(text)
    except RecursionError:
        raise InvalidTree("The JSON is nested too deeply.", "Give the tree as Newick.") from None
    except ValueError as fault:
        raise InvalidTree(f"The tree cannot be read as JSON: {fault}.") from None
    leaves: list[str] = []
    inner: list[tuple[dict[str, Any], list[Any]]] = []
    waiting: list[tuple[Any, int]] = [(top, -1)]
    above: list[int] = []  # of leaves: the number of the inner node above
    over: list[int] = []  # of inner nodes
    while waiting:
        entry, parent = waiting.pop()
        if not isinstance(entry, dict):
            raise InvalidTree(f"A node of the JSON is {entry!r:.60}, not an object.")
        children = entry.get("children")
        if not children:
            name = entry.get("name")
            if not isinstance(name, str):
                raise InvalidTree("A node of the JSON has neither a name nor children.")
            leaves.append(name)
            above.append(parent)
            continue
        if not isinstance(children, list):
            raise InvalidTree("The children of a node of the JSON must be a list.")
        inner.append((entry, children))
        over.append(parent)
        waiting.extend((child, len(inner) - 1) for child in reversed(children))
    n, m = len(leaves), len(leaves) + len(inner)
    place = [m - 1 - k for k in range(len(inner))]  # children come before their parents
    parents = [place[k] if k >= 0 else -1 for k in (*above, *reversed(over))]
    height, support = np.zeros(m), np.full(m - n, np.nan)
    group_names: dict[int, str] = {}
    for k, (entry, _) in enumerate(inner):
        for key, values in (("height", height[n:]), ("support", support)):
            value = entry.get(key, np.nan if key == "support" else None)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidTree(f"A {key} in the JSON is {value!r:.60}, not a number.")
            values[place[k] - n] = value
        if isinstance(entry.get("name"), str) and entry["name"]:
            group_names[place[k]] = entry["name"]
    numbered = sorted(leaves) == sorted(map(str, range(n)))
    if numbered:
        parents[:n] = [parents[leaf] for leaf in np.argsort(list(map(int, leaves))).tolist()]
    tree = Tree(parents, height, n).with_labels(None if numbered else leaves)
    if np.isfinite(support).any():
        tree = tree.with_support(support)
    return tree.with_info(_info(top.get("info"))), group_names


def _info(given: Any) -> TreeInfo | None:
    known = {each.name for each in fields(TreeInfo)}
    if not isinstance(given, dict) or not {"method", "title", "compared", "n_items"} <= set(given):
        return None
    return TreeInfo(**{name: value for name, value in given.items() if name in known})


__all__ = ["is_tree_json", "json_of_tree", "nested", "tree_of_json"]
