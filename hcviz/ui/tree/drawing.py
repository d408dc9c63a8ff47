"""``Drawing``: draws the store's tree, heatmap and marks when the store changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.session import actions as act
from hcviz.session.model import ChosenClusters
from hcviz.ui.app.subscriptions import SLOW, watch
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.groups.places import names_of_nodes
from hcviz.ui.features.lessons.model import tree_to_show
from hcviz.ui.features.levels.collapsing import collapsed_clades
from hcviz.ui.features.levels.model import cluster_names
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.presentation import model as presentation_model
from hcviz.ui.features.run_trace.view import RunTrace
from hcviz.ui.features.similarity_queries import model as similarity_queries_model
from hcviz.ui.features.supports import model as supports_model
from hcviz.ui.features.supports import support_changes
from hcviz.ui.features.uncertainty_map import model as uncertainty_map_model
from hcviz.ui.features.uncertainty_map.model import UncertaintyMap
from hcviz.ui.state.data_sources import similarity_to_show
from hcviz.ui.state.saved_look import ALL, BY_HAND
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre, Items, partition
from hcviz.ui.tree.heatmap_cells import HeatmapCells
from hcviz.ui.tree.partition import Partition
from hcviz.ui.tree.shown_axis import axis_of

#: New answers that pulse at most after a run.
PULSED = 12


class Drawing:
    """Subscribes to the store and updates the centre and the trace of the run."""

    def __init__(
        self,
        store: Store,
        centre: Centre,
        trace: RunTrace,
        schedule: Callable[[Callable[[], None]], None],
    ) -> None:
        self._store, self._centre, self._trace = store, centre, trace
        store.saved_picture, store.restore_picture = centre.view_settings, self._restore
        store.item_colours = lambda: centre.state.cluster_codes
        self._uncertainty = UncertaintyMap(store, schedule, self._draw_uncertain)
        centre.set_worker(lambda work, done: self._in_background(work, done, schedule))
        subscribe = store.subscribe
        subscribe(lambda s: (s.dataset, s.view.lesson is None), lambda _: self._draw_items())
        subscribe(lambda s: (s.session.data,), lambda _: self._draw_items(matrix_only=True))
        subscribe(_drawn, lambda _: self._draw_tree())
        subscribe(lambda s: (s.drawn, s.view.query_mask), lambda _: self._draw_query_mask())
        subscribe(lambda s: (s.session.snapshot, s.session.status), lambda _: self._draw_trace())
        subscribe(lambda s: s.session.status == "sampling", self._end_run)
        subscribe(lambda s: s.view.selection, centre.set_selection)
        subscribe(
            lambda s: (
                s.view.draft,
                s.view.pointed_items,
                s.session.constraints,
                s.view.lesson,
                s.view.tour,
            ),
            lambda _: centre.set_marks(*constraints_model.marked_leaves(store)),
        )
        subscribe(lambda s: s.view.draft.open, lambda open_: centre.set_selecting(not open_))
        subscribe(
            lambda s: (s.view.clusters, s.view.cut, s.session.chosen_clusters),
            lambda _: self._draw_clusters(),
        )
        subscribe(
            lambda s: (s.view.level, s.session.groups, s.clusters, presentation_model.focus(s)),
            lambda _: self._collapse(),
        )
        subscribe(
            lambda s: (s.session.run, s.view.draft.open, support_changes.is_over(s)),
            lambda _: self._draw_answer(),
        )
        subscribe(_support_inputs, lambda _: self._draw_support())
        subscribe(lambda s: (s.session.groups, s.session.constraints), lambda _: self._draw_names())
        subscribe(
            lambda s: (node_costs_model.depends_on(s), s.view.lesson), lambda _: self._draw_levels()
        )
        subscribe(
            lambda s: (uncertainty_map_model.shown_matrix(s), s.view.scaling, s.view.columns),
            lambda _: self._draw_matrix(),
        )
        subscribe(uncertainty_map_model.depends_on, lambda _: self._uncertainty.update())
        watch(
            store, lambda s: (s.drawn, s.view.source, s.session.data),
            self._draw_similarity, SLOW,
        )  # fmt: skip

    def _draw_items(self, matrix_only: bool = False) -> None:
        store = self._store
        if store.dataset is None or not store.session.labels:
            return
        data = store.dataset
        name, matrix = similarity_to_show(store.problem, wanted=store.view.source)
        known = (store.problem.similarity, store.problem.oracle)
        if matrix_only and all(x is y for x, y in zip(known, self._similarity, strict=True)):
            return
        self._similarity = known
        self._centre.set_items(
            Items(
                labels=data.labels,
                features=data.features,
                feature_names=data.feature_names,
                classes=data.strips if store.view.lesson is None else None,
                images=data.images,
                similarity=matrix,
                similarity_name=name,
                title=data.title,
            )
        )
        self._uncertainty.recompute()
        store.drawn = self._tree = None
        self._draw_tree()

    def _in_background(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        schedule: Callable[[Callable[[], None]], None],
    ) -> None:
        """Call ``done(work())``, the work on another thread. After an error ``done`` gets None."""

        def finish(found: Any) -> None:
            if isinstance(found, Exception):
                with self._store.guarded():
                    raise found
            done(None if isinstance(found, Exception) else found)

        def calculate() -> None:
            try:
                found = work()
            except Exception as fault:
                found = fault
            schedule(lambda: finish(found))

        threading.Thread(target=calculate, name="hcviz-picture", daemon=True).start()

    def _end_run(self, running: bool) -> None:
        if not running:
            self._centre.end_run()

    def _draw_similarity(self, _: Any) -> None:
        """Draw the similarity of the tree on the screen, or another one that was chosen."""
        store = self._store
        if store.dataset is not None and store.dataset.labels == store.session.labels:
            name, matrix = similarity_to_show(store.problem, store.drawn, store.view.source)
            self._centre.set_similarity(matrix, name)

    _similarity: tuple[Any, Any] = (None, None)
    _source: Tree | None = None  # the tree whose heights are drawn
    _tree: Tree | None = None  # with the heights that are drawn
    _heights = ""  # the choice for them

    def _draw_tree(self) -> None:
        """Draw the session's tree at the heights chosen, unless it is drawn already."""
        snapshot = self._store.session.snapshot
        if snapshot is None or snapshot.tree.n_leaves != len(self._store.session.labels):
            self._store.drawn = self._tree = None
            self._centre.set_tree(None)
            return
        before, self._store.drawn = self._store.drawn, snapshot
        heights = self._store.view.heights
        tree = tree_to_show(self._store)
        assert tree is not None
        if before is not None and self._source is tree and self._heights == heights:
            return
        self._source = tree
        self._store.axis = axis_of(self._store, tree)
        self._heights, self._tree = heights, self._store.axis.shown
        changed: Any = None
        if tree is not snapshot.tree:
            revealed = self._store.view.lesson and self._store.view.lesson.outcome
            changed = revealed.way if revealed else None
        else:
            changes = self._store.changes()
            few = changes is not None and 2 * len(changes.gained) <= tree.n_internal
            # If most nodes are new, none is emphasised.
            changed = changes.gained if changes is not None and few else None
        streaming = self._store.session.status == "sampling"
        self._centre.set_query_mask(similarity_queries_model.heatmap_mask(self._store), draw=False)
        clusters = self._partition()
        order = self._store.session.order if tree is snapshot.tree else None
        merged = supports_model.merged_clades(self._store) if tree is snapshot.tree else None
        self._merged_for = _merges(self._store)
        self._centre.set_tree(
            self._tree, order=order, new_nodes=changed, animate=not streaming, clusters=clusters,
            last=streaming and snapshot.step == snapshot.total,
            axis=self._store.axis, merged=merged, names=names_of_nodes(self._store, tree),
            collapsed=collapsed_clades(self._store, tree, clusters),
        )  # fmt: skip
        self._show_clusters(clusters, drawn=clusters is not None)

    def _partition(self) -> Partition | None:
        """Return the clusters of the tree on the screen.

        A person may have chosen them by hand, or their number; otherwise they are those that the
        method found. The cut line stays where it is if it gives the same number.
        """
        tree, view, snapshot = self._tree, self._store.view, self._store.drawn
        if tree is None or snapshot is None:
            return None
        chosen = self._store.session.chosen_clusters
        if chosen is not None:
            if self._chosen is None or self._chosen[0] is not tree or self._chosen[1] != chosen:
                self._chosen = (tree, chosen, partition.chosen(tree, chosen.sets()))
            return self._chosen[2]
        if view.clusters == 0:
            return None
        if view.clusters is not None:
            if view.cut is not None:
                under = partition.at_height(tree, view.cut)
                if under.count == view.clusters:
                    return under
            return partition.by_count(tree, view.clusters)
        if snapshot.labels is None or self._source is not snapshot.tree:  # a lesson's
            return None
        return partition.of_method(tree, snapshot.labels)

    #: A tree, the clusters chosen by hand, and these clusters on the tree.
    _chosen: tuple[Tree, ChosenClusters, Partition] | None = None

    def _draw_clusters(self) -> None:
        self._show_clusters(self._partition(), drawn=False)

    def _show_clusters(self, clusters: Partition | None, drawn: bool) -> None:
        if not drawn:
            self._centre.set_partition(clusters)
        self._store.clusters = clusters
        self._centre.set_cluster_names(cluster_names(self._store))
        count, cut = (0, None) if clusters is None else (clusters.count, clusters.cut)
        view = self._store.view
        if clusters is not None and clusters.by_hand:
            cut = view.cut  # undo shows the line again
        if (view.n_clusters, view.cut) != (count, cut):
            self._store.change_view(n_clusters=count, cut=cut)

    def _collapse(self) -> None:
        """Collapse the tree that is drawn to the level chosen."""
        if self._source is not None and self._tree is not None:
            clades = collapsed_clades(self._store, self._source, self._store.clusters)
            if clades is not None:
                self._centre.set_collapsed(clades)

    def _draw_trace(self) -> None:
        """Draw the trace. A run may end without another snapshot; its trace ends then, too."""
        session = self._store.session
        known, self._traced = self._traced, session.snapshot
        fresh = session.snapshot if session.snapshot is not known else None
        step, metrics = (fresh.step, fresh.metrics) if fresh is not None else (0, {})
        self._trace.push(session.run, step, metrics, last=session.status != "sampling")

    _traced: Snapshot | None = None

    def _draw_query_mask(self) -> None:
        """Draw the mask of the tree shown. During a gesture the tree, and so its mask, stays."""
        if self._store.drawn is self._store.session.snapshot:
            self._centre.set_query_mask(similarity_queries_model.heatmap_mask(self._store))

    def _draw_answer(self) -> None:
        """Once after each run, let the new answers pulse in the tree."""
        run = self._store.session.run
        if run != self._answered and support_changes.is_over(self._store):
            self._answered = run
            self._centre.pulse(support_changes.new_statements(self._store.session)[:PULSED])

    _answered = -1

    _merged_for: Any = None  # the values of _merges for the tree drawn

    def _draw_support(self) -> None:
        """Draw the support; none on the tree of a lesson, which was not sampled."""
        store = self._store
        sampled = tree_to_show(store) is store.session.tree
        # The layout does not change during a gesture. A tree of a run is drawn once.
        if not store.view.draft.open and (
            not store.is_streaming or self._merged_for != _merges(store)
        ):
            self._merged_for = _merges(store)
            self._centre.set_merged(supports_model.merged_clades(store) if sampled else None)
        support = supports_model.clade_supports(store) if sampled else None
        self._centre.set_support(support, store.view.below / 100)

    def _draw_names(self) -> None:
        """Write the names of groups in the tree that is drawn."""
        if self._source is not None and self._tree is not None:
            self._centre.set_names(names_of_nodes(self._store, self._source))
            self._centre.set_cluster_names(cluster_names(self._store))

    def _restore(self, settings: Mapping[str, Any]) -> None:
        """Restore the saved view of the picture; what does not fit the items is ignored."""
        self._centre.restore_view_settings(settings)
        view = self._store.view
        if view.level == BY_HAND and not self._centre.state.collapsed:
            self._store.view = replace(view, level=ALL)

    def _draw_levels(self) -> None:
        shown = tree_to_show(self._store) is self._store.session.tree
        self._centre.set_levels(node_costs_model.drawn_tree_levels(self._store) if shown else None)

    def _draw_matrix(self) -> None:
        """Draw the matrix chosen. The uncertainty is drawn when it has been computed."""
        now: Any = uncertainty_map_model.shown_matrix(self._store)
        view: Any = self._store.view
        if now != uncertainty_map_model.UNCERTAINTY or self._centre.has_uncertainty:
            self._centre.set_matrix(now, scaling=view.scaling, columns=view.columns)

    def _draw_uncertain(self, cells: HeatmapCells) -> None:
        self._centre.set_uncertainty(cells)
        self._draw_matrix()

    def colour(self, clusters: int | None) -> None:
        """Colour this number of clusters, in this tree and in later ones.

        None: the clusters that the method finds, if any. 0: no clusters. Clusters that were chosen
        by hand are replaced, in one undo step.
        """
        store = self._store
        store.view = replace(store.view, clusters=clusters)
        if store.session.chosen_clusters is not None:
            store.dispatch(act.ChooseClusters())
        store.notify()
        shown = store.view.n_clusters
        if clusters and self._tree is not None and shown > clusters:
            store.change_view(
                message=f"A cut of this tree gives {shown:,} clusters, not {clusters:,}: it has a "
                "node with more than two branches. Split or merge clusters by hand."
            )


def _drawn(store: Store) -> Any:
    """Return what the tree drawn depends on. During a gesture the tree does not change."""
    if store.view.draft.open:
        return ("unchanged",)
    return (store.session.snapshot, store.view.heights, store.view.lesson)


def _merges(store: Store) -> Any:
    """Return what merged clades depend on, except for the sampled trees."""
    view = store.view
    return (store.drawn, view.support, view.unsure, view.below, view.lesson is None)


def _support_inputs(store: Store) -> Any:
    """Return what the numbers on the branches depend on."""
    return (
        store.drawn, store.view.heights, store.view.support, store.is_streaming,
        store.session.status,
        store.view.lesson, store.view.unsure, store.view.below, store.view.draft.open,
    )  # fmt: skip
