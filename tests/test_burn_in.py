"""How many draws of a chain are left out."""

from __future__ import annotations

import numpy as np
import pytest

from hcviz import Tree
from hcviz.posterior import Draws
from hcviz.posterior.burn_in import arrival, burn_in


def slow_arrival(values):
    """The first draw that is on the other side of the later half's median than the first draw."""
    level = sorted(values[len(values) // 2 :])
    middle = (level[(len(level) - 1) // 2] + level[len(level) // 2]) / 2
    for place, value in enumerate(values):
        if value == middle or (value < middle) != (values[0] < middle):
            return place
    return 0


def test_arrival_is_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(300):
        length = int(rng.integers(1, 60))
        values = rng.normal(size=length) + rng.choice([-9, 0, 9]) * np.exp(
            -np.arange(length) / rng.choice([1, 5, 40])
        )
        found = arrival(values)
        assert found == slow_arrival(values.tolist())
        assert found == arrival(-values)


@pytest.mark.parametrize(
    ("joints", "expected"),
    [
        ([], 0),
        ([1.0], 0),
        ([np.nan] * 10, 5),  # a method without a log joint: half, as nothing is known
        ([0.0] * 40, 5),
        (np.arange(100.0), 50),  # it rises to the end
        (np.r_[np.full(10, -9.0), np.zeros(90)], 40),
        (np.r_[np.full(3, 9.0), np.zeros(97)], 12),  # from above
        (np.r_[np.full(2, -9.0), np.zeros(98)], 12),
    ],
)
def test_between_an_eighth_and_half_is_left_out(joints, expected):
    assert burn_in(joints) == expected


def test_draws_leave_out_their_own_burn_in():
    draws = Draws(3)
    tree = Tree.from_newick("((0,1),2);")
    for joint in [-50.0] * 4 + [0.0, 1.0] * 30:
        draws.append(tree, joint)
    assert draws.after_burn_in() == slice(20, 64)  # past the median, .5, at draw 5
