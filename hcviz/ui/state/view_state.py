"""What of a page is only looked at: ``ViewState``, neither logged nor undone, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.tree import Tree
from hcviz.io.picture import UNSURE
from hcviz.io.shelf import Unfinished
from hcviz.jobs import RunLocation
from hcviz.questions import Question
from hcviz.session.draft import Draft
from hcviz.session.model import Session
from hcviz.ui.features.lessons.lesson import Lesson

Theme = Literal["light", "dark"]

#: How the picture can be looked at: what a session file and a link carry of the view.
LOOKS: dict[str, tuple[str, ...]] = {
    "matrix": ("similarity", "features", "uncertainty", "none"),
    "scaling": ("zscore", "range", "rank", "none"),
    "columns": ("dendrogram", "file"),
    "heights": ("true", "even"),
    "support": ("shown", "hidden"),
    "unsure": ("lighter", "merged"),
    "colour": ("clusters", "cost"),
}
#: Splits of less support than this, in per cent, are uncertain.
BELOW = round(100 * UNSURE)


def looks(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``wanted`` that are ways to look; anything else is left out."""
    found = {name: wanted[name] for name in LOOKS if wanted.get(name) in LOOKS[name]}
    count = wanted.get("clusters")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        found["clusters"] = count
    below = wanted.get("below")
    if isinstance(below, int) and not isinstance(below, bool) and 0 <= below <= 100:
        found["below"] = below
    return found


def marks(wanted: Mapping[str, Any], n_items: int) -> dict[str, Any]:
    """The cut and the selection among ``wanted``, if they are of so many items."""
    found: dict[str, Any] = {}
    cut, chosen = wanted.get("cut"), wanted.get("selection")
    if isinstance(cut, float) and np.isfinite(cut):
        found["cut"] = cut
    if isinstance(chosen, tuple) and all(type(i) is int and 0 <= i < n_items for i in chosen):
        found["selection"] = chosen
    return found


@dataclass(frozen=True)
class FieldFault:
    """What was typed into a parameter's field and refused, and the sentence that says why.

    It stands until the parameter gets another value, or the method changes.
    """

    name: str
    typed: str
    kept: Any
    sentence: str

    def stands(self, session: Session) -> bool:
        return bool(session.params.get(self.name) == self.kept)


@dataclass(frozen=True)
class Loading:
    """A file on its way in: ``share`` of its ``size`` (bytes) is here, None once it is parsed."""

    name: str
    size: int
    share: float | None = None

    @property
    def sentence(self) -> str:
        size = f"{self.size / 1e6:,.0f} MB" if self.size >= 1e6 else f"{self.size / 1e3:,.0f} kB"
        return f"{'Reading' if self.share is None else 'Sending'} {self.name} ({size})…"


@dataclass(frozen=True, eq=False)
class Agreed:
    """What a method said when methods were compared: its tree, None if it gave none; its own
    partition, int32 (n,), where it makes one; a sentence where something is to be said."""

    tree: Tree | None
    labels: NDArray[np.int32] | None = None
    said: str = ""


@dataclass(frozen=True)
class ViewState:
    """What is looked at, and how; not logged, not undone."""

    selection: tuple[int, ...] = ()
    draft: Draft = field(default_factory=Draft)
    matrix: str = "similarity"
    #: Which similarity the heatmap shows, by its name; "" for the usual one.
    source: str = ""
    scaling: str = "zscore"
    columns: str = "dendrogram"
    heights: str = "true"
    support: str = "shown"
    #: How uncertain splits are drawn, and the support (%) below which a split is uncertain.
    unsure: str = "lighter"
    below: int = BELOW
    #: What the branches' colours mean.
    colour: str = "clusters"
    #: Whether similarities that the method never asked for are veiled.
    veil: bool = True
    #: How many clusters to colour: None for those that the method finds, 0 for none at all; and in
    #: the tree on the screen their number, and the height of the line that parts them.
    clusters: int | None = None
    parted: int = 0
    cut: float | None = None
    theme: Theme = "light"
    #: The picture in the middle: the tree, or a sheet by its name.
    sheet: str = "tree"
    #: What the graph of answers explains: ``conflict`` or ``split``; "" for what there is.
    why: str = ""
    #: Leaves pointed at in an explanation: (together, apart), marked in the tree meanwhile.
    peek: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    #: The earlier tree that the present one is compared with, by its key; "" for the last.
    compared: str = ""
    #: The one tree for all sampled ones: which, and the least share of a consensus' clades (%).
    summary: str = "consensus"
    majority: int = 50
    #: Sections of the inspector that were opened or folded by hand.
    folds: Mapping[str, bool] = field(default_factory=dict)
    paused: bool = False
    #: The question on the card; ``wants_question``: one is put as soon as the tree stands still.
    question: Question | None = None
    wants_question: bool = False
    strategy: str = "informative"
    question_size: int = 8
    question_candidates: int = 40
    #: Whether the trees' variance is measured in the piece alone instead of in the whole tree.
    question_induced: bool = False
    #: Three items to compare, in the order of the card; which question (None: the one that the
    #: data's answers are to), and from which items.
    three: tuple[int, ...] = ()
    three_question: Literal["central", "odd"] | None = None
    three_put: Literal["central", "odd"] | None = None
    three_from: Literal["seldom", "any"] = "seldom"
    #: Methods to be held against each other (None: the usual), into how many clusters (0: the
    #: usual) they part the items, whether they are to be run, which is at work, what came of it.
    agree_with: tuple[str, ...] | None = None
    agree_k: int = 0
    agree_wanted: bool = False
    agreeing: str = ""
    agreed: tuple[tuple[str, Agreed], ...] = ()
    error: tuple[str, str] | None = None
    #: What the form's fields could not take.
    faults: tuple[FieldFault, ...] = ()
    said: str = ""
    #: A large file that is being sent or read, which can be stopped.
    loading: Loading | None = None
    #: The lesson under way: meanwhile the truth is hidden.
    lesson: Lesson | None = None
    #: What trees made without answers are called, and they: the learning curve is seen beside them.
    baselines: tuple[tuple[str, Tree], ...] = ()
    #: Where the newest run is done; None where there is no choice.
    place: RunLocation | None = None
    #: An earlier session of this visitor's that can be resumed.
    unfinished: Unfinished | None = None
    #: The folder in which this session is kept, for a tab that loses the server; "" where nothing
    #: is worth keeping yet, None where the server keeps no sessions.
    journal: str | None = None

    @property
    def look(self) -> dict[str, Any]:
        """What a session file keeps of this."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in LOOKS}
        kept["below"] = self.below
        if self.clusters is not None:
            kept["clusters"] = self.clusters
        if self.cut is not None:
            kept["cut"] = float(self.cut)
        if self.selection:
            kept["selection"] = tuple(map(int, self.selection))
        return kept
