"""hcviz: build the hierarchy you mean.

The package builds a tree over items with any of several methods, and a person can correct it on a
web page. See docs/start.md for an introduction, and docs/architecture.md for the code.
"""

from typing import Any

from hcviz import datasets, methods, metrics
from hcviz.algorithms import algorithms, fit, run, sample
from hcviz.core.build import build
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.errors import HcvizError, InconsistentTriplets, InvalidData
from hcviz.core.file_oracle import FileOracle
from hcviz.core.problem import Problem, read_names_with
from hcviz.core.similarity_oracles import FeatureOracle, FunctionOracle, StringOracle
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons, Triplets
from hcviz.description import describe, describe_group, describe_item, suggest_names
from hcviz.side_by_side import compare_methods
from hcviz.taxonomy import Group, Taxonomy
from hcviz.taxonomy.new_items import place
from hcviz.worksheets import worksheet

__version__ = "0.1.0"


def _read_named(name: str) -> Any:
    """Return the built-in data set of a name, or the table in a file."""
    from hcviz.io.named_data import read_named

    return read_named(name)


read_names_with(_read_named)


def read_table(table: Any, **options: Any) -> Any:
    """Read a table of items as the page does.

    Parameters
    ----------
    table : str, path, bytes or DataFrame
        A file (CSV, TSV, Excel, Parquet, NumPy, FASTA, Newick), its bytes, or a table whose index
        has the items' names.
    **options
        For files: ``kind``, ``columns``, ``sheet`` and ``filename`` of
        :func:`hcviz.io.tables.read_table`.

    Returns
    -------
    Dataset
        The items. ``problem()`` of it is what the page would run, ``notes`` are the reader's
        decisions.

    Raises
    ------
    InvalidData, TooLarge
        The table cannot be read; the message names row and column.

    Examples
    --------
    >>> read_table(b"name,legs\\nbee,6\\nspider,8\\n")
    Dataset('Table', 2 items, 1 features)
    """
    from hcviz.core.dataframes import is_frame
    from hcviz.io import tables

    if not is_frame(table):
        return tables.read_table(table, **options)
    if options:
        names = ", ".join(options)
        raise InvalidData(f"A DataFrame is read without options, but {names} was given.")
    return tables.read_frame(table, "Your table")


def explore(problem_or_dataset: Any, **options: Any) -> Any:
    """Return the page for a notebook cell, or for its method ``show()``.

    Parameters
    ----------
    problem_or_dataset : Problem, Dataset, str, path, DataFrame or float (n, d)
        What to explore: a problem, a data set of :func:`hcviz.datasets.load` or its name, the path
        of a table, or a table of features. NaN is a missing cell.
    **options
        ``method``: the name of a method (default: the sampler if there are features, else the first
        method that can run). ``height``: the height in CSS pixels (default: 760).

    Returns
    -------
    ExplorerView
        The page. Its attributes ``tree``, ``constraints``, ``taxonomy``, ``problem`` and
        ``session`` follow what a person does; ``view.param.watch(f, "tree")`` calls ``f`` with
        each change. ``view.save("page.html")`` writes a page that needs no network.

    Raises
    ------
    InvalidData
        The argument is none of these.

    Examples
    --------
    >>> view = explore("zoo", method="average")
    >>> view.session.method, view.problem.n_items, view.constraints
    ('average', 101, ())
    """
    from hcviz.ui import explore as build_explorer

    return build_explorer(problem_or_dataset, **options)


__all__ = [
    "Comparisons",
    "CountingOracle",
    "FeatureOracle",
    "FileOracle",
    "FunctionOracle",
    "Group",
    "HcvizError",
    "InconsistentTriplets",
    "Problem",
    "Snapshot",
    "StringOracle",
    "Taxonomy",
    "Tree",
    "Triplets",
    "algorithms",
    "build",
    "compare_methods",
    "datasets",
    "describe",
    "describe_group",
    "describe_item",
    "explore",
    "fit",
    "methods",
    "metrics",
    "place",
    "read_table",
    "run",
    "sample",
    "suggest_names",
    "worksheet",
]
