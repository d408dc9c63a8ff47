"""``Store``: the one holder of a browser session's state; every gesture passes through it.

Actions change the :class:`Session` (what is logged, undone and saved); :class:`ViewState` is what
is only looked at (selection, the gesture in progress, the heatmap's kind). Both change here, on
the document's thread, and a view is called only when the slice it subscribed to changes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.oracle import CountingOracle
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.datasets import Dataset
from hcviz.jobs import ComputeCache, RunLocation, Runner, Samples
from hcviz.metrics import CladeChanges, clade_changes
from hcviz.session import actions as act
from hcviz.session import effects as eff
from hcviz.session.draft import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.session.restore import Restore
from hcviz.session.update import update
from hcviz.ui.state import default_method as choosing
from hcviz.ui.state.data_sources import data_of, keeping, resolve, seriated
from hcviz.ui.state.loading import Reader
from hcviz.ui.state.view_state import ViewState, looks, marks
from hcviz.ui.tree.axis import Axis

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

log = logging.getLogger("hcviz")

UNEXPECTED = (
    "Something unexpected went wrong.",
    "Nothing was lost; the details are in the server's log.",
)

#: Runs whose samples are kept, so that undo finds them.
KEPT_SAMPLES = 4


class Store:
    """Session + data + view state of one browser session.

    ``schedule(callback)`` runs a callback later on the document's thread; it is the only thing
    that worker threads may touch. ``together()`` is a context in which all that the views change
    goes to the browser as one. Runs are done on the ``cluster``, if there is one.
    """

    def __init__(
        self,
        session: Session,
        schedule: Callable[[Callable[[], None]], None],
        together: Callable[[], AbstractContextManager[None]] = nullcontext,
        cluster: Cluster | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.session = session
        #: Budget of a sampler's run; 0: it makes a fixed number of steps.
        self.seconds = seconds if cluster is None else 0.0
        self.view = ViewState()
        self.dataset: Dataset | None = None
        #: The snapshot on the screen; it lags behind the session while a gesture is open.
        self.drawn: Snapshot | None = None
        #: Whether the session was read from a file, so that its log may not tell all of it.
        self.restored = False
        #: What a session file keeps of the picture, and shows of it again.
        self.kept_picture: Callable[[], Mapping[str, Any]] = dict
        self.show_picture: Callable[[Mapping[str, Any]], None] = lambda look: None
        #: What the heights of the tree on the screen mean.
        self.axis: Axis | None = None
        #: The tree that was on the screen when the newest run began: changes are told against it.
        self.baseline: Tree | None = None
        #: The posterior that it was a draw of.
        self.earlier: Samples | None = None
        self._problem: Problem | None = None
        self._problem_key: Any = None
        self._asked: tuple[Any, Any, Problem] | None = None
        self._schedule = schedule
        self._together = together
        self._subscribers: list[list[Any]] = []
        self._notifying = False
        #: Calls back when the browser has drawn the tree it was sent last.
        self.when_drawn: Callable[[Callable[[], None]], None] = _at_once
        #: Told what the session becomes, before anything runs for it (``autosave.py``).
        self.keep: Callable[[Session], None] = lambda session: None
        self._changes: tuple[Any, Any, CladeChanges] | None = None
        self._cluster = cluster
        self.runner = self._new_runner()
        #: What pictures ask for beside the run, and how often there was an answer.
        self.aside = ComputeCache(schedule, self._answered)
        self.answers = 0
        self.reader = Reader(self, schedule, self._apply)
        self._samples: dict[int, Samples] = {}  # of the newest runs, by their number

    # ------------------------------------------------------------------ views

    def subscribe(self, select: Callable[[Store], Any], call: Callable[[Any], None]) -> None:
        """Call ``call(slice)`` now, and whenever ``select(store)`` is another object or value."""
        now = select(self)
        self._subscribers.append([select, call, now])
        call(now)

    def _notify(self) -> None:
        if self._notifying:  # a view's own dispatch: the outer round goes on with the new state
            return
        self._notifying = True
        try:
            with self._together():
                while self._tell():
                    pass
        finally:
            self._notifying = False

    def _tell(self) -> bool:
        """One round over the subscribers; whether any of them was called."""
        told = False
        for subscriber in self._subscribers:
            select, call, before = subscriber
            now = select(self)
            if not same(before, now):
                subscriber[2] = now
                told = True
                try:
                    call(now)
                except Exception:  # one part that cannot draw must not silence the others
                    log.exception("A part of the page could not be drawn.")
                    self.view = replace(self.view, error=UNEXPECTED)
        return told

    def look(self, **changes: Any) -> None:
        """Change the view state."""
        self.view = replace(self.view, **changes)
        self._notify()

    # ------------------------------------------------------------------ actions

    def dispatch(self, *actions: Any) -> None:
        """Apply actions in turn. What is refused is shown, and leaves everything as it was."""
        for action in actions:
            user_made = not isinstance(action, (act.Arrived, act.Finished, act.Failed, act.Stopped))
            if user_made and self.view.error:
                self.view = replace(self.view, error=None)
            with self.guarded():
                if not self.reader.puts_off(action):
                    self._apply(action)
        self.reader.tell()
        self._notify()

    def _apply(self, action: Any, found: Dataset | None = None) -> None:
        """One action and its effects, or nothing at all. ``found``: the data that it asks for,
        where they have been read."""
        before = (self.session, self.view, self.dataset, self._problem, self._problem_key)
        other = False  # data are asked for, not the same prepared otherwise
        try:
            after, effects = update(self.session, action, get_algorithm)
            for effect in effects:
                if isinstance(effect, eff.ReloadData):
                    other = not effect.spec.has_same_data(self.session.data)
                    self._use(found or self.holds(effect.spec) or resolve(effect.spec), effect.spec)
            if after.labels != self.session.labels:  # what was looked at is not there any more
                self.view = replace(
                    self.view, selection=(), draft=Draft(), clusters=None, parted=0, cut=None
                )
                self.view = replace(self.view, three=())
            if after.method != self.session.method:
                self.view = replace(self.view, faults=())
            if after.conflict is not self.session.conflict:  # the leaf pointed at is told no more
                self.view = replace(self.view, peek=None)
            logged = after.log is not self.session.log
            self.session = after
            if logged:
                self.keep(after)
            for effect in effects:
                self._perform(effect)
            if other:
                self.reader.give_way(to_opening=False)
        except Exception:
            self.session, self.view, self.dataset, self._problem, self._problem_key = before
            raise

    def guarded(self) -> _Guard:
        """A context in which an :class:`HcvizError` becomes the page's error sentence."""
        return _Guard(self)

    def data_for(self, action: Any) -> DataSpec | None:
        """The data that an action would have read; None: none."""
        with suppress(HcvizError):  # what is refused is told by who does it
            for effect in update(self.session, action, get_algorithm)[1]:
                if isinstance(effect, eff.ReloadData):
                    return effect.spec
        return None

    def holds(self, spec: DataSpec) -> Dataset | None:
        """The data of ``spec``, prepared in whichever way, if they are those there are."""
        known = self._problem_key
        return self.dataset if known is not None and known.has_same_data(spec) else None

    def open_data(self, spec: DataSpec, said: str = "", found: Dataset | None = None) -> bool:
        """Load data and make it the session's; False (and a sentence) where it cannot be read.

        ``said`` is told with it. ``found``: the data, where they have been read.
        """
        with self.guarded() as guard:
            dataset = found or resolve(spec)
            problem = self._use(dataset, spec)
            self.reader.give_way(to_opening=True)  # not before: what is refused changes nothing
            if dataset.labels == self.session.labels:  # these answers stay
                problem = problem.with_comparisons(self.session.comparisons)
            self.view = replace(self.view, draft=Draft(), error=None, said="")
            order = None if dataset.labels == self.session.labels else seriated(problem, dataset)
            read = act.LoadedData(spec, dataset.labels, note=said, order=order)
            other = choosing.for_opened(self.session, problem)
            if other is not None:
                method, why = other
                read = replace(read, method=method.name, reason=why)
            self.dispatch(read)
        self.reader.tell()
        self._notify()
        return guard.fault is None

    def restore(self, session: Session, found: Dataset | None = None) -> bool:
        """Put a loaded session in the place of this one; False (and a sentence) if it cannot.

        ``found``: its data, where they have been read.
        """
        with self.guarded() as guard:
            dataset = found or data_of(session)
            problem = self._use(dataset, session.data)
            if session.reference is None:  # of an earlier version
                session = replace(session, reference=seriated(problem, dataset))
            session = _as_registered(session)
            self.reader.give_way(to_opening=True)
            self.runner.close()  # reports of its runs must not be taken for the loaded session's
            self.runner = self._new_runner()
            self.restored = True
            self._samples = {}  # of runs of the same numbers, but of another session
            self.view = replace(
                self.view,
                selection=(),
                draft=Draft(),
                clusters=None,
                parted=0,
                cut=None,
                error=None,
            )
            self._apply(Restore(session))
            self.view = replace(self.view, **looks(session.look))  # before the tree is drawn
            self._notify()
            self.view = replace(self.view, **marks(session.look, session.n_items))
            self._notify()
            self.show_picture(session.look)
        self.reader.tell()
        self._notify()
        return guard.fault is None

    @property
    def look_to_keep(self) -> Mapping[str, Any]:
        """How the page looks, for a session file: the view and the picture."""
        return act.read_only({**self.view.look, **self.kept_picture()})

    @property
    def problem(self) -> Problem:
        """The problem of the session's data and of the answers about three items, without
        constraints."""
        key = (self._data_problem, self.session.comparisons)
        if self._asked is None or self._asked[:2] != key:
            self._asked = (*key, key[0].with_comparisons(key[1]))
        made: Problem = self._asked[2]
        return made

    @property
    def _data_problem(self) -> Problem:
        """Of the data alone; made once per choice of how it is prepared."""
        spec = self.session.data
        if self._problem_key != spec or self._problem is None:
            assert self.dataset is not None
            return self._use(self.dataset, spec)
        return self._problem

    def changes(self) -> CladeChanges | None:
        """The clades that the tree on the screen gained and lost since the newest run began."""
        if self.drawn is None or self.baseline is None:
            return None
        if self.baseline.n_leaves != self.drawn.tree.n_leaves:
            return None
        key = (self.baseline, self.drawn)
        if (
            self._changes is None
            or self._changes[0] is not key[0]
            or self._changes[1] is not key[1]
        ):
            self._changes = (*key, clade_changes(self.baseline, self.drawn.tree))
        return self._changes[2]

    @property
    def still(self) -> bool:
        """Nothing streams in: no run is on, or it is paused."""
        return self.session.status != "sampling" or self.view.paused

    @property
    def settles(self) -> bool:
        """Runs of the session's method go on until their supports have settled."""
        method = get_algorithm(self.session.method)
        if not self.seconds or method.endless is None or self.dataset is None:
            return False
        params = method.parameters(**dict(self.session.params))
        return bool(method.endless(params, self._data_problem))

    @property
    def samples(self) -> Samples | None:
        """The posterior that the session's tree is a draw of; None where it is of none."""
        return self._samples.get(self.session.shown)

    @property
    def supporting(self) -> Samples | None:
        """The samples whose supports describe the shown tree, of whatever method the tree is.

        Those that it is a draw of; else the newest of this session's samples of the same data under
        the same constraints.
        """
        if self.samples is not None:
            return self.samples
        same = (self._problem_key, _bytes_of(self.session.triplets), self._constraint_mode)
        for found in reversed(self._samples.values()):
            with found.open() as posterior:
                if posterior is not None and found.key[2:] == same:
                    return found
        return None

    @property
    def _constraint_mode(self) -> str:
        """How the session's method treats its triplets; nothing where there are none."""
        return self.session.constraint_mode if len(self.session.triplets) else ""

    def close(self) -> None:
        """The tab is gone: stop computing for it."""
        self.runner.close()
        self.aside.close()

    # ------------------------------------------------------------------ inside

    def _use(self, dataset: Dataset, spec: DataSpec) -> Problem:
        problem = dataset.problem(
            similarity=spec.similarity, scaling=spec.scaling, missing=spec.missing
        )
        problem = keeping(problem, self._problem)
        self.dataset, self._problem, self._problem_key = dataset, problem, spec
        self.aside.forget()
        return problem

    def _perform(self, effect: Any) -> None:
        if isinstance(effect, eff.StartRun):
            self.view = replace(self.view, paused=False)
            self.baseline = None if self.drawn is None else self.drawn.tree
            self.earlier = self.samples
            self._start(effect)
        elif isinstance(effect, eff.CancelRun):
            self.runner.cancel()
        elif isinstance(effect, eff.Announce):
            self.view = replace(self.view, said=effect.text)

    def _start(self, effect: Any) -> None:
        try:
            problem = self._data_problem.with_comparisons(effect.comparisons)
            problem = problem.with_triplets(effect.triplets)
            method = get_algorithm(effect.method)
            fault = method.lacks(problem)
            if fault:
                raise HcvizError(fault, "Choose another method.")
            method.parameters(**dict(effect.params))
        except HcvizError as fault:
            self.runner.cancel()  # the run that this one was to replace
            self._apply(act.Failed(effect.run, fault.message, fault.hint))
            return
        kept = problem.oracle
        if isinstance(kept, CountingOracle) and self.dataset and kept is not self.dataset.oracle:
            kept.reset()  # its answers stay; the run itself counts what it asks for
        samples = self._samples_for(effect, problem) if method.samples else None
        self.runner.start(
            effect.run, effect.method, problem, dict(effect.params), effect.seed, effect.start,
            samples, self.seconds,
        )  # fmt: skip

    def _samples_for(self, effect: Any, problem: Problem) -> Samples:
        """Those that the run goes on with, if it starts on their way and asks for the same."""
        law = {name: x for name, x in effect.params.items() if name not in ("steps", "every")}
        triplets = _bytes_of(problem.triplets)
        treats = get_algorithm(effect.method).treats(effect.params) if triplets[0] else ""
        key = (effect.method, repr(sorted(law.items())), self._problem_key, triplets, treats)
        before = self.samples
        goes_on = before is not None and before.key == key and before.contains_start(effect.start)
        samples = before if before is not None and goes_on else Samples(problem.n_items, key)
        shown = self.session.shown  # whatever is newer: these are looked at until a tree arrives
        older = [each for each in self._samples.items() if each[0] != shown]
        kept = dict(older[-KEPT_SAMPLES + 2 :]) | ({} if before is None else {shown: before})
        self._samples = {**kept, effect.run: samples}
        return samples

    def _answered(self) -> None:
        self.answers += 1
        self._notify()

    def _placed(self, place: RunLocation) -> None:
        """Where the run is done is seen; that it cannot be done there is said, but once."""
        before, fault = self.view.place, place.fault
        self.view = replace(self.view, place=place)
        if fault is not None and (before is None or str(before.fault) != str(fault)):
            self.view = replace(self.view, error=(fault.message, "Runs are done on this machine."))
        self._notify()

    def _new_runner(self) -> Runner:
        """A runner for one session; what an earlier one still reports is dropped."""
        self._era = era = object()
        return Runner(
            lambda message: self._schedule(lambda: self._receive(message, era)),
            cluster=self._cluster,
            on_location=lambda place: self._schedule(lambda: self._placed(place)),
        )

    def _receive(self, message: Any, era: object) -> None:
        """A report of a runner's, on the document's thread."""
        if era is not self._era:
            return
        self.dispatch(message)
        if isinstance(message, act.Arrived):
            drawn = self.drawn is message.snapshot
            (self.when_drawn if drawn else _at_once)(lambda: self.runner.acknowledge(message.run))


