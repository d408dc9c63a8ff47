"""The steps of the tour, and when each of them is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Suggestion:
    """Names of an example for a correction (:mod:`hcviz.ui.features.tour.example`).

    Attributes
    ----------
    item, friend, odd : str
        The item to move, one that belongs with it, and one that does not.
    kind, other : str
        The class of the item, and that of most others of its branch.
    place : int
        Index of the item.
    """

    item: str
    friend: str
    odd: str
    kind: str
    other: str
    place: int


@dataclass(frozen=True)
class Facts:
    """What the steps depend on.

    Attributes
    ----------
    selection : tuple of int
        The selected items.
    clusters : int or None
        Number of clusters on the screen; None without clusters.
    method : str
        Name of the method.
    is_drafted : bool
        True if the open draft is a complete statement.
    n_constraints : int
        Number of constraints in the list.
    n_items : int
        Number of items.
    has_tree, has_features, has_classes : bool
        True if there is a tree, data with features, or known classes.
    samples : bool
        True if the method samples trees.
    is_running : bool
        True if a run is in progress.
    is_satisfied : bool
        True if the last constraint is true in the tree.
    can_redo : bool
        True if something was undone.
    suggestion : Suggestion or None
        An item to move; None without one.
    """

    selection: tuple[int, ...] = ()
    clusters: int | None = None
    method: str = ""
    is_drafted: bool = False
    n_constraints: int = 0
    n_items: int = 100
    has_tree: bool = True
    has_features: bool = True
    has_classes: bool = False
    samples: bool = False
    is_running: bool = False
    is_satisfied: bool = True
    can_redo: bool = False
    suggestion: Suggestion | None = None


#: Tells from the facts when the step began, and the present ones, whether the step is done.
IsDone = Callable[[Facts, Facts], bool]
#: A sentence, or how it is made from the facts when the step began, and the present ones.
Words = str | Callable[[Facts, Facts], str]


@dataclass(frozen=True)
class Step:
    """A step of the tour.

    Attributes
    ----------
    title : str
        The title of the card.
    text, hint : str or callable
        What the card says, and another way to do the step.
    targets : tuple of str
        CSS selectors of the parts with a ring. The card is beside the first one, and on none.
    about : tuple of str
        CSS selectors of other parts that the text is about. The card leaves them visible if it can.
    is_done : callable or None
        When the tour goes on by itself; None if only Next goes on.
    opens : bool
        True if a closed panel opens for the first target, in a narrow window.
    drafts : bool
        True if the step begins with an open draft, so that the page does not move during it.
    """

    title: str
    text: Words
    targets: tuple[str, ...]
    hint: Words = ""
    about: tuple[str, ...] = ()
    is_done: IsDone | None = None
    opens: bool = True
    drafts: bool = False


def _is_item_chosen(before: Facts, now: Facts) -> bool:
    """Return True if an item was selected, or dragged to its place at once."""
    dragged = now.is_drafted and not before.is_drafted
    return dragged or (bool(now.selection) and now.selection != before.selection)


def _tree_text(before: Facts, now: Facts) -> str:
    if not now.has_tree:
        return "The first tree is being made. The tour goes on when it is there."
    return (
        "Follow two names along their lines to the left: the smaller the group in which the lines "
        "meet, the more alike the two are. Click a line that joins several items."
    )


def _tree_hint(before: Facts, now: Facts) -> str:
    if not now.has_tree:
        return ""
    return (
        "Alike in the data, not by descent. Without a mouse: press /, type a name, press Enter and "
        "then Next."
    )


def _shared_text(before: Facts, now: Facts) -> str:
    if not now.selection:
        return "Nothing is selected yet. Click a line in the tree."
    if len(now.selection) == 1:
        return "You selected one item. Press Widen, in this panel, to select its branch."
    if not now.has_features:
        return "You selected a branch. This panel lists its items; press Next."
    return (
        "Read only this part. The column Here is about the items that you selected, the column "
        "Others about all the rest. Then press Next."
    )


def _shared_hint(before: Facts, now: Facts) -> str:
    if len(now.selection) < 2:
        return ""
    return "The heatmap has a square for each pair of items: the brighter, the more alike."


def _cluster_text(before: Facts, now: Facts) -> str:
    if now.clusters and now.clusters != before.clusters:
        return (
            f"There are now {now.clusters} clusters: one for each branch that the dashed line "
            "cuts. Those of several items have a colour. Press Next."
        )
    k = min(7, max(2, now.n_items // 2))
    return (
        f"Move this slider, to {k} for example. A dashed line then cuts the tree, and each branch "
        "that it cuts is a cluster with a colour."
    )


def _cluster_hint(before: Facts, now: Facts) -> str:
    grey = "A cluster of one item stays grey."
    if now.has_classes:
        return f"{grey} The first strip of colours and the legend show the known classes."
    return grey


def _method_text(before: Facts, now: Facts) -> str:
    if now.samples:
        return (
            "A method is a way to make a tree. Keep this one: it tries many trees. When it has "
            "settled, a number on a branch says how many of 100 trees have it."
        )
    return "A method is a way to make a tree from the data. Keep this one, and press Next."


def _method_hint(before: Facts, now: Facts) -> str:
    if now.samples:
        return "Average linkage is the simplest of the others. Press Next."
    return "The list has the others, each with what it does."


def _item_text(before: Facts, now: Facts) -> str:
    found = now.suggestion
    if found is None:
        return "Now correct the tree. Click the name of an item that you would place elsewhere."
    return (
        f"Now correct the tree. The class of {found.item} is {found.kind}, but most items of its "
        f"branch are of the class {found.other}: click its name."
    )


def _item_hint(before: Facts, now: Facts) -> str:
    return (
        "To find a name: press /, type it and Enter. Any item will do: Undo takes everything back."
    )


def _together_text(before: Facts, now: Facts) -> str:
    found = now.suggestion
    friend, odd = "a name that belongs with it", "one that does not"
    if found is not None and now.selection == (found.place,):
        friend, odd = f"{found.friend}, also of the class {found.kind}", found.odd
    return f"Together (T) is on: click {friend}. Then press Odd one out (O), and click {odd}."


def _sentence_text(before: Facts, now: Facts) -> str:
    if now.is_drafted:
        return (
            "The page says what you mean, and whether it changes the tree. Press Enter to add it."
        )
    if now.n_constraints:
        return "Your answer is in the list already. Press Next."
    return "Your sentence is not complete. Press Back, and choose what is together and apart."


def _correction_text(before: Facts, now: Facts) -> str:
    if not now.n_constraints:
        if now.can_redo:
            return "The list is empty. Redo brings an answer back, or press Back to make one."
        return "You have not corrected anything yet. Press Back."
    if now.is_satisfied:
        return (
            "Done: the marked names that you put together now meet before the odd one joins. "
            "They need not be side by side; Group asks for that."
        )
    if now.is_running:
        return "Your answer is being applied: the tree is made again with it. Wait a moment."
    return "Your answer is in this list, but the tree does not follow it. The list says why."


def _correction_hint(before: Facts, now: Facts) -> str:
    if not now.n_constraints:
        return ""
    more = "Other branches may still change. " if now.is_running and now.is_satisfied else ""
    return f"{more}If you zoomed in, 0 shows the whole tree. Undo takes the answer back."


#: The tree, for steps whose text is about it.
TREE = (".tree-figure",)

STEPS: tuple[Step, ...] = (
    Step(
        "A tree of your items",
        _tree_text,
        TREE,
        _tree_hint,
        about=(".names-figure",),
        is_done=lambda before, now: now.selection != before.selection and len(now.selection) > 1,
    ),
    Step(
        "What they have in common",
        _shared_text,
        (".hc-inspector .about, .hc-inspector .selected:not(:has(.about))",),
        _shared_hint,
        about=TREE,
    ),
    Step(
        "Colours are clusters",
        _cluster_text,
        (".hc-tools .count-slider",),
        _cluster_hint,
        about=TREE,
    ),
    Step(
        "The method",
        _method_text,
        (".hc-bar [data-key=method]",),
        _method_hint,
        is_done=lambda before, now: now.method != before.method,
    ),
    Step(
        "You know better",
        _item_text,
        (".names-figure",),
        _item_hint,
        is_done=_is_item_chosen,
    ),
    Step(
        "Together, and apart",
        _together_text,
        (".names-figure", ".hc-constraints .gestures"),
        "Together means closer to each other than to the odd one; they need not be neighbours. "
        "Or drag the name onto a branch.",
        about=TREE,
        is_done=lambda before, now: now.is_drafted and not before.is_drafted,
        drafts=True,
    ),
    Step(
        "Your answer as a sentence",
        _sentence_text,
        (".hc-constraints .draft",),
        about=TREE,
        is_done=lambda before, now: now.n_constraints > before.n_constraints,
    ),
    Step(
        "Your first correction",
        _correction_text,
        (".hc-constraints ul[aria-label=Constraints]", ".hc-bar [data-key=undo]"),
        _correction_hint,
        about=TREE,
        opens=False,
    ),
)


@dataclass(frozen=True)
class Tour:
    """The place in the tour.

    Attributes
    ----------
    at : int
        Index of the step.
    before : Facts
        The facts when the step began.
    """

    at: int = 0
    before: Facts = field(default_factory=Facts)

    @property
    def step(self) -> Step:
        """The present step."""
        return STEPS[self.at]

    @property
    def is_last(self) -> bool:
        """True at the last step."""
        return self.at == len(STEPS) - 1

    def text(self, now: Facts) -> str:
        """Return what the card says."""
        return self._written(self.step.text, now)

    def hint(self, now: Facts) -> str:
        """Return the small line below the text."""
        return self._written(self.step.hint, now)

    def _written(self, words: Words, now: Facts) -> str:
        return words if isinstance(words, str) else words(self.before, now)

    def go_to(self, at: int, now: Facts) -> Tour:
        """Return the tour at another step, the nearest one there is. Without a tree, the first."""
        if not now.has_tree:
            at = 0
        return Tour(min(max(at, 0), len(STEPS) - 1), now)

    def after(self, now: Facts) -> Tour:
        """Return the tour after what the person did.

        One gesture may do several steps: a drag selects an item and completes the sentence. So the
        facts of the first of these steps are kept.
        """
        tour = self
        while tour.step.is_done is not None and tour.step.is_done(tour.before, now):
            tour = replace(tour, at=tour.at + 1)
        return tour


__all__ = ["STEPS", "Facts", "Step", "Suggestion", "Tour"]
