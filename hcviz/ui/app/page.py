"""The two ways in: a browser session of ``panel serve``, and a notebook cell."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn
from bokeh.document import Document
from bokeh.settings import settings

from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.frames import is_frame
from hcviz.core.problem import Problem, are_features, feature_table
from hcviz.datasets import Dataset
from hcviz.io.shelf import is_token, new_token, state_folder
from hcviz.io.tables import read_frame
from hcviz.jobs import warm as warm_jobs
from hcviz.session.model import DataSpec
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.idle_pause import OFTEN, attendance, deserted
from hcviz.ui.app.link import Link, from_query
from hcviz.ui.compat.busy_cleanup import start_busy_cleanup
from hcviz.ui.compat.current_document import current_document
from hcviz.ui.compat.document_cleanup import clear_document
from hcviz.ui.compat.local_style_sheets import use_local_style_sheets
from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.compat.notebook_connection import NotebookConnection
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state.view_state import Theme
from hcviz.ui.tree import warm as warm_centre

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

#: Budget in seconds of a sampler's run: it ends earlier when its supports have settled.
BUDGET = 20.0
#: Seconds that a page may wait for its first tree; most methods need hundredths.
FIRST = 0.2

_warmed = threading.Event()


def warm() -> None:
    """Compile kernels and start worker processes, once per server, off everybody's thread.

    What is loaded by now stays loaded: the garbage collector need not walk through it again each
    time that a page is made, which takes it a fifth of a second.
    """
    if not _warmed.is_set():
        _warmed.set()
        gc.collect()
        gc.freeze()
        for compile_ in (warm_centre, warm_jobs):
            threading.Thread(target=compile_, name="hcviz-warm", daemon=True).start()


def serve_page(
    spec: DataSpec | None = None,
    autosave: str | None = None,
    scheduler: str | None = None,
    seconds: float | None = None,
) -> pn.viewable.Viewable:
    """The page of the current browser session; call it from the served script.

    It opens ``spec`` where that is given, else the built-in data that the URL names, else what
    the server was started with (:func:`hcviz.ui.state.data_sources.offer`).
    ``autosave`` is the folder in which unfinished sessions are kept, or ``off``; by default what
    ``HCVIZ_STATE`` says, else the user's own state folder. ``scheduler`` is the address of a Dask
    scheduler on whose workers runs are done; by default what ``HCVIZ_SCHEDULER`` says, if anything.
    ``seconds`` is the budget of a sampler's run, 0 for a fixed number of steps; by default what
    ``HCVIZ_SECONDS`` says, else 20.
    """
    pn.extension(notifications=False)
    # A third of the time of opening a page; tests/test_explorer.py validates the document.
    settings.perform_document_validation = False
    start_busy_cleanup()
    theme = _theme(pn.state.cookies.get("hcviz-theme"))
    pn.config.raw_css = [_PAGE_CSS, *([_DARK_CSS] if theme == "dark" else [])]
    document = pn.state.curdoc
    if document is not None:
        use_local_style_sheets(document)
    fault: HcvizError | None = None
    link = Link()
    if pn.state.session_args:
        try:
            query = {
                name: [value.decode("utf-8", "replace") for value in values]
                for name, values in pn.state.session_args.items()
            }
            link = from_query(query)
        except HcvizError as found:
            fault = found

    begun = sources.offered() if spec is None and link.data is None else None
    if begun is not None:
        spec = begun.spec
    gate = Gate(document)
    cluster = cluster_of(scheduler)
    explorer = Explorer(
        gate.schedule, lambda: as_one_message(document), link, cluster, budget(seconds), spec=spec
    )
    if begun is not None and begun.session is not None:
        explorer.store.restore(begun.session)
    explorer.store.look(theme=theme)
    if fault is not None:
        explorer.store.look(error=(fault.message, fault.hint))
    if document is not None:
        # ui/app/connection.js shows that the server is lost, and reloads the page.
        document.config.update(reconnect_session=False, notify_connection_status=False)
        gate.first(FIRST)  # a page that comes with its tree shows it one way to the server sooner
        explorer.store.runner.pause()  # the rest of the page is made with all there is

    kept = state_folder(autosave)
    if document is not None and kept is not None:
        visitor = pn.state.cookies.get("hcviz-visitor")
        explorer.keep_below(kept, visitor if is_token(visitor) else new_token())

    def begin() -> None:
        gate.open()
        explorer.store.runner.resume()
        if document is not None and explorer.acts.autosave is not None:
            tick = explorer.acts.autosave.tick
            document.add_periodic_callback(lambda: tick(deserted([document])), OFTEN)

    pn.state.onload(begin)
    if document is not None:
        document.add_periodic_callback(
            attendance(explorer.store, lambda: deserted([document])), OFTEN
        )

    def end(_context: Any) -> None:
        explorer.close()
        if document is not None:
            clear_document(document)

    pn.state.on_session_destroyed(end)
    return explorer.view


def cluster_of(said: str | None = None) -> Cluster | None:
    """The cluster at the address ``said``, else at ``HCVIZ_SCHEDULER``; None where neither is."""
    address = (os.environ.get("HCVIZ_SCHEDULER", "") if said is None else said).strip()
    if not address:
        return None
    from hcviz.jobs.cluster import cluster_at  # and Dask with it: only where it is asked for

    return cluster_at(address)


def budget(seconds: float | str | None = None) -> float:
    """Budget of a sampler's run, in seconds: as given, else ``HCVIZ_SECONDS``, else 20.

    Raises
    ------
    InvalidParameter
        The value is negative, infinite or no number.
    """
    given = os.environ.get("HCVIZ_SECONDS", BUDGET) if seconds is None else seconds
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InvalidParameter(
            f"The budget of a run must be a number of seconds, 0 or more, not {given!r}.",
            "Set HCVIZ_SECONDS or --seconds to a number such as 20.",
        )
    return value


class Gate:
    """Callbacks for the document's thread; until the browser has the page, they wait.

    Nothing is drawn between the page's making and its arrival: what Panel 1.9.4 changes after the
    document was sent and before the session counts as connected is dropped
    (``_drain_unconnected_events`` in ``panel/io/document.py``).
    """

    def __init__(self, document: Document | None) -> None:
        self._document = document
        self._lock = threading.Condition()
        self._waiting: list[Callable[[], None]] | None = [] if document is not None else None

    def schedule(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` soon on the document's thread; may be called from any thread."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(callback)
                self._lock.notify_all()
                return
        document = self._document
        if document is None:
            callback()
            return

        def work() -> None:
            # Panel would take the document of the context that scheduled this, perhaps another
            # tab's, and share that document's stylesheets with this one.
            with current_document(document), as_one_message(document):
                callback()

        document.add_next_tick_callback(work)

    def first(self, seconds: float) -> None:
        """Do what is scheduled within ``seconds`` now, while the page is made."""
        with self._lock:
            self._lock.wait_for(lambda: self._waiting, seconds)
            waiting, self._waiting = self._waiting or [], []
        for callback in waiting:
            callback()

    def open(self) -> None:
        """The browser has the page."""
        with self._lock:
            waiting, self._waiting = self._waiting or [], None
        for callback in waiting:
            self.schedule(callback)


def explore(problem_or_dataset: Any, *, method: str | None = None, height: int = 760) -> Any:
    """The explorer for a notebook cell, or for ``.servable()`` and ``.show()``.

    ``problem_or_dataset`` is a :class:`hcviz.Problem`, a data set from ``hcviz.datasets.load`` or
    the name of one, a pandas DataFrame (an item a row, its name in the index; the columns are read
    as those of a table in a file) or an array of features (n, d), NaN where a cell is missing.
    ``method`` is a registry name (default: the sampler where there are features, else the first
    method that can run). ``height`` is in CSS pixels.
    """
    pn.extension(inline=True)  # what the browser needs travels with the cell, not from afar
    given: Dataset | None = None
    if isinstance(problem_or_dataset, str):
        spec = DataSpec(kind="built-in", name=problem_or_dataset)
    else:
        given, name = _given(problem_or_dataset)
        spec = DataSpec(kind="given", name=name)

    document = pn.state.curdoc
    if document is not None and document.session_context is not None:
        use_local_style_sheets(document)
        gate = Gate(document)
        explorer = Explorer(
            gate.schedule,
            lambda: as_one_message(document),
            cluster=cluster_of(),
            seconds=budget(),
            spec=spec,
            method=method,
        )
        pn.state.onload(gate.open)
        document.add_periodic_callback(
            attendance(explorer.store, lambda: deserted([document])), OFTEN
        )
        pn.state.on_session_destroyed(lambda _context: explorer.store.close())
    else:
        wire = NotebookConnection(_running_loop())
        explorer = Explorer(
            wire.schedule,
            wire.together,
            cluster=cluster_of(),
            seconds=budget(),
            spec=spec,
            method=method,
        )
        wire.attach(explorer)
    view: Any = explorer.view
    view.param.update(sizing_mode="stretch_width", height=height, whole_page=False)
    view.explorer = explorer
    view.given = given  # as long as this explorer lives, its data can be opened again
    return view


def _given(problem_or_dataset: Any) -> tuple[Dataset, str]:
    """The data, and a name for it among those given; the same data keeps its name."""
    dataset = _as_dataset(problem_or_dataset, "notebook data")
    name, number = dataset.title, 1
    while sources.GIVEN.get(name, dataset) is not dataset:
        number += 1
        name = f"{dataset.title} {number}"
    sources.GIVEN[name] = dataset
    return dataset, name


def _as_dataset(given: Any, name: str) -> Dataset:
    if isinstance(given, Dataset):
        return given
    if is_frame(given):
        return read_frame(given, name)
    if are_features(given):
        features = feature_table(given)
        labels = tuple(str(row) for row in range(len(features)))
        return Dataset(name, name, labels, features, provenance="Given as an array.")
    if isinstance(given, Problem):
        return Dataset.from_problem(given, name)
    raise InvalidData(
        "explore() takes a Problem, a data set, a DataFrame or an array, not "
        f"{type(given).__name__}.",
        "Try hcviz.explore(hcviz.Problem(features=...)) or hcviz.explore('zoo').",
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _theme(cookie: str | None) -> Theme:
    """The theme that this browser was left with: whose eyes look is no part of a session."""
    return "dark" if cookie == "dark" else "light"


_PAGE_CSS = """
html, body { margin: 0; height: 100%; overflow: hidden; background: #fff; }
html[data-hc-theme="light"], html[data-hc-theme="light"] body { background: #fff; }
html[data-hc-theme="dark"], html[data-hc-theme="dark"] body { background: #14191f; }
"""
#: Until the page's own script runs.
_DARK_CSS = "html, body { background: #14191f; }"
