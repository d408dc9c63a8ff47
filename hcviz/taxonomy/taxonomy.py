"""The class ``Taxonomy``: a tree with named groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from hcviz.core.convert import write_newick
from hcviz.core.errors import InvalidTaxonomy
from hcviz.core.text import join_names
from hcviz.core.tree import Tree
from hcviz.taxonomy.differences import TaxonomyDifferences, find_differences
from hcviz.taxonomy.entry import Entry, assemble, entry_from_outline
from hcviz.taxonomy.group import Group, check_text
from hcviz.taxonomy.html_page import write_html
from hcviz.taxonomy.indented_text import read_text, write_text
from hcviz.taxonomy.levels import write_levels
from hcviz.taxonomy.markdown import read_markdown, write_markdown
from hcviz.taxonomy.nested_json import read_json, write_json
from hcviz.taxonomy.nesting import check_groups, parents_of
from hcviz.taxonomy.newick import read_newick
from hcviz.taxonomy.opml import read_opml, write_opml
from hcviz.taxonomy.outline import Outline
from hcviz.taxonomy.path_table import read_table, write_paths
from hcviz.taxonomy.phylogeny import write_nhx, write_phyloxml
from hcviz.taxonomy.placement import place
from hcviz.taxonomy.skos import SkosFormat, write_skos
from hcviz.taxonomy.skos_reader import read_skos

if TYPE_CHECKING:
    import pandas

#: Some editors write this character at the start of a file.
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Change:
    """The difference between the clade of a group and its members.

    Parameters
    ----------
    group : Group
        The group.
    gained : tuple of int
        Items in the clade that are not members, in increasing order.
    lost : tuple of int
        Members that are not in the clade, in increasing order.

    Examples
    --------
    >>> tree = Tree.from_newick("((0,1,2),(3,4));")
    >>> taxonomy = Taxonomy("abcde", tree, [Group("Birds", [0, 1], id="b")])
    >>> [(each.name, each.gained, each.lost) for each in taxonomy.changes]
    [('Birds', (2,), ())]
    """

    group: Group
    gained: tuple[int, ...]
    lost: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the group."""
        return self.group.name


