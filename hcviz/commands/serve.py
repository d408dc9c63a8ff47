"""``hcviz serve``: the dashboard on a port of this machine, over what is named at its start."""

from __future__ import annotations

import argparse

from hcviz.commands.files import answers_about, data_file, read_file
from hcviz.core.errors import InvalidParameter
from hcviz.io.arrays import is_array
from hcviz.io.comparison_csv import two_forms, write_comparison_csv
from hcviz.io.session_file import load_session
from hcviz.session.model import DataSpec, Session


def serve(options: argparse.Namespace) -> None:
    opened = opening(options)  # before panel is loaded, which takes seconds
    from hcviz.ui.app.server import serve as serve_dashboard

    serve_dashboard(
        opened, options.port, options.address, options.autosave, options.scheduler, options.seconds
    )


def opening(options: argparse.Namespace) -> DataSpec | Session:
    """What every page is to begin with, its files read: data, or a session.

    Raises :class:`HcvizError` where a file is not there or is no session; what a table holds is
    seen when it is opened.
    """
    name = options.data or DataSpec().name
    answers = tuple((path.name, read_file(path)) for path in options.answers)
    path = data_file(name, options.items)
    if path is None:
        return DataSpec(kind="built-in", name=name, answers=answers)
    content, kind = read_file(path), options.kind
    if content.startswith(b"PK") and not is_array(content, path.name):  # as session files are
        if answers or options.items is not None:
            raise InvalidParameter(
                f"{path} is a session, which has its data and answers: --answers and --items are "
                "for tables."
            )
        return load_session(content)
    if options.items is not None:  # the items that are in no answer travel in the file
        found = answers_about(content, path.name, options.items)
        assert found.comparisons is not None
        double = two_forms(found.labels)
        if double is not None:
            raise InvalidParameter(
                f"{options.items} names {double!r} twice, in two Unicode forms, which the page "
                "cannot keep apart.",
                "Rename one of the items, there and in the answers.",
            )
        content = write_comparison_csv(found.comparisons, found.labels).encode()
        kind = "comparisons"
    return DataSpec(
        kind="table", name=path.name, filename=path.name, content=content, table_kind=kind,
        answers=answers,
    )  # fmt: skip


__all__ = ["opening", "serve"]
