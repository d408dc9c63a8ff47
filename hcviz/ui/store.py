"""``Store``: the one holder of a browser session's state; every gesture passes through it.

Actions change the :class:`Session` (what is logged, undone and saved); :class:`ViewState` is what
is only looked at (selection, the gesture in progress, the heatmap's kind). Both change here, on
the document's thread, and a view is called only when the slice it subscribed to changes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import MOST_DENSE, Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.datasets import Dataset
from hcviz.io.session_file import load_session
from hcviz.jobs import Aside, Place, Runner, Samples, hand_over
from hcviz.metrics import CladeChanges, clade_changes
from hcviz.session import actions as act
from hcviz.session import effects as eff
from hcviz.session.gesture import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.session.update import update
from hcviz.ui.reading import left_behind, not_added, not_opened
from hcviz.ui.sources import data_of, resolve, size_of, takes_long
from hcviz.ui.viewstate import Reading, ViewState, looks

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

log = logging.getLogger("hcviz")

T = TypeVar("T")

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
    ) -> None:
        self.session = session
        self.view = ViewState()
        self.dataset: Dataset | None = None
        #: The snapshot on the screen; it lags behind the session while a gesture is open.
        self.drawn: Snapshot | None = None
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
        self.runner = Runner(
            self._from_worker,
            cluster=cluster,
            tell=lambda place: schedule(lambda: self._placed(place)),
        )
        #: What pictures ask for beside the run, and how often there was an answer.
        self.aside = Aside(schedule, self._answered)
        self.answers = 0
        #: What is being read on a thread, the data that an action waits for, and who is behind it.
        self._reading: Reading | None = None
        self._reading_for: DataSpec | None = None
        self._behind: list[act.Attach] = []
        #: The file that is opened when it is read, in the place of what there is; before it, those
        #: that gave way to it.
        self._opens: list[str] = []
        #: The file of answers that is added when it is read; those that never will be; what was
        #: wrong with others. They are told when nothing is read any more.
        self._adds = ""
        self._lost: list[str] = []
        self._faults: list[tuple[str, str]] = []
        self._fetched: tuple[DataSpec, Dataset] | None = None
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
                if not self._put_off(action):
                    self._apply(action)
        self._tell_lost()
        self._notify()

    def _apply(self, action: Any) -> None:
        """One action and its effects, or nothing at all."""
        before = (self.session, self.view, self.dataset, self._problem, self._problem_key)
        other = False  # data are asked for, not the same prepared otherwise
        try:
            after, effects = update(self.session, self._with_treatment(action))
            for effect in effects:
                if isinstance(effect, eff.ReloadData):
                    other = not effect.spec.same(self.session.data)
                    self._use(self._read_again(effect.spec), effect.spec)
            if after.labels != self.session.labels:  # what was looked at is not there any more
                self.view = replace(self.view, selection=(), draft=Draft(), clusters=None, cut=None)
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
                self._give_up_opening()
                self._read_no_more()
        except Exception:
            self.session, self.view, self.dataset, self._problem, self._problem_key = before
            raise

    def _with_treatment(self, action: Any) -> Any:
        """How triplets are treated from now on, which the registry knows and the session does not:
        a parameter may make hard ones soft."""
        session = self.session
        if isinstance(action, act.SetParams) and action.triplets is None:
            treats = get_algorithm(session.method).treats({**session.params, **action.values})
            return replace(action, triplets=treats)
        if isinstance(action, (act.Attach, act.Choose, act.TakeBack)):
            heeded = "comparisons" in get_algorithm(session.method).needs
            return replace(action, heeded=heeded)
        if isinstance(action, act.SetMethod) and action.name != session.method:
            params = session.other_params.get(action.name, {})
            return replace(action, triplets=get_algorithm(action.name).treats(params))
        return action

    def guarded(self) -> _Guard:
        """A context in which an :class:`HcvizError` becomes the page's error sentence."""
        return _Guard(self)

    def read_later(
        self,
        name: str,
        size: int,
        work: Callable[[], T],
        then: Callable[[T], object],
        adds: str = "",
        opens: bool = False,
    ) -> None:
        """``then(work())``, the work, a file of ``size`` bytes, on a thread of its own; whatever is
        read, opened or put back meanwhile supersedes it, and it can be stopped. What the work
        raises is said, and nothing is done. ``adds``: the file of answers that is to be added to
        the data, if any; it is told where that does not happen. ``opens``: the file is to take the
        place of what there is; that it will not is told where no other does."""
        if not opens:
            self._give_up_opening()
        older = [each for each in self._opens if each != name]
        self._read_no_more()
        reading = self._reading = Reading(name, size)
        self._reading_for, self._adds, self._opens = None, adds, [*older, name] if opens else []
        self.look(said=f"Reading {name}.", error=None, reading=reading)

        def told(found: Any, fault: Exception | None = None) -> None:
            if self._reading is not reading:
                return
            behind, self._behind, self._adds = self._behind, [], ""
            self._read_no_more()
            with self.guarded():
                if fault is not None:
                    self.view = replace(self.view, said="")
                    raise fault
                then(found)
            if self.view.error is not None and (behind or older):  # the next would wipe it off
                self._faults.append(self.view.error)
                self._faults += [(not_opened(older), "Open it again.")] if older else []
            self.dispatch(*behind)

        def read() -> None:
            try:
                found = work()
            except Exception as fault:
                wrong = fault
                hand_over(self._schedule, lambda: told(None, wrong), name)
            else:
                hand_over(self._schedule, lambda: told(found), name)

        threading.Thread(target=read, name="hcviz-reading", daemon=True).start()

    @property
    def being_read(self) -> Reading | None:
        """The file that is read on a thread, if any is."""
        return self._reading

    def stop_reading(self, sent: str = "") -> None:
        """What is being read is not opened, and ``sent`` was not, which was on its way here; all
        that there was stays."""
        reading, stopped = self._reading, self._opens
        if reading is not None and not stopped and not self._adds:
            stopped = [reading.name]
        self._read_no_more()
        stopped = [*stopped, *filter(None, [sent])]
        said = [not_opened(stopped)] if stopped else []
        if self._lost:
            said.append(not_added(self._lost))
            self._lost = []
        self.view = replace(self.view, reading=None)
        if said:
            self.view = replace(self.view, said=f"Stopped: {' '.join(said)}")
        self._tell_lost()
        self._notify()

    def _read_no_more(self) -> None:
        if self.view.reading is self._reading:  # else the line is of what is being sent
            self.view = replace(self.view, reading=None)
        self._reading = None
        self._lost += [*filter(None, [self._adds]), *(each.filename for each in self._behind)]
        self._adds, self._opens, self._behind = "", [], []

    def _give_up_opening(self) -> None:
        """What is being read to be opened will not be, since other data are asked for."""
        if self._opens:
            hint = "Something else was done meanwhile: try again."
            self._faults.append((not_opened(self._opens), hint))
            self._opens = []

    def _tell_lost(self) -> None:
        """Of files of answers that were to be added: that something else was done instead, and
        what was wrong with them."""
        if self._reading is not None or not (self._lost or self._faults):
            return  # what is being read would wipe it off
        faults = [*self._faults, *filter(None, [self.view.error])]
        if self._lost:
            faults.append((not_added(self._lost), "Something else was opened; add them again."))
        said, hints = zip(*dict.fromkeys(faults), strict=True)
        self._lost, self._faults = [], []
        self.view = replace(self.view, error=(" ".join(said), hints[-1]))

    def open_later(self, spec: DataSpec, said: str = "") -> None:
        """:meth:`open_data`, the reading on a thread of its own; another opening supersedes it."""
        self.read_later(
            spec.filename or spec.name,
            len(spec.content or b""),
            lambda: resolve(spec),
            lambda found: self.open_data(spec, said, found),
            opens=True,
        )

    def _put_off(self, action: Any) -> bool:
        """Whether the action waits until a large table has been read again, on a thread: a file of
        answers that is added to it, or an undo that comes back to it. It is then done if it still
        asks for that; further files wait behind it."""
        if not isinstance(action, act.Attach | act.Undo | act.Redo):
            return False
        wanted = self._reads(action)
        if self._reading is not None and self._reading_for is not None:
            if isinstance(action, act.Attach):
                self._behind.append(action)
                return True
            if wanted is not None and wanted == self._reading_for:
                return True  # asked for twice
        if wanted is None or not takes_long(wanted) or self._holds(wanted):
            return False

        def then(found: Dataset) -> None:
            self._fetched = (wanted, found)
            try:
                now = self._reads(action)
                if now is not None and now.same(wanted):
                    self._apply(action)
                else:  # something else was done meanwhile
                    self.view = replace(self.view, said="")
            finally:
                self._fetched = None

        name, size = wanted.filename or wanted.name, size_of(wanted)
        adds = action.filename if isinstance(action, act.Attach) else ""
        self.read_later(name, size, lambda: resolve(wanted), then, adds)
        self._reading_for = wanted
        return True

    def _reads(self, action: Any) -> DataSpec | None:
        """The data that an action would have read; None: none."""
        with suppress(HcvizError):  # what is refused is told by who does it
            for effect in update(self.session, self._with_treatment(action))[1]:
                if isinstance(effect, eff.ReloadData):
                    return effect.spec
        return None

    def open_data(self, spec: DataSpec, said: str = "", found: Dataset | None = None) -> bool:
        """Load data and make it the session's; False (and a sentence) where it cannot be read.

        ``said`` is told with it. ``found``: the data, where they have been read.
        """
        with self.guarded() as guard:
            dataset = found or resolve(spec)
            problem = self._use(dataset, spec)
            self._read_no_more()  # not before: what is refused leaves all as it was
            if dataset.labels == self.session.labels:  # these answers stay
                problem = problem.with_comparisons(self.session.comparisons)
            self.view = replace(self.view, draft=Draft(), error=None, said="")
            other = self._other_method(problem)
            read = act.LoadedData(spec, dataset.labels, said=said)
            if other is not None:
                read = replace(read, method=other.name, treats=other.triplets)
            self.dispatch(read)
        self._tell_lost()
        self._notify()
        return guard.fault is None

    def _other_method(self, problem: Problem) -> Algorithm | None:
        """None where the method in use can run on the data; else the first that can, of those that
        look at it if there are any. Where all similarities are too many, one that asks for few,
        instead of the sampler too, which takes long to settle on so many items."""
        current, large = get_algorithm(self.session.method), problem.n_items > MOST_DENSE
        if not current.lacks(problem) and not (large and current.samples):
            return None
        able = [each for each in map(get_algorithm, algorithms()) if not each.lacks(problem)]
        if large:
            able = [each for each in able if each.sparing] or able
        able = [each for each in able if "items" not in each.needs] or able
        heed = [each for each in able if each.triplets == "hard"]
        return next(iter([*heed, *able]), None)

    def restore_later(self, name: str, content: bytes) -> None:
        """:meth:`restore` of a session file, read on a thread of its own whatever its size, which
        says little of what is packed in it. What is done meanwhile is done to the session that
        there is, which is told where that goes; other data, or another opening, supersede the
        file."""
        before = self.session

        def read() -> tuple[Session, Dataset]:
            session = load_session(content)
            return session, data_of(session)

        def then(found: tuple[Session, Dataset]) -> None:
            left = left_behind(before, self.session, found[0])
            if self.restore(*found) and left:
                self.look(said=f"Opened {name}; {left}")

        self.read_later(name, len(content), read, then, opens=True)

    def restore(self, session: Session, found: Dataset | None = None) -> bool:
        """Put a loaded session in the place of this one; False (and a sentence) if it cannot.

        ``found``: its data, where they have been read.
        """
        with self.guarded() as guard:
            self._use(found or data_of(session), session.data)
            self._read_no_more()  # what is still being read has been thought better of
            self.runner.cancel()
            self._samples = {}  # of runs of the same numbers, but of another session
            self.view = replace(self.view, selection=(), draft=Draft(), clusters=None, cut=None)
            self.dispatch(act.Restore(session))
            self.view = replace(self.view, **looks(session.look))
        self._tell_lost()
        self._notify()
        return guard.fault is None

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
    def samples(self) -> Samples | None:
        """The posterior that the session's tree is a draw of; None where it is of none."""
        return self._samples.get(self.session.shown)

    def close(self) -> None:
        """The tab is gone: stop computing for it."""
        self.runner.close()
        self.aside.close()

    # ------------------------------------------------------------------ inside

    def _use(self, dataset: Dataset, spec: DataSpec) -> Problem:
        problem = dataset.problem(
            similarity=spec.similarity, scaling=spec.scaling, missing=spec.missing
        )
        self.dataset, self._problem, self._problem_key = dataset, problem, spec
        self.aside.forget()
        return problem

    def _read_again(self, spec: DataSpec) -> Dataset:
        """The data of ``spec``: those there are, where it only prepares them otherwise."""
        return self._holds(spec) or resolve(spec)

    def _holds(self, spec: DataSpec) -> Dataset | None:
        """The data of ``spec``, prepared in whichever way, if they have been read."""
        for known, dataset in (self._fetched or (None, None), (self._problem_key, self.dataset)):
            if dataset is not None and known is not None and known.same(spec):
                return dataset
        return None

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
        samples = self._samples_for(effect, problem) if method.samples else None
        self.runner.start(
            effect.run, effect.method, problem, dict(effect.params), effect.seed, effect.start,
            samples,
        )  # fmt: skip

    def _samples_for(self, effect: Any, problem: Problem) -> Samples:
        """Those that the run goes on with, if it starts on their way and asks for the same."""
        law = {name: x for name, x in effect.params.items() if name not in ("steps", "every")}
        triplets = (problem.triplets.rows.tobytes(), problem.triplets.weights.tobytes())
        key = (effect.method, repr(sorted(law.items())), self._problem_key, triplets)
        before = self.samples
        goes_on = before is not None and before.key == key and before.leads_through(effect.start)
        samples = before if before is not None and goes_on else Samples(problem.n_items, key)
        shown = self.session.shown  # whatever is newer: these are looked at until a tree arrives
        older = [each for each in self._samples.items() if each[0] != shown]
        kept = dict(older[-KEPT_SAMPLES + 2 :]) | ({} if before is None else {shown: before})
        self._samples = {**kept, effect.run: samples}
        return samples

    def _answered(self) -> None:
        self.answers += 1
        self._notify()

    def _placed(self, place: Place) -> None:
        """Where the run is done is seen; that it cannot be done there is said, but once."""
        before, fault = self.view.place, place.fault
        self.view = replace(self.view, place=place)
        if fault is not None and (before is None or str(before.fault) != str(fault)):
            self.view = replace(self.view, error=(fault.message, "Runs are done on this machine."))
        self._notify()

    def _from_worker(self, message: Any) -> None:
        """On a worker's thread: hand over, touch nothing."""
        self._schedule(lambda: self._receive(message))

    def _receive(self, message: Any) -> None:
        self.dispatch(message)
        if isinstance(message, act.Arrived):
            drawn = self.drawn is message.snapshot
            (self.when_drawn if drawn else _at_once)(lambda: self.runner.acknowledge(message.run))


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
