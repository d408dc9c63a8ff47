r"""``Draft``: a constraint that the person is building click by click. It is not applied yet.

::

    idle --T--> together --O--> odd --click x--> ready: the group apart from x (T: add to the group)
      \--O with a selection-----^
      \--E with a selection--> eject --click c inside--> ready: the rest apart from c
    together --Enter--> the items are a group: apart from everything else
    repair --click a, b, c--> ready: a and b apart from c
    drag --drop x on a clade--> odd, ready: the clade and x apart from its sibling

In ``odd`` and ``eject``, a click on a member of the group makes it an odd one. A click on a clade
makes all its members odd ones. A click on an odd one removes it again. Several odd ones are one
constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hcviz.core.text import names_text
from hcviz.session.constraint import EVERYTHING_ELSE, Statement, as_apart

Mode = Literal["idle", "together", "odd", "eject", "repair", "drag"]


@dataclass(frozen=True)
class Draft:
    """The items picked so far.

    Attributes
    ----------
    mode : str
        The kind of gesture; ``idle`` without one.
    picked : tuple of int
        The items that belong together, in the order of the clicks.
    apart : tuple of int
        The odd ones. An item in both tuples is an odd one only (see :attr:`group`).
    into : str
        Id of the named group that gets the group's items as members, or "".
    guess : int or None
        The odd one that the page chose for a dragged item; None without one.
    """

    mode: Mode = "idle"
    picked: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    into: str = ""
    guess: int | None = None

    # ------------------------------------------------------------------ properties

    @property
    def open(self) -> bool:
        """True during a gesture: clicks extend it, and the layout does not change."""
        return self.mode != "idle"

    @property
    def group(self) -> tuple[int, ...]:
        """The picked items that are not odd ones."""
        return tuple(item for item in self.picked if item not in self.apart)

    @property
    def ready(self) -> Statement | None:
        """The statement (group, apart); None until complete.

        Without odd ones, items that are together are a group.
        """
        group = self.group
        if self.mode in ("idle", "drag") or len(group) < 2:
            return None
        if self.apart:
            return group, as_apart(self.apart)
        return (group, EVERYTHING_ELSE) if self.mode == "together" else None

    def statement(self, n_items: int) -> Statement | None:
        """Return what the draft states about ``n_items`` items; None until it says something.

        If all other items are apart, the statement is that the items are a group.
        """
        if self.ready is None or len(self.group) == n_items:
            return None
        if len(self.group) + len(self.apart) == n_items:
            return self.group, EVERYTHING_ELSE
        return self.ready

    def sentence(self, labels: Sequence[str]) -> str:
        """Return what is picked so far, and what the next click does."""
        if self.mode == "idle":
            return "Click a branch to select it; T: these belong together; O: the odd one out."
        if self.mode == "eject":
            return self._eject_sentence(labels)
        if self.mode == "repair":
            return self._repair_sentence(labels)
        if self.mode == "drag":
            taken = names_text(self.picked, labels)
            return f"{taken}: drop it on the branch or the name where it belongs (Esc cancels)."
        if len(self.group) == 0:
            return "Together: click the items that belong together, then O for the odd one out."
        together = names_text(self.group, labels)
        if len(self.group) == 1 and self.mode == "odd" and self.apart:
            return (
                f"Only {together} is left together, and a group needs two items. Press T and click "
                "another one."
            )
        if len(self.group) == 1:
            return f"Together: {together} and … click one more item or a subtree."
        if self.mode == "together" and not self.apart:
            return (
                f"Together: {together}. Click items to add or remove. Enter: they are a group; "
                "O: only apart from an odd one."
            )
        if not self.apart:
            return f"{together} together, apart from … click the odd one out."
        return self._ready_sentence(labels)

    def _eject_sentence(self, labels: Sequence[str]) -> str:
        if len(self.picked) < 3:
            return "Eject: select a subtree of three items or more first (Esc clears)."
        if not self.apart:
            return f"Eject: click what does not belong in {names_text(self.picked, labels)}."
        if len(self.group) < 2:
            return "Eject: two items or more must stay. Click another one."
        return self._ready_sentence(labels)

    def _repair_sentence(self, labels: Sequence[str]) -> str:
        if not self.picked:
            return "Click two items that belong together, then the odd one out."
        if len(self.picked) == 1:
            return f"{labels[self.picked[0]]} and … click the one that belongs with it."
        if not self.apart:
            return (
                f"{names_text(self.picked, labels)} together, apart from … click the odd one out."
            )
        return self._ready_sentence(labels)

    def _ready_sentence(self, labels: Sequence[str]) -> str:
        together = names_text(self.group, labels)
        more = ""
        if self.apart == (self.guess,):
            more = " The odd one is a guess: × takes it out, a click adds another."
        elif self.mode in ("odd", "eject"):
            more = " Click another odd one to add it."
        odd = names_text(self.apart, labels)
        return f"{together} together, apart from {odd}.{more} Enter applies it."

    # ------------------------------------------------------------------ gestures

    def begin_together(self, selection: Iterable[int] = ()) -> Draft:
        """Start to fill the group with the selected items."""
        if self.open and self.picked:
            return replace(self, mode="together")
        return Draft("together", _distinct(selection))

    def begin_odd(self, selection: Iterable[int] = ()) -> Draft:
        """Ask for the odd one of the group, or of the selection if no item is picked."""
        picked = self.picked or _distinct(selection)
        if len(picked) < 2:
            return Draft("together", picked, self.apart)
        return Draft("odd", picked, self.apart)

    def begin_eject(self, selection: Iterable[int] = ()) -> Draft:
        """Ask for the item that does not belong to the selection, or to the picked group."""
        return Draft("eject", self.picked or _distinct(selection))

    def begin_repair(self) -> Draft:
        """Ask for three items: two that belong together, then the odd one."""
        return Draft("repair")

    def begin_drag(self, item: int) -> Draft:
        """Start to drag one item."""
        return Draft("drag", (int(item),))

    def drop(self, members: Iterable[int], apart: int) -> Draft:
        """Return the complete draft: the dragged item with ``members``, apart from ``apart``."""
        picked = _distinct((*self.picked, *members))
        return Draft("odd", picked, (int(apart),), guess=int(apart))

    def pick(self, leaves: Iterable[int]) -> Draft:
        """Apply a click on a leaf or a clade. Idle drafts do not change."""
        chosen = _distinct(leaves)
        if not chosen or self.mode in ("idle", "drag"):
            return self
        if self.mode == "together" and set(chosen) & set(self.apart):
            apart = tuple(item for item in self.apart if item not in chosen)
            return replace(self, picked=_distinct((*self.picked, *chosen)), apart=apart)
        if self.mode == "together":
            return replace(self, picked=_toggled(self.picked, chosen))
        if self.mode == "repair":
            return self._pick_of_three(chosen)
        if self.mode == "eject":
            chosen = tuple(item for item in chosen if item in self.picked)
        return replace(self, apart=_toggled(self.apart, chosen))

    def _pick_of_three(self, chosen: tuple[int, ...]) -> Draft:
        """Pick the next of three items, or remove a picked one. Clicks on clades have no effect."""
        if len(chosen) != 1:
            return self
        (item,) = chosen
        if item in self.apart:
            return replace(self, apart=())
        if item in self.picked:
            return replace(self, picked=tuple(i for i in self.picked if i != item), apart=())
        if len(self.picked) < 2:
            return replace(self, picked=(*self.picked, item))
        return replace(self, apart=chosen)

    def without(self, item: int) -> Draft:
        """Remove one item from the odd ones, or else from the group."""
        if item in self.apart:
            return replace(self, apart=tuple(i for i in self.apart if i != item))
        return replace(self, picked=tuple(i for i in self.picked if i != item))

    def clear(self) -> Draft:
        """Return an idle draft."""
        return Draft()


def _toggled(items: tuple[int, ...], chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Add the chosen items, or remove them if all are present."""
    if all(item in items for item in chosen):
        return tuple(item for item in items if item not in chosen)
    return _distinct((*items, *chosen))


def _distinct(items: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(item) for item in items))
