"""``TreeViews``: how a tree shows itself in Python: tables for pandas, plots and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hcviz.core import treekernels
from hcviz.core.errors import InvalidParameter, InvalidTree
from hcviz.core.layoutkernels import elbow_path, ordered_leaves, outer_children
from hcviz.core.text import shorten
from hcviz.core.tree_info import TreeInfo
from hcviz.core.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Int = NDArray[np.int32]
Float = NDArray[np.float64]

#: A notebook draws the names of trees of at most so many items, and trees of at most so many.
MAX_NAMED, MAX_DRAWN = 150, 3000
#: Longest name in a picture, in characters; height of a row and width of a picture in pixels.
MAX_NAME, ROW_PX, WIDTH_PX = 40, 14, 560
#: A support above this is 100 % and is not written.
SURE = 0.995
#: A support is not written at a branch that is a smaller share of the picture's width.
MIN_BRANCH = 0.04
ORIENTATIONS = ("left", "right", "top", "bottom")


class TreeViews:
    """The methods of :class:`hcviz.Tree` that show a tree, with its optional names and supports.

    Attributes
    ----------
    labels : tuple of str or None
        The names of the items. Trees of :func:`hcviz.fit` have those of the problem.
    support : float64 (m - n,) or None
        The share of sampled trees that have the clade of each inner node. Trees of samplers have
        it.
    info : TreeInfo or None
        How the tree was made: method, distance, seed, constraints. Trees of :func:`hcviz.fit` and
        of :func:`hcviz.sample` have it.

    Notes
    -----
    Trees are equal whatever their names, supports and info.
    """

    labels: tuple[str, ...] | None = None
    support: Float | None = None
    info: TreeInfo | None = None

    if TYPE_CHECKING:  # Tree has them
        parent: Any
        height: Any
        size: Any
        n_leaves: int

        def leaves(self, node: int) -> Int: ...
        @property
        def n_nodes(self) -> int: ...

    def with_labels(self, labels: Sequence[str] | None) -> Self:
        """Return the same tree with other names of the items.

        Parameters
        ----------
        labels : sequence of str or None
            A name for each item; None: no names.

        Returns
        -------
        Tree
            It shares its arrays with this one.

        Raises
        ------
        InvalidTree
            The number of labels is not the number of leaves.

        Examples
        --------
        >>> import hcviz
        >>> hcviz.Tree.star(2).with_labels(["owl", "elm"]).to_newick()
        '(owl:1.0,elm:1.0);'
        """
        names = None if labels is None else tuple(map(str, labels))
        if names is not None and len(names) != self.n_leaves:
            raise InvalidTree(
                f"{len(names)} labels were given for a tree with {self.n_leaves} leaves."
            )
        return self._changed(labels=names)

    def with_support(self, support: ArrayLike | None) -> Self:
        """Return the same tree with the supports of its clades.

        Parameters
        ----------
        support : float (m - n,) or None
            A share from 0 to 1 for each inner node, such as :meth:`Posterior.support` returns;
            None: no supports.

        Returns
        -------
        Tree
            It shares its arrays with this one.

        Raises
        ------
        InvalidTree
            The number of supports is not the number of inner nodes, or they are not shares.

        Examples
        --------
        >>> import hcviz
        >>> tree = hcviz.Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
        >>> tree.with_support([0.9, 1]).frame()["support"].tolist()
        [1.0, 0.9]
        """
        try:
            values = None if support is None else np.array(support, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTree("The supports are not numbers.", "Give shares from 0 to 1.") from None
        inner = self.n_nodes - self.n_leaves
        if values is not None and values.shape != (inner,):
            raise InvalidTree(f"{values.size} supports were given for {inner} inner nodes.")
        if values is not None:
            wrong = values[~np.isnan(values) & ~((values >= 0.0) & (values <= 1.0))]
            if wrong.size:
                raise InvalidTree(
                    f"A support is a share from 0 to 1, not {wrong[0]:g}.",
                    "Divide percentages by 100.",
                )
            values.flags.writeable = False
        return self._changed(support=values)

    def with_info(self, info: TreeInfo | None) -> Self:
        """Return the same tree with another record of how it was made.

        Parameters
        ----------
        info : TreeInfo or None
            The record; None: unknown.

        Returns
        -------
        Tree
            It shares its arrays with this one.

        Examples
        --------
        >>> import hcviz
        >>> tree = hcviz.fit("average", [[0.0], [1.0], [5.0]])
        >>> tree.info.method, tree.with_info(None).info
        ('average', None)
        """
        return self._changed(info=info)

    def _changed(self, **fields: Any) -> Self:
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(fields)
        return made

    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.n_leaves))) if self.labels is None else self.labels

    # ------------------------------------------------------------------ tables

    def clusters(self, k: int) -> pd.Series[int]:
        """Cut the tree into ``k`` clusters.

        Parameters
        ----------
        k : int
            1 to n. A polytomy is split as a whole, so there can be more clusters than ``k``.

        Returns
        -------
        pandas.Series
            The cluster of each item, 1, 2, ... from the top of the picture; the index is the
            items' names, or 0..n-1.

        Raises
        ------
        InvalidParameter
            ``k`` is not from 1 to n.

        Notes
        -----
        The highest nodes are removed first; of equal ones, those with the higher index. O(n log n).

        Examples
        --------
        >>> import hcviz
        >>> tree = hcviz.Tree.from_newick("((owl,rook),elm);", ["elm", "owl", "rook"])
        >>> tree.clusters(2).to_dict()
        {'elm': 1, 'owl': 2, 'rook': 2}
        """
        import pandas as pd

        n, m = self.n_leaves, self.n_nodes
        wanted = check_integer(k, "k", InvalidParameter, 1)
        if wanted > n:
            raise InvalidParameter(f"k must be at most the number of items, {n}, not {wanted}.")
        removed = nodes_above_a_cut(self.parent, self.height, n, wanted)
        top = np.arange(m)
        for node in range(m - 2, -1, -1):
            if not removed[self.parent[node]]:
                top[node] = top[self.parent[node]]
        order = self._leaf_order()
        _, first = np.unique(top[order], return_index=True)
        ranks = {int(top[order[at]]): rank for rank, at in enumerate(np.sort(first), start=1)}
        found = [ranks[int(top[item])] for item in range(n)]
        index = range(n) if self.labels is None else list(self.labels)
        return pd.Series(found, index=pd.Index(index, name="item"), name="cluster")

    def frame(self) -> pd.DataFrame:
        """Return a table with a row for each clade of two items or more, the largest first.

        Returns
        -------
        pandas.DataFrame
            The index is the node. Columns: ``members``, a tuple of names, or of numbers if the
            tree has no names; ``size``; ``height``; ``support``, NaN where it is unknown.

        Notes
        -----
        O(sum of the sizes).

        Examples
        --------
        >>> import hcviz
        >>> hcviz.fit("average", [[0.0], [1.0], [5.0]]).frame().loc[3, "members"]
        (0, 1)
        """
        import pandas as pd

        nodes = np.arange(self.n_leaves, self.n_nodes)[::-1]
        nodes = nodes[np.argsort(-self.size[nodes], kind="stable")]
        names = self.labels
        return pd.DataFrame(
            {
                "members": [
                    tuple(int(i) if names is None else names[i] for i in np.sort(self.leaves(v)))
                    for v in nodes
                ],
                "size": self.size[nodes],
                "height": self.height[nodes],
                "support": np.nan if self.support is None else self.support[nodes - self.n_leaves],
            },
            index=pd.Index(nodes, name="node"),
        )

    # ------------------------------------------------------------------ pictures

    def _leaf_order(self) -> Int:
        offsets, items = treekernels.children_csr(self.parent)
        order: Int = ordered_leaves(
            self.parent, self.size, offsets, items, np.arange(self.n_leaves, dtype=np.float64)
        )
        return order

    def _branches(self) -> tuple[Int, Float, Float, Float]:
        """Return the leaf order, the path of all branches, and the row of each node."""
        order = self._leaf_order()
        rows = np.empty(self.n_leaves)
        rows[order] = np.arange(self.n_leaves) + 0.5
        low, high, y = outer_children(self.parent, rows)
        every = np.ones(self.n_nodes, np.bool_)
        inner = np.arange(self.n_nodes) >= self.n_leaves
        top = float(self.height[-1])
        x, path = elbow_path(
            self.parent, self.height, y, low, high, inner, ~every, every, top, True
        )
        return order, x, path, y

    def _written_supports(self) -> list[int]:
        """Return the inner nodes whose support is known, below 100 %, and has room."""
        if self.support is None:
            return []
        inner = np.arange(self.n_leaves, self.n_nodes - 1)
        branch = self.height[self.parent[inner]] - self.height[inner]
        room = branch >= MIN_BRANCH * self.height[-1]
        found = inner[room & (self.support[:-1] <= SURE)]
        return [int(v) for v in found]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        orientation: str = "left",
        names: bool | None = None,
        support: bool = True,
        **line: Any,
    ) -> Axes:
        """Draw the tree with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. Default: a new figure of pyplot.
        orientation : {"left", "right", "top", "bottom"}
            Where the root is, as in :func:`scipy.cluster.hierarchy.dendrogram`.
        names : bool, optional
            Whether the items' names are drawn. Default: for 150 items or fewer.
        support : bool
            Whether known supports below 99.5 % are written at branches with room for them.
        **line
            Options of the branches for :class:`matplotlib.collections.LineCollection`, such as
            ``colors`` and ``linewidths``.

        Returns
        -------
        matplotlib.axes.Axes
            Item p of the leaf order is at p + 0.5.

        Raises
        ------
        InvalidParameter
            ``orientation`` is none of the four.

        Examples
        --------
        >>> import hcviz, matplotlib
        >>> matplotlib.use("agg")
        >>> tree = hcviz.Tree.star(2).with_labels(["owl", "elm"])
        >>> [each.get_text() for each in tree.plot().get_yticklabels()]
        ['owl', 'elm']
        """
        from matplotlib.collections import LineCollection

        _check_orientation(orientation)
        n = self.n_leaves
        is_horizontal = orientation in ("left", "right")
        if ax is None:
            from matplotlib import pyplot

            long = min(max(0.18 * n, 2.0 if is_horizontal else 4.0), 40.0)
            _, ax = pyplot.subplots(
                figsize=(6.0, long) if is_horizontal else (long, 4.0), layout="constrained"
            )
        order, x, y, rows = self._branches()
        pieces = _pieces(x, y) if is_horizontal else _pieces(y, x)
        options: dict[str, Any] = {"colors": "C0", "linewidths": 1.0} | line
        ax.add_collection(LineCollection(pieces, **options))
        top = float(self.height[-1]) or 1.0
        along, across = (ax.set_xlim, ax.set_ylim) if is_horizontal else (ax.set_ylim, ax.set_xlim)
        along(*((1.02 * top, 0.0) if orientation in ("left", "bottom") else (0.0, 1.02 * top)))
        across(*((n, 0) if is_horizontal else (0, n)))
        axis = ax.yaxis if is_horizontal else ax.xaxis
        if n <= MAX_NAMED if names is None else names:
            axis.set_ticks(np.arange(n) + 0.5, [shorten(self._names()[i], MAX_NAME) for i in order])
            axis.set_tick_params(length=0, rotation=0 if is_horizontal else 90)
            axis.set_ticks_position(_names_side(orientation))  # type: ignore[arg-type]
        else:
            axis.set_ticks([])
        for side in ("left", "right", "top", "bottom"):
            ax.spines[side].set_visible(side == ("bottom" if is_horizontal else "left"))
        if support and self.support is not None:
            for v in self._written_supports():
                at = (float(self.height[v]), float(rows[v]))
                ax.annotate(
                        f"{100 * self.support[v - n]:.0f}", at if is_horizontal else at[::-1],
                        xytext=(-2, 2), textcoords="offset points", fontsize="x-small", ha="right",
                    )  # fmt: skip
        return ax

    def hv(self, *, orientation: str = "left", names: bool | None = None) -> Any:
        """Return the tree as a HoloViews element, for Bokeh and matplotlib.

        Parameters
        ----------
        orientation : {"left", "right", "top", "bottom"}
            Where the root is.
        names : bool, optional
            Whether the items' names are drawn. Default: for 150 items or fewer.

        Returns
        -------
        holoviews.Overlay
            A Path of the branches and Points of the inner nodes, with the columns ``node``,
            ``size`` and ``support``. Item p of the leaf order is at p + 0.5.

        Raises
        ------
        InvalidParameter
            ``orientation`` is none of the four.

        Examples
        --------
        >>> import hcviz
        >>> element = hcviz.fit("average", [[0.0], [1.0], [5.0]]).hv()
        >>> element.Points.I["size"].tolist()
        [2, 3]
        """
        from hcviz.core.tree_elements import tree_element

        _check_orientation(orientation)
        n = self.n_leaves
        order, x, y, rows = self._branches()
        inner = np.arange(n, self.n_nodes)
        table = {
            "height": self.height[inner],
            "position": rows[inner],
            "node": inner,
            "size": self.size[inner],
            "support": np.full(inner.size, np.nan) if self.support is None else self.support,
        }
        shown = [shorten(self._names()[i], MAX_NAME) for i in order]
        wanted = n <= MAX_NAMED if names is None else names
        top = float(self.height[-1]) or 1.0
        return tree_element(_pieces(x, y), table, shown if wanted else None, n, top, orientation)

    def _repr_html_(self) -> str | None:
        """Return the tree as an inline SVG picture in the colours of the notebook."""
        if self.n_leaves > MAX_DRAWN:
            return None
        n, named = self.n_leaves, self.n_leaves <= MAX_NAMED
        row = ROW_PX if named else 480 / n
        order, x, y, rows = self._branches()
        names = [shorten(self._names()[i], MAX_NAME) for i in order]
        text = 7 * max(map(len, names)) + 8 if named else 0
        width, top = WIDTH_PX - text - 8, float(self.height[-1]) or 1.0
        path = "".join(
            f"{'M' if begins else 'L'}{4 + width * (1 - px / top):.1f} {row * py:.1f}"
            for begins, px, py in zip(
                np.isnan(np.r_[np.nan, x][:-1]), x.tolist(), y.tolist(), strict=True
            )
            if not np.isnan(px)
        )
        parts = [f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".7"/>']
        if named:
            parts += [
                f'<text x="{width + 10}" y="{row * (k + 0.5) + 4:.1f}">{escape(name)}</text>'
                for k, name in enumerate(names)
            ]
            if self.support is not None:
                parts += [
                    f'<text x="{2 + width * (1 - self.height[v] / top):.1f}" '
                    f'y="{row * rows[v] - 2:.1f}" text-anchor="end" font-size="9" '
                    f'opacity=".7">{100 * self.support[v - n]:.0f}</text>'
                    for v in self._written_supports()
                ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH_PX}" '
            f'height="{row * n:.0f}" style="max-width:100%;overflow:visible" '
            f'font-family="sans-serif" font-size="11" fill="currentColor">'
            f"<title>{escape(repr(self))}</title>{''.join(parts)}</svg>"
        )


def nodes_above_a_cut(parent: Int, height: Float, n: int, n_clusters: int) -> NDArray[np.bool_]:
    """Return the nodes that a cut into ``n_clusters`` removes, bool (m,): the highest inner nodes.

    Of equal ones, those with the higher index. A polytomy is removed as a whole.
    """
    m = parent.size
    order = n + np.lexsort((np.arange(n, m), height[n:]))[::-1]
    n_children = np.bincount(parent[:-1], minlength=m)[order]
    clusters = 1 + np.concatenate([[0], np.cumsum(n_children - 1)])
    removed = np.zeros(m, np.bool_)
    removed[order[: int(np.searchsorted(clusters, min(n_clusters, n)))]] = True
    return removed


def _pieces(x: Float, y: Float) -> list[Float]:
    """Return the pieces of a path that NaN divides, float64 (k, 2) each."""
    points = np.column_stack([x, y])
    pieces = np.split(points, np.flatnonzero(np.isnan(x)) + 1)[:-1]
    return [piece[~np.isnan(piece[:, 0])] for piece in pieces]


def _check_orientation(orientation: str) -> None:
    if orientation not in ORIENTATIONS:
        raise InvalidParameter(
            f"orientation must be one of {', '.join(ORIENTATIONS)}, not {orientation!r}."
        )


def _names_side(orientation: str) -> str:
    return {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}[orientation]


__all__ = ["TreeViews", "nodes_above_a_cut"]
