"""``Explorer``: the page of one browser session. It creates the parts and connects them.

Each feature computes the state of its parts (``model.py``) and handles their messages
(``controller.py``). ``tree/drawing.py`` draws the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hcviz.io.unfinished import UnfinishedSessions
from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.app import shell_state
from hcviz.ui.app.keyboard import Keyboard
from hcviz.ui.app.link import Link
from hcviz.ui.app.main_pane import Middle
from hcviz.ui.app.opening import open_page
from hcviz.ui.app.section_list import SectionList
from hcviz.ui.app.sections import SECTIONS
from hcviz.ui.app.shell import Shell
from hcviz.ui.app.subscriptions import LIVE, SLOW, draw, everything, watch
from hcviz.ui.features.agreement.model import AgreementRuns
from hcviz.ui.features.autosave import model as autosave_model
from hcviz.ui.features.autosave.controller import AutosaveController
from hcviz.ui.features.autosave.view import ResumeNotice
from hcviz.ui.features.comparisons import model as comparisons_model
from hcviz.ui.features.comparisons.controller import ComparisonController
from hcviz.ui.features.comparisons.view import ComparisonCard
from hcviz.ui.features.constraints import controller as constraints_controller
from hcviz.ui.features.constraints import model as constraints_model
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.constraints.view import ConstraintsPanel
from hcviz.ui.features.files.controller import FileController
from hcviz.ui.features.groups import model as groups_model
from hcviz.ui.features.groups.controller import GroupControls
from hcviz.ui.features.groups.view import GroupsPanel
from hcviz.ui.features.history import model as history_model
from hcviz.ui.features.history import steps as history_steps
from hcviz.ui.features.history.controller import FootControls
from hcviz.ui.features.history.view import Footer
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.inspector.controller import InspectorControls
from hcviz.ui.features.inspector.view import InspectorPanel
from hcviz.ui.features.learning_curve.model import BaselineRuns
from hcviz.ui.features.lesson_player import model as lesson_player_model
from hcviz.ui.features.lesson_player.controller import PlayerController
from hcviz.ui.features.lesson_player.view import LessonPlayer
from hcviz.ui.features.lessons import model as lessons_model
from hcviz.ui.features.lessons.controller import LessonController
from hcviz.ui.features.lessons.view import LessonCard
from hcviz.ui.features.levels.controller import LevelControls
from hcviz.ui.features.new_items.opening import follow_session
from hcviz.ui.features.parameters import model as parameters_model
from hcviz.ui.features.parameters.controller import FormControls
from hcviz.ui.features.parameters.view import ParameterForm
from hcviz.ui.features.picture.caption import how_made, how_made_depends_on
from hcviz.ui.features.presentation import model as presentation_model
from hcviz.ui.features.presentation.controller import PresentationController
from hcviz.ui.features.presentation.view import Presenter
from hcviz.ui.features.questions import model as questions_model
from hcviz.ui.features.questions.controller import QuestionController
from hcviz.ui.features.questions.view import QuestionCard
from hcviz.ui.features.run_trace import controller as trace_controller
from hcviz.ui.features.run_trace.view import RunTrace
from hcviz.ui.features.side_by_side.model import SideBySideRuns
from hcviz.ui.features.top_bar import model as top_bar_model
from hcviz.ui.features.top_bar.controller import TopBarControls
from hcviz.ui.features.top_bar.view import TopBar
from hcviz.ui.features.tour import model as tour_model
from hcviz.ui.features.tour.controller import TourController
from hcviz.ui.features.tour.view import TourCard
from hcviz.ui.features.tree_tools import model as tree_tools_model
from hcviz.ui.features.tree_tools.controller import ToolControls
from hcviz.ui.features.tree_tools.view import TreeTools
from hcviz.ui.parts.messages import BadMessage, Controls, logged
from hcviz.ui.parts.section import Section
from hcviz.ui.state.saved_look import ALL, BY_HAND
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import Theme
from hcviz.ui.tree import Centre
from hcviz.ui.tree.drawing import Drawing

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

Schedule = Callable[[Callable[[], None]], None]


class Explorer:
    """The whole page of one browser session; ``view`` is what Panel shows."""

    def __init__(
        self,
        schedule: Schedule,
        batch: Callable[[], AbstractContextManager[None]] = nullcontext,
        link: Link | None = None,
        cluster: Cluster | None = None,
        seconds: float = 0.0,
        **options: Any,
    ) -> None:
        self.store = Store(Session(), schedule, batch, cluster, seconds)
        store = self.store
        self.gestures = Gestures(store)
        self.asking = QuestionController(store)
        self.comparing = ComparisonController(store)
        self.lessons = LessonController(store)
        self.playing = PlayerController(store)
        self.gestures.on_stated = self.asking.another

        def later(handler: Callable[..., None]) -> Callable[..., None]:
            # Panel calls handlers without the lock of the document, which their changes need.
            def handle(*given: Any) -> None:
                if store.view.error:
                    store.change_view(error=None)
                with logged():
                    handler(*given)

            return lambda *given: schedule(lambda: handle(*given))

        def handled_by(name: str) -> Callable[..., None]:
            return later(lambda *given: self.controls[name].act(*given))

        wide = {"sizing_mode": "stretch_width"}
        self.centre = Centre(
            on_pick=self.gestures.picked, on_cut=self._cut_dragged, on_drag=self._dragged,
            on_double_click=self._name_selected, on_toggle=self._collapsed_by_hand,
        )  # fmt: skip
        self.gestures.order = lambda: self.centre.order
        self.gestures.reveal = self.centre.reveal
        store.runs.when_drawn = self.centre.when_drawn
        self.bar = TopBar(handled_by("bar"), acts=TopBarControls.schema(), **wide)
        self.tools = TreeTools(handled_by("tools"), acts=ToolControls.schema(), **wide)
        self.constraints = ConstraintsPanel(
            later(partial(constraints_controller.ACTS, self.gestures)),
            acts=constraints_controller.ACTS.schema(),
            **wide,
        )
        self.groups = GroupsPanel(handled_by("groups"), acts=GroupControls.schema(), **wide)
        self.question = QuestionCard(later(self.asking.act), acts=self.asking.schema(), **wide)
        self.compare = ComparisonCard(
            later(self.comparing.act), acts=self.comparing.schema(), **wide
        )
        self.inspector = InspectorPanel(
            handled_by("inspector"), acts=InspectorControls.schema(), **wide
        )
        self.sections = SectionList(
            later(self._act_on_section),
            acts={name: section.acts.schema() for name, section in SECTIONS.items()},
            **wide,
        )
        self.foot = Footer(handled_by("foot"), acts=FootControls.schema(), **wide)
        self.form = ParameterForm(handled_by("form"), acts=FormControls.schema(), **wide)
        self.lesson = LessonCard(later(self.lessons.act), acts=self.lessons.schema(), **wide)
        self.presentation = PresentationController(store, self.centre)
        self.presenter = Presenter(
            later(self.presentation.act), acts=self.presentation.schema(), **wide
        )
        self.player = LessonPlayer(later(self.playing.act), acts=self.playing.schema(), **wide)
        self.playing.download = self.player.download
        self.notice = ResumeNotice(
            lambda *given: schedule(lambda: self._act_on_notice(*given)),
            acts=AutosaveController.schema(),
            **wide,
        )
        self.touring = TourController(store)
        self.tour = TourCard(later(self.touring.act), acts=self.touring.schema())
        self.tour.live = {"offers": False, "begin": 0}
        self.trace = RunTrace(
            later(lambda *given: trace_controller.ACTS(self.trace, *given)),
            trace_controller.ACTS.schema(),
        )
        self.middle = Middle(self.gestures, self.centre, self.tools, later)
        self.shell = Shell(
            later(lambda key: self.keyboard.press(key)),
            bar=self.bar,
            player=self.player,
            presenter=self.presenter,
            lesson=self.lesson,
            ask=self.question,
            compare=self.compare,
            groups=self.groups,
            left=self.constraints,
            centre=self.middle.view,
            right=self.inspector,
            below=[self.sections, self.form, self.trace.view],
            foot=self.foot,
            notice=self.notice,
            tour=self.tour,
            sizing_mode="stretch_both",
        )
        self.view = self.shell
        self.files = FileController(store, self.bar, self.centre)
        self.files.open_lesson = self.playing.open
        self.drawing = Drawing(store, self.centre, self.trace, schedule)
        self.keyboard = Keyboard(
            store, self.centre, self.gestures, self.asking, self.comparing, self.lessons,
            self.playing, self.presentation,
        )  # fmt: skip
        levels = LevelControls(store, self.centre, self.drawing)
        naming = GroupControls(store, self.centre, self.gestures, self.files)
        self.controls: dict[str, Controls] = {
            "bar": TopBarControls(
                store,
                self.lessons,
                self.playing,
                self.presentation,
                self.files,
                self.bar.copy_to_clipboard,
                self.begin_tour,
            ),
            "tools": ToolControls(store, self.centre, self.gestures, levels),
            "inspector": InspectorControls(store, self.centre, self.gestures, naming, levels),
            "groups": naming,
            "foot": FootControls(store, self.files),
            "form": FormControls(store),
        }
        self.autosave: AutosaveController | None = None
        self._subscribe()
        self.baselines = BaselineRuns(store, schedule)
        self.agreeing = AgreementRuns(store, schedule)
        self.side_by_side = SideBySideRuns(store, schedule)
        follow_session(store)
        open_page(store, link or Link(), **options)

    def keep_below(self, root: Path, token: str) -> AutosaveController:
        """Keep this browser's sessions below ``root``, and offer its unfinished ones."""
        self.autosave = kept = AutosaveController(self.store, UnfinishedSessions(root, token))
        self.notice.live = {"ready": True}
        return kept

    def offer_tour(self) -> None:
        """Offer the tour in the foot of the page, unless this browser has closed the offer."""
        self.tour.live = {**self.tour.live, "offers": True}

    def begin_tour(self) -> None:
        """Let the browser begin the tour: it keeps the step at which the tour was left."""
        self.tour.live = {**self.tour.live, "begin": self.tour.live["begin"] + 1}

    def close(self) -> None:
        """Stop all computations: the page is closed."""
        self.store.close()
        self.baselines.close()
        self.agreeing.close()
        self.side_by_side.close()
        if self.autosave is not None:
            self.autosave.close()

    # ------------------------------------------------------------------ what the parts show

    def _subscribe(self) -> None:
        store = self.store
        store.subscribe(lambda s: s.view.theme, self._show_theme)
        for part, state, live, depends_on in (
            (self.bar, top_bar_model.state, None, everything),
            (self.tools, tree_tools_model.state, None, tree_tools_model.depends_on),
            (self.question, questions_model.state, None, everything),
            (self.compare, comparisons_model.state, None, everything),
            (self.constraints, constraints_model.state, None, everything),
            (
                self.inspector,
                inspector_model.state,
                inspector_model.live,
                inspector_model.depends_on,
            ),
            (self.form, parameters_model.state, None, parameters_model.depends_on),
            (self.foot, history_model.state, None, everything),
            (self.middle.tabs, Middle.tabs_state, None, everything),
            (self.notice, autosave_model.state, None, everything),
            (self.lesson, lessons_model.state, None, everything),
            (self.player, lesson_player_model.state, None, everything),
            (self.presenter, presentation_model.state, None, everything),
            (self.tour, tour_model.state, None, tour_model.depends_on),
        ):
            draw(store, part, "state", state, depends_on=depends_on)
            if live is not None:
                draw(store, part, "live", live, LIVE)
        draw(store, self.bar, "live", top_bar_model.live, LIVE, top_bar_model.live_depends_on)
        draw(store, self.foot, "live", history_steps.state, LIVE, history_steps.depends_on)
        draw(store, self.groups, "state", groups_model.state, SLOW, groups_model.depends_on)
        watch(store, Middle.depends_on, self.middle.turn, SLOW)
        for section in SECTIONS.values():
            watch(store, section.depends_on, partial(self._show_section, section), SLOW)
        store.subscribe(lambda s: s.view.presenting is None, self.middle.show_tools)
        watch(
            store, lambda s: (s.session.status, s.session.snapshot is None, how_made_depends_on(s)),
            lambda _: self._show_caption(), SLOW,
        )  # fmt: skip
        watch(store, shell_state.depends_on, lambda _: self._show_progress(), LIVE)

    def _act_on_section(self, name: str, fields: dict[str, Any]) -> None:
        section = SECTIONS.get(str(fields.pop("section", "")))
        if section is None:
            raise BadMessage(f"The message {name!r} names no section.")
        section.acts(self.gestures, name, fields)

    def _act_on_notice(self, name: str, fields: dict[str, Any]) -> None:
        if self.autosave is not None:
            with logged():
                self.autosave.act(name, fields)

    def _show_section(self, section: Section, _: Any) -> None:
        now = section.state(self.store)
        if self.sections.state.get(section.name) != now:
            known = {**self.sections.state, section.name: now}
            self.sections.state = {name: known.get(name) for name in SECTIONS}  # in their order

    def _show_progress(self) -> None:
        self.shell.param.update(**shell_state.state(self.store))

    def _show_caption(self) -> None:
        """Write how the tree was made, for the page that the browser prints."""
        store = self.store
        if store.session.snapshot is not None and store.session.status == "settled":
            self.shell.caption = how_made(store)

    def _show_theme(self, theme: Theme) -> None:
        self.shell.theme = theme
        self.centre.set_theme(theme)
        self.trace.set_theme(theme)

    def _name_selected(self) -> None:
        """Let the person type a name for the clade that was clicked twice."""
        view = self.store.view
        if not view.draft.open and view.selection and view.presenting is None:
            self.inspector.focus_field(".group-name")

    def _dragged(self, phase: str, item: int, members: tuple[int, ...]) -> None:
        """Handle the drag of a leaf; a presentation states nothing."""
        if self.store.view.presenting is None:
            self.gestures.dragged(phase, item, members)

    def _cut_dragged(self, height: float | None, clusters: int) -> None:
        """Keep the dragged cut in later trees; without one, keep clusters off."""
        store = self.store
        store.view = replace(store.view, cut=height, clusters=clusters, n_clusters=clusters)
        if store.session.chosen_clusters is not None:
            store.dispatch(act.ChooseClusters())
        store.notify()

    def _collapsed_by_hand(self, _: tuple[int, ...]) -> None:
        """Note that clades are collapsed one by one, or that none is any more."""
        self.store.change_view(level=BY_HAND if self.centre.state.collapsed else ALL)
