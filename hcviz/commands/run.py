"""The command ``hcviz run``, which runs a method.

The tree goes to stdout or to a file, and the progress to stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import hcviz
from hcviz.algorithms import get
from hcviz.algorithms.base import Algorithm
from hcviz.commands.files import (
    load_data,
    read_constraints,
    read_file,
)
from hcviz.commands.notes import say_ignored, say_notes, say_unread_answers
from hcviz.commands.options import parameter_values
from hcviz.commands.standard_input import is_input_file
from hcviz.commands.tree_formats import format_of, is_standard_output, write_formatted_tree
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.named_conflicts import named_conflicts
from hcviz.core.snapshot import Snapshot
from hcviz.datasets import Dataset
from hcviz.io.answers import with_answers
from hcviz.io.comparison_csv import HEADER_HINT
from hcviz.jobs.samples import Samples


def run(options: argparse.Namespace) -> None:
    """Run a method on data, and print or save its tree."""
    format = format_of(options.out, options.format)
    to_stdout = is_standard_output(options.out)
    if not to_stdout and not options.out.parent.is_dir():
        raise InvalidParameter(f"--out {options.out}: there is no folder {options.out.parent}.")
    if not to_stdout and options.out.is_dir():
        raise InvalidParameter(f"--out {options.out} is a folder.", "Give the name of a file.")
    if to_stdout and options.json and options.format not in (None, "newick"):
        raise InvalidParameter(
            "--json prints the tree in Newick.", "Leave out --json, or add --out FILE."
        )
    method = get(options.method)
    params = parameter_values(method, options)
    data = _data(options, method)
    for path in options.answers:
        data = with_answers(data, read_file(path), path.name)
    problem = data.problem()
    assert problem.labels is not None
    if options.triplets is not None:
        triplets, groups, not_groups = read_constraints(
            options.triplets, problem.labels, options.order
        )
        problem = problem.with_triplets(triplets).with_groups(groups)
        problem = problem.with_not_groups(not_groups)
    labels = problem.labels
    assert labels is not None
    began = time.monotonic()
    last: Snapshot | None = None
    if options.scheduler is None:
        stream = hcviz.run(options.method, problem, seed=options.seed, **params)
    else:
        from hcviz.jobs.cluster import run_on  # imports Dask, which is slow and optional

        stream = run_on(
            options.scheduler,
            options.method,
            problem,
            seed=options.seed,
            on_waiting=show_waiting,
            **params,
        )
    say_notes(data, options)  # a refused problem gets its one sentence only
    say_unread_answers(method, options)
    say_ignored(method, params, problem.n_constraints)
    with named_conflicts(problem.triplets, problem.groups, labels):
        samples = Samples(problem.n_items) if method.samples else None
        for snapshot in show_progress(stream, options.method):
            last = snapshot
            if samples is not None:
                samples.take_tree(snapshot, snapshot.step == snapshot.total)
    assert last is not None, f"{options.method} yielded nothing"
    if samples is not None:  # the summary tree of all draws
        samples.check(problem.labels, is_last=True)
        last = samples.with_summary_tree(last)
    if not (to_stdout and options.json):
        tree = last.tree.with_info(method.info(problem, params, options.seed))
        write_formatted_tree(options.out, format, tree, problem.labels, method.title)
    if options.json:
        result: dict[str, Any] = {
            "method": options.method,
            "data": options.data,
            "seed": options.seed,
            "parameters": params,
            "items": problem.n_items,
            "triplets": len(problem.triplets),
            "groups": len(problem.groups),
            "not_groups": len(problem.not_groups),
            "satisfied": int(last.tree.satisfies(problem.triplets, problem.groups).sum()),
            "steps": last.step,
            "metrics": {name: float(value) for name, value in last.metrics.items()},
            "seconds": round(time.monotonic() - began, 3),
        }
        if last.labels is not None:  # the method returns clusters
            result["clusters"] = [
                [labels[item] for item in np.flatnonzero(last.labels == name).tolist()]
                for name in range(int(last.labels.max()) + 1)
            ]
        if to_stdout:
            result["newick"] = last.tree.to_newick(problem.labels)
        else:
            result["out"] = str(options.out)
        print(json.dumps(result))


def _data(options: argparse.Namespace, method: Algorithm) -> Dataset:
    """Load the data. If a method needs answers and cannot read the file, the error says how."""
    try:
        return load_data(options.data, options.kind, options.items, options.column)
    except InvalidData as fault:
        needs_answers = method.needs == ("comparisons",) and not options.answers
        default_kind = options.kind == "features" and options.items is None
        may_be_answers = needs_answers and default_kind and is_input_file(options.data)
        if not may_be_answers or HEADER_HINT in fault.hint:
            raise
        hint = f"{fault.hint} {method.title} needs a file of answers. {HEADER_HINT}"
        raise InvalidData(fault.message, hint.strip()) from None


def show_waiting(sentence: str) -> None:
    """Print on stderr why a run waits. An empty sentence prints nothing."""
    if sentence:
        print("\r\x1b[K" * sys.stderr.isatty() + f"hcviz: {sentence}", file=sys.stderr, flush=True)


def show_progress(stream: Iterator[Snapshot], method: str) -> Iterator[Snapshot]:
    """Yield the snapshots, and print their progress on stderr.

    On a terminal, one line is updated at most ten times a second. Otherwise, there is a line for
    each tenth of the run.
    """
    terminal = sys.stderr.isatty()
    shown, tenth = 0.0, -1
    for snapshot in stream:
        done = snapshot.step / max(snapshot.total, 1)
        line = f"hcviz: {method} {done:4.0%}  {snapshot.step} of {snapshot.total}"
        line += "".join(f"  {name} {value:.6g}" for name, value in snapshot.metrics.items())
        if terminal:
            if time.monotonic() - shown > 0.1 or snapshot.step >= snapshot.total:
                print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
                shown = time.monotonic()
        elif int(10 * done) > tenth:
            tenth = int(10 * done)
            print(line, file=sys.stderr, flush=True)
        yield snapshot
    if terminal:
        print(file=sys.stderr)
