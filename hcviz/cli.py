"""The command line: ``hcviz serve | run | convert | check | reproduce``.

A refusal is one sentence on stderr and exit code 2; results go to stdout, everything else to
stderr. The options of ``run METHOD`` are made from the method's own parameters.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import param

import hcviz
from hcviz.algorithms import get
from hcviz.algorithms.base import Algorithm
from hcviz.core.build import build
from hcviz.core.convert import parse_newick
from hcviz.core.errors import (
    HcvizError,
    InconsistentTriplets,
    InvalidData,
    InvalidParameter,
    InvalidTree,
)
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.datasets import Dataset
from hcviz.io.answers import counted, dataset_of_answers, read_items, with_answers
from hcviz.io.arrays import is_array
from hcviz.io.session_file import load_session
from hcviz.io.tables import TableKind, read_table
from hcviz.io.triplet_csv import NEEDED, ORDERS, Order, read_triplet_csv
from hcviz.metrics import consistency
from hcviz.session.model import joined

#: Triplets of a contradiction that are named.
NAMED = 5
NEWICK = (".nwk", ".newick", ".tree", ".tre")
FLAGS = ("--json", "-h", "--help", "--")  # the options of ``run`` that take no value
TABLE_KINDS = get_args(TableKind)

#: The papers by the name ``reproduce`` knows them under.
PAPERS = {
    "vikram2016": "Interactive Bayesian Hierarchical Clustering",
    "chatziafratis2018": "Hierarchical Clustering with Structural Constraints",
    "ghoshdastidar2019": "Foundations of Comparison-Based Hierarchical Clustering",
    "perrot2020": "Near-Optimal Comparison Based Clustering",
    "krishnamurthy2012": "Efficient Active Algorithms for Hierarchical Clustering",
}

#: Paper -> module whose ``reproduce(quick: bool, as_json: bool, out: Path | None) -> None`` prints
#: its figures.
REPRODUCTIONS: Mapping[str, str] = {
    "vikram2016": "hcviz.reproduce.vikram2016",
    "chatziafratis2018": "hcviz.reproduce.chatziafratis2018",
    "ghoshdastidar2019": "hcviz.reproduce.ghoshdastidar2019",
    "perrot2020": "hcviz.reproduce.perrot2020",
    "krishnamurthy2012": "hcviz.reproduce.krishnamurthy2012",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        options = make_parser(words).parse_args(words)
        options.command(options)
    except HcvizError as fault:
        print(f"hcviz: {fault}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `hcviz run ... | head`: whoever read has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    return 0


def make_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser; after ``run METHOD`` it also knows that method's own options."""
    parser = argparse.ArgumentParser(
        prog="hcviz", description="Build the hierarchy you mean: items in, a tree out."
    )
    parser.add_argument("--version", action="version", version=f"hcviz {hcviz.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[Any], None], what: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(command=run)
        return made

    one = command("serve", serve, "Serve the dashboard on this machine.")
    one.add_argument("data", nargs="?", help="a built-in data set (default: zoo)")
    one.add_argument("--port", type=int, default=5006, help="default: %(default)s")
    one.add_argument("--address", default="127.0.0.1", help="default: %(default)s")
    one.add_argument(
        "--autosave",
        metavar="FOLDER",
        help="keep unfinished sessions there (default: HCVIZ_STATE, else your state folder)",
    )
    one.add_argument(
        "--no-autosave",
        dest="autosave",
        action="store_const",
        const="off",
        help="keep no unfinished sessions",
    )
    one.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="do runs on the workers of a Dask scheduler: tcp://... (default: HCVIZ_SCHEDULER)",
    )

    one = command("run", run, "Run a method and print its tree in Newick.")
    one.add_argument("method", help=", ".join(hcviz.algorithms()))
    one.add_argument("data", help="a built-in data set, or a table file")
    one.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    one.add_argument("--kind", choices=TABLE_KINDS, default="features", help="what a table holds")
    one.add_argument(
        "--answers",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.csv",
        help="comparisons of the items, by their names; its header is anchor,near,far, say; may be "
        "given several times",
    )
    add_items(one)
    one.add_argument(
        "--triplets",
        type=Path,
        metavar="FILE.csv",
        help=f"constraints, by the items' names; its header is {','.join(NEEDED)}",
    )
    one.add_argument(
        "--order",
        choices=ORDERS,
        help="of the columns of triplets without that header; anchor-near-far is cblearn's",
    )
    one.add_argument("--out", type=Path, metavar="FILE", help="write the tree: .nwk or .npy")
    one.add_argument("--json", action="store_true", help="print a JSON object")
    one.add_argument(
        "--scheduler", metavar="ADDRESS", help="do it on the workers of a Dask scheduler: tcp://..."
    )
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter, by name"
    )
    method = method_among(words)
    if words[:1] == ["run"] and method is not None:
        add_parameters(one, get(method))

    one = command("convert", convert, "Turn Newick into a scipy linkage (.npy), or back.")
    one.add_argument("source", type=Path)
    one.add_argument("target", type=Path)
    one.add_argument("--labels", type=Path, metavar="FILE", help="item names, one a line")

    one = command("check", check, "Say what a table, answers, tree or session file holds.")
    one.add_argument("file", type=Path)
    one.add_argument("--kind", choices=TABLE_KINDS, default="features", help="what a table holds")
    add_items(one)

    one = command("reproduce", reproduce, "Compute a paper's tables and figures anew.")
    one.add_argument("name", choices=list(PAPERS))
    one.add_argument("--quick", action="store_true", help="smaller, for a first look")
    one.add_argument("--json", action="store_true", help="print a JSON object")
    one.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the figure, a CSV and a run record"
    )
    return parser


