"""``worksheet``: the pages of a worksheet for any data, as one PDF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hcviz.algorithms import algorithms, fit, get
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.problem import Problem, as_problem, load_named
from hcviz.core.tree import Tree
from hcviz.core.validation import check_integer
from hcviz.questions.next_triple import next_triple

#: Methods for a worksheet, the preferred one first.
PREFERRED = ("average", "4-al")
#: Items and questions on a worksheet by default, and at most.
ITEMS, QUESTIONS, MAX_ITEMS, MAX_QUESTIONS = 12, 10, 24, 100


@dataclass(frozen=True)
class TripletQuestion:
    """Three items in the order of the sheet, and the pair that the tree joins first."""

    items: tuple[int, int, int]
    pair: tuple[int, int]


def worksheet(
    problem: Any,
    *,
    method: str | None = None,
    title: str | None = None,
    n_items: int = ITEMS,
    n_questions: int = QUESTIONS,
    seed: int = 0,
) -> bytes:
    """Make a worksheet for a class: a blank tree, questions about three items, and the answers.

    Parameters
    ----------
    problem : Problem, Dataset, DataFrame, array (n, d), str or path
        What :func:`hcviz.fit` takes.
    method : str, optional
        The method whose tree is the answer. By default average linkage, or the first method that
        can run on the data.
    title : str, optional
        The title of each page; by default the title of the data set.
    n_items : int
        How many items the sheet has, 3 to 24. More are in the tree, and these are drawn at random.
    n_questions : int
        How many questions to ask, 0 to 100. There may be fewer for few items.
    seed : int
        Of the items and questions. Another seed gives another sheet.

    Returns
    -------
    bytes
        A PDF on A4 with its fonts. The same arguments give the same bytes.

    Raises
    ------
    InvalidParameter
        A number is not whole or out of range, the title is no text, or the method is unknown.
    InvalidData
        There are fewer than three items, or no method can run on the data.

    Notes
    -----
    The pages are: the list of items with an empty frame to draw a tree in, the questions "which two
    belong together?", and the answers with the tree. The questions prefer items that were asked
    about least, and leave out triples that the tree does not resolve.

    Examples
    --------
    >>> pdf = worksheet("zoo", n_questions=4)
    >>> pdf[:5]
    b'%PDF-'
    """
    from hcviz.worksheets.pages import Pages  # matplotlib is slow to import

    n_items = _check_number("n_items", n_items, 3, MAX_ITEMS)
    n_questions = _check_number("n_questions", n_questions, 0, MAX_QUESTIONS)
    seed = check_integer(seed, "The seed", InvalidParameter)
    if not isinstance(title, str | None):
        raise InvalidParameter(f"title must be a text, not {title!r}.")
    data = load_named(problem)
    given = as_problem(data)
    if given.n_items < 3:
        raise InvalidData(f"A worksheet needs three items; there are {given.n_items}.")
    chosen = _method_for(given) if method is None else get(method).name
    tree = fit(chosen, given, seed=seed)
    rng = np.random.default_rng(seed)
    items = np.sort(rng.permutation(given.n_items)[:n_items])
    labels = [str(i) for i in range(given.n_items)] if given.labels is None else given.labels
    part, names = tree.restrict(items), [str(labels[item]) for item in items]
    if title is None:
        title = str(getattr(data, "title", "") or "Worksheet")
    pages = Pages(title, part, names)
    pages.blank_tree()
    questions = choose_questions(part, n_questions, rng)
    if questions:
        pages.questions([[names[item] for item in each.items] for each in questions])
    pages.answers(
        [
            ([names[item] for item in each.items], [names[item] for item in each.pair])
            for each in questions
        ],
        f"{get(chosen).title}; {len(names)} of {given.n_items:,} items; seed {seed}",
    )
    return pages.pdf()


def choose_questions(tree: Tree, count: int, rng: np.random.Generator) -> list[TripletQuestion]:
    """Return at most ``count`` questions that ``tree`` answers, about all items equally often."""
    seen = np.zeros(tree.n_leaves, np.int64)
    asked: set[frozenset[int]] = set()
    found: list[TripletQuestion] = []
    while len(found) < count and (three := next_triple(seen, rng, asked)) is not None:
        asked.add(frozenset(three))
        a, b, c = three
        rows = np.array([[a, b, c], [a, c, b], [b, c, a]], dtype=np.int32)
        held = np.flatnonzero(tree.satisfies(rows))
        if held.size:
            seen[list(three)] += 1
            row = rows[held[0]]
            found.append(TripletQuestion(three, (int(row[0]), int(row[1]))))
    return found


def _check_number(name: str, value: Any, low: int, high: int) -> int:
    number = check_integer(value, name, InvalidParameter)
    if not low <= number <= high:
        raise InvalidParameter(f"{name} is from {low} to {high}, not {number}.")
    return number


def _method_for(problem: Problem) -> str:
    """Return the name of the method whose tree a worksheet has by default."""
    names = (*PREFERRED, *algorithms())
    found = next((name for name in names if not get(name).missing_data(problem)), None)
    if found is None:
        raise InvalidData("No method can make a tree of these data.")
    return found


__all__ = ["TripletQuestion", "choose_questions", "worksheet"]
