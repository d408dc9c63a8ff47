"""Taxonomies for programs of phylogenetics: NHX and phyloXML, with the tree's branch lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from hcviz.core.convert import write_newick
from hcviz.core.tree import Tree
from hcviz.taxonomy.group import Group
from hcviz.taxonomy.opml import xml_escaped

NAMESPACE = "http://www.phyloxml.org"


def write_nhx(tree: Tree, labels: Sequence[str], groups: Mapping[int, Group]) -> str:
    """Newick with inner names, and ``[&&NHX:id=...:status=...]`` after each group. O(m).

    Parameters
    ----------
    tree : Tree
    labels : sequence of str
        Of the items.
    groups : mapping of int to Group
        By node. A group of one item, which is a leaf, has only the tags ``group=...``.

    Notes
    -----
    The tags are ``id``, ``status``, ``locked=true``, ``note`` and ``alternative``, percent-encoded,
    since NHX has no escapes (Zmasek & Eddy 2001). Programs without NHX take them for comments.

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [3, 2]], 3)
    >>> write_nhx(tree, ["owl", "rook", "elm"], {3: Group("Birds", [0, 1], id="b")})
    '(elm:2.0,(owl:1.0,rook:1.0)Birds:1.0[&&NHX:id=b:status=draft]);'
    """
    tags = {}
    for node, group in groups.items():
        pairs = [("group", group.name)] if node < tree.n_leaves else []
        pairs += _stated(group)
        said = ":".join(
            f"{name}={quote(value, safe=' ', errors='replace')}" for name, value in pairs
        )
        tags[node] = f"[&&NHX:{said}]"
    names = {node: group.name for node, group in groups.items() if node >= tree.n_leaves}
    return write_newick(tree.parent, tree.height, tree.children, tree.n_leaves, labels, names, tags)


def write_phyloxml(tree: Tree, labels: Sequence[str], groups: Mapping[int, Group]) -> str:
    """phyloXML: a ``clade`` a node, with its name and branch length. O(m).

    A group's id is its clade's ``node_id``; status, lock, note and alternative names are properties
    (Han & Zmasek 2009). Parameters as of :func:`write_nhx`.

    Raises
    ------
    InvalidTaxonomy
        A name that XML cannot hold: :func:`hcviz.taxonomy.opml.xml_escaped`.

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
        said = [f"<name>{xml_escaped(name)}</name>"] if name else []
        if node != root:
            length = float(tree.height[tree.parent[node]] - tree.height[node])
            said.append(f"<branch_length>{length!r}</branch_length>")
        if group is not None:
            pairs = [("group", group.name)] if leaf else []
            pairs += _stated(group)
            said += [
                f"<node_id>{xml_escaped(value)}</node_id>"
                if what == "id"
                else f'<property ref="hcviz:{what}" datatype="xsd:string" applies_to="clade">'
                f"{xml_escaped(value)}</property>"
                for what, value in sorted(pairs, key=lambda pair: pair[0] != "id")
            ]
        lines.append(f"{indent}<clade>{''.join(said)}" + "</clade>" * leaf)
        if not leaf:
            waiting.append((-1, depth))
            waiting.extend((int(child), depth + 1) for child in tree.children(node)[::-1])
    return "\n".join([*lines, " </phylogeny>", "</phyloxml>", ""])


def _stated(group: Group) -> list[tuple[str, str]]:
    found = [("id", group.id), ("status", group.status)]
    found += [("locked", "true")] if group.locked else []
    found += [("note", group.note)] if group.note else []
    return found + [("alternative", each) for each in group.alternatives]


__all__ = ["write_nhx", "write_phyloxml"]