def add_items(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="where the data are a file of answers: all the items' names, one a line",
    )


# ---------------------------------------------------------------------- a method's options


def method_among(words: Sequence[str]) -> str | None:
    """The first method among the words that is not the value of an option."""
    for before, word in pairwise(words):
        takes_value = before.startswith("-") and "=" not in before and before not in FLAGS
        if word in hcviz.algorithms() and not takes_value:
            return word
    return None


def add_parameters(parser: argparse.ArgumentParser, method: Algorithm) -> None:
    """An option for each parameter, with its doc, default and choices."""
    group = parser.add_argument_group(method.title, method.summary or None)
    for name in method.parameter_names():
        what = method.params.param[name]
        told = " ".join((what.doc or "").split()).replace("%", "%%")
        if isinstance(what, param.Selector):
            told += f" One of {', '.join(map(str, what.get_range().values()))}."
        bounds = getattr(what, "bounds", None)
        if bounds:
            low, high = ("" if bound is None else bound for bound in bounds)
            told += f" In {low}..{high}."
        group.add_argument(
            f"--{name.replace('_', '-')}",
            dest=f"parameter_{name}",
            metavar="VALUE",
            help=f"{told} Default: {what.default}.".strip(),
        )


def parameter_values(method: Algorithm, options: argparse.Namespace) -> dict[str, Any]:
    """What was said on the command line, as values of the parameters' types."""
    said: dict[str, str] = {}
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise InvalidParameter(f"--set {assignment} has no '='.", "Write --set name=value.")
        said[name.strip().replace("-", "_")] = value.strip()
    for name in method.parameter_names():
        value = getattr(options, f"parameter_{name}", None)
        if value is not None:
            said[name] = value
    known = method.parameter_names()
    return {
        name: parse_value(method.params.param[name], text) if name in known else text
        for name, text in said.items()
    }


