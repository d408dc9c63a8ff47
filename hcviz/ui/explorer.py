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
from typing import TYPE_CHECKING, Any

from hcviz.io.unfinished import UnfinishedSessions
from hcviz.session.model import Session
from hcviz.ui import answerlist, asking, autosave, comparing, lessoncard, parts, pictures, steps
from hcviz.ui.acts import Acts
from hcviz.ui.agreeing import Agreeing
from hcviz.ui.asking import Asking
from hcviz.ui.autosave import Autosave
from hcviz.ui.centre import Centre
from hcviz.ui.classroom import Classroom
from hcviz.ui.comparing import Comparing
from hcviz.ui.diagnostics import Trace
from hcviz.ui.drawing import Drawing
from hcviz.ui.fields import form
from hcviz.ui.files import Files
from hcviz.ui.gestures import Gestures
from hcviz.ui.learning import Baselines
from hcviz.ui.link import Link
from hcviz.ui.middle import Middle
from hcviz.ui.opening import begin
from hcviz.ui.sections import SECTIONS, Section
from hcviz.ui.shell import Shell
from hcviz.ui.store import Store
from hcviz.ui.viewstate import Theme
from hcviz.ui.watching import LIVE, UNHURRIED, draw, watch

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

Schedule = Callable[[Callable[[], None]], None]


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

        def acting(name: str) -> Callable[..., None]:
            return later(lambda *given: getattr(self.acts, name)(*given))

        wide = {"sizing_mode": "stretch_width"}
        self.centre = Centre(
            on_pick=self.gestures.picked, on_cut=self._cut_dragged, on_drag=self.gestures.dragged
        )
        self.gestures.order = lambda: self.centre.order
        store.when_drawn = self.centre.when_drawn
        self.bar = parts.Bar(acting("bar"), **wide)
        self.tools = parts.Tools(acting("tools"), **wide)
        self.constraints = parts.Constraints(later(self.gestures.constraints_act), **wide)
        self.question = parts.Question(later(self.asking.act), **wide)
        self.compare = parts.Compare(later(self.comparing.act), **wide)
        self.inspector = parts.Inspector(acting("inspector"), **wide)
        self.sections = parts.Sections(acting("section"), **wide)
        self.foot = parts.Foot(acting("foot"), **wide)
        self.form = parts.Form(acting("form"), **wide)
        self.lesson = parts.Lesson(later(self.classroom.act), **wide)
        self.notice = parts.Notice(
            lambda *given: schedule(lambda: self.acts.notice(*given)), **wide
        )
        self.trace = Trace()
        self.middle = Middle(self.gestures, self.centre, self.tools, later)
        self.shell = Shell(
            acting("key"),
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
        self.acts = Acts(
            store, self.centre, self.drawing, self.gestures, self.asking, self.comparing,
            self.classroom, self.files, self.bar.copy,
        )  # fmt: skip
        self._subscribe()
        self.baselines = Baselines(store, schedule)
        self.agreeing = Agreeing(store, schedule)
        begin(store, link or Link(), **options)

    def keep_below(self, root: Path, token: str) -> Autosave:
        """Keep this visitor's work below ``root``, and offer what they left unfinished there."""
        kept = self.acts.autosave = Autosave(self.store, UnfinishedSessions(root, token))
        self.notice.live = {"visitor": token}
        return kept

    def close(self) -> None:
        """The tab is gone."""
        self.store.close()
        self.baselines.close()
        self.agreeing.close()
        if self.acts.autosave is not None:
            self.acts.autosave.close()

    # ------------------------------------------------------------------ what the parts show

    def _subscribe(self) -> None:
        store = self.store
        store.subscribe(lambda s: s.view.theme, self._show_theme)
        for part, picture, live in (
            (self.bar, pictures.bar, pictures.bar_live),
            (self.tools, pictures.tools, None),
            (self.question, asking.picture, None),
            (self.compare, comparing.picture, None),
            (self.constraints, answerlist.picture, None),
            (self.inspector, pictures.inspector, pictures.inspector_live),
            (self.form, form, None),
            (self.foot, pictures.foot, steps.picture),
            (self.middle.tabs, Middle.tabs_picture, None),
            (self.notice, autosave.picture, None),
            (self.lesson, lessoncard.picture, None),
        ):
            draw(store, part, "state", picture)
            if live is not None:
                draw(store, part, "live", live, LIVE)
        watch(store, Middle.sees, self.middle.turn, UNHURRIED)
        for section in SECTIONS.values():
            watch(store, section.sees, partial(self._show_section, section), UNHURRIED)
        watch(
            store,
            lambda s: (s.session.status, s.session.progress, pictures.asks(s), s.view.draft.open),
            lambda _: self._show_progress(), LIVE,
        )  # fmt: skip

    def _show_section(self, section: Section, _: Any) -> None:
        now = section.picture(self.store)
        if self.sections.state.get(section.name) != now:
            known = {**self.sections.state, section.name: now}
            self.sections.state = {name: known.get(name) for name in SECTIONS}  # in their order

    def _show_progress(self) -> None:
        self.shell.param.update(**pictures.shell(self.store))

    def _show_theme(self, theme: Theme) -> None:
        self.shell.theme = theme
        self.centre.set_theme(theme)
        self.trace.set_theme(theme)

    def _cut_dragged(self, height: float | None, clusters: int) -> None:
        """A line that was dragged off stays off, in the trees to come too."""
        self.store.look(cut=height, clusters=clusters, parted=clusters)
