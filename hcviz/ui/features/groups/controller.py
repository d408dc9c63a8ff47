"""``GroupControls``: what the panel of groups and the name field do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hcviz.core.errors import HcvizError
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE, Constraint
from hcviz.session.model import Group
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.groups.model import SEPARATOR, selection_key
from hcviz.ui.features.groups.places import (
    clade_of,
    group_of_items,
    lock_of,
    shown_taxonomy,
    unlocked_groups,
)
from hcviz.ui.parts.messages import Acts, Controls
from hcviz.ui.state.store import Store
from hcviz.ui.tree import Centre

ACTS = Acts()

MOVED = ("The selection has changed, so nothing was done.", "Select the items again.")


@dataclass
class GroupControls(Controls):
    """Handles the messages of the panel and of the field in the inspector."""

    ACTS = ACTS

    store: Store
    centre: Centre
    gestures: Gestures
    files: FileController

    @ACTS.on("name-group")
    def _name(self, name: str, key: str) -> None:
        """Name the selected items, or rename their group.

        ``key`` is that of the items that were selected when the name was typed.
        """
        store, chosen = self.store, self._selected(key)
        if chosen is None:
            return
        group = group_of_items(store, chosen)
        if group is None:
            store.dispatch(act.NameGroup(chosen, name))
        else:
            store.dispatch(act.EditGroup(group.id, name=name))

    @ACTS.on("lock-group")
    def _lock(self, locked: bool, key: str) -> None:
        """Lock or unlock the selected items: add the constraint that they are a group, or disable
        it."""
        store, chosen = self.store, self._selected(key)
        if chosen is None:
            return
        found = lock_of(store, chosen)
        if locked and found is None:
            author = store.session.author
            store.dispatch(act.AddConstraint(chosen, EVERYTHING_ELSE, author=author))
            self.gestures.on_stated()
        elif not locked and found is not None:
            store.dispatch(act.DisableConstraint(found.id))
        store.change_view(n_redraws=store.view.n_redraws + 1)  # a refused lock is drawn open again

    @ACTS.on("lock-groups")
    def _lock_all(self) -> None:
        """Lock all groups in one step. Those that contradict others are kept and explained."""
        groups, session = unlocked_groups(self.store), self.store.session
        if groups:
            found = tuple(
                Constraint(
                    k, group.members, EVERYTHING_ELSE, author=session.author, note=group.name
                )
                for k, group in enumerate(groups)
            )
            source = "Groups locked" if len(groups) > 1 else f"Locked {groups[0].name}"
            self.store.dispatch(act.ImportConstraints(found, source=f"{source}: "))

    @ACTS.on("rename-group")
    def _rename(self, id: str, name: str) -> None:
        self.store.dispatch(act.EditGroup(id, name=name))

    @ACTS.on("group-note")
    def _note(self, id: str, value: str) -> None:
        self.store.dispatch(act.EditGroup(id, note=value.strip()))

    @ACTS.on("group-alternatives")
    def _alternatives(self, id: str, value: str) -> None:
        names = tuple(name.strip() for name in value.split(SEPARATOR.strip()) if name.strip())
        self.store.dispatch(act.EditGroup(id, alternatives=names))

    @ACTS.on("group-status")
    def _status(self, id: str, accepted: bool) -> None:
        self.store.dispatch(act.EditGroup(id, status="accepted" if accepted else "draft"))

    @ACTS.on("remove-group")
    def _remove(self, id: str) -> None:
        self.store.dispatch(act.RemoveGroup(id))

    @ACTS.on("show-group")
    def _show(self, id: str) -> None:
        """Select the items of a group in the tree, and zoom to them if none is in view."""
        group = self._find(id)
        if group is not None:
            items = clade_of(shown_taxonomy(self.store), group)
            self.gestures.select_items(items)
            self.centre.reveal(items)

    @ACTS.on("accept-group")
    def _accept(self, id: str) -> None:
        """Let a group have the items of its place as members."""
        group = self._find(id)
        if group is not None:
            items = clade_of(shown_taxonomy(self.store), group)
            self.store.dispatch(act.SetGroupMembers(id, items))

    @ACTS.on("accept-groups")
    def _accept_all(self) -> None:
        taxonomy = shown_taxonomy(self.store)
        if taxonomy is not None and taxonomy.changes:
            count = len(taxonomy.changes)
            with self.store.guarded():
                groups = taxonomy.accepted().groups
                message = f"The new items of {count:,} groups are accepted."
                self.store.dispatch(act.ReplaceGroups(groups, message))

    @ACTS.on("place-group")
    def _place(self, id: str) -> None:
        """Let a group have the selected items as members."""
        if self.store.view.selection:
            self.store.dispatch(act.SetGroupMembers(id, self.store.view.selection))

    @ACTS.on("list-items")
    def _list(self, id: str) -> None:
        """List the items of a group under its row, or no longer."""
        listed = self.store.view.listed_group
        self.store.change_view(listed_group="" if listed == id else id)

    @ACTS.on("show-item")
    def _show_item(self, item: int) -> None:
        if 0 <= item < self.store.session.n_items:
            self.gestures.select_items((item,))
            self.centre.reveal((item,))

    @ACTS.on("move-items")
    def _move(self, id: str, items: Sequence[int]) -> None:
        """Open the draft that items belong to a group; empty for the selected items."""
        group, n = self._find(id), self.store.session.n_items
        moved = tuple(items) or self.store.view.selection
        if group is None or not all(0 <= item < n for item in moved):
            return
        members = clade_of(shown_taxonomy(self.store), group)
        self.gestures.move_into(moved, members, group.name, group.id)

    @ACTS.on("save-groups")
    def _save(self, format: str) -> None:
        with self.store.guarded():
            self.files.save_groups(format)

    def _selected(self, key: str) -> tuple[int, ...] | None:
        """Return the selected items, or None with a message if ``key`` is of other items."""
        chosen = self.store.view.selection
        if key == selection_key(chosen):
            return chosen
        self.store.change_view(error=MOVED)
        return None

    def _find(self, id: str) -> Group | None:
        group = self.store.session.find_group(id)
        if group is None:
            with self.store.guarded():
                raise HcvizError("That group is no longer in the list.")
        return group
