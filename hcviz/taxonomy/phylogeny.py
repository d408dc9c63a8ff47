"""Taxonomies in two formats of phylogenetics, NHX and phyloXML, with branch lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from hcviz.core.convert import write_newick
from hcviz.core.tree import Tree
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.opml import escape_xml

NAMESPACE = "http://www.phyloxml.org"


def write_nhx(tree: Tree, labels: Sequence[str], groups: Mapping[int, Group]) -> str:
    """Return Newick with names of groups, and ``[&&NHX:id=...:status=...]`` after each. O(m).

    Parameters
    ----------
    tree : Tree
        A tree with m nodes.
    labels : sequence of str
        Names of the items.
    groups : mapping of int to Group
        The group of a node. The name of a group at a leaf is in the tag ``group``.

    Notes
    -----
    The tags are ``id``, ``status``, ``locked=true``, ``note`` and ``alternative``. They are
    percent-encoded, since NHX has no escapes. For programs without NHX, the tags are comments.

    References
    ----------
    Zmasek and Eddy (2001), ATV: display and manipulation of annotated phylogenetic trees.

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [3, 2]], 3)
    >>> write_nhx(tree, ["owl", "rook", "elm"], {3: Group("Birds", [0, 1], id="b")})
    '(elm:2.0,(owl:1.0,rook:1.0)Birds:1.0[&&NHX:id=b:status=draft]);'
    """
    tags = {}
    for node, group in groups.items():
        pairs = [("group", group.name)] if node < tree.n_leaves else []
        pairs += _properties(group)
        text = ":".join(
            f"{name}={quote(value, safe=' ', errors='replace')}" for name, value in pairs
        )
        tags[node] = f"[&&NHX:{text}]"
    names = {node: group.name for node, group in groups.items() if node >= tree.n_leaves}
    return write_newick(tree.parent, tree.height, tree.children, tree.n_leaves, labels, names, tags)


def write_phyloxml(tree: Tree, labels: Sequence[str], groups: Mapping[int, Group]) -> str:
    """Return phyloXML with a ``clade`` for each node, with its name and branch length. O(m).

    The id of a group is the ``node_id`` of its clade. Status, lock, note and alternative names are
    properties. The parameters are those of :func:`write_nhx`.

    Raises
    ------
    InvalidTaxonomy
        If XML cannot represent a name (:func:`hcviz.taxonomy.opml.escape_xml`).

    References
    ----------
    Han and Zmasek (2009), phyloXML: XML for evolutionary biology and comparative genomics.

    Examples
    --------
    >>> text = write_phyloxml(Tree.star(2), ["owl", "elm"], {})
    >>> text.splitlines()[4].strip()
    '<clade><name>owl</name><branch_length>1.0</branch_length></clade>'
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<phyloxml xmlns="{NAMESPACE}" xmlns:xsd="http://www.w3.org/2001/XMLSchema">',
        ' <phylogeny rooted="true">',
    ]
    root = tree.root
    waiting = [(root, 2)]
    while waiting:
        node, depth = waiting.pop()
        indent = " " * depth
        if node < 0:
            lines.append(f"{indent}</clade>")
            continue
        group = groups.get(node)
        leaf = node < tree.n_leaves
        name = labels[node] if leaf else "" if group is None else group.name
        parts = [f"<name>{escape_xml(name)}</name>"] if name else []
        if node != root:
            length = float(tree.height[tree.parent[node]] - tree.height[node])
            parts.append(f"<branch_length>{length!r}</branch_length>")
        if group is not None:
            pairs = [("group", group.name)] if leaf else []
            pairs += _properties(group)
            parts += [
                f"<node_id>{escape_xml(value)}</node_id>"
                if what == "id"
                else f'<property ref="hcviz:{what}" datatype="xsd:string" applies_to="clade">'
                f"{escape_xml(value)}</property>"
                for what, value in sorted(pairs, key=lambda pair: pair[0] != "id")
            ]
        lines.append(f"{indent}<clade>{''.join(parts)}" + "</clade>" * leaf)
        if not leaf:
            waiting.append((-1, depth))
            waiting.extend((int(child), depth + 1) for child in tree.children(node)[::-1])
    return "\n".join([*lines, " </phylogeny>", "</phyloxml>", ""])


def _properties(group: Group) -> list[tuple[str, str]]:
    found = [("id", group.id), ("status", group.status)]
    found += [("locked", "true")] if group.locked else []
    found += [("note", group.note)] if group.note else []
    return found + [("alternative", each) for each in group.alternatives]


__all__ = ["write_nhx", "write_phyloxml"]
