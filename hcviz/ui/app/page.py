"""The two ways to show the page: ``panel serve``, and a cell of a notebook."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import panel as pn
from bokeh.settings import settings

from hcviz.core.dataframes import is_frame
from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.matrix_checks import feature_table, is_feature_table
from hcviz.core.problem import Problem, load_named
from hcviz.datasets import Dataset
from hcviz.io.named_data import is_built_in
from hcviz.io.tables import read_frame
from hcviz.io.unfinished import is_token, new_token, state_folder
from hcviz.jobs import use_plain_kernels_while_compiling
from hcviz.jobs import warm as warm_jobs
from hcviz.jobs.compiling import COMPILING
from hcviz.session import actions as act
from hcviz.session.classroom import Classroom
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, Constraint, Statement
from hcviz.session.model import DataSpec
from hcviz.ui.app.document_callbacks import DocumentCallbacks
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.idle_pause import INTERVAL, pause_while_idle, without_browser
from hcviz.ui.app.link import Link, from_query
from hcviz.ui.app.notebook_view import ExplorerView
from hcviz.ui.app.page_garbage import PAGE_GARBAGE
from hcviz.ui.app.rate_limits import UploadLimit
from hcviz.ui.app.remote_visitors import SENTENCE, is_refused
from hcviz.ui.compat.busy_cleanup import start_busy_cleanup
from hcviz.ui.compat.components import close_component_route
from hcviz.ui.compat.document_cleanup import clear_document
from hcviz.ui.compat.local_style_sheets import use_local_style_sheets
from hcviz.ui.compat.login import TEACHER, user_of
from hcviz.ui.compat.loop_watchdog import WATCHDOG
from hcviz.ui.compat.message_batch import as_one_message
from hcviz.ui.compat.next_tick import event_loop
from hcviz.ui.compat.notebook_connection import NotebookConnection
from hcviz.ui.compat.single_write import write_messages_at_once
from hcviz.ui.compat.visitor_cookie import keep_visitor_cookies, visitor_of, when_connected
from hcviz.ui.features.classroom.controller import StudentTab, TeacherTab
from hcviz.ui.state import data_sources as sources
from hcviz.ui.state.store import Store
from hcviz.ui.state.view_state import Theme
from hcviz.ui.tree import drawing_kernels
from hcviz.ui.tree import warm as warm_centre

if TYPE_CHECKING:
    from hcviz.jobs.cluster import Cluster

# Before the server answers: no address may import a module, and no script reads the cookie.
close_component_route()
write_messages_at_once()
keep_visitor_cookies()

#: Budget in seconds of a sampler's run. It ends earlier if its supports have settled.
BUDGET = 20.0
#: Seconds that a page waits for its first tree, which most methods return in hundredths.
FIRST = 0.2

#: Seconds after which a thread that computes hands over the interpreter. The thread of the pages
#: gives it up at each write to a socket, and had to wait 5 ms each time with Python's default.
SWITCH_INTERVAL = 0.0005

#: Pixels above and below the rows of the tree. The browser reports the exact height later.
AROUND_TREE = 270

_warmed = threading.Event()


def warm() -> None:
    """Compile kernels and start worker processes on threads, once per server.

    What is loaded by now is excluded from garbage collection, which saves a fifth of a second when
    the first page opens; see :mod:`page_garbage` for the next ones. The calling thread is that of
    the pages.
    """
    if not _warmed.is_set():
        _warmed.set()
        sys.setswitchinterval(SWITCH_INTERVAL)
        WATCHDOG.install()
        gc.collect()
        gc.freeze()
        warm_jobs(first=[drawing_kernels.__name__])
        threading.Thread(target=_draw_once, name="hcviz-warm", daemon=True).start()


def _draw_once() -> None:
    """Draw a tree of three items, so that the first page is faster."""
    use_plain_kernels_while_compiling()
    warm_centre()


def serve_page(
    spec: DataSpec | None = None,
    autosave: str | None = None,
    scheduler: str | None = None,
    seconds: float | None = None,
    uploads: UploadLimit | None = None,
    public: bool = False,
    classroom: Classroom | None = None,
) -> pn.viewable.Viewable:
    """Return the page of the current browser session, for the served script.

    Parameters
    ----------
    spec
        The data to open. Default: the built-in data that the URL names, else what the server was
        started with (:func:`hcviz.ui.state.data_sources.offer`).
    autosave
        Folder of unfinished sessions, or ``off``. Default: ``HCVIZ_STATE``, else the user's state
        folder.
    scheduler
        Address of a Dask scheduler whose workers compute the runs. Default: ``HCVIZ_SCHEDULER``,
        else none.
    seconds
        Budget of a sampler's run, 0 for a fixed number of steps. Default: ``HCVIZ_SECONDS``, else
        20.
    uploads
        Limits the uploads of each visitor. Default: no limit.
    public
        Whether other machines get the page. Else they get a sentence.
    classroom
        The class of the server. The page is the teacher's if the teacher's code was typed, else a
        student's.
    """
    pn.extension(notifications=False)
    if pn.state.curdoc is not None and not public and is_refused(pn.state.curdoc):
        return pn.pane.Str(SENTENCE)
    # Validation takes a third of the time to open a page; tests/test_explorer.py does it.
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

    offer = sources.offered() if spec is None and link.data is None else None
    if offer is not None:
        spec = offer.spec
    callbacks = DocumentCallbacks(document)
    cluster = cluster_of(scheduler)
    explorer = Explorer(
        callbacks.schedule,
        lambda: as_one_message(document),
        link,
        cluster,
        budget(seconds),
        spec=spec,
    )
    if offer is not None and offer.session is not None:
        explorer.store.restore(offer.session)
    explorer.store.change_view(theme=theme)
    if fault is not None:
        explorer.store.change_view(error=(fault.message, fault.hint))
    if document is not None:
        # connection.js shows that the server is lost, and reloads the page.
        document.config.update(reconnect_session=False, notify_connection_status=False)
        explorer.offer_tour()
        callbacks.run_first(FIRST)  # the page then has its first tree when it reaches the browser
        explorer.store.runs.pause(True)  # leaves the cores to the rest of the page

    kept = state_folder(autosave)
    in_class: StudentTab | TeacherTab | None = None
    if classroom is not None and document is not None:
        if user_of(document) == TEACHER:
            in_class = TeacherTab(explorer.store, classroom, callbacks.later)
        else:
            in_class = StudentTab(explorer.store, classroom)
            kept = None  # the class keeps the answers
    if document is not None:
        known = visitor_of(document)
        visitor = known if is_token(known) else new_token()
        if uploads is not None:
            explorer.files.limit_upload = partial(uploads.take, visitor)
        autosaved = None if kept is None else explorer.keep_below(kept, visitor)

        def connected(cookie: str | None) -> str:
            token = cookie if is_token(cookie) else visitor
            if autosaved is not None and token != visitor:
                callbacks.schedule(lambda: autosaved.use_visitor(token))
            if in_class is not None:
                callbacks.schedule(lambda: in_class.connect(token))
            return token

        if autosaved is not None or in_class is not None:
            when_connected(document, connected)

    def begin() -> None:
        callbacks.open()
        if document is not None:
            document.add_periodic_callback(show_compiling(explorer.store), INTERVAL)
        explorer.store.runs.pause(False)
        if document is not None and explorer.autosave is not None:
            tick = explorer.autosave.tick
            document.add_periodic_callback(lambda: tick(without_browser([document])), INTERVAL)

    pn.state.onload(begin)
    if document is not None:
        document.add_periodic_callback(
            pause_while_idle(explorer.store, lambda: without_browser([document])), INTERVAL
        )

    loop = None if document is None else event_loop(document)

    def end(_context: Any) -> None:
        if in_class is not None:
            in_class.close()
        explorer.close()
        if document is not None:
            when_connected(document, None)
            clear_document(document)
        if loop is not None:
            PAGE_GARBAGE.close()

    pn.state.on_session_destroyed(end)
    if loop is not None:
        PAGE_GARBAGE.open(loop)
    return explorer.view


def show_compiling(store: Store) -> Callable[[], None]:
    """Return a function to be called periodically, which shows how far the compilation is.

    The footer says what this means for the tree (``features/history/model.py``).
    """

    def check() -> None:
        percent = COMPILING.percent
        if percent != store.view.compiling:
            store.change_view(compiling=percent)

    return check


def cluster_of(scheduler: str | None = None) -> Cluster | None:
    """Return the cluster at an address, by default ``HCVIZ_SCHEDULER``; None without an address."""
    given = os.environ.get("HCVIZ_SCHEDULER", "") if scheduler is None else scheduler
    address = given.strip()
    if not address:
        return None
    from hcviz.jobs.cluster import cluster_at  # imports Dask

    return cluster_at(address)


def budget(seconds: float | str | None = None) -> float:
    """Return the budget of a sampler's run in seconds: as given, else ``HCVIZ_SECONDS``, else 20.

    Raises
    ------
    InvalidParameter
        If the value is negative, infinite or no number.
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


