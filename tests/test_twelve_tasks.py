"""What a person gives in the twelve tasks of docs/ecosystem.md that is not quite right."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import hcviz
from hcviz.core.errors import HcvizError, InvalidConstraint
from hcviz.posterior import Posterior
from hcviz.session.constraint import Constraint

NAMES = ["owl", "rook", "elm", "yew"]
FRAME = pd.DataFrame({"legs": [2.0, 2.1, 0.0, 0.1], "size": [1.0, 1.2, 9.0, 9.5]}, NAMES)
TREE = hcviz.Tree.from_newick("((owl,rook),(elm,yew));", NAMES)


def test_condensed_distances_are_read():
    distance = pdist(FRAME)
    square = hcviz.Problem(dissimilarity=squareform(distance)).dissimilarity
    assert np.array_equal(hcviz.Problem(dissimilarity=distance).dissimilarity, square)


def test_leaves_may_be_named():
    assert TREE.has_clade(["rook", "owl"])
    assert TREE.has_clade({"rook", "owl"})
    assert TREE.smallest_clade(["owl", "elm"]) == TREE.root
    assert TREE.restrict(["yew", "owl"]).labels == ("yew", "owl")
    posterior = Posterior(4)
    posterior.add(TREE, 0.0)
    assert posterior.clade_support(["owl", "rook"]) == 1.0
    assert posterior.clade_support({"owl", "elm"}) == 0.0


def test_a_matrix_that_is_given_as_features_gives_a_warning():
    matrix = pd.DataFrame(squareform(pdist(FRAME)), NAMES, NAMES)
    with pytest.warns(UserWarning, match=r"Problem\(dissimilarity=frame\)"):
        hcviz.fit("average", matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hcviz.fit("average", hcviz.Problem(dissimilarity=matrix))
        hcviz.fit("average", FRAME)


CASES = {
    "a constraint as a parameter": (
        lambda: hcviz.fit("crsc", FRAME, triplets=[("owl", "rook", "elm")]),
        "It belongs to the data: Problem(data, triplets=...).",
    ),
    "a method with a typing error": (
        lambda: hcviz.fit("averge", FRAME),
        "Did you mean 'average'? Known: ddt",
    ),
    "a dict": (lambda: hcviz.fit("average", {"a": [1, 2]}), "Write pandas.DataFrame(data)"),
    "constraints of the page": (
        lambda: hcviz.Problem(FRAME, triplets=(Constraint(1, (0, 1), 2),)),
        "Use view.problem",
    ),
    "a leaf that is no item": (lambda: TREE.has_clade(["owl", "rok"]), "Did you mean 'rook'?"),
    "a path that does not exist": (
        lambda: hcviz.fit("average", "kitchen.xlsx"),
        "is neither a built-in data set nor a file",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_answered_with_what_to_do(case):
    call, words = CASES[case]
    with pytest.raises(HcvizError) as raised:
        call()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_sparse_matrix_says_where_it_belongs():
    from scipy.sparse import eye_array

    with pytest.raises(HcvizError, match=r"Problem\(similarity=matrix\)"):
        hcviz.fit("crsc", eye_array(5).tocsr())


def test_names_need_labels():
    with pytest.raises(HcvizError, match="whole numbers"):
        hcviz.Tree.star(3).has_clade(["owl"])
    with pytest.raises(InvalidConstraint, match="no item"):
        TREE.restrict(["owl", "fish"])
