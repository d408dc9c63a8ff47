"""The command ``hcviz worksheet``, which writes a worksheet as PDF."""

from __future__ import annotations

import argparse
import sys

from hcviz.commands.files import load_data, read_file, write_file
from hcviz.io.answers import with_answers
from hcviz.worksheets import worksheet


def write_worksheet(options: argparse.Namespace) -> None:
    """Write the worksheet of a data set or a table."""
    data = load_data(options.data, options.kind, options.items, options.column)
    for path in options.answers:
        data = with_answers(data, read_file(path), path.name)
    pdf = worksheet(
        data,
        method=options.method,
        title=options.title,
        n_items=options.n_items,
        n_questions=options.n_questions,
        seed=options.seed,
    )
    if str(options.out) == "-":
        sys.stdout.buffer.write(pdf)
    else:
        write_file(options.out, pdf)
        print(f"hcviz: a worksheet and its answers: {options.out}.", file=sys.stderr)


__all__ = ["write_worksheet"]