def parse_value(what: param.Parameter[Any], text: str) -> Any:
    """``text`` as a value of that parameter; its bounds are checked by the method."""
    if what.allow_None and text.lower() == "none":
        return None
    if isinstance(what, param.Boolean):
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise InvalidParameter(f"{what.name} is yes or no, not {text!r}.")
        return words[text.lower()]
    if isinstance(what, param.Selector):
        by_name = {str(value): value for value in what.get_range().values()}
        return by_name.get(text, text)
    if isinstance(what, param.Number):
        whole = isinstance(what, param.Integer)
        try:
            return int(text) if whole and "e" not in text.lower() else number(text, whole)
        except (ValueError, OverflowError):
            noun = "a whole number" if whole else "a number"
            raise InvalidParameter(f"{what.name} must be {noun}, not {text!r}.") from None
    if isinstance(what, param.String):
        return text
    try:  # a parameter of several types: a number, a list, else the word itself
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def number(text: str, whole: bool) -> float:
    """``text`` as a float, or (1e3, say) as the int that it is; else ValueError."""
    value = float(text)
    if whole and not value.is_integer():
        raise ValueError(text)
    return int(value) if whole else value


# ---------------------------------------------------------------------- the commands


def serve(options: argparse.Namespace) -> None:
    from hcviz.ui.server import serve as serve_dashboard  # panel takes seconds: only here

    if options.data is not None:
        hcviz.datasets.load(options.data)  # refuses an unknown name before a server starts
    serve_dashboard(
        options.data, options.port, options.address, options.autosave, options.scheduler
    )


def run(options: argparse.Namespace) -> None:
    if options.out is not None and options.out.suffix not in (*NEWICK, ".npy"):
        raise InvalidParameter(
            f"--out {options.out}: a tree is written as {', '.join(NEWICK)} or .npy."
        )
    if options.out is not None and not options.out.parent.is_dir():
        raise InvalidParameter(f"--out {options.out}: there is no folder {options.out.parent}.")
    method = get(options.method)
    params = parameter_values(method, options)
    data = load_data(options.data, options.kind, options.items)
    for path in options.answers:
        data = with_answers(data, read_file(path), path.name)
    problem = data.problem()
    assert problem.labels is not None
    if options.triplets is not None:
        problem = problem.with_triplets(
            read_triplets(options.triplets, problem.labels, options.order)
        )
    labels = problem.labels
    assert labels is not None
    began = time.monotonic()
    last: Snapshot | None = None
    if options.scheduler is None:
        with by_name(problem.triplets, labels):
            stream = hcviz.run(options.method, problem, seed=options.seed, **params)
    else:
        from hcviz.jobs.cluster import run_on  # and Dask with it: only where it is asked for

        stream = run_on(options.scheduler, options.method, problem, seed=options.seed, **params)
    with by_name(problem.triplets, labels):
        for snapshot in show_progress(stream, options.method):
            last = snapshot
    assert last is not None, f"{options.method} yielded nothing"
    if options.out is not None:
        write_tree(options.out, last.tree, problem.labels)
    if options.json:
        result: dict[str, Any] = {
            "method": options.method,
            "data": options.data,
            "seed": options.seed,
            "parameters": params,
            "items": problem.n_items,
            "triplets": len(problem.triplets),
            "satisfied": int(last.tree.satisfies(problem.triplets).sum()),
            "steps": last.step,
            "metrics": {name: float(value) for name, value in last.metrics.items()},
            "seconds": round(time.monotonic() - began, 3),
        }
        if options.out is None:
            result["newick"] = last.tree.to_newick(problem.labels)
        else:
            result["out"] = str(options.out)
        print(json.dumps(result))
    elif options.out is None:
        print(last.tree.to_newick(problem.labels))


def convert(options: argparse.Namespace) -> None:
    labels = None
    if options.labels is not None:
        labels = read_text(options.labels).splitlines()
    tree, names = read_tree(options.source, labels)
    if options.target.suffix == ".npy" and names is not None and labels is None:
        beside = options.target.with_suffix(".labels.txt")
        write_file(beside, "".join(f"{name}\n" for name in names).encode())
        print(f"hcviz: the items' names, in order, are in {beside}.", file=sys.stderr)
    write_tree(options.target, tree, names)


def check(options: argparse.Namespace) -> None:
    print(describe(options.file, options.kind, options.items))


def reproduce(options: argparse.Namespace) -> None:
    import_module(REPRODUCTIONS[options.name]).reproduce(options.quick, options.json, options.out)