def explore(problem_or_dataset: Any, *, method: str | None = None, height: int = 760) -> Any:
    """Return the page for a notebook cell, or for ``.servable()`` and ``.show()``.

    Parameters
    ----------
    problem_or_dataset : Problem, Dataset, str, path, DataFrame or float (n, d)
        One of: a :class:`hcviz.Problem`; a data set of ``hcviz.datasets.load``, or its name; the
        path of a table; a pandas DataFrame with one item a row, its label in the index, read like a
        table in a file; an array of features, float (n, d), NaN where a cell is missing.
    method : str or None
        Name of a method. Default: the sampler if there are features, else the first method that
        can run.
    height : int
        Height in CSS pixels.

    Returns
    -------
    ExplorerView
        The page, with the attributes ``tree``, ``constraints``, ``taxonomy``, ``problem`` and
        ``session``. ``save("page.html")`` writes it to a file.

    Raises
    ------
    InvalidData
        If the argument is none of these.

    Examples
    --------
    >>> import hcviz
    >>> page = hcviz.explore("zoo", method="average")
    >>> page.session.method
    'average'
    """
    pn.extension(inline=True)  # the page's resources are in the cell: no network is needed
    given: Dataset | None = None
    if isinstance(problem_or_dataset, str) and is_built_in(problem_or_dataset):
        spec = DataSpec(kind="built-in", name=problem_or_dataset)
    else:
        problem_or_dataset = load_named(problem_or_dataset)
        given, name = _given(problem_or_dataset)
        spec = DataSpec(kind="given", name=name)
        if is_coordinates(problem_or_dataset):
            spec = replace(spec, scaling="none")

    document = pn.state.curdoc
    if document is not None and document.session_context is not None:
        use_local_style_sheets(document)
        callbacks = DocumentCallbacks(document)
        explorer = Explorer(
            callbacks.schedule,
            lambda: as_one_message(document),
            cluster=cluster_of(),
            seconds=budget(),
            spec=spec,
            method=method,
        )
        pn.state.onload(callbacks.open)
        document.add_periodic_callback(
            pause_while_idle(explorer.store, lambda: without_browser([document])), INTERVAL
        )
        pn.state.on_session_destroyed(lambda _context: explorer.close())
    else:
        connection = NotebookConnection(running_loop())
        explorer = Explorer(
            connection.schedule,
            connection.together,
            cluster=cluster_of(),
            seconds=budget(),
            spec=spec,
            method=method,
        )
        connection.attach(explorer)
    explorer.view.param.update(sizing_mode="stretch_width", height=height, whole_page=False)
    explorer.centre.assume_height(height - AROUND_TREE)
    stated = constraints_of(problem_or_dataset)
    if stated:
        explorer.store.dispatch(act.ImportConstraints(stated, source="From Python: "))
    return ExplorerView(explorer, given)


