"""Reading of taxonomies in Newick, where names of inner nodes are groups."""

from __future__ import annotations

from hcviz.core.convert import parse_newick
from hcviz.core.errors import InvalidTaxonomy, InvalidTree
from hcviz.taxonomy.entry import Entry


def read_newick(text: str) -> Entry:
    """Read all clades of the tree. Those with a name are groups."""
    try:
        names, parent, _ = parse_newick(text)
    except InvalidTree as fault:
        raise InvalidTaxonomy(fault.message, fault.hint) from None
    top = Entry()
    root = len(names) - 1
    entries = {root: top}
    if names[root][0] and root > 0:
        entries[root] = Entry(name=names[root][0])
        top.contents.append(entries[root])
    for node in range(root - 1, -1, -1):  # inner nodes in the order of the text, leaves reversed
        name, is_leaf = names[node]
        above = entries[int(parent[node])].contents
        if is_leaf:
            above.insert(0, name)
        else:
            entries[node] = Entry(name=name, is_unnamed=not name)
            above.append(entries[node])
    return top


__all__ = ["read_newick"]