# ---------------------------------------------------------------------- files


def load_data(name: str, kind: TableKind, items: Path | None = None) -> Dataset:
    """A built-in data set, or a table file; ``items`` lists what a file of answers is about."""
    if name in hcviz.datasets.names(everything=True):
        if items is not None:
            raise InvalidParameter(
                f"--items lists what a file of answers is about; {name} has its items."
            )
        return hcviz.datasets.load(name)
    path = Path(name)
    if not path.exists():
        raise InvalidData(
            f"{name!r} is neither a built-in data set nor a file.",
            f"Built in: {', '.join(hcviz.datasets.at_hand())}.",
        )
    return read_data(path, kind, items)


def read_data(path: Path, kind: TableKind, items: Path | None) -> Dataset:
    """A table, or a file of answers about the items of a list."""
    content = read_file(path)
    if items is None:
        return read_table(content, path.name, kind=kind)
    return dataset_of_answers(content, path.name, read_items(read_file(items)))


@contextlib.contextmanager
def by_name(triplets: Triplets, labels: Sequence[str]) -> Iterator[None]:
    """A contradiction among ``triplets`` is told by the items' names."""
    try:
        yield
    except InconsistentTriplets as fault:
        rows = triplets.rows[list(fault.conflict)].tolist()
        if not rows:
            raise
        said = [f"{labels[a]}, {labels[b]} | {labels[c]}" for a, b, c in rows]
        more = f"; and {len(said) - NAMED} more" if len(said) > NAMED else ""
        raise InconsistentTriplets(
            f"No tree satisfies these triplets together: {'; '.join(said[:NAMED])}{more}.",
            fault.hint,
            fault.conflict,
        ) from None


def read_triplets(path: Path, labels: Sequence[str], order: Order | None = None) -> Triplets:
    """The triplets of the enabled constraints."""
    constraints = read_triplet_csv(read_file(path), labels, order)
    return joined(tuple(each for each in constraints if each.enabled))


def read_tree(path: Path, labels: Sequence[str] | None = None) -> tuple[Tree, list[str] | None]:
    """A tree and its items' names (None: the integers), from Newick or a linkage."""
    if path.suffix == ".npy":
        try:
            linkage = np.load(path, allow_pickle=False)
        except FileNotFoundError:
            raise InvalidData(f"There is no file {path}.") from None
        except (OSError, ValueError, EOFError):
            raise InvalidTree(f"{path} is not a numpy array file.") from None
        tree = Tree.from_linkage(linkage)
        return tree, None if labels is None else list(labels)
    if path.suffix not in NEWICK:
        raise InvalidTree(f"{path}: a tree is read from {', '.join(NEWICK)} or .npy.")
    text = read_text(path)
    if labels is not None:
        return Tree.from_newick(text, labels), list(labels)
    names = [name for name, is_leaf in parse_newick(text)[0] if is_leaf]
    if sorted(names) == sorted(str(i) for i in range(len(names))):
        return Tree.from_newick(text), None
    return Tree.from_newick(text, names), names


def write_tree(path: Path, tree: Tree, labels: Sequence[str] | None) -> None:
    if path.suffix == ".npy":
        try:
            np.save(path, tree.to_linkage())
        except OSError as fault:
            raise InvalidData(f"{path} cannot be written ({fault.strerror}).") from None
    elif path.suffix in NEWICK:
        write_file(path, f"{tree.to_newick(labels)}\n".encode())
    else:
        raise InvalidTree(f"{path}: a tree is written as {', '.join(NEWICK)} or .npy.")


def _is_features(path: Path) -> bool:
    """Whether an ``.npy`` is no linkage: then it is a table of numbers."""
    if path.suffix != ".npy":
        return False
    try:
        read_tree(path)
    except InvalidTree:
        return is_array(read_file(path), path.name)
    return False