def _as_registered(session: Session) -> Session:
    """``session`` with what its methods do with constraints by now, undone steps included.

    The linkages of an earlier version ignored constraints.
    """

    def mended(each: Any) -> Any:
        if each.constraint_mode != "ignored":
            return each
        return replace(each, constraint_mode=get_algorithm(each.method).treats(each.params))

    past, future = (tuple(map(mended, steps)) for steps in (session.past, session.future))
    present: Session = mended(session)
    return replace(present, past=past, future=future)


def _bytes_of(triplets: Triplets) -> tuple[bytes, bytes]:
    return triplets.rows.tobytes(), triplets.weights.tobytes()


def _at_once(call: Callable[[], None]) -> None:
    call()


class _Guard:
    """Turns an error into the page's sentence; what is not ours is logged and said to be so."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.fault: BaseException | None = None

    def __enter__(self) -> _Guard:
        return self

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> bool:
        if fault is None or not isinstance(fault, Exception):
            return False
        self.fault = fault
        if isinstance(fault, HcvizError):
            error = (fault.message, fault.hint)
        else:
            log.error("unexpected error", exc_info=(kind, fault, trace))
            error = UNEXPECTED
        self._store.view = replace(self._store.view, error=error)
        self._store._notify()
        return True


def same(before: Any, now: Any) -> bool:
    """Whether two slices are the same: by value what is plain, by identity what is not."""
    if before is now:
        return True
    if isinstance(before, tuple) and isinstance(now, tuple) and len(before) == len(now):
        return all(same(x, y) for x, y in zip(before, now, strict=True))
    plain = (str, int, float, bool, type(None))
    return isinstance(before, plain) and isinstance(now, plain) and before == now
