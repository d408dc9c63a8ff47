"""The command line: ``hcviz serve | run | convert | check | reproduce``.

A refusal is one sentence on stderr and exit code 2; results go to stdout, everything else to
stderr. The options of ``run METHOD`` are made from the method's own parameters.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import hcviz
from hcviz.algorithms import get
from hcviz.commands.check import check
from hcviz.commands.convert import FORMS_TO_READ, FORMS_TO_WRITE, convert
from hcviz.commands.files import TABLE_KINDS
from hcviz.commands.options import add_parameters, method_among
from hcviz.commands.run import run
from hcviz.commands.serve import serve
from hcviz.core.errors import HcvizError
from hcviz.io.triplet_csv import ORDERS, REQUIRED_COLUMNS

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
    one.add_argument(
        "data", nargs="?", help="a built-in data set, a table, or a session file (default: zoo)"
    )
    add_reading(one)
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
    one.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="budget of a sampler's run, which ends earlier when it has settled; 0: a fixed number "
        "of steps (default: HCVIZ_SECONDS, else 20)",
    )

    one = command("run", run, "Run a method and print its tree in Newick.")
    one.add_argument("method", help=", ".join(hcviz.algorithms()))
    one.add_argument("data", help="a built-in data set, or a table file")
    one.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    add_reading(one)
    one.add_argument(
        "--triplets",
        type=Path,
        metavar="FILE.csv",
        help=f"constraints, by the items' names; its header is {','.join(REQUIRED_COLUMNS)}",
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

    one = command(
        "convert",
        convert,
        "Turn Newick into a scipy linkage (.npy), or back; or one file of a taxonomy into another.",
    )
    one.add_argument("source", type=Path, help=f"a taxonomy: {FORMS_TO_READ}")
    one.add_argument("target", type=Path, help=f"a taxonomy: {FORMS_TO_WRITE}")
    one.add_argument(
        "--style",
        choices=("levels", "paths"),
        default="levels",
        help="columns of a .csv: level_1, ..., item, or item,group,path (default: %(default)s)",
    )
    one.add_argument("--labels", type=Path, metavar="FILE", help="item names, one a line")

    one = command("check", check, "Say what a table, answers, tree or session file holds.")
    one.add_argument("file", type=Path)
    add_kind(one)
    add_items(one)

    one = command("reproduce", reproduce, "Compute a paper's tables and figures anew.")
    one.add_argument("name", choices=list(PAPERS))
    one.add_argument("--quick", action="store_true", help="smaller, for a first look")
    one.add_argument("--json", action="store_true", help="print a JSON object")
    one.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the figure, a CSV and a run record"
    )
    return parser


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How the data are read."""
    add_kind(parser)
    parser.add_argument(
        "--answers",
        type=Path,
        action="append",
        default=[],
        metavar="FILE.csv",
        help="comparisons of the items, by their names; its header is anchor,near,far, say; may be "
        "given several times",
    )
    add_items(parser)


def add_kind(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind", choices=TABLE_KINDS, default="features", help="what a table holds"
    )


def add_items(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--items",
        type=Path,
        metavar="FILE",
        help="where the data are a file of answers: all the items' names, one a line",
    )


def reproduce(options: argparse.Namespace) -> None:
    import_module(REPRODUCTIONS[options.name]).reproduce(options.quick, options.json, options.out)
