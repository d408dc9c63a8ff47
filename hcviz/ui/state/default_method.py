"""Choose a method for data that are opened, and one that keeps constraints."""

from __future__ import annotations

from contextlib import suppress

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import MAX_DENSE, Problem
from hcviz.session import actions as act
from hcviz.session.model import Session


def for_opened(session: Session, problem: Problem) -> tuple[Algorithm, str] | None:
    """Return the method for opened data and why it changes; None if the current one is kept.

    The current method is kept if the person chose it and it can run. A sampler on very many items,
    which takes long to settle, is not kept.
    """
    current = get_algorithm(session.method)
    why = "which suits this data"
    if current.missing_data(problem):
        why = f"as {current.title} cannot run on this data"
    elif problem.n_items > MAX_DENSE and current.samples:
        why = f"as {current.title} takes long on so many items"
    elif chosen(session):
        return None
    found = default(problem)
    return None if found is None or found is current else (found, why)


def chosen(session: Session) -> bool:
    """Return True if the person chose the current method, rather than the page."""
    for entry in reversed(session.log):
        done = entry.action
        if isinstance(done, act.SetMethod) and done.name == session.method:
            return True
        if isinstance(done, act.Soften | act.LoadedData) and done.method == session.method:
            return isinstance(done, act.Soften)
    return session.method != Session().method


def default(problem: Problem) -> Algorithm | None:
    """Return the default method for a problem; None if no method can run.

    It is the first of the registry among the methods that can run, preferring in this order: one
    that queries few similarities if there are very many items, one that reads the data, one that
    reads the piles of a card sort, one that keeps constraints.
    """
    found = able(problem)
    if problem.n_items > MAX_DENSE:
        found = [each for each in found if each.subquadratic] or found
    found = [each for each in found if "items" not in each.needs] or found
    if problem.piles:
        found = [each for each in found if "piles" in each.needs] or found
    respecting = [each for each in found if each.triplets == "hard"]
    return next(iter([*respecting, *found]), None)


def keeping_constraints(session: Session, problem: Problem) -> Algorithm | None:
    """Return a method that keeps constraints, most like the current one; None if there is none.

    It reads the same data if possible, queries as few similarities, and samples only if the current
    method does. Among equals it is the first of the registry.
    """
    current = get_algorithm(session.method)
    found = [each for each in able(problem) if each.triplets == "hard"]
    if not found:
        return None

    def unlike(each: Algorithm) -> tuple[bool, ...]:
        reads = bool(set(each.needs) & set(current.needs))
        return (
            "items" in each.needs,
            not reads,
            each.samples != current.samples,
            each.subquadratic != current.subquadratic,
        )

    return min(found, key=unlike)


def always_soft(problem: Problem) -> Algorithm | None:
    """Return the first method of the registry whose constraints are always soft."""
    return next((each for each in able(problem) if each.triplets == "soft"), None)


def known() -> list[Algorithm]:
    """Return the methods of the registry that can be loaded."""
    found = []
    for name in algorithms():
        with suppress(HcvizError):  # the menu shows what is wrong with it
            found.append(get_algorithm(name))
    return found


def able(problem: Problem) -> list[Algorithm]:
    """Return the methods that can run on the problem."""
    return [each for each in known() if not each.missing_data(problem)]
