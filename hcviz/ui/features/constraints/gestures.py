"""From clicks and keys to constraints: the gestures of the page, in one place.

A gesture never changes anything by itself: it fills a :class:`Draft`, whose sentence and verdict
are shown, and Enter (or Apply) turns it into actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hcviz.core.errors import InvalidConstraint
from hcviz.session import actions as act
from hcviz.session.constraint import Constraint
from hcviz.session.draft import Draft
from hcviz.session.drop import item_set_apart
from hcviz.ui.features.constraints import model as answerlist
from hcviz.ui.state.store import Store


class Gestures:
    """The draft's driver for one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._laid_aside = Draft()  # what was open when a leaf was taken
        #: The leaves as they are drawn, from top to bottom.
        self.order: Callable[[], Any] = lambda: None
        #: Called when something was stated.
        self.stated: Callable[[], None] = lambda: None

    def picked(self, pick: Any) -> None:
        """A click in the picture."""
        self.take(tuple(pick.leaves))

    def take(self, leaves: tuple[int, ...]) -> None:
        """Items picked by whatever means: into the open gesture, else they are selected."""
        draft = self.store.view.draft
        if not draft.open:
            self.store.look(selection=leaves, said="")
        elif leaves:
            self.store.look(draft=draft.pick(leaves))

    def dragged(self, phase: str, item: int, members: tuple[int, ...]) -> None:
        """A leaf is carried over the picture: dropped on a clade it is said to belong there."""
        store = self.store
        draft, snapshot = store.view.draft, store.session.snapshot
        if phase == "begin":
            self._laid_aside = draft if draft.mode != "drag" else Draft()
            store.look(draft=draft.begin_drag(item), error=None)
            return
        if draft.mode != "drag":  # cleared meanwhile
            return
        tree = None if store.drawn is None else store.drawn.tree
        if phase == "leave" or tree is None or snapshot is None:
            store.look(draft=self._laid_aside)
            return
        apart = item_set_apart(tree, item, members, self.order())
        if apart is None:
            name = store.session.labels[item]
            said = f"{name} with all of these is everything: nothing is left to stay apart."
            if item in members:
                said = f"{name} is in that clade already."
            store.look(draft=self._laid_aside, said=said)
            return
        store.look(draft=draft.drop(members, apart), selection=())

    def key(self, key: str) -> None:
        """T, O, E, Enter, Escape."""
        if key in ("t", "o", "e"):
            self.begin({"t": "together", "o": "odd", "e": "eject"}[key])
        elif key == "Enter":
            self.apply()
        elif key == "Escape":
            if self.store.view.draft.open:
                self.store.look(draft=Draft())
            else:
                self.store.look(selection=(), error=None)

    def begin(self, mode: str) -> None:
        """Begin a gesture, or move the open one on."""
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
        self.store.look(draft=draft, error=None)

    def apply(self) -> None:
        """State what the draft says."""
        ready = self.store.view.draft.ready
        if not ready:
            return
        self.store.look(draft=Draft(), selection=())
        author = self.store.session.author
        if len(ready) == 1:
            self.store.dispatch(act.AddConstraint(*ready[0], author=author))
        else:  # a clade as the odd one out: one step to undo
            each = (Constraint(0, *said, author=author, time=act.now()) for said in ready)
            self.store.dispatch(act.ImportConstraints(tuple(each)))
        self.stated()

    def constraints_act(self, name: str, more: dict[str, Any]) -> None:
        """What was done in the list of constraints."""
        store = self.store
        if name == "gesture":
            self.begin(str(more.get("mode")))
        elif name == "apply":
            self.apply()
        elif name == "clear":
            store.look(draft=Draft())
        elif name == "take-back":
            store.look(draft=store.view.draft.without(int(more["item"])))
        elif name == "keep-constraints":
            switch = answerlist.keeping(store)
            if switch is not None:
                store.dispatch(switch)
        elif name == "enable":
            which = act.EnableConstraint if more.get("value") else act.DisableConstraint
            store.dispatch(which(int(more["id"])))
        elif name == "delete":
            store.dispatch(act.DeleteConstraint(int(more["id"])))
        elif name == "note":
            store.dispatch(act.EditConstraint(int(more["id"]), note=str(more.get("value", ""))))
        elif name == "weight":
            with store.guarded():
                weight = _number(more.get("value"))
                store.dispatch(act.EditConstraint(int(more["id"]), weight=weight))
        elif name == "author":
            store.dispatch(act.SetAuthor(str(more.get("value"))))
        elif name == "expert":
            store.dispatch(act.EnableAuthor(str(more["name"]), bool(more.get("value"))))
        elif name == "expert-weight":
            with store.guarded():
                weight = _number(more.get("value"))
                store.dispatch(act.SetAuthorWeight(str(more["name"]), weight))
        elif name == "resolve":
            store.dispatch(act.ResolveConflict(int(more["enable"]), (int(more["disable"]),)))
        elif name == "soften":
            soften = answerlist.softening(store, str(more.get("method")))
            if soften is not None:
                store.dispatch(soften)
        elif name == "undo":
            store.dispatch(act.Undo())
        elif name == "graph":
            store.look(sheet="why", why="conflict")
        elif name == "select":
            self.take(_items(more.get("items"), len(store.session.labels)))
        elif name == "peek":
            n = len(store.session.labels)
            peek = (_items(more.get("together"), n), _items(more.get("apart"), n))
            store.look(peek=peek if any(peek) else None)
        elif name == "dismiss":
            store.dispatch(act.DismissConflict(all=bool(more.get("all"))))
        elif name == "show":
            for constraint in store.session.constraints:
                if constraint.id == int(more["id"]):
                    store.look(selection=(*constraint.group, constraint.apart))


def _items(listed: Any, n_items: int) -> tuple[int, ...]:
    """Items that the browser named; what is none of them is left out."""
    return tuple(i for i in listed or () if isinstance(i, int) and 0 <= i < n_items)


def _number(text: Any) -> float:
    try:
        return float(str(text))
    except ValueError:
        raise InvalidConstraint(f"A weight is a positive number, not {str(text)!r}.") from None
