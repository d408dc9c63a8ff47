"""``Explorer``: one browser session's page, put together from its parts.

What the parts show is computed in ``pictures.py``; what the person does is turned into actions by
``gestures.py`` and ``files.py``. Here they are only connected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn

from hcviz import datasets
from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.layout import with_even_heights
from hcviz.core.similarity import SIMILARITIES
from hcviz.core.tree import Tree
from hcviz.io.shelf import Shelf
from hcviz.session import actions as act
from hcviz.session.model import Constraint, DataSpec, Session
from hcviz.ui import (
    answerlist,
    asking,
    autosave,
    certainty,
    changes,
    comparing,
    lesson,
    nodecosts,
    outcome,
    parts,
    pictures,
    steps,
    uncertainty,
)
from hcviz.ui.agreeing import Agreeing
from hcviz.ui.asking import Asking
from hcviz.ui.autosave import Autosave
from hcviz.ui.centre import Centre, Items
from hcviz.ui.centre.cells import Cells
from hcviz.ui.classroom import Classroom
from hcviz.ui.comparing import Comparing
from hcviz.ui.diagnostics import Trace
from hcviz.ui.fields import form, set_field
from hcviz.ui.files import Files
from hcviz.ui.gestures import Gestures
from hcviz.ui.learning import Baselines
from hcviz.ui.link import Link, to_query
from hcviz.ui.middle import Middle
from hcviz.ui.parts import (
    Bar,
    Compare,
    Constraints,
    Foot,
    Form,
    Inspector,
    Notice,
    Question,
    Sections,
    Tools,
)
from hcviz.ui.sections import SECTIONS, Section
from hcviz.ui.sheets import TREE
from hcviz.ui.shell import Shell
from hcviz.ui.sources import similarity_to_show
from hcviz.ui.store import LOOKS, Store, Theme, looks
from hcviz.ui.uncertainty import Uncertainty

#: Seconds between two looks at the numbers of a run: nobody reads faster.
LIVE = 0.15
#: The same for what is more work: sheets and the inspector's sections.
UNHURRIED = 0.5

#: New answers whose places are shown, where a run heeds many at once.
PULSED = 12

Schedule = Callable[[Callable[[], None]], None]


class Explorer:
    """The whole page of one browser session; ``view`` is what Panel shows."""

    def __init__(
        self,
        schedule: Schedule,
        together: Callable[[], AbstractContextManager[None]] = nullcontext,
        link: Link | None = None,
        **options: Any,
    ) -> None:
        self.store = Store(Session(), schedule, together)
        store = self.store
        self.gestures = Gestures(store)
        self.asking = Asking(store)
        self.comparing = Comparing(store)
        self.gestures.stated = self.asking.another

        def later(handler: Callable[..., None]) -> Callable[..., None]:
            # Panel calls handlers without the document's lock; what they change needs it.
            def handle(*given: Any) -> None:
                if store.view.error:
                    store.look(error=None)
                handler(*given)

            return lambda *given: schedule(lambda: handle(*given))

        self.centre = Centre(
            on_pick=self.gestures.picked,
            on_cut=self._cut_dragged,
            on_drag=self.gestures.dragged,
        )
        self.gestures.order = lambda: self.centre.order
        store.when_drawn = self.centre.when_drawn
        self.bar = Bar(later(self._bar_act), sizing_mode="stretch_width")
        self.tools = Tools(later(self._tools_act), sizing_mode="stretch_width")
        self.constraints = Constraints(
            later(self.gestures.constraints_act), sizing_mode="stretch_width"
        )
        self.question = Question(later(self.asking.act), sizing_mode="stretch_width")
        self.compare = Compare(later(self.comparing.act), sizing_mode="stretch_width")
        self.inspector = Inspector(later(self._inspector_act), sizing_mode="stretch_width")
        self.foot = Foot(later(self._foot_act), sizing_mode="stretch_width")
        self.files = Files(store, self.bar, self.centre)
        self.form = Form(later(self._form_act), sizing_mode="stretch_width")
        self.lesson = parts.Lesson(later(self._lesson_act), sizing_mode="stretch_width")
        self.notice = Notice(
            lambda *given: schedule(lambda: self._notice_act(*given)), sizing_mode="stretch_width"
        )
        self.trace = Trace()
        self.middle = Middle(self.gestures, self.centre, self.tools, later)
        self.sections = Sections(later(self._section_act), sizing_mode="stretch_width")
        self.shell = Shell(
            later(self._key),
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
        self.uncertainty = Uncertainty(store, schedule, self._show_uncertainty)
        self.classroom = Classroom(store)
        self._subscribe()
        self.baselines = Baselines(store, schedule)
        self.agreeing = Agreeing(store, schedule)
        self._begin(link or Link(), **options)

    #: Keeps what is done here, where the page's owner wants that.
    autosave: Autosave | None = None

    def keep_below(self, root: Path, token: str) -> Autosave:
        """Keep this visitor's work below ``root``, and offer what they left unfinished there."""
        self.autosave = Autosave(self.store, Shelf(root, token))
        self.notice.live = {"visitor": token}
        return self.autosave

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
        store.subscribe(lambda s: (s.dataset, s.view.lesson is None), lambda _: self._show_items())
        store.subscribe(lambda s: (s.session.data,), lambda _: self._show_items(matrix_only=True))
        store.subscribe(_drawn, lambda _: self._show_tree())
        store.subscribe(lambda s: s.view.selection, self.centre.set_selection)
        store.subscribe(
            lambda s: (s.view.draft, s.view.peek, s.session.constraints, s.view.lesson),
            lambda _: self.centre.set_marks(*answerlist.marks(store)),
        )
        store.subscribe(
            lambda s: s.view.draft.open, lambda open_: self.centre.set_selecting(not open_)
        )
        store.subscribe(lambda s: s.view.cut, self._show_cut)
        store.subscribe(
            lambda s: (s.session.run, s.view.draft.open, outcome.is_over(s)),
            lambda _: self._show_answer(),
        )
        store.subscribe(_sure, lambda _: self._show_support())
        store.subscribe(lambda s: (nodecosts.sees(s), s.view.lesson), lambda _: self._show_levels())
        store.subscribe(
            lambda s: (uncertainty.matrix(s), s.view.scaling, s.view.columns),
            lambda _: self._show_matrix(),
        )
        store.subscribe(uncertainty.sees, lambda _: self.uncertainty.look())
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
            (self.lesson, lesson.picture, None),
        ):
            self._draw(part, "state", picture)
            if live is not None:
                self._draw(part, "live", live, LIVE)
        self._pace(
            lambda s: (s.drawn, s.view.source, s.session.data), self._show_similarity, UNHURRIED
        )
        self._pace(Middle.sees, self.middle.turn, UNHURRIED)
        for section in SECTIONS.values():
            self._pace(section.sees, partial(self._show_section, section), UNHURRIED)
        self._pace(
            lambda s: (s.session.status, s.session.progress), lambda _: self._show_progress(), LIVE
        )

    def _draw(
        self,
        part: Any,
        name: str,
        picture: Callable[[Store], dict[str, Any]],
        pace: float = 0.0,
    ) -> None:
        """Redraw a part when what it shows (plain JSON) changes."""

        def changed(_: Any) -> None:
            now = picture(self.store)
            if getattr(part, name) != now:
                setattr(part, name, now)

        self._pace(pictures.SLICES.get(picture, pictures.everything), changed, pace)

    def _pace(
        self, select: Callable[[Store], Any], call: Callable[[Any], None], pace: float
    ) -> None:
        """Subscribe; while only trees of a run come, call every ``pace`` seconds at most."""
        before: tuple[Any, float] = ((), 0.0)

        def now_and_then(what: Any) -> None:
            nonlocal before
            session, now = self.store.session, time.monotonic()
            state = (session.run, session.status, len(session.log), self.store.view)
            running = session.status == "sampling" and state == before[0]
            if running and now - before[1] < pace:
                return
            before = (state, now)
            call(what)

        self.store.subscribe(select, now_and_then)

    def _show_items(self, matrix_only: bool = False) -> None:
        store = self.store
        if store.dataset is None or not store.session.labels:
            return
        data = store.dataset
        if matrix_only and store.problem.similarity is self._similarity:
            return
        self._similarity = store.problem.similarity
        name, matrix = similarity_to_show(store.problem, wanted=store.view.source)
        self.centre.set_items(
            Items(
                labels=data.labels,
                features=data.features,
                feature_names=data.feature_names,
                classes=data.strips if store.view.lesson is None else None,
                images=data.images,
                similarity=matrix,
                similarity_name=name,
                title=data.title,
            )
        )
        self.uncertainty.forget()
        store.drawn = self._tree = None
        self._show_tree()

    def _show_similarity(self, _: Any) -> None:
        """The similarity that the tree on the screen came with, or another that was chosen."""
        store = self.store
        if store.dataset is not None and store.dataset.labels == store.session.labels:
            name, matrix = similarity_to_show(store.problem, store.drawn, store.view.source)
            self.centre.set_similarity(matrix, name)

    _similarity: Any = None
    _source: Tree | None = None  # what is drawn
    _tree: Tree | None = None  # as it is drawn
    _even = False

    def _show_tree(self) -> None:
        """Draw the session's tree at the heights chosen, unless it is drawn already."""
        snapshot = self.store.session.snapshot
        if snapshot is None or snapshot.tree.n_leaves != len(self.store.session.labels):
            self.store.drawn = self._tree = None
            self.centre.set_tree(None)
            return
        before, self.store.drawn = self.store.drawn, snapshot
        even = self.store.view.heights == "even"
        tree = lesson.tree_to_show(self.store)
        assert tree is not None
        if before is not None and self._source is tree and self._even == even:
            return
        self._source = tree
        self._even, self._tree = even, with_even_heights(tree) if even else tree
        changed: Any = None
        if tree is not snapshot.tree:
            revealed = self.store.view.lesson and self.store.view.lesson.outcome
            changed = revealed.way if revealed else None
        else:
            changes = self.store.changes()
            few = changes is not None and 2 * len(changes.gained) <= tree.n_internal
            changed = changes.gained if changes is not None and few else None  # all bold is none
        streaming = self.store.session.status == "sampling"
        self.centre.set_tree(self._tree, new_nodes=changed, animate=not streaming)
        self.trace.push(self.store.session.run, snapshot.step, snapshot.metrics, last=not streaming)
        if self.store.view.clusters is not None:
            self._colour(self.store.view.clusters)

    def _show_answer(self) -> None:
        """Once after each run: where in the tree the new answers lie."""
        run = self.store.session.run
        if run != self._answered and outcome.is_over(self.store):
            self._answered = run
            self.centre.pulse(outcome.new_answers(self.store.session)[:PULSED])

    _answered = -1

    def _show_support(self) -> None:
        """None on a tree that was not sampled: a lesson's, with an item taken out."""
        sampled = lesson.tree_to_show(self.store) is self.store.session.tree
        self.centre.set_support(certainty.support(self.store) if sampled else None)

    def _show_levels(self) -> None:
        shown = lesson.tree_to_show(self.store) is self.store.session.tree
        self.centre.set_levels(nodecosts.levels(self.store) if shown else None)

    def _show_section(self, section: Section, _: Any) -> None:
        now = section.picture(self.store)
        if self.sections.state.get(section.name) != now:
            known = {**self.sections.state, section.name: now}
            self.sections.state = {name: known.get(name) for name in SECTIONS}  # in their order

    def _show_matrix(self) -> None:
        """The heatmap asked for. The uncertainty takes the last one's place when it is counted."""
        now: Any = uncertainty.matrix(self.store)
        view: Any = self.store.view
        if now != uncertainty.NAME or self.centre.has_uncertainty:
            self.centre.set_matrix(now, scaling=view.scaling, columns=view.columns)

    def _show_uncertainty(self, cells: Cells) -> None:
        self.centre.set_uncertainty(cells)
        self._show_matrix()

    def _show_cut(self, height: float | None) -> None:
        self.centre.set_cut(height)

    def _show_progress(self) -> None:
        self.shell.param.update(**pictures.shell(self.store))

    def _show_theme(self, theme: Theme) -> None:
        self.shell.theme = theme
        self.centre.set_theme(theme)
        self.trace.set_theme(theme)

    # ------------------------------------------------------------------ what the person does

    def _key(self, key: str) -> None:
        if key == "undo":
            self.store.dispatch(act.Undo())
        elif key == "redo":
            self.store.dispatch(act.Redo())
        elif key == "u":
            self.store.dispatch(act.Undo())
        elif key == "Escape" and self.store.view.sheet != TREE and not self.store.view.draft.open:
            self.store.look(sheet=TREE)
        elif key == "0":
            self.centre.reset_zoom()
        elif self.comparing.key(key) or self.classroom.key(key) or self.asking.key(key):
            pass
        elif key == "Enter" and not self.store.view.draft.open:
            if len(self.store.view.selection) > 1:
                self.centre.toggle_collapse(self.store.view.selection)
        else:
            self.gestures.key(key)

    def _bar_act(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        session = store.session
        value = more.get("value")
        if name == "data" and value != pictures.CURRENT:
            store.open_data(
                DataSpec(kind="built-in", name=str(value), similarity=session.data.similarity)
            )
        elif name == "similarity":
            store.dispatch(act.SetSimilarity(str(value)))
        elif name == "method":
            with store.guarded():
                method = get_algorithm(str(value))
                store.dispatch(act.SetMethod(method.name, method.triplets))
        elif name == "seed":
            with store.guarded():
                store.dispatch(act.SetSeed(_whole(value, "The seed")))
        elif name == "run":
            store.dispatch(act.Rerun())
        elif name == "cancel":
            store.dispatch(act.Cancel())
        elif name == "pause":
            (store.runner.resume if store.view.paused else store.runner.pause)()
            store.look(paused=not store.view.paused)
        elif name == "undo":
            store.dispatch(act.Undo())
        elif name == "redo":
            store.dispatch(act.Redo())
        elif name == "theme":
            store.look(theme="light" if store.view.theme == "dark" else "dark")
        elif name == "share":
            self._share()
        elif name in ("lesson", "open-lesson"):
            self.classroom.act(name, more)
        else:
            self.files.act(name, more)

    def _tools_act(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        value = more.get("value")
        if name in LOOKS:
            store.look(**{name: str(value)})
        elif name == "source":
            store.look(source=str(value))
        elif name == "clusters":
            with store.guarded():
                text = str(value or "").strip()
                self._colour(_whole(text, "The number of clusters") if text else None)
        elif name == "find":
            self._find(str(value))
        elif name == "reset":
            self.centre.reset_zoom()

    def _inspector_act(self, name: str, more: dict[str, Any]) -> None:
        store = self.store
        if name == "pick":
            self.gestures.take((int(more["id"]),))
        elif name == "clade":
            items = changes.members(store, str(more["which"]), int(more["node"]))
            if items:
                self.gestures.take(items)
        elif name == "focus":
            self.centre.focus(store.view.selection)
        elif name == "collapse":
            self.centre.toggle_collapse(store.view.selection)
            store._notify()
        elif name == "parent":
            store.look(selection=pictures.wider(store))

    def _section_act(self, name: str, more: dict[str, Any]) -> None:
        section = SECTIONS.get(str(more.pop("section", "")))
        if section is not None:
            section.act(self.gestures, name, more)

    def _form_act(self, _name: str, more: dict[str, Any]) -> None:
        store = self.store
        name, value = str(more.get("name")), more.get("value")
        if name == "data:scaling":
            store.dispatch(act.SetScaling(str(value)))
        elif name == "data:missing":
            store.dispatch(act.SetMissing(str(value)))
        else:
            with store.guarded():
                set_field(store, name, value)

    def _lesson_act(self, name: str, more: dict[str, Any]) -> None:
        self.classroom.act(name, more)

    def _notice_act(self, name: str, more: dict[str, Any]) -> None:
        if self.autosave is not None:
            self.autosave.act(name, more)

    def _foot_act(self, name: str, more: dict[str, Any]) -> None:
        steps = int(more.get("by", 0))
        for _ in range(abs(steps)):
            self.store.dispatch(act.Undo() if steps < 0 else act.Redo())

    def _cut_dragged(self, height: float | None, clusters: int) -> None:
        self.store.look(cut=height, clusters=None if height is None else clusters)

    def _colour(self, clusters: int | None) -> None:
        """Colour that many clusters, in this tree and in those to come."""
        count = clusters or None
        self.store.look(clusters=count, cut=pictures.cut_for(self._tree, count))

    def _find(self, text: str) -> None:
        labels = self.store.session.labels
        wanted = text.strip().casefold()
        exact = [i for i, name in enumerate(labels) if name.casefold() == wanted]
        found = exact or [i for i, name in enumerate(labels) if wanted in name.casefold()]
        if not found:
            self.store.look(error=(f"No item is called {text!r}.", ""))
            return
        chosen = tuple(found)
        if self.store.view.draft.open:
            self.gestures.take(chosen[:1])
            self.centre.focus(chosen[:1])
            return
        said = f"Found {labels[found[0]]}" + (f" and {len(found) - 1} more." if found[1:] else ".")
        self.store.look(selection=chosen, error=None, said=said)
        self.centre.focus(chosen)

    def _share(self) -> None:
        session, view = self.store.session, self.store.view
        if session.data.kind != "built-in":
            self.store.look(
                error=(
                    "A link can only carry built-in data.",
                    "Save the session to a file instead (File, Session): it holds your table.",
                )
            )
            return
        query = to_query(pictures.link_of(session, view))
        location = pn.state.location
        base = ""
        if location is not None and location.hostname:
            base = f"{location.protocol}//{location.hostname}"
            base += f":{location.port}" if location.port else ""
            base += location.pathname or ""
            location.search = f"?{query}"
        self.bar.copy(f"{base}?{query}")

    # ------------------------------------------------------------------ the beginning

    def _begin(self, link: Link, spec: DataSpec | None = None, method: str | None = None) -> None:
        """The first data and run, as the link says; what it says wrongly is said last."""
        store = self.store
        faults: list[HcvizError] = []

        def known(what: str, value: str | None, names: Iterable[str], usual: str) -> str:
            if value is None or value in names:
                return value or usual
            hint = f"Known: {', '.join(names)}."
            faults.append(HcvizError(f"The link's {what} {value!r} is not known.", hint))
            return usual

        usual = DataSpec()
        spec = spec or DataSpec(
            kind="built-in",
            name=known("data", link.data, datasets.names(everything=True), usual.name),
            similarity=known("similarity", link.similarity, SIMILARITIES, usual.similarity),
            scaling=known("scaling", link.scaling, datasets.SCALINGS, usual.scaling),
            missing=known("missing", link.missing, datasets.MISSING, usual.missing),
        )
        found = get_algorithm(
            known("method", link.method or method, algorithms(), store.session.method)
        )
        params = dict(link.params)
        try:
            found.parameters(**params)
        except HcvizError as fault:
            faults.append(fault)
            params = {}
        store.session = replace(
            store.session,
            method=found.name,
            treats=found.treats(params),
            params=act.frozen(params),
            seed=store.session.seed if link.seed is None else link.seed,
        )
        wanted: dict[str, Any] = {"scaling": link.heat, "clusters": link.clusters}
        wanted |= {
            name: getattr(link, name)
            for name in ("matrix", "columns", "heights", "support", "colour")
        }
        for name, choices in LOOKS.items():
            wanted[name] = known(name, wanted[name], choices, choices[0])
        if store.open_data(spec):
            n = len(store.session.labels)
            wanted["clusters"] = min(link.clusters or 0, n)
            store.look(**looks(wanted))
            said: list[Constraint] = []
            for group, apart, enabled in link.constraints:
                try:
                    if max(*group, apart) >= n:
                        raise HcvizError(f"The link names item {max(*group, apart)} of {n}.")
                    said.append(Constraint(0, group, apart, enabled=enabled, time=act.now()))
                except HcvizError as fault:
                    faults.append(fault)
            if said:
                store.dispatch(act.ImportConstraints(tuple(said)))
        if faults:
            store.look(error=(faults[0].message, faults[0].hint))


def _drawn(store: Store) -> Any:
    """The snapshot to draw: while a gesture is open the layout stands still."""
    if store.view.draft.open:
        return ("still",)
    return (store.session.snapshot, store.view.heights, store.view.lesson)


def _sure(store: Store) -> Any:
    """What the numbers on the branches depend on."""
    still = store.session.status != "sampling" or store.view.paused
    return (
        store.drawn, store.view.heights, store.view.support, still, store.session.status,
        store.view.lesson,
    )  # fmt: skip


def _whole(value: Any, what: str) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0:
        raise HcvizError(f"{what} must be a whole number, not {value!r}.")
    return number
