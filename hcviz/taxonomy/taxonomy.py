"""``Taxonomy``: a tree and the named groups on it."""

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
from hcviz.taxonomy.entry import Entry, arranged, entry_of
from hcviz.taxonomy.group import Group, check_text
from hcviz.taxonomy.levels import write_levels
from hcviz.taxonomy.markdown import read_markdown, write_markdown
from hcviz.taxonomy.nestedjson import read_json, write_json
from hcviz.taxonomy.newick import read_newick
from hcviz.taxonomy.opml import read_opml, write_opml
from hcviz.taxonomy.outline import Outline
from hcviz.taxonomy.page import write_html
from hcviz.taxonomy.pathtable import read_table, write_paths
from hcviz.taxonomy.phylogeny import write_nhx, write_phyloxml
from hcviz.taxonomy.placing import place
from hcviz.taxonomy.plaintext import read_text, write_text
from hcviz.taxonomy.skos import SkosFormat, write_skos
from hcviz.taxonomy.skosread import read_skos

if TYPE_CHECKING:
    import pandas

#: Some editors begin a file with it.
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Change:
    """How the clade of a group differs from its members: item indices, increasing."""

    group: Group
    gained: tuple[int, ...]
    lost: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.group.name


class Taxonomy:
    """A tree and the named groups on it. Frozen.

    Parameters
    ----------
    labels : sequence of str
        The items' names, in their order; all different.
    tree : Tree
        Over the items.
    groups : iterable of Group
        Different sets of items. Groups directly below the same group have different names.

    Raises
    ------
    InvalidTaxonomy
        Labels that do not fit the tree, a member that is no item, two groups with the same items,
        the same id, or the same name below the same group.

    Notes
    -----
    A group is placed at the clade of the tree that is most like its members
    (:func:`hcviz.taxonomy.placing.place`). Its members never change by themselves, so on another
    tree it is placed anew, and back on the first tree it is where it was. The check compares all
    pairs of the k groups; each comparison takes O(the smaller group).

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
                f"The tree has {self.tree.n_leaves} items, but {len(self.labels)} labels came."
            )
        for label in self.labels:
            check_text(label, "The name of an item")
        if len(set(self.labels)) < len(self.labels):
            raise InvalidTaxonomy("Two items of a taxonomy have the same name.")
        seen: dict[object, Group] = {}
        for group, parent in zip(self.groups, self.parents, strict=True):
            if group.members[-1] >= len(self.labels):
                raise InvalidTaxonomy(
                    f"The group {group.name!r} has the item {group.members[-1]}, but there are "
                    f"only {len(self.labels)} items."
                )
            for key, what in (
                (frozenset(group.members), "the same items"),
                (("id", group.id), f"the id {group.id!r}"),
                (("name", parent, group.name), "the same name below the same group"),
            ):
                twin = seen.setdefault(key, group)
                if twin is not group:
                    raise InvalidTaxonomy(
                        f"The groups {twin.name!r} and {group.name!r} have {what}.",
                        "Rename one, or leave it out.",
                    )

    # ------------------------------------------------------------------ places

    @cached_property
    def parents(self) -> tuple[int | None, ...]:
        """For each group the place in ``groups`` of the smallest one that contains it, or None."""
        sets = [frozenset(group.members) for group in self.groups]
        found: list[int | None] = []
        for own in sets:
            around = [k for k, other in enumerate(sets) if own < other]
            found.append(min(around, key=lambda k: (len(sets[k]), k)) if around else None)
        return tuple(found)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The node of each group, in the order of ``groups``; -1 where it has no place."""
        return tuple(place(self.tree, [group.members for group in self.groups]))

    @property
    def placed(self) -> tuple[Group, ...]:
        """The groups that have a place in the tree."""
        return tuple(g for g, node in zip(self.groups, self.nodes, strict=True) if node >= 0)

    @property
    def unplaced(self) -> tuple[Group, ...]:
        """The groups that are like no clade of the tree."""
        return tuple(g for g, node in zip(self.groups, self.nodes, strict=True) if node < 0)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The placed groups whose clade has other items than they have members."""
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
        """The same groups on another tree of the same items."""
        return Taxonomy(self.labels, tree, self.groups)

    def accepted(self, *names_or_ids: str) -> Taxonomy:
        """Groups take the items of their clades as members: those named, or all that changed."""
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

    # ------------------------------------------------------------------ what it says

    @cached_property
    def outline(self) -> Outline:
        """The placed groups, nested, with the items of their clades. O(n + k log k)."""
        tree = self.tree
        begin, end = tree.leaf_start, tree.leaf_start + tree.size
        known = [(node, k) for k, node in enumerate(self.nodes) if node >= 0]
        known.sort(key=lambda pair: (int(begin[pair[0]]), -int(end[pair[0]]), pair[0]))
        order = tree.leaf_order.tolist()
        # Of each group that is open: its number, where it ends, and its contents so far.
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
        """For each item the groups that it is in, the largest first."""
        found: list[tuple[Group, ...]] = [()] * len(self.labels)
        for each, path in self.outline.walk():
            for item in each.items:
                found[item] = path
        return tuple(found)

    @property
    def n_levels(self) -> int:
        """The most groups that are nested in each other."""
        return max((len(path) for path in self.paths), default=0)

    def labels_at(self, level: int) -> pandas.Series:
        """The name of each item's group on a level; 1 is the topmost.

        Returns
        -------
        pandas.Series
            Indexed by the items' names, in their order; NaN for an item without a group there.
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
        return cls(*arranged(read(text.removeprefix(BYTE_ORDER_MARK)), labels))

    @property
    def _entry(self) -> Entry:
        return entry_of(self.outline, self.labels)

    def to_json(self) -> str:
        """Nested JSON with everything that the placed groups have."""
        return write_json(self._entry)

    @classmethod
    def from_json(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From what :meth:`to_json` wrote.

        Here and in the other readers the tree is the nesting of the groups, without any further
        clades. ``labels`` are the items; by default those of the file, in its order. Raises
        :class:`InvalidTaxonomy` for a file that cannot be read, or is about other items.
        """
        return cls._from(read_json, text, labels)

    def to_markdown(self) -> str:
        """An outline in Markdown; a group is bold and has its id, its lock and its acceptance."""
        return write_markdown(self._entry)

    @classmethod
    def from_markdown(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From an outline as :meth:`to_markdown` writes it; see :meth:`from_json`."""
        return cls._from(read_markdown, text, labels)

    def to_csv(self, style: Literal["levels", "paths"] = "levels") -> str:
        """A row an item, in the tree's order.

        ``level_1, ..., level_k, item``, or with ``style="paths"`` ``item, group, path``.
        """
        if style not in ("levels", "paths"):
            raise InvalidTaxonomy(
                f"There is no CSV of the style {style!r}.", "Use levels or paths."
            )
        return write_levels(self._entry) if style == "levels" else write_paths(self._entry)

    @classmethod
    def from_csv(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From a CSV with ``level_1, ..., level_k, item`` or ``item, path``: :meth:`from_json`."""
        return cls._from(read_table, text, labels)

    @property
    def _groups_at(self) -> dict[int, Group]:
        pairs = zip(self.nodes, self.groups, strict=True)
        return {node: group for node, group in pairs if node >= 0}

    def to_newick(self, style: Literal["plain", "nhx"] = "plain") -> str:
        """The tree in Newick, with branch lengths and the groups' names at inner nodes.

        ``style="nhx"`` adds ids, status, locks, notes and alternative names as tags of NHX.
        """
        if style not in ("plain", "nhx"):
            raise InvalidTaxonomy(
                f"There is no Newick of the style {style!r}.", "Use plain or nhx."
            )
        tree, groups = self.tree, self._groups_at
        if style == "nhx":
            return write_nhx(tree, self.labels, groups)
        names = {node: group.name for node, group in groups.items() if node >= tree.n_leaves}
        return write_newick(
            tree.parent, tree.height, tree.children, tree.n_leaves, self.labels, names
        )

    @classmethod
    def from_newick(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From Newick with names at inner nodes, each of which is a group; see :meth:`from_json`.

        The tree keeps the clades without a name, but not the branch lengths.
        """
        return cls._from(read_newick, text, labels)

    def to_skos(self, format: SkosFormat = "turtle", base: str = "urn:hcviz:") -> str:
        """A SKOS ConceptScheme with everything that the placed groups have.

        Groups and items are Concepts. See :func:`hcviz.taxonomy.skos.write_skos` for the URIs.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<urn:hcviz:item/owl> a skos:Concept" in taxonomy.to_skos()
        True
        """
        return write_skos(self._entry, format, base)

    @classmethod
    def from_skos(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From SKOS in Turtle or JSON-LD: :func:`hcviz.taxonomy.skosread.read_skos`.

        Needs the package rdflib (the extra ``hcviz[taxonomy]``). See also :meth:`from_json`.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> Taxonomy.from_skos(taxonomy.to_skos()).groups[0].id
        'a'
        """
        return cls._from(read_skos, text, labels)

    def to_opml(self) -> str:
        """OPML, for outliners: all but alternative names. Raises where XML cannot hold a name.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> '<outline text="owl"/>' in taxonomy.to_opml()
        True
        """
        return write_opml(self._entry)

    @classmethod
    def from_opml(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From OPML, as :meth:`to_opml` or an outliner writes it; see :meth:`from_json`.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> Taxonomy.from_opml(taxonomy.to_opml()).groups[0].name
        'All'
        """
        return cls._from(read_opml, text, labels)

    def to_text(self) -> str:
        """A name a line, two spaces deeper on each level: :mod:`hcviz.taxonomy.plaintext`.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> taxonomy.to_text().splitlines()[0]
        'All'
        """
        return write_text(self._entry)

    @classmethod
    def from_text(cls, text: str, labels: Sequence[str] | None = None) -> Taxonomy:
        """From indented text: lines with deeper ones below them are groups. :meth:`from_json`.

        Examples
        --------
        >>> Taxonomy.from_text("Trees\\n  elm\\n  yew\\nowl\\n").groups[0].name
        'Trees'
        """
        return cls._from(read_text, text, labels)

    def to_phyloxml(self) -> str:
        """phyloXML: the tree with branch lengths, names and all that the groups have.

        Raises :class:`InvalidTaxonomy` where XML cannot hold a name.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<name>owl</name>" in taxonomy.to_phyloxml()
        True
        """
        return write_phyloxml(self.tree, self.labels, self._groups_at)

    def to_html(self, title: str = "Taxonomy") -> str:
        """One HTML page that can be mailed: no server, no network; :mod:`hcviz.taxonomy.page`.

        Examples
        --------
        >>> taxonomy = Taxonomy(["owl", "elm"], Tree.star(2), [Group("All", [0, 1], id="a")])
        >>> "<title>Birds</title>" in taxonomy.to_html("Birds")
        True
        """
        return write_html(self._entry, title)


__all__ = ["Change", "Taxonomy"]
