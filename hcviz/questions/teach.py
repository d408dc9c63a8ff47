"""``teach``: the whole loop as a generator. Sample, show, ask, be corrected, sample on."""

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
from hcviz.questions.answers import bits, locked, surprise
from hcviz.questions.central import central_tree
from hcviz.questions.question import Memory, Question, Row
from hcviz.questions.registry import STRATEGIES, ask

Int = NDArray[np.int32]
Kind = Literal["start", "correction", "accepted", "implied", "conflict"]
Variant = Literal["central", "paper"]

#: Trees that are kept from one question to the next, while they agree with the answers.
KEPT = 100
#: Of the trees sampled between two questions, those left out: the chain has just been bent.
LEFT_OUT, LEFT_OUT_AT_FIRST = 0.25, 0.5

#: Variant -> what the sampler is told beside the caller's own parameters.
SAMPLER: dict[str, dict[str, Any]] = {
    "central": {},
    "paper": {"init": "random", "latents": "gibbs", "repair": "rebuild"},
}


class User(Protocol):
    """Whoever answers, e.g. :class:`hcviz.datasets.SimulatedUser`."""

    def answer(self, shown: Tree, items: Any) -> Row | None: ...

    def odd_one_out(self, items: Any) -> Row | None: ...


@dataclass(frozen=True, eq=False)
class Step:
    """After ``answers`` answers: the tree as it would be shown now, and what the last answer was.

    ``kind``: ``start``; ``correction``: ``answer`` holds from now on; ``accepted`` (or no opinion);
    ``implied``: it followed already; ``conflict``: it contradicts earlier ones and was put aside.
    ``share``: of the sampled trees, how many had it; ``bits``: what it told by that. ``td``: nan
    where no target is known. ``log_joint`` is that of the chain's last tree. ``triplets``: all
    answers that hold; ``held``: how many rows accepted pieces add for the time being.
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
    """Yield a :class:`Step` at the start and after each of ``answers`` answers (Vikram & Dasgupta
    2016).

    Between two questions the chain makes ``proposals_per_item`` times n proposals, from which
    ``samples`` trees are taken. A correction ab|c is a hard constraint from then on; the chain's
    tree is mended, and goes on from there. It ends early where there is nothing left to ask.

    ``variant="paper"``: a random start, the mended part rebuilt, locations sampled in turn with
    the tree, the chain's last tree shown, accepted pieces forgotten; the trees for ``active`` are
    those since the last correction.

    ``variant="central"``, ours, differs in three ways. (1) The :func:`central_tree` of the sampled
    trees is shown. (2) Sampled trees that agree with a new answer are draws from the new posterior
    as well, so they are kept (the last ``KEPT``). (3) What an accepted piece shows is held to *as
    long as no correction contradicts it*: its triplets (:func:`locked`) are constraints of the
    chain, and those that stand in the way of a correction (a minimal conflict each time) are given
    up. Nobody has to believe that "accept" means more than "I see nothing wrong".

    Parameters
    ----------
    problem : Problem
        With features, or these alone, an array or DataFrame; its triplets hold from the start.
    user : anything with ``answer`` and ``odd_one_out``
    question : str
        A name of :func:`hcviz.questions.strategies`.
    size, candidates, induced
        As for :func:`hcviz.questions.ask`.
    target : Tree, optional
        For ``td``; nothing else looks at it.
    seed : int
        Of questions and sampler; a simulated user has its own.
    params : dict, optional
        Parameters of the sampler ``ddt``. With ``beta`` answers may contradict each other.

    Raises :class:`InvalidParameter` before anything runs.
    """
    if question not in STRATEGIES:
        raise InvalidParameter(
            f"There is no kind of question {question!r}.", f"Known: {', '.join(STRATEGIES)}."
        )
    if variant not in SAMPLER:
        raise InvalidParameter(f"There is no variant {variant!r}.", "Known: central, paper.")
    problem = as_problem(problem)
    if problem.n_items < 3:
        raise InvalidParameter("Questions are about three items or more.")
    answers = check_integer(answers, "The number of answers", InvalidParameter, 0)
    each = check_integer(proposals_per_item, "proposals_per_item", InvalidParameter, 1)
    samples = check_integer(samples, "The samples between two questions", InvalidParameter, 4)
    lesson = _Lesson(problem, variant, each, samples, seed, SAMPLER[variant] | dict(params or {}))
    return _stream(lesson, user, question, answers, target, size, candidates, induced)


def _stream(
    lesson: _Lesson,
    user: User,
    kind: str,
    answers: int,
    target: Tree | None,
    size: int,
    candidates: int,
    induced: bool,
) -> Iterator[Step]:
    memory = Memory()
    tree = lesson.sample()
    yield lesson.step(0, tree, target, "start")
    for number in range(1, answers + 1):
        put = ask(
            kind,
            tree,
            lesson.posterior,
            size=size,
            candidates=candidates,
            induced=induced,
            triplets=lesson.triplets if lesson.hard else None,
            memory=memory,
            rng=lesson.rng,
        )
        if put is None:
            return
        memory.ask(put)
        items = np.array(put.items)
        answer = user.odd_one_out(put.items) if put.picks else user.answer(put.shown, items)
        if answer is None:
            memory.accept(put)
            lesson.accept(put)
            what: Kind = "accepted"
            share, told = float("nan"), 0.0
        else:
            share = surprise(lesson.posterior, answer)
            what = lesson.correct(answer)
            told = bits(share, len(lesson.posterior.thinned_trees)) if what == "correction" else 0.0
            if what == "correction":
                lesson.forget()
        tree = lesson.sample()
        yield lesson.step(number, tree, target, what, put, answer, share, told)


class _Lesson:
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
        self.ours = variant == "central"
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
        """Go on with the chain; the tree to show."""
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
        left_out = LEFT_OUT if self.last else LEFT_OUT_AT_FIRST
        self.last = drawn[-1]
        for snapshot in drawn[1 + int(left_out * (len(drawn) - 1)) :]:
            joint = snapshot.metrics["log_joint"]
            self.posterior.add(snapshot.tree, joint)
            self.kept.append((snapshot.tree, joint))
        self.kept = self.kept[-KEPT:]
        return central_tree(self.posterior, self.rng) if self.ours else self.last.tree

    def forget(self) -> None:
        """Start the posterior anew, with those of the last trees that satisfy all constraints."""
        rows = np.concatenate([self.rows, self.held])
        self.posterior = Posterior(self.n)
        ours = self.ours and self.hard
        self.kept = [each for each in self.kept if ours and bool(each[0].satisfies(rows).all())]
        for tree, joint in self.kept:
            self.posterior.add(tree, joint)

    def accept(self, question: Question) -> None:
        if not self.ours or not self.hard:
            return
        more = locked(question)
        if len(more):
            self.held = np.concatenate([self.held, more])
            self.forget()

    def correct(self, answer: Row) -> Kind:
        """Take the answer in, unless it contradicts those before; give up what is held against
        it."""
        row = np.array([answer], np.int32)
        rows = np.concatenate([self.rows, row])
        if self.hard:
            if not is_consistent(self.n, rows):
                return "conflict"
            if implies(self.n, self.rows, answer):
                return "implied"
        self.rows = rows
        while len(self.held):
            conflict = minimal_conflict(self.n, np.concatenate([self.rows, self.held]))
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
        told: float = 0.0,
    ) -> Step:
        assert self.last is not None
        td = triplet_distance(target, tree) if target is not None else float("nan")
        joint = self.last.metrics["log_joint"]
        return Step(
            answers, tree, joint, td, self.triplets, len(self.held), kind, question, answer, share,
            told,
        )  # fmt: skip
