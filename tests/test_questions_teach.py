"""The loop: it learns, keeps all answers, and ends by its rule."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from hcviz import Problem, Tree
from hcviz.core.build import is_consistent
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import SimulatedUser, planted_hierarchy
from hcviz.metrics import triplet_distance
from hcviz.questions import strategies, teach
from hcviz.reproduce.cases import iris, zoo
from tests.trees import from_nested


@pytest.fixture(scope="module")
def small():
    """16 points on a line, in a hierarchy of four levels that the line shows but for two items,
    which are each in the other's place."""
    x = np.array([sum((k >> level & 1) * 4.0**level for level in range(4)) for k in range(16)])
    x[[3, 12]] = x[[12, 3]]
    target = from_nested(
        tuple(
            tuple(tuple((8 * a + 4 * b + 2 * c, 8 * a + 4 * b + 2 * c + 1) for c in (0, 1))
                  for b in (0, 1))
            for a in (0, 1)
        ),
        16,
    )  # fmt: skip
    return Problem(features=x[:, None]), target


def lesson(case, kind, answers, seed, **options):
    return list(
        teach(
            case.problem, SimulatedUser(case.target, seed=seed), kind, target=case.target,
            answers=answers, seed=seed, params=case.params, **options,
        )
    )  # fmt: skip


def test_iris_is_learned():
    """Measured for seeds 1 to 8: the mean of TD over the last five of 30 interleaved answers of 10
    leaves is 0 to 0.023, against 0.10 of average linkage and 0.11 to 0.21 at the start. Half of
    average linkage's leaves room for another version's stream of random numbers."""
    case = iris()
    assert case.average == pytest.approx(0.1015, abs=5e-4)  # as the paper's published code has it
    td = [step.td for step in lesson(case, "interleaved", 30, seed=1)]
    assert np.mean(td[-5:]) < case.average / 2
    assert td[0] > np.mean(td[-5:])


def test_zoo_is_learned():
    """The median of the last ten of 50 is 0.08 to 0.10 for seeds 1 to 3. Average linkage has 0.318.

    With half as many regrafts an answer it is 0.38, 0.07 and 0.32: a chain does not recover from
    the repair before the next answer (log joint 100 below its level), and TD jumps to 0.4.
    """
    case = zoo()
    td = [step.td for step in lesson(case, "interleaved", 50, seed=1)]
    assert np.median(td[-10:]) < 0.8 * case.average
    assert np.median(td[-10:]) < td[0]


@pytest.mark.parametrize("kind", strategies())
@pytest.mark.parametrize("variant", ["central", "paper"])
def test_every_kind_keeps_the_answers(small, kind, variant):
    problem, target = small
    steps = list(
        teach(
            problem, SimulatedUser(target, seed=1), kind, answers=8, target=target, size=6,
            proposals_per_item=20, variant=variant, seed=1,
        )
    )  # fmt: skip
    assert [step.answers for step in steps] == list(range(len(steps)))
    assert steps[0].kind == "start"
    answers = []
    for before, step in pairwise(steps):
        if step.kind == "correction":
            answers.append(step.answer)
            assert target.satisfies([step.answer])[0]
            if step.share > 0:
                assert step.bits == pytest.approx(-math.log2(step.share))
            assert step.bits >= 0
            if kind != "simple":
                assert not before.tree.satisfies([step.answer])[0]
        assert step.triplets.rows.tolist() == [list(row) for row in answers]
        assert step.tree.satisfies(step.triplets).all()
        assert step.td == triplet_distance(target, step.tree)
        assert math.isfinite(step.log_joint)
        if variant == "paper":
            assert step.held == 0
    shown = [step.question.key() for step in steps[1:]]
    assert len(set(shown)) == len(shown)
    if len(steps) < 9:  # nothing left to ask: the whole tree was accepted
        assert kind == "smart"
        assert steps[-1].td == 0


def test_the_same_seeds_teach_the_same(small):
    problem, target = small
    runs = [
        [
            (step.td, step.answer, step.question and step.question.items)
            for step in teach(
                problem, SimulatedUser(target, seed=2), "informative", answers=6, target=target,
                size=5, proposals_per_item=10, seed=3,
            )
        ]
        for _ in range(2)
    ]  # fmt: skip
    assert runs[0] == runs[1]


def test_corrections_replace_held_pieces(small):
    """A user who accepts everything, then corrects it all: what is held refuses no answer."""
    problem, target = small

    class Turncoat(SimulatedUser):
        count = 0

        def answer(self, shown, items=None):
            self.count += 1
            return None if self.count <= 6 else super().answer(shown, items)

    steps = list(
        teach(
            problem, Turncoat(target, seed=1), "random", answers=30, target=target, size=6,
            proposals_per_item=20, seed=1,
        )
    )  # fmt: skip
    held = [step.held for step in steps]
    assert held[6] > 0
    assert steps[7].td > 0
    assert any(later < earlier for earlier, later in pairwise(held))
    assert all(step.kind in ("start", "accepted", "correction") for step in steps)
    assert np.mean([step.td for step in steps[-3:]]) < steps[6].td


def test_contradicting_errors_are_switched_off(small):
    problem, target = small

    class Scripted(SimulatedUser):
        answers = iter([(0, 1, 2), (1, 2, 3), (0, 2, 1), (0, 1, 3), (4, 5, 6)])

        def answer(self, shown, items=None):
            return next(self.answers)

    steps = list(
        teach(
            problem, Scripted(target), "random", answers=5, target=target, size=6,
            proposals_per_item=5,
        )
    )  # fmt: skip
    assert [step.kind for step in steps[1:]] == [
        "correction", "correction", "conflict", "implied", "correction",
    ]  # fmt: skip
    assert steps[-1].triplets.rows.tolist() == [[0, 1, 2], [1, 2, 3], [4, 5, 6]]
    assert all(is_consistent(16, step.triplets.rows) for step in steps)
    soft = list(
        teach(
            problem, SimulatedUser(target, seed=0, error=0.5), "random", answers=5, size=6,
            proposals_per_item=5, seed=0, params={"beta": 2.0},
        )
    )  # fmt: skip
    assert all(math.isnan(step.td) for step in soft)
    assert {step.kind for step in soft} <= {"start", "correction", "accepted"}


def test_triplets_of_the_problem_hold_from_the_start():
    data = planted_hierarchy(levels=2, pure_size=3, delta=0.3, sigma=0.1, seed=0)
    features = np.random.default_rng(0).normal(size=(12, 2))
    problem = Problem(features=features, triplets=[[0, 11, 1]])
    steps = list(
        teach(
            problem, SimulatedUser(data.target, seed=0), "random", answers=3, size=5,
            proposals_per_item=5,
        )
    )  # fmt: skip
    assert all(step.tree.satisfies([[0, 11, 1]])[0] for step in steps)


def test_bad_options_are_refused_before_anything_runs(small):
    problem, target = small
    user = SimulatedUser(target)
    for options, match in (
        ({"question": "clever"}, "no kind of question"),
        ({"variant": "mine"}, "no variant"),
        ({"answers": -1}, "number of answers"),
        ({"proposals_per_item": 0}, "proposals_per_item"),
    ):
        with pytest.raises(InvalidParameter, match=match):
            teach(problem, user, **options)


def test_two_items_give_no_question():
    problem = Problem(features=[[0.0], [1.0]])
    with pytest.raises(InvalidParameter, match="three items"):
        teach(problem, SimulatedUser(Tree.star(2)), "random")