def is_coordinates(given: Any) -> bool:
    """Return True for features that are used as they are: docs/distances.md."""
    if isinstance(given, Problem):
        return given.features is not None and not given.is_table
    return is_feature_table(given) and not is_frame(given)


def constraints_of(given: Any) -> tuple[Constraint, ...]:
    """Return the constraints of a problem as those of a session; none for other data."""
    if not isinstance(given, Problem):
        return ()
    statements: list[Statement] = [((a, b), c) for a, b, c in given.triplets.rows.tolist()]
    statements += [(tuple(items.tolist()), EVERYTHING_ELSE) for items in given.groups]
    statements += [(tuple(items.tolist()), NOT_A_GROUP) for items in given.not_groups]
    return tuple(Constraint(k, group, apart) for k, (group, apart) in enumerate(statements))


def _given(problem_or_dataset: Any) -> tuple[Dataset, str]:
    """Return a data set and its name among the given ones. The same data keep their name."""
    dataset = as_dataset(problem_or_dataset, "notebook data")
    name, number = dataset.title, 1
    while sources.GIVEN.get(name, dataset) is not dataset:
        number += 1
        name = f"{dataset.title} {number}"
    sources.GIVEN[name] = dataset
    return dataset, name


def as_dataset(given: Any, name: str) -> Dataset:
    """Return what a notebook gave as a data set: a DataFrame, an array or a problem."""
    if isinstance(given, Dataset):
        return given
    if is_frame(given):
        return read_frame(given, name)
    if is_feature_table(given):
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


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop of this thread, or None without one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _theme(cookie: str | None) -> Theme:
    """Return the theme that this browser used last. It is no part of a session."""
    return "dark" if cookie == "dark" else "light"


_PAGE_CSS = """
html, body { margin: 0; height: 100%; overflow: hidden; background: #fff; }
html[data-hc-theme="light"], html[data-hc-theme="light"] body { background: #fff; }
html[data-hc-theme="dark"], html[data-hc-theme="dark"] body { background: #14191f; }
"""
#: Background until the page's own script runs.
_DARK_CSS = "html, body { background: #14191f; }"