class Taxonomy:
    """A tree with named groups. Immutable.

    Parameters
    ----------
    labels : sequence of str
        Names of the items, in their order. All are different.
    tree : Tree
        A tree over the items.
    groups : iterable of Group
        Groups with different sets of items. Groups directly below the same group have different
        names.

    Raises
    ------
    InvalidTaxonomy
        If the labels do not fit the tree, or a member is not an item. Also if two groups have the
        same items, the same id, or the same name below the same group.

    Notes
    -----
    A group is placed at the clade of the tree that is most similar to its members
    (:func:`hcviz.taxonomy.placement.place`). A change of the tree does not change its members. So
    on another tree its place is computed again, and on the first tree it has its first place. The
    constructor compares all pairs of the k groups, each in O(size of the smaller group).

    Examples
    --------
    >>> tree = Tree.from_children([[0, 1], [2, 3], [4, 5]], 4)
    >>> birds = Group("Birds", [0, 1], id="b")
    >>> taxonomy = Taxonomy(["owl", "rook", "yew", "elm"], tree, [birds])
    >>> taxonomy.labels_at(1).tolist()
    ['Birds', 'Birds', nan, nan]
    >>> other = Tree.from_children([[0, 1], [2, 4], [3, 5]], 4)
    >>> [(each.name, each.gained, each.lost) for each in taxonomy.carried_to(other).changes]
    []
    """

    __slots__ = ("__dict__", "groups", "labels", "tree")

    labels: tuple[str, ...]
    tree: Tree
    groups: tuple[Group, ...]

    def __init__(self, labels: Sequence[str], tree: Tree, groups: Iterable[Group] = ()) -> None:
        object.__setattr__(self, "labels", tuple(str(label) for label in labels))
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "groups", tuple(groups))
        self._check()
        if tree.labels != self.labels:
            object.__setattr__(self, "tree", tree.with_labels(self.labels))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Taxonomy is frozen: {name} cannot be set. Make another one.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return (self.labels, self.groups, self.tree) == (other.labels, other.groups, other.tree)

    def __hash__(self) -> int:
        return hash((self.labels, self.groups))

    def __repr__(self) -> str:
        return f"Taxonomy({len(self.labels)} items, {len(self.groups)} groups)"

    def _check(self) -> None:
        if len(self.labels) != self.tree.n_leaves:
            raise InvalidTaxonomy(
                f"The tree has {self.tree.n_leaves} items, but there are {len(self.labels)} labels."
            )
        for label in self.labels:
            check_text(label, "The name of an item")
        if len(set(self.labels)) < len(self.labels):
            raise InvalidTaxonomy("Two items of a taxonomy have the same name.")
        check_groups(self.groups, len(self.labels))

    # ------------------------------------------------------------------ places

    @cached_property
    def parents(self) -> tuple[int | None, ...]:
        """For each group, the index of the smallest group that contains it, or None."""
        return parents_of(self.groups)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The node of each group, in the order of ``groups``; -1 for a group without a place."""
        return tuple(place(self.tree, [group.members for group in self.groups]))

    @property
    def placed(self) -> tuple[Group, ...]:
        """The groups that have a place in the tree."""
        return tuple(g for g, node in zip(self.groups, self.nodes, strict=True) if node >= 0)

    @property
    def unplaced(self) -> tuple[Group, ...]:
        """The groups that are not similar to any clade of the tree."""
        return tuple(g for g, node in zip(self.groups, self.nodes, strict=True) if node < 0)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The differences of all placed groups whose clade does not equal their members."""
        found = []
        for group, node in zip(self.groups, self.nodes, strict=True):
            if node < 0:
                continue
            clade, members = set(self.tree.leaves(node).tolist()), set(group.members)
            if clade != members:
                gained, lost = sorted(clade - members), sorted(members - clade)
                found.append(Change(group, tuple(gained), tuple(lost)))
        return tuple(found)

    def carried_to(self, tree: Tree) -> Taxonomy:
        """Return the same groups on another tree of the same items.

        Parameters
        ----------
        tree : Tree
            A tree over the same items.

        Returns
        -------
        Taxonomy
            The groups have the same members; their places are computed again.

        Raises
        ------
        InvalidTaxonomy
            If the tree has another number of items.

        Examples
        --------
        >>> tree = Tree.from_newick("((0,1),(2,3));")
        >>> taxonomy = Taxonomy("abcd", tree, [Group("Birds", [0, 1])])
        >>> taxonomy.carried_to(Tree.from_newick("(0,1,(2,3));")).unplaced[0].name
        'Birds'
        """
        return Taxonomy(self.labels, tree, self.groups)

    def accepted(self, *names_or_ids: str) -> Taxonomy:
        """Return a taxonomy in which groups have the items of their clades as members.

        Parameters
        ----------
        *names_or_ids : str
            Names or ids of the groups to change. Default: all groups in ``changes``.

        Returns
        -------
        Taxonomy
            The same tree and groups; the named groups have other members.

        Raises
        ------
        InvalidTaxonomy
            If no group has one of the names.

        Examples
        --------
        >>> tree = Tree.from_newick("((0,1,2),(3,4));")
        >>> taxonomy = Taxonomy("abcde", tree, [Group("Birds", [0, 1])])
        >>> taxonomy.accepted("Birds").groups[0].members
        (0, 1, 2)
        """
        wanted = set(names_or_ids)
        unknown = wanted - {key for group in self.groups for key in (group.name, group.id)}
        if unknown:
            raise InvalidTaxonomy(f"There is no group {join_names(sorted(unknown), 3)}.")
        clades = {
            change.group.id: sorted({*change.group.members, *change.gained} - {*change.lost})
            for change in self.changes
            if not wanted or wanted & {change.name, change.group.id}
        }
        groups = [
            replace(group, members=tuple(clades.get(group.id, group.members)))
            for group in self.groups
        ]
        return Taxonomy(self.labels, self.tree, groups)

    def compared_with(self, other: Taxonomy) -> TaxonomyDifferences:
        """Compare the groups with those of a second version, by the names of the items.

        Parameters
        ----------
        other : Taxonomy
            The second version. Its items may be in another order, or partly others.

        Returns
        -------
        TaxonomyDifferences
            Which groups were kept, renamed, changed, split, merged, added or removed. Also which
            items have moved.

        Notes
        -----
        :func:`hcviz.taxonomy.differences.find_differences` has the definition.

        Examples
        --------
        >>> first = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n")
        >>> second = Taxonomy.from_text("Fowl\\n  owl\\n  rook\\nelm\\n")
        >>> first.compared_with(second).groups[0].status
        'renamed'
        """
        return find_differences(self.labels, self.groups, other.labels, other.groups)

    # ------------------------------------------------------------------ nesting

    @cached_property
    def outline(self) -> Outline:
        """The placed groups as a nested outline, with the items of their clades. O(n + k log k)."""
        tree = self.tree
        begin, end = tree.leaf_start, tree.leaf_start + tree.size
        known = [(node, k) for k, node in enumerate(self.nodes) if node >= 0]
        known.sort(key=lambda pair: (int(begin[pair[0]]), -int(end[pair[0]]), pair[0]))
        order = tree.leaf_order.tolist()
        # For each open group: its number, the row of its end, and its contents so far.
        stack: list[tuple[int, int, list[int | Outline]]] = [(-1, tree.n_leaves, [])]
        row = 0

        def fill(until: int) -> None:
            nonlocal row
            while True:
                number, last, contents = stack[-1]
                contents.extend(order[row : min(until, last)])
                row = max(row, min(until, last))
                if last > until or len(stack) == 1:
                    return
                stack.pop()
                stack[-1][2].append(Outline(self.groups[number], tuple(contents)))

        for node, k in known:
            fill(int(begin[node]))
            stack.append((k, int(end[node]), []))
        fill(tree.n_leaves)
        return Outline(None, tuple(stack[0][2]))

    @cached_property
    def paths(self) -> tuple[tuple[Group, ...], ...]:
        """For each item, the groups that contain it, the largest first."""
        found: list[tuple[Group, ...]] = [()] * len(self.labels)
        for each, path in self.outline.walk():
            for item in each.items:
                found[item] = path
        return tuple(found)

    @property
    def n_levels(self) -> int:
        """The maximal depth of nested groups."""
        return max((len(path) for path in self.paths), default=0)

    def labels_at(self, level: int) -> pandas.Series:
        """Return the name of each item's group on a level.

        Parameters
        ----------
        level : int
            1 for the outermost groups.

        Returns
        -------
        pandas.Series
            Indexed by the labels; NaN for an item without a group on this level.

        Raises
        ------
        InvalidTaxonomy
            If the level is below 1.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n")
        >>> taxonomy.labels_at(1).to_dict()
        {'elm': nan, 'owl': 'Birds', 'rook': 'Birds'}
        """
        import pandas

        if level < 1:
            raise InvalidTaxonomy(f"Levels are counted from 1, not {level}.")
        names = [path[level - 1].name if len(path) >= level else np.nan for path in self.paths]
        return pandas.Series(names, index=list(self.labels), name=f"level_{level}", dtype=object)

    # ------------------------------------------------------------------ files

    @classmethod
    def _from(
        cls, read: Callable[[str], Entry], text: str, labels: Sequence[str] | None
    ) -> Taxonomy:
        return cls(*assemble(read(text.removeprefix(BYTE_ORDER_MARK)), labels))

    @property
    def _entry(self) -> Entry:
        return entry_from_outline(self.outline, self.labels)

    def to_json(self) -> str:
        """Return nested JSON with all properties of the placed groups.

        Returns
        -------
        str
            Content of a file.

        Examples
        --------
        >>> taxonomy = Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n")
        >>> Taxonomy.from_json(taxonomy.to_json()).groups == taxonomy.groups
        True
        """
        return write_json(self._entry)

    @classmethod
    def from_json(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read the text of :meth:`to_json`.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups, without other clades.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> Taxonomy.from_json(taxonomy.to_json(), ["elm", "owl"]).labels
        ('elm', 'owl')
        """
        return cls._from(read_json, text, labels)

    def to_markdown(self) -> str:
        """Return an outline in Markdown. Groups are bold, with id, status and lock.

        Returns
        -------
        str
            Content of a file.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> print(taxonomy.to_markdown().rstrip())
        - **All** {#a}
          - owl
          - elm
        """
        return write_markdown(self._entry)

    @classmethod
    def from_markdown(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read an outline in the form of :meth:`to_markdown`.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> Taxonomy.from_markdown("- **Birds**\\n  - owl\\n  - rook\\n- elm\\n").groups[0].members
        (1, 2)
        """
        return cls._from(read_markdown, text, labels)

    def to_csv(self, style: Literal["levels", "paths"] = "levels") -> str:
        """Return a CSV text with one row per item, in the order of the leaves.

        Parameters
        ----------
        style : {"levels", "paths"}
            The columns are ``level_1, ..., level_k, item``, or ``item, group, path``.

        Returns
        -------
        str
            Content of a file.

        Raises
        ------
        InvalidTaxonomy
            If the style is unknown.

        Examples
        --------
        >>> print(Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n").to_csv().rstrip())
        level_1,item
        ,elm
        Birds,owl
        Birds,rook
        """
        if style not in ("levels", "paths"):
            raise InvalidTaxonomy(
                f"There is no CSV of the style {style!r}.", "Use levels or paths."
            )
        return write_levels(self._entry) if style == "levels" else write_paths(self._entry)

    @classmethod
    def from_csv(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read a CSV text in either form of :meth:`to_csv`.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> Taxonomy.from_csv("level_1,item\\nBirds,owl\\nBirds,rook\\n,elm\\n").groups[0].name
        'Birds'
        """
        return cls._from(read_table, text, labels)

    @property
    def _group_of_node(self) -> dict[int, Group]:
        pairs = zip(self.nodes, self.groups, strict=True)
        return {node: group for node, group in pairs if node >= 0}

    def to_newick(self, style: Literal["plain", "nhx"] = "plain") -> str:
        """Return the tree in Newick, with branch lengths, and names of groups at inner nodes.

        Parameters
        ----------
        style : {"plain", "nhx"}
            ``nhx`` adds ids, status, locks, notes and alternative names as tags.

        Returns
        -------
        str
            Content of a file.

        Raises
        ------
        InvalidTaxonomy
            If the style is unknown.

        Examples
        --------
        >>> Taxonomy.from_text("Birds\\n  owl\\n  rook\\nelm\\n").to_newick()
        '(elm:2.0,(owl:1.0,rook:1.0)Birds:1.0);'
        """
        if style not in ("plain", "nhx"):
            raise InvalidTaxonomy(
                f"There is no Newick of the style {style!r}.", "Use plain or nhx."
            )
        tree, groups = self.tree, self._group_of_node
        if style == "nhx":
            return write_nhx(tree, self.labels, groups)
        names = {node: group.name for node, group in groups.items() if node >= tree.n_leaves}
        return write_newick(
            tree.parent, tree.height, tree.children, tree.n_leaves, self.labels, names
        )

    @classmethod
    def from_newick(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read Newick, where each named inner node is a group.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            The tree has all clades of the file, named or not. Branch lengths are ignored.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> Taxonomy.from_newick("((owl,rook)Birds,elm);").groups[0].name
        'Birds'
        """
        return cls._from(read_newick, text, labels)

    def to_skos(self, format: SkosFormat = "turtle", base: str = "urn:hcviz:") -> str:
        """Return a SKOS ConceptScheme with all properties of the placed groups.

        Groups and items are Concepts.

        Parameters
        ----------
        format : {"turtle", "json-ld"}
            Syntax of the file.
        base : str
            Start of the URIs. The scheme is ``base + "taxonomy"``, a group ``base + "group/"`` and
            its id, an item ``base + "item/"`` and its percent-encoded name. An id that is a URI is
            used unchanged.

        Returns
        -------
        str
            Content of a file.

        Raises
        ------
        InvalidTaxonomy
            If the format is unknown, or the base is not an absolute URI.

        Notes
        -----
        O(n).

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<urn:hcviz:item/owl> a skos:Concept" in taxonomy.to_skos()
        True
        """
        return write_skos(self._entry, format, base)

    @classmethod
    def from_skos(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read SKOS in Turtle or JSON-LD.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items; also if the package rdflib (the extra
            ``hcviz[taxonomy]``) is not installed.

        Notes
        -----
        See :func:`hcviz.taxonomy.skos_reader.read_skos` for how Concepts become groups and items.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> Taxonomy.from_skos(taxonomy.to_skos()).groups[0].id
        'a'
        """
        return cls._from(read_skos, text, labels)

    def to_opml(self) -> str:
        """Return OPML, the format of outliners. It has all properties but alternative names.

        Returns
        -------
        str
            Content of a file.

        Raises
        ------
        InvalidTaxonomy
            If XML cannot represent a name.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> '<outline text="owl"/>' in taxonomy.to_opml()
        True
        """
        return write_opml(self._entry)

    @classmethod
    def from_opml(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read OPML of :meth:`to_opml` or of an outliner.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> Taxonomy.from_opml(taxonomy.to_opml()).groups[0].name
        'All'
        """
        return cls._from(read_opml, text, labels)

    def to_text(self) -> str:
        """Return text with one name per line, indented by two spaces per level.

        Returns
        -------
        str
            Content of a file, in the form of :mod:`hcviz.taxonomy.indented_text`.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> taxonomy.to_text().splitlines()[0]
        'All'
        """
        return write_text(self._entry)

    @classmethod
    def from_text(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """Read indented text, where a line above deeper lines is a group.

        Parameters
        ----------
        text : str
            Content of the file.
        labels : sequence of str, optional
            Names of the items. Default: those of the file; the items directly in a group come
            before those of the groups in it.

        Returns
        -------
        Taxonomy
            Its tree is the nesting of the groups.

        Raises
        ------
        InvalidTaxonomy
            If the file cannot be read, or has other items.

        Examples
        --------
        >>> Taxonomy.from_text("Trees\\n  elm\\n  yew\\nowl\\n").groups[0].name
        'Trees'
        """
        return cls._from(read_text, text, labels)

    def to_phyloxml(self) -> str:
        """Return phyloXML: the tree with branch lengths, and all properties of the groups.

        Returns
        -------
        str
            Content of a file.

        Raises
        ------
        InvalidTaxonomy
            If XML cannot represent a name.

        References
        ----------
        Han and Zmasek (2009), "phyloXML: XML for evolutionary biology and comparative genomics".

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<name>owl</name>" in taxonomy.to_phyloxml()
        True
        """
        return write_phyloxml(self.tree, self.labels, self._group_of_node)

    def to_html(self, title: str = "Taxonomy") -> str:
        """Return one HTML page that needs no server and no network.

        Parameters
        ----------
        title : str
            Heading of the page.

        Returns
        -------
        str
            Content of a file.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<title>Birds</title>" in taxonomy.to_html("Birds")
        True
        """
        return write_html(self._entry, title)


__all__ = ["Change", "Taxonomy"]
