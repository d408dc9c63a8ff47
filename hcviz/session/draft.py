"""``Draft``: a constraint being said, click by click. Nothing is applied here.

::

    idle --T--> together --O--> odd --click x--> ready: the group apart from x (T: add to the group)
      \\--O with a selection-----^
      \\--E with a selection--> eject --click c inside--> ready: the rest apart from c
    repair --click a, b, c--> ready: a and b apart from c
    drag --drop x on a clade--> odd, ready: the clade and x apart from its sibling

In ``odd``, a click on a member takes it out of the group, as in ``eject``; a click on a clade makes
every member of it an odd one out. In both, a further click adds to the odd ones out, and a click on
what is among them already takes it back. Each odd one out is a constraint of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hcviz.session.constraint import Statement, names_text

Mode = Literal["idle", "together", "odd", "eject", "repair", "drag"]


@dataclass(frozen=True)
class Draft:
    """What has been picked so far.

    ``picked`` are the items meant to be together, in the order of the clicks, ``apart`` the odd
    ones out; an item in both counts as odd only (see :attr:`group`). A new draft is idle.
    """

    mode: Mode = "idle"
    picked: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()

    # ------------------------------------------------------------------ questions

    @property
    def open(self) -> bool:
        """A gesture is under way: clicks fill it, and the layout stands still."""
        return self.mode != "idle"

    @property
    def group(self) -> tuple[int, ...]:
        """Those together: what was picked, without the odd ones."""
        return tuple(item for item in self.picked if item not in self.apart)

    @property
    def ready(self) -> tuple[Statement, ...]:
        """The (group, apart) that can be stated, one for each odd one out; empty if not ready."""
        group = self.group
        if self.mode in ("idle", "drag") or len(group) < 2:
            return ()
        return tuple((group, item) for item in self.apart)

    def sentence(self, labels: Sequence[str]) -> str:
        """What has been said so far, and what the next click will mean."""
        if self.mode == "idle":
            return "Click a branch to select it; T: these belong together; O: the odd one out."
        if self.mode == "eject":
            return self._eject_sentence(labels)
        if self.mode == "repair":
            return self._repair_sentence(labels)
        if self.mode == "drag":
            taken = names_text(self.picked, labels)
            return f"{taken}: drop it on the branch or the name where it belongs (Esc lets it go)."
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
            return f"Together: {together}. Click items to add or remove; then O for the odd one."
        if not self.apart:
            return f"{together} together, before … click the odd one out."
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
            return f"{names_text(self.picked, labels)} together, before … click the odd one out."
        return self._ready_sentence(labels)

    def _ready_sentence(self, labels: Sequence[str]) -> str:
        together = names_text(self.group, labels)
        if len(self.apart) == 1:
            more = " Click another odd one to add it." if self.mode in ("odd", "eject") else ""
            return f"{together} together, before {labels[self.apart[0]]}.{more} Enter applies it."
        return (
            f"{together} together, before each of {names_text(self.apart, labels)}: "
            f"{len(self.apart)} constraints. Enter applies them."
        )

    # ------------------------------------------------------------------ gestures

    def begin_together(self, selection: Iterable[int] = ()) -> Draft:
        """Fill the group, beginning with what is selected; an open gesture keeps its group."""
        if self.open and self.picked:
            return replace(self, mode="together")
        return Draft("together", _distinct(selection))

    def begin_odd(self, selection: Iterable[int] = ()) -> Draft:
        """Name the odd one out of the group (or of the selection, where nothing was picked)."""
        picked = self.picked or _distinct(selection)
        if len(picked) < 2:
            return Draft("together", picked, self.apart)
        return Draft("odd", picked, self.apart)

    def begin_eject(self, selection: Iterable[int] = ()) -> Draft:
        """Name what does not belong into the selection (or into the group picked so far)."""
        return Draft("eject", self.picked or _distinct(selection))

    def begin_repair(self) -> Draft:
        """Name three items: two together, then the odd one out."""
        return Draft("repair")

    def eject(self, members: Iterable[int], item: int) -> Draft:
        """``members`` without ``item``, apart from ``item``: ready at once."""
        return Draft("eject", _distinct(members)).pick((item,))

    def begin_drag(self, item: int) -> Draft:
        """Carry one item to where it belongs."""
        return Draft("drag", (int(item),))

    def drop(self, members: Iterable[int], apart: int) -> Draft:
        """What is carried belongs with ``members``, apart from ``apart``: ready at once."""
        return Draft("odd", _distinct((*self.picked, *members)), (int(apart),))

    def pick(self, leaves: Iterable[int]) -> Draft:
        """A click on a leaf or a clade, whatever the gesture; idle drafts stay as they are."""
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
        """The next of the three; one that was picked is taken back. A clade is not an item."""
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

    def pick_leaf(self, item: int) -> Draft:
        return self.pick((item,))

    def pick_clade(self, leaves: Iterable[int]) -> Draft:
        return self.pick(leaves)

    def toggle(self, item: int) -> Draft:
        """Put one item into the group, or take it out, whatever the gesture."""
        if item in self.picked:
            return replace(self, picked=tuple(i for i in self.picked if i != item))
        mode: Mode = "together" if self.mode == "idle" else self.mode
        return replace(self, mode=mode, picked=(*self.picked, int(item)))

    def without(self, item: int) -> Draft:
        """One item taken back: of the odd ones out if it is one, else of the group."""
        if item in self.apart:
            return replace(self, apart=tuple(i for i in self.apart if i != item))
        return replace(self, picked=tuple(i for i in self.picked if i != item))

    def clear(self) -> Draft:
        return Draft()


def _toggled(items: tuple[int, ...], chosen: tuple[int, ...]) -> tuple[int, ...]:
    """With the chosen ones, or without them where all are among the items already."""
    if all(item in items for item in chosen):
        return tuple(item for item in items if item not in chosen)
    return _distinct((*items, *chosen))


def _distinct(items: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(item) for item in items))
