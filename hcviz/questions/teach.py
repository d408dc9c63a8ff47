"""``teach``: the teaching loop as a generator: sample, ask, apply the answer, sample again.

It is the interactive loop of Vikram and Dasgupta (2016), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import run
from hcviz.core.build import implies, is_consistent, minimal_conflict
from hcviz.core.errors import InvalidParameter
from hcviz.core.problem import Problem, as_problem
from hcviz.core.snapshot import Snapshot
from hcviz.core.tree import Tree
from hcviz.core.triplets import Triplets
from hcviz.core.validation import check_integer
from hcviz.metrics import triplet_distance
from hcviz.posterior import Posterior
from hcviz.questions.answers import bits, shown_triplets, triplet_support
from hcviz.questions.central import central_tree
from hcviz.questions.question import Memory, Question, Row
from hcviz.questions.registry import ask, strategies

Int = NDArray[np.int32]
Kind = Literal["start", "correction", "accepted", "implied", "conflict"]
Variant = Literal["central", "paper"]

#: At most this many sampled trees are reused after an answer that they satisfy.
MAX_KEPT_TREES = 100
#: Burn-in, as a share of the trees sampled between two questions. A correction moves the chain.
BURN_IN, FIRST_BURN_IN = 0.25, 0.5

#: Variant -> parameters of the sampler. The caller's parameters take precedence.
SAMPLER: dict[str, dict[str, Any]] = {
    "central": {},
    "paper": {"init": "random", "latents": "gibbs", "repair": "rebuild"},
}


class User(Protocol):
    """A person or program that answers, such as :class:`hcviz.datasets.SimulatedUser`."""

    def answer(self, shown: Tree, items: Any) -> Row | None: ...

    def odd_one_out(self, items: Any) -> Row | None: ...


@dataclass(frozen=True, eq=False)
class Step:
    """The state of the loop after an answer.

    Attributes
    ----------
    answers : int
        The number of answers so far.
    tree : Tree
        The tree to show now.
    log_joint : float
        The log joint probability of the chain's last tree.
    td : float
        The triplet distance to the target. NaN without a target.
    triplets : Triplets
        All triplets that the answers require.
    held : int
        The number of rows that accepted pieces add for the time being.
    kind : str
        ``start``; ``correction``: ``answer`` is a constraint from now on; ``accepted``: the person
        accepted the piece, or had no opinion; ``implied``: the answer followed from earlier ones;
        ``conflict``: the answer contradicts earlier ones and is not used.
    question, answer
        The question, and the answer ab|c as a row.
    share : float
        The share of the sampled trees that had ``answer``.
    bits : float
        The information of the answer (see :func:`hcviz.questions.bits`).
    """

    answers: int
    tree: Tree
    log_joint: float
    td: float
    triplets: Triplets
    held: int
    kind: Kind
    question: Question | None = None
    answer: Row | None = None
    share: float = float("nan")
    bits: float = 0.0


def teach(
    problem: Problem,
    user: User,
    question: str = "interleaved",
    *,
    answers: int = 100,
    target: Tree | None = None,
    size: int = 10,
    candidates: int = 20,
    induced: bool = False,
    proposals_per_item: int = 100,
    samples: int = 20,
    variant: Variant = "central",
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
) -> Iterator[Step]:
    """Yield a :class:`Step` at the start, and after each of ``answers`` answers.

    Between two questions the chain makes ``proposals_per_item`` times n proposals and keeps
    ``samples`` trees. A correction ab|c becomes a hard constraint. The chain's tree is repaired,
    and the chain continues from the repaired tree. The loop stops early if there is nothing left to
    ask.

    Parameters
    ----------
    problem : Problem
        With features. An array or DataFrame of features is accepted too. Its triplets are
        constraints from the start.
    user : User
        Has the methods ``answer`` and ``odd_one_out``.
    question : str
        A name of :func:`hcviz.questions.strategies`.
    answers : int
        The number of questions.
    target : Tree, optional
        Used only to compute ``td``.
    size, candidates, induced
        See :func:`hcviz.questions.ask`.
    proposals_per_item : int
        Proposals between two questions, for each item.
    samples : int
        Trees that are kept between two questions, at least 4.
    variant : {"central", "paper"}
        See Notes.
    seed : int
        The seed of the questions and the sampler. A simulated user has its own seed.
    params : dict, optional
        Parameters of the sampler ``ddt``. With ``beta``, answers may contradict each other.

    Yields
    ------
    Step

    Raises
    ------
    InvalidParameter
        If a parameter is wrong; before anything runs.

    Notes
    -----
    ``variant="paper"`` follows the paper. The chain starts at a random tree. The repaired part is
    rebuilt, and locations are sampled in turn with the tree. The last tree of the chain is shown.
    Accepted pieces have no effect. ``active`` uses the trees since the last correction.

    ``variant="central"`` differs in three ways:

    1. It shows the :func:`central_tree` of the sampled trees.
    2. Sampled trees that satisfy a new answer are draws from the new posterior too. The last
       ``MAX_KEPT_TREES`` of them are kept.
    3. The triplets of an accepted piece (:func:`shown_triplets`) are constraints of the chain until
       a correction contradicts them. The loop then removes a minimal conflict at a time. So
       "accept" means only "I see nothing wrong".

    References
    ----------
    Vikram & Dasgupta (2016), sections 3 and 5.
    """
    if question not in strategies():
        raise InvalidParameter(
            f"The teaching loop has no kind of question {question!r}.",
            f"Choose one of {', '.join(strategies())}.",
        )
    if variant not in SAMPLER:
        raise InvalidParameter(f"There is no variant {variant!r}.", "Choose central or paper.")
    problem = as_problem(problem)
    if problem.n_items < 3:
        raise InvalidParameter("Questions need at least three items.")
    answers = check_integer(answers, "The number of answers", InvalidParameter, 0)
    each = check_integer(proposals_per_item, "proposals_per_item", InvalidParameter, 1)
    samples = check_integer(samples, "The samples between two questions", InvalidParameter, 4)
    state = _TeachingState(
        problem, variant, each, samples, seed, SAMPLER[variant] | dict(params or {})
    )
    return _stream(state, user, question, answers, target, size, candidates, induced)


def _stream(
    state: _TeachingState,
    user: User,
    kind: str,
    answers: int,
    target: Tree | None,
    size: int,
    candidates: int,
    induced: bool,
) -> Iterator[Step]:
    memory = Memory()
    tree = state.sample()
    yield state.step(0, tree, target, "start")
    for number in range(1, answers + 1):
        asked = ask(
            kind,
            tree,
            state.posterior,
            size=size,
            candidates=candidates,
            induced=induced,
            triplets=state.triplets if state.hard else None,
            groups=state.problem.groups if state.hard else None,
            memory=memory,
            rng=state.rng,
        )
        if asked is None:
            return
        memory.ask(asked)
        items = np.array(asked.items)
        answer = (
            user.odd_one_out(asked.items)
            if asked.is_odd_one_out
            else user.answer(asked.shown, items)
        )
        if answer is None:
            memory.accept(asked)
            state.accept(asked)
            kind_of_answer: Kind = "accepted"
            share, information = float("nan"), 0.0
        else:
            share = triplet_support(state.posterior, answer)
            kind_of_answer = state.correct(answer)
            information = (
                bits(share, len(state.posterior.thinned_trees))
                if kind_of_answer == "correction"
                else 0.0
            )
            if kind_of_answer == "correction":
                state.forget()
        tree = state.sample()
        yield state.step(number, tree, target, kind_of_answer, asked, answer, share, information)


class _TeachingState:
    """The chain, its trees and the constraints between two questions."""

    def __init__(
        self,
        problem: Problem,
        variant: str,
        each: int,
        samples: int,
        seed: int,
        params: dict[str, Any],
    ) -> None:
        self.problem, self.params, self.seed = problem, params, seed
        self.is_central = variant == "central"
        self.hard = params.get("beta") is None
        self.n = problem.n_items
        self.steps = each * self.n
        self.every = max(self.steps // samples, 1)
        self.rng = np.random.default_rng(np.random.SeedSequence((seed, 1)))
        self.rows: Int = problem.triplets.rows.copy()
        self.held: Int = np.empty((0, 3), np.int32)
        self.kept: list[tuple[Tree, float]] = []
        self.posterior = Posterior(self.n)
        self.last: Snapshot | None = None

    @property
    def triplets(self) -> Triplets:
        return Triplets(self.rows)

    def sample(self) -> Tree:
        """Continue the chain, and return the tree to show."""
        problem = self.problem.with_triplets(np.concatenate([self.rows, self.held]))
        drawn = list(
            run(
                "ddt",
                problem,
                seed=self.seed,
                start=self.last,
                steps=self.steps,
                every=self.every,
                **self.params,
            )
        )
        left_out = BURN_IN if self.last else FIRST_BURN_IN
        self.last = drawn[-1]
        for snapshot in drawn[1 + int(left_out * (len(drawn) - 1)) :]:
            joint = snapshot.metrics["log_joint"]
            self.posterior.add(snapshot.tree, joint)
            self.kept.append((snapshot.tree, joint))
        self.kept = self.kept[-MAX_KEPT_TREES:]
        return central_tree(self.posterior, self.rng) if self.is_central else self.last.tree

    def forget(self) -> None:
        """Restart the posterior from the kept trees that satisfy all constraints."""
        rows = np.concatenate([self.rows, self.held])
        self.posterior = Posterior(self.n)
        is_central = self.is_central and self.hard
        self.kept = [
            each
            for each in self.kept
            if is_central and bool(each[0].satisfies(rows, self.problem.groups).all())
        ]
        for tree, joint in self.kept:
            self.posterior.add(tree, joint)

    def accept(self, question: Question) -> None:
        """Add the triplets of an accepted piece as constraints for the time being."""
        if not self.is_central or not self.hard:
            return
        more = shown_triplets(question)
        if len(more):
            self.held = np.concatenate([self.held, more])
            self.forget()

    def correct(self, answer: Row) -> Kind:
        """Add a correction unless it contradicts earlier ones; drop held triplets against it."""
        row, groups = np.array([answer], np.int32), self.problem.groups
        rows = np.concatenate([self.rows, row])
        if self.hard:
            if not is_consistent(self.n, rows, groups):
                return "conflict"
            if implies(self.n, self.rows, answer, groups):
                return "implied"
        self.rows = rows
        while len(self.held):
            conflict = minimal_conflict(
                self.n, np.concatenate([self.rows, self.held]), groups if self.hard else None
            )
            if not conflict:
                break
            at = np.array(conflict) - len(self.rows)
            self.held = np.delete(self.held, at[at >= 0], axis=0)
        return "correction"

    def step(
        self,
        answers: int,
        tree: Tree,
        target: Tree | None,
        kind: Kind,
        question: Question | None = None,
        answer: Row | None = None,
        share: float = float("nan"),
        information: float = 0.0,
    ) -> Step:
        assert self.last is not None
        td = triplet_distance(target, tree) if target is not None else float("nan")
        joint = self.last.metrics["log_joint"]
        return Step(
            answers, tree, joint, td, self.triplets, len(self.held), kind, question, answer, share,
            information,
        )  # fmt: skip
