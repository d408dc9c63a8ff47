"""``Explorer``: one browser session's page, put together from its parts.

What the parts show is computed in ``pictures.py`` and its neighbours, the tree is kept by
``drawing.py``, and what the person does is turned into actions by ``acts.py``, ``gestures.py`` and
``files.py``. Here they are only connected.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hcviz.io.unfinished import UnfinishedSessions
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
from hcviz.ui.features.agreement.model import Agreeing
from hcviz.ui.features.autosave import model as autosave
from hcviz.ui.features.autosave.model import Autosave
from hcviz.ui.features.autosave.view import Notice
from hcviz.ui.features.comparisons import model as comparing
from hcviz.ui.features.comparisons.model import Comparing
from hcviz.ui.features.comparisons.view import Compare
from hcviz.ui.features.constraints import model as answerlist
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.constraints.view import Constraints
from hcviz.ui.features.files.model import Files
from hcviz.ui.features.history import controller as foot_controller
from hcviz.ui.features.history import model as history
from hcviz.ui.features.history import steps
from hcviz.ui.features.history.controller import FootControls
from hcviz.ui.features.history.view import Foot
from hcviz.ui.features.inspector import controller as inspector_controller
from hcviz.ui.features.inspector import model as inspector
from hcviz.ui.features.inspector.controller import InspectorControls
from hcviz.ui.features.inspector.view import Inspector
from hcviz.ui.features.learning_curve.model import Baselines
from hcviz.ui.features.lessons import card as lessoncard
from hcviz.ui.features.lessons.classroom import Classroom
from hcviz.ui.features.lessons.view import Lesson
from hcviz.ui.features.parameters import controller as form_controller
from hcviz.ui.features.parameters import model as parameters
from hcviz.ui.features.parameters.controller import FormControls
from hcviz.ui.features.parameters.model import form
from hcviz.ui.features.parameters.view import Form
from hcviz.ui.features.questions import model as asking
from hcviz.ui.features.questions.model import Asking
from hcviz.ui.features.questions.view import Question
from hcviz.ui.features.run_trace.view import Trace
from hcviz.ui.features.top_bar import controller as top_bar_controller
from hcviz.ui.features.top_bar import model as top_bar
from hcviz.ui.features.top_bar.controller import TopBarControls
from hcviz.ui.features.top_bar.view import Bar
from hcviz.ui.features.tree_tools import controller as tool_controller
from hcviz.ui.features.tree_tools import model as tree_tools
from hcviz.ui.features.tree_tools.controller import ToolControls
from hcviz.ui.features.tree_tools.view import Tools
from hcviz.ui.parts.section import Section
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import Theme
from hcviz.ui.tree import Centre
from hcviz.ui.tree.drawing import Drawing

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

Schedule = Callable[[Callable[[], None]], None]


class Controls(Protocol):
    """What handles the messages of one part."""

    def act(self, name: str, fields: dict[str, Any]) -> None:
        """Handle a message."""


class Explorer:
    """The whole page of one browser session; ``view`` is what Panel shows."""

    def __init__(
        self,
        schedule: Schedule,
        together: Callable[[], AbstractContextManager[None]] = nullcontext,
        link: Link | None = None,
        cluster: Cluster | None = None,
        seconds: float = 0.0,
        **options: Any,
    ) -> None:
        self.store = Store(Session(), schedule, together, cluster, seconds)
        store = self.store
        self.gestures = Gestures(store)
        self.asking = Asking(store)
        self.comparing = Comparing(store)
        self.classroom = Classroom(store)
        self.gestures.stated = self.asking.another

        def later(handler: Callable[..., None]) -> Callable[..., None]:
            # Panel calls handlers without the document's lock; what they change needs it.
            def handle(*given: Any) -> None:
                if store.view.error:
                    store.look(error=None)
                handler(*given)

            return lambda *given: schedule(lambda: handle(*given))

        def handled_by(name: str) -> Callable[..., None]:
            return later(lambda *given: self.controls[name].act(*given))

        wide = {"sizing_mode": "stretch_width"}
        self.centre = Centre(
            on_pick=self.gestures.picked, on_cut=self._cut_dragged, on_drag=self.gestures.dragged
        )
        self.gestures.order = lambda: self.centre.order
        store.runs.when_drawn = self.centre.when_drawn
        self.bar = Bar(handled_by("bar"), acts=top_bar_controller.ACTS.schema(), **wide)
        self.tools = Tools(handled_by("tools"), acts=tool_controller.ACTS.schema(), **wide)
        self.constraints = Constraints(later(self.gestures.constraints_act), **wide)
        self.question = Question(later(self.asking.act), **wide)
        self.compare = Compare(later(self.comparing.act), **wide)
        self.inspector = Inspector(
            handled_by("inspector"), acts=inspector_controller.ACTS.schema(), **wide
        )
        self.sections = SectionList(later(self._act_on_section), **wide)
        self.foot = Foot(handled_by("foot"), acts=foot_controller.ACTS.schema(), **wide)
        self.form = Form(handled_by("form"), acts=form_controller.ACTS.schema(), **wide)
        self.lesson = Lesson(later(self.classroom.act), **wide)
        self.notice = Notice(lambda *given: schedule(lambda: self._act_on_notice(*given)), **wide)
        self.trace = Trace()
        self.middle = Middle(self.gestures, self.centre, self.tools, later)
        self.shell = Shell(
            later(lambda key: self.keyboard.press(key)),
            bar=self.bar,
            lesson=self.lesson,
            ask=self.question,
            compare=self.compare,
            left=self.constraints,
            centre=self.middle.view,
            right=self.inspector,
            below=[self.sections, self.form, self.trace.view],
            foot=self.foot,
            notice=self.notice,
            sizing_mode="stretch_both",
        )
        self.view = self.shell
        self.files = Files(store, self.bar, self.centre)
        self.drawing = Drawing(store, self.centre, self.trace, schedule)
        self.keyboard = Keyboard(
            store, self.centre, self.gestures, self.asking, self.comparing, self.classroom
        )
        self.controls: dict[str, Controls] = {
            "bar": TopBarControls(store, self.classroom, self.files, self.bar.copy),
            "tools": ToolControls(store, self.centre, self.drawing, self.gestures),
            "inspector": InspectorControls(store, self.centre, self.gestures),
            "foot": FootControls(store, self.files),
            "form": FormControls(store),
        }
        self.autosave: Autosave | None = None
        self._subscribe()
        self.baselines = Baselines(store, schedule)
        self.agreeing = Agreeing(store, schedule)
        open_page(store, link or Link(), **options)

    def keep_below(self, root: Path, token: str) -> Autosave:
        """Keep this visitor's work below ``root``, and offer what they left unfinished there."""
        self.autosave = kept = Autosave(self.store, UnfinishedSessions(root, token))
        self.notice.live = {"visitor": token}
        return kept

    def close(self) -> None:
        """The tab is gone."""
        self.store.close()
        self.baselines.close()
        self.agreeing.close()
        if self.autosave is not None:
            self.autosave.close()

    # ------------------------------------------------------------------ what the parts show

    def _subscribe(self) -> None:
        store = self.store
        store.subscribe(lambda s: s.view.theme, self._show_theme)
        for part, state, live, depends_on in (
            (self.bar, top_bar.picture, top_bar.live, everything),
            (self.tools, tree_tools.picture, None, tree_tools.sees),
            (self.question, asking.picture, None, everything),
            (self.compare, comparing.picture, None, everything),
            (self.constraints, answerlist.picture, None, everything),
            (self.inspector, inspector.picture, inspector.live, everything),
            (self.form, form, None, parameters.sees),
            (self.foot, history.picture, None, everything),
            (self.middle.tabs, Middle.tabs_picture, None, everything),
            (self.notice, autosave.picture, None, everything),
            (self.lesson, lessoncard.picture, None, everything),
        ):
            draw(store, part, "state", state, depends_on=depends_on)
            if live is not None:
                draw(store, part, "live", live, LIVE)
        draw(store, self.foot, "live", steps.picture, LIVE, steps.sees)
        watch(store, Middle.sees, self.middle.turn, SLOW)
        for section in SECTIONS.values():
            watch(store, section.sees, partial(self._show_section, section), SLOW)
        watch(
            store,
            shell_state.sees,
            lambda _: self._show_progress(), LIVE,
        )  # fmt: skip

    def _act_on_section(self, name: str, fields: dict[str, Any]) -> None:
        section = SECTIONS.get(str(fields.pop("section", "")))
        if section is not None:
            section.act(self.gestures, name, fields)

    def _act_on_notice(self, name: str, fields: dict[str, Any]) -> None:
        if self.autosave is not None:
            self.autosave.act(name, fields)

    def _show_section(self, section: Section, _: Any) -> None:
        now = section.picture(self.store)
        if self.sections.state.get(section.name) != now:
            known = {**self.sections.state, section.name: now}
            self.sections.state = {name: known.get(name) for name in SECTIONS}  # in their order

    def _show_progress(self) -> None:
        self.shell.param.update(**shell_state.picture(self.store))

    def _show_theme(self, theme: Theme) -> None:
        self.shell.theme = theme
        self.centre.set_theme(theme)
        self.trace.set_theme(theme)

    def _cut_dragged(self, height: float | None, clusters: int) -> None:
        """A line that was dragged off stays off, in the trees to come too."""
        self.store.look(cut=height, clusters=clusters, parted=clusters)
