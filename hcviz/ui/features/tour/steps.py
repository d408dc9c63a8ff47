"""The steps of the tour, and when each of them is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Facts:
    """What the steps depend on.

    Attributes
    ----------
    selection : tuple of int
        The selected items.
    clusters : int or None
        Number of clusters that the person chose; None without a choice.
    method : str
        Name of the method.
    is_drafted : bool
        True if the open draft is a complete statement.
    n_constraints : int
        Number of constraints in the list.
    """

    selection: tuple[int, ...] = ()
    clusters: int | None = None
    method: str = ""
    is_drafted: bool = False
    n_constraints: int = 0


#: Tells from the facts when the step began, and the present ones, whether the step is done.
IsDone = Callable[[Facts, Facts], bool]


@dataclass(frozen=True)
class Step:
    """A step of the tour.

    Attributes
    ----------
    title, text : str
        What the card says.
    targets : tuple of str
        CSS selectors of the parts with a ring. The card is beside the first one, and on none.
    about : tuple of str
        CSS selectors of other parts that the text is about. The card leaves them visible if it can.
    hint : str
        Another way to do the step.
    is_done : callable or None
        When the tour goes on by itself; None if only Next goes on.
    has_subject : callable
        True for the facts with which there is something to see.
    missing : str
        What the card says otherwise.
    """

    title: str
    text: str
    targets: tuple[str, ...]
    hint: str = ""
    about: tuple[str, ...] = ()
    is_done: IsDone | None = None
    has_subject: Callable[[Facts], bool] = lambda facts: True
    missing: str = ""


def _is_item_chosen(before: Facts, now: Facts) -> bool:
    """Return True if an item was selected, or dragged to its place at once."""
    dragged = now.is_drafted and not before.is_drafted
    return dragged or (bool(now.selection) and now.selection != before.selection)


#: The tree, for steps whose text is about it.
TREE = (".tree-figure",)

STEPS: tuple[Step, ...] = (
    Step(
        "A tree of your items",
        "Items that are alike meet early in this tree. Click a line that joins several items.",
        (".tree-figure",),
        "Without a mouse: press /, type a name and Enter, then Widen in the next step.",
        is_done=lambda before, now: now.selection != before.selection and len(now.selection) > 1,
    ),
    Step(
        "What they have in common",
        "The selected items are one branch. This panel lists them and says what they share.",
        (".hc-inspector .selected",),
        "Read it, then press Next.",
        about=TREE,
        has_subject=lambda facts: bool(facts.selection),
        missing="Nothing is selected yet. Click a line in the tree, and read this panel.",
    ),
    Step(
        "Colours are clusters",
        "A cut divides the tree into clusters, each with a colour. Move this slider to change "
        "their number.",
        (".hc-tools .count-slider",),
        about=TREE,
        is_done=lambda before, now: now.clusters != before.clusters,
    ),
    Step(
        "The method",
        "A method computes the tree from the data. Open this list to see the others.",
        (".hc-bar [data-key=method]",),
        "You need not choose another one: press Next.",
        is_done=lambda before, now: now.method != before.method,
    ),
    Step(
        "You know better",
        "Now correct the tree. Click the name of an item that you would place elsewhere.",
        (".names-figure",),
        "Any item will do: Undo takes everything back. Or press / and type a name.",
        is_done=_is_item_chosen,
    ),
    Step(
        "Together, and apart",
        "Press T and click a name that belongs with it. Then press O and click one that does not.",
        (".names-figure", ".hc-constraints .gestures"),
        "Or drag the name onto the branch where it belongs.",
        about=TREE,
        is_done=lambda before, now: now.is_drafted and not before.is_drafted,
    ),
    Step(
        "Your answer as a sentence",
        "The page says what you mean, and whether it changes the tree. Press Enter to add it.",
        (".hc-constraints .draft",),
        about=TREE,
        is_done=lambda before, now: now.n_constraints > before.n_constraints,
        has_subject=lambda facts: facts.is_drafted,
        missing="Your sentence is not complete. Press Back, and choose what is together and apart.",
    ),
    Step(
        "Your first correction",
        "Your answer is in this list, and the tree is built again around it. Undo takes it back.",
        (".hc-constraints ul[aria-label=Constraints]", ".hc-bar [data-key=undo]"),
        "Every correction works like this.",
        about=TREE,
        has_subject=lambda facts: facts.n_constraints > 0,
        missing="The list is empty. Redo brings an answer back, or press Back to make one.",
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

    def go_to(self, at: int, now: Facts) -> Tour:
        """Return the tour at another step, the nearest one there is."""
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


__all__ = ["STEPS", "Facts", "Step", "Tour"]
