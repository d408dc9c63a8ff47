"""The command ``hcviz serve``, which serves the dashboard with the given data or session."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

from hcviz.commands.files import data_file, parse_columns, read_answers, read_file
from hcviz.core.errors import InvalidParameter
from hcviz.io.arrays import is_array
from hcviz.io.comparison_csv import find_ambiguous_name, write_comparison_csv
from hcviz.io.network_access import LOOPBACK, Access, read_access
from hcviz.io.session_file import load_session
from hcviz.io.workbook import is_workbook
from hcviz.serving.server_processes import serve_processes
from hcviz.session.model import DataSpec, Session


def serve(options: argparse.Namespace) -> None:
    """Start the server."""
    if options.for_class and options.processes != 1:
        raise InvalidParameter(
            "--class and --processes do not go together: one server keeps the answers of a class.",
            "Leave out --processes.",
        )
    access = read_access(  # errors are reported before the slow import of panel
        options.port, options.address, options.public, options.password_file, options.origin,
        for_class=options.for_class,
    )  # fmt: skip
    opened = read_start(options)
    one = ServeOne(
        opened, access, options.autosave, options.scheduler, options.seconds, options.processes
    )
    if options.processes == 1:
        one()
    else:
        serve_processes(options.processes, one.behind_proxy, access)


@dataclass(frozen=True)
class ServeOne:
    """One server of the dashboard, in this process.

    Attributes
    ----------
    opened, access, autosave, scheduler, seconds : see :func:`hcviz.ui.app.server.serve`
    processes : number of servers that share the machine
    """

    opened: DataSpec | Session
    access: Access
    autosave: str | None
    scheduler: str | None
    seconds: float | None
    processes: int = 1

    def __call__(self, listening: Callable[[], None] | None = None) -> None:
        """Serve until interrupted."""
        from hcviz.ui.app.server import serve as serve_dashboard

        serve_dashboard(
            self.opened, self.access, self.autosave, self.scheduler, self.seconds, listening
        )

    def behind_proxy(self, port: int, listening: Callable[[], None]) -> None:
        """Serve for a proxy of this machine, with a share of the places for running jobs."""
        from hcviz.jobs.fair_share import LINE

        LINE.places = max(1, -(-LINE.places // self.processes))
        access = replace(self.access, address=LOOPBACK, port=port, proxied=True)
        replace(self, access=access)(listening)


def read_start(options: argparse.Namespace) -> DataSpec | Session:
    """Read the data or the session with which each page begins.

    Raises
    ------
    HcvizError
        If a file is missing, or is a damaged session. Tables are checked later, by the page.
    """
    name = options.data or DataSpec().name
    answers = tuple((path.name, read_file(path)) for path in options.answers)
    path = data_file(name, options.items)
    if path is None:
        return DataSpec(kind="built-in", name=name, answers=answers)
    content, kind = read_file(path), options.kind
    if content.startswith(b"PK") and not (
        is_array(content, path.name) or is_workbook(content)
    ):  # a session file
        if answers or options.items is not None:
            raise InvalidParameter(
                f"{path} is a session, which has its own data and answers.",
                "Leave out --answers and --items.",
            )
        return load_session(content)
    if options.items is not None:  # add the items without answers to the file
        found = read_answers(content, path.name, options.items)
        assert found.comparisons is not None
        ambiguous = find_ambiguous_name(found.labels)
        if ambiguous is not None:
            raise InvalidParameter(
                f"{options.items} has the name {ambiguous!r} in two Unicode forms, which the page "
                "cannot distinguish.",
                "Rename one of the items, in this file and in the answers.",
            )
        content = write_comparison_csv(found.comparisons, found.labels).encode()
        kind = "comparisons"
    return DataSpec(
        kind="table", name=path.name, filename=path.name, content=content, table_kind=kind,
        columns=parse_columns(options.column), answers=answers,
    )  # fmt: skip


__all__ = ["read_start", "serve"]