def describe(path: Path, kind: TableKind, items: Path | None = None) -> str:
    """One sentence on what the file holds; an :class:`HcvizError` if it is not what it seems."""
    if path.suffix in (*NEWICK, ".npy") and not _is_features(path):
        tree, _ = read_tree(path)
        shape = "binary" if tree.is_binary else "with polytomies"
        return f"{path}: a tree over {tree.n_leaves} items, {tree.n_internal} inner nodes, {shape}."
    content = read_file(path)
    if content.startswith(b"PK") and not is_array(content, path.name):  # as session files are
        session = load_session(content)
        return (
            f"{path}: a session on {session.data.name} with {session.n_items} items and "
            f"{len(session.constraints)} constraint(s)."
        )
    head = content.partition(b"\n")[0].decode("utf-8-sig", "replace").lower().strip().split(",")
    if set(NEEDED) <= set(head):
        return f"{path}: {describe_triplets(content.decode('utf-8-sig', 'replace'))}"
    return f"{path}: {describe_table(read_data(path, kind, items), kind)}"


def describe_triplets(text: str) -> str:
    """Constraints by themselves: the items are those that they name, and they must have a tree."""
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    columns = {name.strip().lower(): name for name in rows.fieldnames or ()}
    named = {(row[columns[name]] or "").strip(): None for row in rows for name in NEEDED}
    labels = [name for name in named if name]
    constraints = read_triplet_csv(text, labels)
    told = joined(tuple(each for each in constraints if each.enabled))
    with by_name(told, labels):
        build(len(labels), told)
    return f"{len(constraints)} constraint(s) on {len(labels)} items, which agree with each other."


def describe_table(table: Dataset, kind: TableKind) -> str:
    if table.comparisons is not None:
        return describe_answers(table)
    if isinstance(table.oracle, hcviz.StringOracle):
        letters = [len(text) for text in table.oracle.strings]
        return f"{len(letters)} sequences of {min(letters)} to {max(letters)} letters."
    if kind != "features":
        return f"a {kind} matrix over {len(table.labels)} items."
    rows, columns = table.features.shape
    missing = int(np.isnan(table.features).sum())
    tail = f", {missing} cell(s) missing" if missing else ""
    return f"a table of {rows} items with {columns} feature(s){tail}."


#: Kind of question -> what its answers are called.
ASKED = {
    "triplets": "near or far",
    "quadruplets": "quadruplets",
    "central": "most central",
    "odd": "odd one out",
}


def describe_answers(data: Dataset) -> str:
    """How many answers there are, to what, about which items, and how they agree."""
    known, asked = data.comparisons, data.asked or {}
    assert known is not None
    seen, found = known.appearances(data.n_items), consistency(known)
    never = int((seen == 0).sum())
    said = ", ".join(f"{count:,} ({ASKED[kind]})" for kind, count in asked.items())
    rare = sorted(np.flatnonzero(seen).tolist(), key=lambda item: int(seen[item]))[:3]
    named = ", ".join(f"{data.labels[item]} ({seen[item]:,})" for item in rare)
    return (
        f"answers about {data.n_items} items: {said}; {counted(len(known))}. "
        + (f"{never} of the items {'is' if never == 1 else 'are'} in none. " if never else "")
        + f"Least often seen: {named}; most often: {seen.max():,} times. "
        + f"Of {found.questions:,} different questions {found.repeated:,} were answered more than "
        + f"once, {len(found.contradictions):,} of them both ways."
    )


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InvalidData(f"There is no file {path}.") from None
    except OSError as fault:
        raise InvalidData(f"{path} cannot be read ({fault.strerror}).") from None


def read_text(path: Path) -> str:
    try:
        return read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidData(f"{path} is not a text in UTF-8 (byte {fault.start}).") from None


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as fault:
        raise InvalidData(f"{path} cannot be written ({fault.strerror}).") from None


# ---------------------------------------------------------------------- progress


def show_progress(stream: Iterator[Snapshot], method: str) -> Iterator[Snapshot]:
    """Pass the snapshots on, and say on stderr how far they are.

    On a terminal one line is written over, ten times a second at most; else a line each tenth.
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
