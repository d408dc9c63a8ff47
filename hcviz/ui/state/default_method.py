"""Which method suits the data: when data are opened, and where one must keep constraints."""

from __future__ import annotations

from contextlib import suppress

from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.base import Algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.problem import MOST_DENSE, Problem
from hcviz.session import actions as act
from hcviz.session.model import Session


def for_opened(session: Session, problem: Problem) -> tuple[Algorithm, str] | None:
    """The method for data that are being opened, and why it changes; None: the one in use stays.

    It stays where the person chose it and it can run, but for a sampler on very many items, which
    takes long to settle. Else the default for the data takes its place.
    """
    current = get_algorithm(session.method)
    why = "which suits this data"
    if current.lacks(problem):
        why = f"as {current.name} cannot run on this data"
    elif problem.n_items > MOST_DENSE and current.samples:
        why = f"as {current.name} takes long on so many items"
    elif chosen(session):
        return None
    found = default(problem)
    return None if found is None or found is current else (found, why)


def chosen(session: Session) -> bool:
    """Whether the person chose the method in use, rather than the page for data opened earlier."""
    for entry in reversed(session.log):
        done = entry.action
        if isinstance(done, act.SetMethod) and done.name == session.method:
            return True
        if isinstance(done, act.Soften | act.LoadedData) and done.method == session.method:
            return isinstance(done, act.Soften)
    return session.method != Session().method


def default(problem: Problem) -> Algorithm | None:
    """The registry's first method that can run on the data: of those that read it if there are any,
    and then of those that keep constraints. Where all similarities are too many, one that asks for
    few. None: no method can run."""
    found = able(problem)
    if problem.n_items > MOST_DENSE:
        found = [each for each in found if each.sparing] or found
    found = [each for each in found if "items" not in each.needs] or found
    heed = [each for each in found if each.triplets == "hard"]
    return next(iter([*heed, *found]), None)


def keeping_constraints(session: Session, problem: Problem) -> Algorithm | None:
    """The method to switch to where the one in use ignores constraints; None: there is none.

    Of those that keep them and can run: one that reads what the method in use reads, asks for few
    similarities or many as that does, and samples only if that does; the registry's first of these.
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
            each.sparing != current.sparing,
        )

    return min(found, key=unlike)


def always_soft(problem: Problem) -> Algorithm | None:
    """The registry's first method that treats constraints as soft whatever its parameters."""
    return next((each for each in able(problem) if each.triplets == "soft"), None)


def known() -> list[Algorithm]:
    """The registry's methods, without those that cannot be loaded."""
    found = []
    for name in algorithms():
        with suppress(HcvizError):  # the menu says what is wrong with it
            found.append(get_algorithm(name))
    return found


def able(problem: Problem) -> list[Algorithm]:
    """Those that can run on the problem."""
    return [each for each in known() if not each.lacks(problem)]
