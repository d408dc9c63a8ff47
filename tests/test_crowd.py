"""The crowd that answers about three items, and the flowers it answers about."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hcviz import Comparisons
from hcviz.core.errors import InvalidParameter
from hcviz.datasets import crowd_answers, load
from hcviz.datasets.crowd import choose_of_three
from hcviz.datasets.pictures import thumbnail
from hcviz.metrics import comparisons_held


@pytest.mark.parametrize("kind", ["central", "odd"])
def test_a_user_with_the_similarities_chooses_by_definition(kind):
    w = np.random.default_rng(0).random((6, 6))
    w = w + w.T
    three = np.array(list(itertools.permutations(range(6), 3)), np.int32)
    for row, column in zip(three.tolist(), choose_of_three(w, three, kind), strict=True):
        sums = [sum(w[i, j] for j in row if j != i) for i in row]
        assert column == (np.argmax(sums) if kind == "central" else np.argmin(sums))


def test_a_crowd_without_errors_agrees_with_the_similarities():
    w = np.random.default_rng(1).random((9, 9))
    w = w + w.T
    made = Comparisons.from_most_central(crowd_answers(w, 300, "central", eps=1.0, seed=2))
    anchor, near, far = made.rows.T
    assert (w[anchor, near] > w[anchor, far]).all()
    odd = crowd_answers(w, 300, "odd", eps=1.0, seed=3)
    assert (
        w[odd[:, 1], odd[:, 2]] > np.maximum(w[odd[:, 0], odd[:, 1]], w[odd[:, 0], odd[:, 2]])
    ).all()


def test_a_crowd_errs_at_the_given_rate():
    w = np.random.default_rng(4).random((40, 40))
    w = w + w.T
    answers = crowd_answers(w, 4000, "odd", times=3, eps=0.4, seed=5)
    right = choose_of_three(w, answers, "odd") == 0
    # Answers are independent: five standard deviations of a share of 0.7 among these many.
    assert abs(right.mean() - 0.7) < 5 * np.sqrt(0.7 * 0.3 / len(answers))
    assert abs(len(answers) - 8000) < 5 * np.sqrt(4000 * 2 / 3)  # asked 1, 2 or 3 times
    wrong = choose_of_three(w, answers, "odd")[~right]
    assert abs((wrong == 1).mean() - 0.5) < 5 * np.sqrt(0.25 / len(wrong))
    assert np.array_equal(answers, crowd_answers(w, 4000, "odd", times=3, eps=0.4, seed=5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "best"}, "no question 'best'"),
        ({"eps": 1.5}, "eps must be between 0 and 1"),
        ({"times": 0}, "three or more items"),
    ],
)
def test_a_crowd_that_cannot_be_asked_is_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        crowd_answers(np.eye(4), 5, **options)


def test_the_answers_about_flowers_give_a_hierarchy():
    data = load("flowers")
    assert data.n_items == 48
    assert data.features is None
    assert data.similarity is None
    assert data.asked == {"odd": len(data.comparisons) // 2}
    for name in set(data.classes):
        members = [i for i, each in enumerate(data.classes) if each == name]
        assert len(members) == 6
        node = members[0]
        for other in members[1:]:
            node = data.target.lca(node, other)
        assert data.target.size[node] == 6
    held = comparisons_held(data.target, data.comparisons)
    assert (held == 1).sum() > 4 * (held == -1).sum()  # 15 of 100 err, in two comparisons each
    assert all(thumbnail(picture) for picture in data.images)
    assert len(set(data.images)) == 48
