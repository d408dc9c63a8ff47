"""The command line ``hcviz``: its commands and their options.

Results go to stdout, all other text to stderr. ``-`` is standard input or standard output. An error
is one message on stderr, and exit code 2. The options of ``run METHOD`` come from the parameters of
the method.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import hcviz
from hcviz.algorithms import get
from hcviz.commands.advice import advice
from hcviz.commands.check import check
from hcviz.commands.citing import cite, paper_reference
from hcviz.commands.compare import compare
from hcviz.commands.compile_all import compile_all
from hcviz.commands.conformance import check_methods
from hcviz.commands.convert import READ_SUFFIXES, WRITE_SUFFIXES, convert
from hcviz.commands.files import TABLE_KINDS
from hcviz.commands.listing import LISTS, list_names
from hcviz.commands.options import add_parameters, method_among
from hcviz.commands.place import place
from hcviz.commands.run import run
from hcviz.commands.serve import serve
from hcviz.commands.standard_input import forget_standard_input, input_name, input_path
from hcviz.commands.tree_formats import TREE_FORMATS
from hcviz.commands.worksheet import write_worksheet
from hcviz.core.column_options import ColumnKind
from hcviz.core.errors import HcvizError
from hcviz.io.triplet_csv import ORDERS, REQUIRED_COLUMNS

#: Titles of the papers, by their names for ``reproduce``.
PAPERS = {
    "vikram2016": "Interactive Bayesian Hierarchical Clustering",
    "chatziafratis2018": "Hierarchical Clustering with Structural Constraints",
    "ghoshdastidar2019": "Foundations of Comparison-Based Hierarchical Clustering",
    "perrot2020": "Near-Optimal Comparison Based Clustering",
    "krishnamurthy2012": "Efficient Active Algorithms for Hierarchical Clustering",
}

#: For each paper, the module whose function ``reproduce(quick, as_json, out)`` prints its figures.
REPRODUCTIONS: Mapping[str, str] = {
    "vikram2016": "hcviz.reproduce.vikram2016",
    "chatziafratis2018": "hcviz.reproduce.chatziafratis2018",
    "ghoshdastidar2019": "hcviz.reproduce.ghoshdastidar2019",
    "perrot2020": "hcviz.reproduce.perrot2020",
    "krishnamurthy2012": "hcviz.reproduce.krishnamurthy2012",
}

#: Descriptions in the help texts of commands.
RUN = (
    "The tree goes to standard output or to --out, and the progress to standard error. "
    "`hcviz run METHOD --help` lists the parameters of a method, `hcviz list methods` the methods."
)
CONVERT = (
    "The suffixes name the formats. With --format, the source is a tree, and the target has that "
    "format. - is standard input or standard output."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : the command's words; by default those of the process

    Returns
    -------
    int
        The exit code: 0; 1 if a claim or a method's check fails; 2 for an error of the input.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    forget_standard_input()
    try:
        options = make_parser(words).parse_args(words)
        return int(options.command(options) or 0)
    except HcvizError as fault:
        method = method_among(words)
        names = () if method is None else get(method).parameter_names()
        print(f"hcviz: {advice(fault, names)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has closed the pipe, as in `hcviz run ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


def make_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser. After ``run METHOD`` it also has the options of the method."""
    parser = argparse.ArgumentParser(
        prog="hcviz", description="Build the hierarchy you mean: items in, a tree out."
    )
    parser.add_argument("--version", action="version", version=f"hcviz {hcviz.__version__}")
    parser.set_defaults(command=lambda options: parser.print_help())
    commands = parser.add_subparsers(metavar="command")

    def command(
        name: str, run: Callable[[Any], Any], summary: str, more: str = ""
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=f"{summary} {more}".strip())
        added.set_defaults(command=run)
        return added

    one = command("serve", serve, "Serve the page on this machine.")
    one.add_argument(
        "data",
        nargs="?",
        type=input_name,
        help="a built-in data set, a table, or a session file (default: zoo)",
    )
    add_data_options(one)
    one.add_argument("--port", type=int, default=5006, help="default: %(default)s")
    one.add_argument(
        "--address", help="where to listen (default: 127.0.0.1; with --public all addresses)"
    )
    one.add_argument(
        "--public",
        action="store_true",
        help="let other machines open the page, with a password or OAuth",
    )
    one.add_argument(
        "--class",
        dest="for_class",
        action="store_true",
        help="let students open the page with a code, and collect their answers on the teacher's "
        "page; prints the codes and a QR code of the address",
    )
    one.add_argument(
        "--password-file",
        type=Path,
        metavar="FILE",
        help="a file whose first line is the password of the page (default: HCVIZ_PASSWORD)",
    )
    one.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="another name under which browsers open the page, such as that of a proxy; may be "
        "given several times",
    )
    one.add_argument(
        "--autosave",
        metavar="FOLDER",
        help="folder for unfinished sessions (default: HCVIZ_STATE, else your state folder)",
    )
    one.add_argument(
        "--no-autosave",
        dest="autosave",
        action="store_const",
        const="off",
        help="do not keep unfinished sessions",
    )
    one.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run methods on the workers of a Dask scheduler: tcp://... (default: HCVIZ_SCHEDULER)",
    )
    one.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="longest time of a sampler's run, which ends earlier when it has settled; 0: a fixed "
        "number of steps (default: HCVIZ_SECONDS, else 20)",
    )
    one.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="servers that share the people; a browser whose server ends moves to another one "
        "(default: %(default)s)",
    )

    one = command("run", run, "Run a method and print its tree in Newick.", RUN)
    one.add_argument("method", help="one of those that `hcviz list methods` shows")
    one.add_argument(
        "data",
        type=input_name,
        help="a table file, - for standard input, or a built-in data set (`hcviz list data`)",
    )
    one.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    add_data_options(one)
    one.add_argument(
        "--triplets",
        type=input_path,
        metavar="FILE.csv",
        help=f"constraints, with names of items; the header is {','.join(REQUIRED_COLUMNS)}",
    )
    one.add_argument(
        "--order",
        choices=ORDERS,
        help="order of the columns of triplets without this header; anchor-near-far is cblearn's",
    )
    one.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the tree, in the format of the suffix (--format has all)",
    )
    add_format(one)
    one.add_argument("--json", action="store_true", help="print a JSON object")
    one.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run the method on the workers of a Dask scheduler: tcp://...",
    )
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="value of a parameter"
    )
    method = method_among(words)
    if words[:1] == ["run"] and method is not None:
        add_parameters(one, get(method))

    one = command(
        "convert",
        convert,
        "Convert between Newick and scipy linkages (.npy), or between files of taxonomies.",
        CONVERT,
    )
    one.add_argument(
        "source", type=input_path, help=f"a tree (.nwk .npy) or a taxonomy: {READ_SUFFIXES}"
    )
    one.add_argument(
        "target", type=Path, help=f"a tree (.nwk .npy .svg .pdf) or a taxonomy: {WRITE_SUFFIXES}"
    )
    add_format(one)
    one.add_argument(
        "--style",
        choices=("levels", "paths"),
        default="levels",
        help="columns of a .csv: level_1, ..., item, or item,group,path (default: %(default)s)",
    )
    one.add_argument(
        "--labels", type=input_path, metavar="FILE", help="names of items, one per line"
    )

    one = command("compare", compare, "List the differences between two taxonomies.")
    one.add_argument("first", type=input_path, help=f"a taxonomy: {READ_SUFFIXES}")
    one.add_argument(
        "second", type=input_path, help="another version of it, in any of these formats"
    )
    one.add_argument("--json", action="store_true", help="print a JSON object")

    one = command("place", place, "Place new items in the groups of a taxonomy.")
    one.add_argument("taxonomy", type=input_path, help=f"a taxonomy: {READ_SUFFIXES}")
    one.add_argument("data", type=input_name, help="a built-in data set, or the table of its items")
    one.add_argument("new", type=input_path, help="a table of the new items, with the same columns")
    one.add_argument("--out", type=Path, metavar="FILE.csv", help="write the table to a file")
    one.add_argument(
        "--sure",
        type=float,
        default=0.5,
        help="lowest probability of an inner group (default: %(default)s)",
    )

    one = command(
        "worksheet",
        write_worksheet,
        "Write a worksheet for a class as PDF: a blank tree, questions, and the answers.",
    )
    one.add_argument("data", type=input_name, help="a built-in data set or a table")
    add_data_options(one)
    one.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.pdf", help="the file")
    one.add_argument("--method", help="the method of the answers' tree (default: average linkage)")
    one.add_argument("--title", help="the title of each page")
    one.add_argument(
        "--n-items", type=int, default=12, metavar="N", help="items on the sheet, 3 to 24"
    )
    one.add_argument("--n-questions", type=int, default=10, metavar="N", help="questions, 0 to 100")
    one.add_argument("--seed", type=int, default=0, help="another seed gives another sheet")

    one = command(
        "check",
        check,
        "Describe a table, answers, a tree or a session file.",
        "For a table it lists how each column is read.",
    )
    one.add_argument("file", type=input_path, help="a file, or - for standard input")
    one.add_argument("--json", action="store_true", help="print a JSON object")
    add_kind(one)
    add_items(one)

    one = command(
        "list",
        list_names,
        "List the methods, the built-in data sets or the formats.",
        "`hcviz run METHOD --help` explains a method.",
    )
    one.add_argument(
        "what",
        nargs="?",
        choices=list(LISTS),
        default="methods",
        help="methods (the default), data or formats",
    )
    one.add_argument(
        "--json", action="store_true", help="print a JSON list; methods have summary and paper"
    )

    one = command("cite", cite, "Print the papers of a method.")
    one.add_argument("method", help="one of those that `hcviz list methods` shows")

    command(
        "warm",
        compile_all,
        "Compile all methods now, for an image or a class room.",
        "Otherwise each is compiled at its first use, which takes seconds.",
    )

    one = command("conformance", check_methods, "Check methods of another package.")
    one.add_argument("place", help="where they are, such as package.module:ALGORITHMS")
    one.add_argument("--json", action="store_true", help="print a JSON list")

    one = command("completion", complete, "Print a script that completes hcviz's words in a shell.")
    one.add_argument("shell", choices=("bash", "zsh", "fish"))

    one = command("reproduce", reproduce, "Compute the tables and figures of a paper.")
    one.add_argument("name", choices=list(PAPERS))
    one.add_argument("--quick", action="store_true", help="smaller and faster")
    one.add_argument("--json", action="store_true", help="print a JSON object")
    one.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the figure, a CSV and a run record"
    )
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to read the data."""
    add_kind(parser)
    parser.add_argument(
        "--answers",
        type=input_path,
        action="append",
        default=[],
        metavar="FILE.csv",
        help="comparisons with names of items; a header is, for instance, anchor,near,far; may be "
        "given several times",
    )
    add_items(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--format``."""
    parser.add_argument(
        "--format",
        choices=list(TREE_FORMATS),
        help="; ".join(f"{name}: {text}" for name, text in TREE_FORMATS.items())
        + " (default: by the suffix, else newick)",
    )


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--kind``."""
    parser.add_argument(
        "--kind",
        choices=TABLE_KINDS,
        default="features",
        metavar="KIND",
        help=f"what a table holds: {', '.join(TABLE_KINDS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=OPTIONS",
        help="how a column is read: off, strip, a weight, or one of "
        f"{', '.join(get_args(ColumnKind))}; with commas between them",
    )


def add_items(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--items``."""
    parser.add_argument(
        "--items",
        type=input_path,
        metavar="FILE",
        help="if the data are a file of answers: names of all items, one per line",
    )


def complete(options: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    from hcviz.commands.completion import completion

    print(completion(make_parser, options.shell))


def reproduce(options: argparse.Namespace) -> int:
    """Run the reproduction of a paper, after its citation. Return 1 if a claim does not hold."""
    print(f"hcviz: {paper_reference(PAPERS[options.name])}", file=sys.stderr)
    return import_module(REPRODUCTIONS[options.name]).reproduce(
        options.quick, options.json, options.out
    )
