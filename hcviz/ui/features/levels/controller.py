"""``LevelControls``: what the row of levels does, and the same buttons in the inspector."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.text import count_noun
from hcviz.session import actions as act
from hcviz.session.model import ChosenClusters
from hcviz.taxonomy import Taxonomy
from hcviz.taxonomy.drafting import GroupDrafts, draft_groups
from hcviz.ui.features.levels import model
from hcviz.ui.features.levels.model import ClusterChange
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.parts.numbers import whole_number
from hcviz.ui.state.saved_look import LOOKS
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre
from hcviz.ui.tree.drawing import Drawing
from hcviz.ui.tree.partition import of_nodes

ACTS = Acts()


@dataclass
class LevelControls(Controls):
    """Handles the messages of the row of levels."""

    ACTS = ACTS

    store: Store
    centre: Centre
    drawing: Drawing

    @ACTS.on("clusters")
    def _clusters(self, value: str) -> None:
        """Set the number of clusters; "" shows those that the method found."""
        with self.store.guarded():
            text = value.strip()
            self.drawing.colour(whole_number(text, "The number of clusters") if text else None)

    @ACTS.on("split")
    def _split(self) -> None:
        self._change(model.split(self.store), "Split")

    @ACTS.on("merge")
    def _merge(self) -> None:
        self._change(model.merge(self.store), "Merged")

    def _change(self, change: ClusterChange, done: str) -> None:
        """Choose the clusters of a change, or show why it is not possible."""
        store, tree = self.store, model.drawn_tree(self.store)
        if change.tops is None or tree is None:
            store.change_view(message=change.title)
            return
        after = ChosenClusters(tuple(of_nodes(tree, change.tops).of_item.tolist()))
        if after.count > (store.view.n_clusters or 1) and done == "Merged":
            done = "Divided"
        message = f"{done}: {count_noun(after.count, 'cluster')}, chosen by hand."
        store.dispatch(act.ChooseClusters(after, message))

    @ACTS.on("level")
    def _level(self, value: str) -> None:
        """Collapse the picture to a level."""
        if value in LOOKS["level"]:
            self.store.change_view(level=value)

    @ACTS.on("name-clusters")
    def _name_clusters(self) -> None:
        """Make a named group of each cluster, in one undo step."""
        store, tree, clusters = self.store, model.drawn_tree(self.store), self.store.clusters
        if tree is None or clusters is None:
            store.change_view(message="No clusters are marked. Set their number first.")
            return
        with store.guarded():
            session = store.session
            taxonomy = Taxonomy(session.labels, tree, session.groups)
            found = draft_groups(taxonomy, clusters.of_item, self.centre.order.tolist())
            message = naming_sentence(found)
            if found.groups:
                store.dispatch(act.ReplaceGroups((*session.groups, *found.groups), message))
            else:
                store.change_view(message=message)


def naming_sentence(found: GroupDrafts) -> str:
    """Return what was named, and what was not."""
    if found.groups:
        names = [each.name for each in found.groups]
        message = f"Named: {names[0]}." if len(names) == 1 else f"Named: {names[0]} to {names[-1]}."
        message += " Double-click a branch to rename it."
    else:
        message = "There is no cluster to name."
    if found.named:
        has = "has" if found.named == 1 else "have"
        message += f" {count_noun(found.named, 'cluster')} {has} a name already."
    if found.single:
        has = "has" if found.single == 1 else "have"
        message += f" {count_noun(found.single, 'cluster')} of one item {has} the item's name."
    return message


__all__ = ["LevelControls", "naming_sentence"]
