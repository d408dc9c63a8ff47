"""``Gestures``: turns clicks, keys and drags into constraints.

A gesture fills a :class:`Draft`. The page shows the sentence and the assessment of the draft. Enter
or Apply turns the draft into an action on the session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hcviz.session import actions as act
from hcviz.session.assessment import check_items
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP
from hcviz.session.draft import Draft
from hcviz.session.drop import item_set_apart
from hcviz.ui.state.store import Store

ALL_ITEMS = "All items together are the whole tree. Leave out those that do not belong."


class Gestures:
    """Handles the gestures of one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._draft_before_drag = Draft()
        #: Returns the leaves in the order in which they are drawn, from top to bottom.
        self.order: Callable[[], Any] = lambda: None
        #: Zooms to items if none of them is in view.
        self.reveal: Callable[[Sequence[int]], None] = lambda items: None
        #: Called after a constraint was added.
        self.on_stated: Callable[[], None] = lambda: None

    def picked(self, pick: Any) -> None:
        """Handle a click on the tree or the heatmap."""
        self.select_items(tuple(pick.leaves))

    def select_items(self, leaves: tuple[int, ...]) -> None:
        """Add items to the open draft, or select them if no draft is open."""
        draft = self.store.view.draft
        if not draft.open:
            self.store.change_view(selection=leaves, message="")
        elif leaves:
            self.store.change_view(draft=draft.pick(leaves))

    def dragged(self, phase: str, item: int, members: tuple[int, ...]) -> None:
        """Handle a step of dragging a leaf.

        ``phase`` is ``begin``, ``leave`` or ``drop``. A leaf that is dropped on a clade makes a
        draft: the leaf belongs to the clade, whose items are ``members``.
        """
        store = self.store
        draft, snapshot = store.view.draft, store.session.snapshot
        if phase == "begin":
            self._draft_before_drag = draft if draft.mode != "drag" else Draft()
            store.change_view(draft=draft.begin_drag(item), error=None)
            return
        if draft.mode != "drag":  # the draft was cleared during the drag
            return
        tree = None if store.drawn is None else store.drawn.tree
        if phase == "leave" or tree is None or snapshot is None:
            store.change_view(draft=self._draft_before_drag)
            return
        apart = item_set_apart(tree, item, members, self.order())
        if apart is None:
            name = store.session.labels[item]
            message = f"{name} and this branch are all items: no item is left to be apart."
            if item in members:
                message = f"{name} is already in this branch."
            store.change_view(draft=self._draft_before_drag, message=message)
            return
        store.change_view(draft=draft.drop(members, apart), selection=())

    def move_into(
        self, items: tuple[int, ...], members: tuple[int, ...], name: str, into: str
    ) -> None:
        """Open the draft that ``items`` and these members are a group, the one with the id
        ``into``."""
        store = self.store
        if store.drawn is None or not items:
            return
        inside = set(members).intersection(items)
        if inside:
            first = store.session.labels[min(inside)]
            store.change_view(message=f"{first} is already in {name}.")
            return
        if len(members) + len(items) == store.session.n_items:
            store.change_view(
                message=f"These and {name} are all items: no item is left to be apart."
            )
            return
        draft = Draft("together", (*items, *members), into=into)
        store.change_view(draft=draft, selection=(), error=None, message="")

    def key(self, key: str) -> None:
        """Handle the keys T, O, E, G, Enter and Escape."""
        if key == "g":
            self.state_group()
        elif key in ("t", "o", "e"):
            self.begin({"t": "together", "o": "odd", "e": "eject"}[key])
        elif key == "Enter":
            self.apply()
        elif key == "Escape":
            if self.store.view.draft.open:
                self.store.change_view(draft=Draft())
            else:
                self.store.change_view(selection=(), error=None)

    def begin(self, mode: str) -> None:
        """Begin a gesture (``together``, ``odd`` or ``eject``), or continue the open draft."""
        view = self.store.view
        if not self.store.session.labels or self.store.session.snapshot is None:
            return
        draft = view.draft
        if mode == "together":
            draft = draft if draft.mode == "together" else draft.begin_together(view.selection)
        elif mode == "odd":
            draft = draft.begin_odd(view.selection)
        else:
            draft = draft.begin_eject(view.selection)
        self.store.change_view(draft=draft, error=None)

    def state_group(self, is_group: bool = True) -> None:
        """Add the constraint that the items of the draft, or the selected items, are a group.

        If ``is_group`` is False, the constraint that they are not a group.
        """
        view = self.store.view
        items = view.draft.group if view.draft.open else view.selection
        if len(items) < 2:
            key = "G: they are a group" if is_group else "Not a group"
            self.store.change_view(message=f"Select a branch or several items, then {key}.")
            return
        if len(items) == self.store.session.n_items:
            self.store.change_view(message=ALL_ITEMS)
            return
        self.store.change_view(draft=Draft())
        author = self.store.session.author
        with self.store.guarded():
            apart = EVERYTHING_ELSE if is_group else NOT_A_GROUP
            self.store.dispatch(act.AddConstraint(tuple(items), apart, author=author))
            self.on_stated()

    def apply(self) -> None:
        """Add the constraint of the draft to the session."""
        store, draft = self.store, self.store.view.draft
        stated = draft.statement(store.session.n_items)
        if stated is None:
            if draft.ready is not None:
                store.change_view(message=ALL_ITEMS)
            return
        with store.guarded():
            check_items(store.session, *stated)  # before the draft is gone
            store.change_view(draft=Draft(), selection=())
            into = draft.into if stated[1] == EVERYTHING_ELSE else ""
            store.dispatch(act.AddConstraint(*stated, author=store.session.author, into=into))
            self.on_stated()
