"""``ViewState``: what a page shows and how; it is neither logged nor undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hcviz.core.tree import Tree
from hcviz.io.unfinished import UnfinishedSession
from hcviz.jobs import RunLocation
from hcviz.questions import Question
from hcviz.session.draft import Draft
from hcviz.ui.features.agreement.agreed import Agreed
from hcviz.ui.features.groups.taxonomy_files import GroupsFile
from hcviz.ui.features.lesson_player.playing import Playing
from hcviz.ui.features.lessons.lesson import Lesson
from hcviz.ui.features.new_items.model import NewItems
from hcviz.ui.features.parameters.field_fault import FieldFault
from hcviz.ui.features.presentation.presenting import Presenting
from hcviz.ui.features.side_by_side.result import SideResult
from hcviz.ui.features.tour.steps import Tour
from hcviz.ui.state.saved_look import ALL, BELOW, LOOKS

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Loading:
    """A file that is being sent or read.

    ``size`` is in bytes. ``share`` is the part of it that has arrived, None once it is being read.
    """

    name: str
    size: int
    share: float | None = None

    @property
    def sentence(self) -> str:
        """The sentence that the page shows meanwhile."""
        size = f"{self.size / 1e6:,.0f} MB" if self.size >= 1e6 else f"{self.size / 1e3:,.0f} kB"
        return f"{'Reading' if self.share is None else 'Sending'} {self.name} ({size})…"


@dataclass(frozen=True)
class ViewState:
    """What a page shows and how."""

    selection: tuple[int, ...] = ()
    #: Per cent of the kernels that are compiled, while the server compiles them.
    compiling: int | None = None
    draft: Draft = field(default_factory=Draft)
    matrix: str = "similarity"
    #: Which similarity the heatmap shows, by its name; "" for the default.
    source: str = ""
    scaling: str = "zscore"
    columns: str = "dendrogram"
    heights: str = "auto"
    support: str = "shown"
    #: How uncertain splits are drawn, and the support (%) below which a split is uncertain.
    unsure: str = "lighter"
    below: int = BELOW
    #: What the branches' colours mean.
    colour: str = "clusters"
    #: True if the heatmap hides similarities that the method did not query.
    query_mask: bool = True
    #: How many clusters to colour: None for those that the method finds, 0 for none.
    #: ``n_clusters`` is their number in the shown tree, ``cut`` the height of the cut line.
    clusters: int | None = None
    n_clusters: int = 0
    cut: float | None = None
    #: To what the picture is collapsed; see :data:`hcviz.ui.state.saved_look.LOOKS`.
    level: str = ALL
    theme: Theme = "light"
    #: What the main pane shows: the tree, or a sheet by its name.
    sheet: str = "tree"
    #: The group whose items its row lists, by its id; "" for none.
    listed_group: str = ""
    #: A second version of the groups about partly other items, until the person chooses.
    offered_version: GroupsFile | None = None
    #: The new items of a second table, until the person has decided about them.
    new_items: NewItems | None = None
    #: What Aho's graph explains: ``conflict`` or ``split``; "" for either.
    why: str = ""
    #: Items of an explanation under the pointer, marked in the tree: (together, apart).
    pointed_items: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    #: The earlier tree of the tanglegram, by its key; "" for the last.
    compared: str = ""
    #: The summary of the sampled trees: its kind, and the least support (%) of a consensus' clades.
    summary: str = "consensus"
    majority: int = 50
    #: Sections of the inspector that the person opened or folded.
    folds: Mapping[str, bool] = field(default_factory=dict)
    paused: bool = False
    #: The question on the card. ``wants_question``: ask one after the run.
    question: Question | None = None
    wants_question: bool = False
    strategy: str = "informative"
    question_size: int = 8
    question_candidates: int = 40
    #: True if a question's variance is that of the subtree shown rather than of the whole tree.
    question_induced: bool = False
    #: Three items to compare, in the order of the card; the question (None: that of the data's
    #: comparisons); which items are chosen.
    three: tuple[int, ...] = ()
    three_question: Literal["central", "odd"] | None = None
    three_put: Literal["central", "odd"] | None = None
    three_from: Literal["seldom", "any"] = "seldom"
    #: Comparison of methods: which (None: the default ones), the number of clusters (0: default),
    #: whether to run them, which one runs, and the results.
    agree_with: tuple[str, ...] | None = None
    agree_k: int = 0
    agree_wanted: bool = False
    agreeing: str = ""
    agreed: tuple[tuple[str, Agreed], ...] = ()
    #: Methods side by side: which (None: the default ones), whether to run them, which one runs,
    #: the results, and how heights are drawn.
    side_methods: tuple[str, ...] | None = None
    side_wanted: bool = False
    side_running: str = ""
    side_results: tuple[tuple[str, SideResult], ...] = ()
    side_heights: str = "true"
    error: tuple[str, str] | None = None
    #: Counts how often fields are to be drawn again: after a refused value they show what holds.
    n_redraws: int = 0
    #: Refused values of the form's fields.
    faults: tuple[FieldFault, ...] = ()
    message: str = ""
    #: The file that is being sent or read, and can be cancelled.
    loading: Loading | None = None
    #: The current lesson, which hides the known classes.
    lesson: Lesson | None = None
    #: The lesson script that is played.
    playing: Playing | None = None
    #: The presentation in progress.
    presenting: Presenting | None = None
    #: The tour for newcomers.
    tour: Tour | None = None
    #: The sheet of a linkage's merges: how many are shown, and whether the last one is marked.
    merges: int = 0
    marks_merge: bool = False
    #: Trees of methods without constraints, with their names: the learning curve shows them.
    baselines: tuple[tuple[str, Tree], ...] = ()
    #: Where the newest run is computed; None if there is no cluster.
    place: RunLocation | None = None
    #: An earlier session of this browser that can be resumed.
    unfinished: UnfinishedSession | None = None
    #: Folder of this session's journal; "" if it is still empty, None if the server keeps none.
    journal: str | None = None

    @property
    def look(self) -> dict[str, Any]:
        """The part of this that session files keep."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in LOOKS}
        kept["below"] = self.below
        if self.clusters is not None:
            kept["clusters"] = self.clusters
        if self.cut is not None:
            kept["cut"] = float(self.cut)
        if self.selection:
            kept["selection"] = tuple(map(int, self.selection))
        return kept
