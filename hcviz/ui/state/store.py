"""``Store``: the state of one browser session. All gestures change it, and the views show it.

Actions change the :class:`Session`: what is logged, undone and saved. :class:`ViewState` holds what
is only looked at: the selection, the draft of a constraint, the kind of heatmap. Both change on the
document's thread. A view is called when the slice of the state that it subscribed to changes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import get as get_algorithm
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError
from hcviz.core.groups import Groups
from hcviz.core.problem import Problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.datasets import Dataset
from hcviz.jobs import ComputeCache, RunLocation, Runner, Samples
from hcviz.metrics import CladeChanges, clade_changes
from hcviz.session import actions as act
from hcviz.session import effects as eff
from hcviz.session.classroom import ClassView
from hcviz.session.draft import Draft
from hcviz.session.model import DataSpec, Session
from hcviz.session.restore import Restore
from hcviz.session.update import update
from hcviz.ui.state import default_method
from hcviz.ui.state.data_sources import data_of, resolve, seriated
from hcviz.ui.state.guard import UNEXPECTED, Guard
from hcviz.ui.state.loader import Loader
from hcviz.ui.state.posterior_cache import Conditions, PosteriorCache, conditions
from hcviz.ui.state.prepared_data import PreparedData
from hcviz.ui.state.run_control import RunControl
from hcviz.ui.state.saved_look import looks, marks
from hcviz.ui.state.session_changes import NOTHING_MARKED, view_after, with_registered_modes
from hcviz.ui.state.subscribers import Subscribers
from hcviz.ui.state.view_state import ViewState
from hcviz.ui.tree.axis import Axis
from hcviz.ui.tree.partition import Partition

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

log = logging.getLogger("hcviz")


class Store:
    """Session, data and view state of one browser session.

    Parameters
    ----------
    session
        The session to begin with.
    schedule
        ``schedule(callback)`` runs a callback later on the document's thread. Other threads use
        nothing else of the store.
    batch
        Returns a context. All changes of the page inside it reach the browser as one message.
    cluster
        Where runs are computed; None for this machine.
    seconds
        Budget of a sampler's run; 0 means a fixed number of steps.
    """

    def __init__(
        self,
        session: Session,
        schedule: Callable[[Callable[[], None]], None],
        batch: Callable[[], AbstractContextManager[None]] = nullcontext,
        cluster: Cluster | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.session = session
        self.view = ViewState()
        #: The snapshot on the screen. It is older than the session's while a draft is open.
        self.drawn: Snapshot | None = None
        #: True if the session was read from a file: its log may then be incomplete.
        self.restored = False
        #: Return what a session file keeps of the picture; show it again.
        self.saved_picture: Callable[[], Mapping[str, Any]] = dict
        self.restore_picture: Callable[[Mapping[str, Any]], None] = lambda look: None
        #: Return the index of each item's colour on the screen, uint8 (n,), 255 for none.
        self.item_colours: Callable[[], NDArray[np.uint8] | None] = lambda: None
        #: The clusters of the tree on the screen; None for none.
        self.clusters: Partition | None = None
        #: What the heights of the tree on the screen mean.
        self.axis: Axis | None = None
        #: The tree on the screen when the newest run began, and the samples it summarised.
        self.baseline: Tree | None = None
        self.previous_samples: Samples | None = None
        #: Called with each new session before any of its effects (``autosave``).
        self.save_log: Callable[[Session], None] = lambda session: None
        self.runs = RunControl(
            schedule, self._report, self._placed, self._lined_up, cluster, seconds
        )
        self.posteriors = PosteriorCache()
        #: Computations beside the run, and how many of them returned a result.
        self.compute_cache = ComputeCache(schedule, self._count_computed)
        self.n_computed = 0
        #: The students of a class, on the page of their teacher only.
        self.classroom: ClassView | None = None
        self.loader = Loader(self, schedule)
        self.schedule = schedule
        self._loaded: PreparedData | None = None
        self._changes: tuple[Any, Any, CladeChanges] | None = None
        self._with_comparisons: tuple[Any, Any, Problem] | None = None
        self._subscribers = Subscribers(self, batch, self._show_unexpected)

    # ------------------------------------------------------------------ views

    def subscribe(self, select: Callable[[Store], Any], call: Callable[[Any], None]) -> None:
        """Call ``call(slice)`` now, and after each change of ``select(store)``."""
        self._subscribers.add(select, call)

    def notify(self) -> None:
        """Call the views whose slices of the state changed."""
        self._subscribers.notify()

    def change_view(self, **changes: Any) -> None:
        """Change the view state."""
        self.view = replace(self.view, **changes)
        self.notify()

    def guarded(self) -> Guard:
        """Return a context in which an exception becomes the page's error sentence."""
        return Guard(lambda error: self.change_view(error=error))

    # ------------------------------------------------------------------ actions

    def dispatch(self, *actions: Any) -> None:
        """Apply actions one after the other.

        An action that is refused changes nothing, and the page shows why.
        """
        for action in actions:
            user_made = not isinstance(action, (act.Arrived, act.Finished, act.Failed, act.Stopped))
            if user_made and self.view.error:
                self.view = replace(self.view, error=None)
            with self.guarded():
                if not self.loader.defers(action):
                    self.apply(action)
        self.notify()

    def apply(self, action: Any, found: Dataset | None = None) -> None:
        """Apply one action and its effects; if that raises, change nothing.

        ``found``: the data that the action asks for, if they were read before.
        """
        before = (self.session, self.view, self._loaded)
        other_data = False
        try:
            after, effects = update(self.session, action, get_algorithm)
            for effect in effects:
                if isinstance(effect, eff.ReloadData):
                    other_data = not effect.spec.has_same_data(self.session.data)
                    self.prepare_data(
                        found or self.loaded_dataset(effect.spec) or resolve(effect.spec),
                        effect.spec,
                    )
            self.view = view_after(self.view, self.session, after)
            logged = after.log is not self.session.log
            self.session = after
            if logged:
                self.save_log(after)
            for effect in effects:
                self._perform(effect)
            if other_data:
                self.loader.supersede()
        except Exception:
            self.session, self.view, self._loaded = before
            raise

    def close(self) -> None:
        """Stop all computations: the page is closed."""
        self.runs.close()
        self.compute_cache.close()

    # ------------------------------------------------------------------ data

    @property
    def dataset(self) -> Dataset | None:
        """The data set of the session."""
        return None if self._loaded is None else self._loaded.dataset

    def data_for(self, action: Any) -> DataSpec | None:
        """Return the data that an action needs to be read; None if it needs none."""
        with suppress(HcvizError):  # ``apply`` shows what is wrong
            for effect in update(self.session, action, get_algorithm)[1]:
                if isinstance(effect, eff.ReloadData):
                    return effect.spec
        return None

    def loaded_dataset(self, spec: DataSpec) -> Dataset | None:
        """Return the data set if ``spec`` is of it, prepared in any way; else None."""
        loaded = self._loaded
        return loaded.dataset if loaded is not None and loaded.is_of(spec) else None

    def open_data(self, spec: DataSpec, message: str = "", found: Dataset | None = None) -> bool:
        """Load data and make them the session's.

        Parameters
        ----------
        spec
            The data.
        message
            A sentence that the page shows with them.
        found
            The data set, if it was read before.

        Returns
        -------
        bool
            False if the data cannot be read; the page then shows why.
        """
        with self.guarded() as guard:
            dataset = found or resolve(spec)
            problem = self.prepare_data(dataset, spec)
            same_items = dataset.labels == self.session.labels  # their answers are kept
            if same_items:
                problem = problem.with_comparisons(self.session.comparisons)
            self.view = replace(self.view, draft=Draft(), error=None, message="")
            if not message and spec.kind == "table" and dataset.table is not None:
                message = dataset.table.sentence()
            order = None if same_items else seriated(problem, dataset)
            read = act.LoadedData(spec, dataset.labels, note=message, order=order)
            other = default_method.for_opened(self.session, problem)
            if other is not None:
                method, why = other
                read = replace(read, method=method.name, reason=why)
            self.dispatch(read)
            self.loader.supersede()
        self.notify()
        return guard.fault is None

    def restore(self, session: Session, found: Dataset | None = None) -> bool:
        """Replace the session by a loaded one.

        Parameters
        ----------
        session
            The loaded session.
        found
            Its data set, if it was read before.

        Returns
        -------
        bool
            False if its data cannot be read; the page then shows why.
        """
        with self.guarded() as guard:
            dataset = found or data_of(session)
            problem = self.prepare_data(dataset, session.data)
            if session.reference is None:  # saved by an earlier version
                session = replace(session, reference=seriated(problem, dataset))
            session = with_registered_modes(session)
            self.runs.restart()
            self.posteriors.clear()
            self.restored = True
            self.view = replace(self.view, **NOTHING_MARKED, error=None)
            self.apply(Restore(session))
            self.view = replace(self.view, **looks(session.look))  # before the tree is drawn
            self.notify()
            self.view = replace(self.view, **marks(session.look, session.n_items))
            self.loader.supersede()
            self.notify()
            self.restore_picture(session.look)
        self.notify()
        return guard.fault is None

    @property
    def look_to_save(self) -> Mapping[str, Any]:
        """What a session file keeps of the view and of the picture."""
        return act.read_only({**self.view.look, **self.saved_picture()})

    @property
    def problem(self) -> Problem:
        """The problem of the data and of the person's comparisons, without constraints."""
        key = (self._data_problem, self.session.comparisons)
        if self._with_comparisons is None or self._with_comparisons[:2] != key:
            self._with_comparisons = (*key, key[0].with_comparisons(key[1]))
        made: Problem = self._with_comparisons[2]
        return made

    @property
    def _data_problem(self) -> Problem:
        """The problem of the data alone."""
        assert self._loaded is not None
        self._loaded = self._loaded.prepared(self.session.data)
        return self._loaded.problem

    def prepare_data(self, dataset: Dataset, spec: DataSpec) -> Problem:
        """Prepare a data set as ``spec`` says, and return its problem; the session stays."""
        self._loaded = PreparedData.prepare(dataset, spec, self._loaded)
        self.compute_cache.forget()
        return self._loaded.problem

    # ------------------------------------------------------------------ runs and posteriors

    @property
    def runner(self) -> Runner:
        """What computes the session's runs."""
        return self.runs.runner

    @property
    def seconds(self) -> float:
        """Budget of a sampler's run; 0 means a fixed number of steps."""
        return self.runs.seconds

    @property
    def is_streaming(self) -> bool:
        """A run is in progress, and not paused."""
        return self.session.status == "sampling" and not self.view.paused

    @property
    def runs_until_settled(self) -> bool:
        """Runs of the session's method go on until their supports have settled."""
        method = get_algorithm(self.session.method)
        if not self.runs.seconds or method.endless is None or self._loaded is None:
            return False
        params = method.parameters(**dict(self.session.params))
        return bool(method.endless(params, self._data_problem))

    @property
    def samples(self) -> Samples | None:
        """The samples that the session's tree summarises; None if it is not of a sampler."""
        return self.posteriors.of_run(self.session.shown)

    @property
    def support_samples(self) -> Samples | None:
        """The samples whose supports describe the shown tree, of whatever method the tree is.

        If the tree is of no sampler, these are the newest samples of this session with the same
        data and constraints.
        """
        if self.samples is not None:
            return self.samples
        return self.posteriors.newest(
            self._conditions(
                self.session.triplets,
                self.session.required_clades,
                self.session.constraint_mode,
                self.session.avoided_clades,
            )
        )

    def changes(self) -> CladeChanges | None:
        """Return the clades that the shown tree gained and lost since the newest run began."""
        if self.drawn is None or self.baseline is None:
            return None
        if self.baseline.n_leaves != self.drawn.tree.n_leaves:
            return None
        known = self._changes
        if known is None or known[0] is not self.baseline or known[1] is not self.drawn:
            found = clade_changes(self.baseline, self.drawn.tree)
            self._changes = known = (self.baseline, self.drawn, found)
        return known[2]

    def _conditions(
        self, triplets: Triplets, groups: Groups, mode: str, not_groups: Groups
    ) -> Conditions:
        spec = None if self._loaded is None else self._loaded.spec
        return conditions(spec, triplets, groups, mode, not_groups)

    def _perform(self, effect: Any) -> None:
        if isinstance(effect, eff.StartRun):
            self.view = replace(self.view, paused=False)
            self.baseline = None if self.drawn is None else self.drawn.tree
            self.previous_samples = self.samples
            self.start_job(effect)
        elif isinstance(effect, eff.CancelRun):
            self.runs.cancel()
        elif isinstance(effect, eff.Announce):
            self.view = replace(self.view, message=effect.text)

    def start_job(self, effect: Any) -> None:
        """Start the run of an effect; a run that cannot start has failed."""
        try:
            problem = self._data_problem.with_comparisons(effect.comparisons)
            problem = problem.with_triplets(effect.triplets).with_groups(effect.groups)
            method = get_algorithm(effect.method)
            if method.avoids_groups:
                problem = problem.with_not_groups(effect.not_groups)
            fault = method.missing_data(problem)
            if fault:
                raise HcvizError(fault, "Choose another method.")
            method.parameters(**dict(effect.params))
        except HcvizError as fault:
            self.runs.cancel()
            self.apply(act.Failed(effect.run, fault.message, fault.hint))
            return
        kept = problem.oracle
        if isinstance(kept, CountingOracle) and self.dataset and kept is not self.dataset.oracle:
            kept.reset()  # a run counts its own queries; the cached answers stay
        samples = None
        if method.samples:
            samples = self.posteriors.begin(
                effect.run,
                self.session.shown,
                effect.method,
                effect.params,
                problem,
                self._conditions(
                    problem.triplets,
                    problem.groups,
                    method.constraint_mode(effect.params),
                    problem.not_groups,
                ),
                effect.start,
            )
        self.runs.start(
            effect.run, effect.method, problem, effect.params, effect.seed, effect.start, samples
        )

    def _report(self, message: Any) -> bool:
        """Apply a message of the runner; return True if it brought the tree that is drawn now."""
        self.dispatch(message)
        return isinstance(message, act.Arrived) and self.drawn is message.snapshot

    def _placed(self, place: RunLocation) -> None:
        """Show where the run is computed; say once that the cluster cannot be used."""
        before, fault = self.view.place, place.fault
        self.view = replace(self.view, place=place)
        if fault is not None and (before is None or str(before.fault) != str(fault)):
            self.view = replace(self.view, error=(fault.message, "Runs are done on this machine."))
        self.notify()

    def _lined_up(self, ahead: int | None) -> None:
        """Show how many runs of other sessions come before this one."""
        self.runs.ahead = ahead
        self.notify()

    def _count_computed(self) -> None:
        self.n_computed += 1
        self.notify()

    def _show_unexpected(self) -> None:
        self.view = replace(self.view, error=UNEXPECTED)
