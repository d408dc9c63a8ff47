"""Invalid input raises a clear error of hcviz, and no other exception."""

from __future__ import annotations

import re

import numpy as np
import param
import pytest
from scipy.cluster.hierarchy import linkage

import hcviz
from hcviz import Comparisons, Problem, Tree, Triplets, cli, metrics
from hcviz.algorithms import generator, get
from hcviz.commands.options import parse_value
from hcviz.core.build import chain_triplets, implies, is_consistent, minimal_conflict
from hcviz.core.errors import (
    HcvizError,
    InvalidConstraint,
    InvalidData,
    InvalidParameter,
    InvalidTree,
)

TREE = Tree([3, 3, 4, 4, -1], [0, 0, 0, 1, 2], 3)
GOOD = Problem(features=[[0.0], [1.0], [5.0]])
#: Three items: 0 and 1 at height 1, then 2 at height 2.
LINKAGE = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 3]])


class Counts:
    n_items = 2.5

    def similarity(self, rows, cols):
        return np.zeros((len(rows), len(cols)))


def changed(row: int, column: int, value: float) -> np.ndarray:
    made = LINKAGE.copy()
    made[row, column] = value
    return made


def fit(*arguments, **options):
    return lambda: hcviz.fit(*arguments, **options)


CASES = [
    # seeds
    (fit("average", GOOD, seed=-1), InvalidParameter, "seed must be .* 0 or more, not -1"),
    (fit("average", GOOD, seed="today"), InvalidParameter, "seed must be"),
    (fit("average", GOOD, seed=0.5), InvalidParameter, "seed must be whole numbers, not 0.5"),
    (lambda: generator(0, -1), InvalidParameter, "number of a run"),
    # problems
    (fit("average", None), InvalidData, "must be a Problem, a DataFrame or an array, not NoneType"),
    (fit("average", np.zeros(3)), InvalidData, r"shape \(n, d\), not \(3,\)"),
    (lambda: Problem(oracle=object()), InvalidData, "oracle needs n_items"),
    (lambda: Problem(oracle=Counts()), InvalidData, "n_items must be whole numbers, not 2.5"),
    (lambda: Problem(labels=5), InvalidData, "Labels must be a list of names, not 5"),
    (
        lambda: Problem(features=[[1.0]], feature_names=5),
        InvalidData,
        "feature_names must be a list",
    ),
    (
        lambda: Problem(features=[[0.0, 0.0], [0.0, -1e200]]),
        InvalidData,
        "Row 1, column 1 of the features is -1e[+]200, too large",
    ),
    (
        lambda: Problem(similarity=[[0, 1e200], [1e200, 0]]),
        InvalidData,
        "Row 0, column 1 of the similarity is 1e[+]200, too large",
    ),
    # triplets and comparisons
    (lambda: Triplets([[0, 1, 2], [0, 1]]), InvalidConstraint, "Triplets must be .* one length"),
    (lambda: Comparisons([[0, 1, 2], [0, 1, 2, 3]]), InvalidConstraint, "rows of one length"),
    (lambda: Triplets([[0, 1, 2.5]]), InvalidConstraint, "whole numbers, not 2.5"),
    (lambda: Triplets([[0, 1, np.nan]]), InvalidConstraint, "whole numbers, not nan"),
    (lambda: Triplets([["a", "b", "c"]]), InvalidConstraint, "whole numbers"),
    (lambda: Triplets([[0, 1, 2**40]]), InvalidConstraint, f"Row 0 .* names item {2**40}"),
    (lambda: Triplets([[0, 1, 2], [0, -3, 1]]), InvalidConstraint, "Row 1 .* names item -3"),
    (lambda: Triplets([[0, 1, 2]], ["x"]), InvalidConstraint, "weights .* must be numbers"),
    (lambda: Triplets([[0, 1, 2]], 2.0), InvalidConstraint, r"shape \(1,\), not \(\)"),
    (lambda: Triplets([[0, 1, 2]], [1, 2]), InvalidConstraint, r"shape \(1,\), not \(2,\)"),
    (lambda: Comparisons(Triplets([[0, 1, 2]])), InvalidConstraint, "from_triplets"),
    (lambda: Triplets(Comparisons([[0, 1, 2]])), InvalidConstraint, "made of Comparisons"),
    (
        lambda: Problem(labels="abc", comparisons=Triplets([[0, 1, 2]])),
        InvalidConstraint,
        "from_triplets",
    ),
    (
        lambda: Problem(labels="abc", triplets=Comparisons([[0, 1, 2]])),
        InvalidConstraint,
        "made of Comparisons",
    ),
    (lambda: Comparisons.from_triplets(5), InvalidConstraint, r"shape \(m, 3\)"),
    # trees
    (lambda: Tree("ab", "cd", 2), InvalidTree, "parents .* whole numbers"),
    (lambda: Tree([2, 2, -1], "cd", 2), InvalidTree, "heights .* must be numbers"),
    (lambda: Tree([[1], [2, 3]], [0], 1), InvalidTree, "rows of one length"),
    (lambda: Tree([2.5, 2, -1], [0, 0, 1], 2), InvalidTree, "whole numbers, not 2.5"),
    (lambda: Tree([2**40, 2, -1], [0, 0, 1], 2), InvalidTree, "must be nodes"),
    (lambda: Tree([2, 2, -1], [0, 0, 1], "x"), InvalidTree, "n_leaves must be"),
    (lambda: Tree([], [], 0), InvalidTree, "n_leaves must be .* 1 or more"),
    (lambda: Tree.star(0), InvalidTree, "n_leaves must be .* 1 or more"),
    (lambda: TREE.children(9), InvalidTree, r"no node 9, only 0\.\.4"),
    (lambda: TREE.children(-1), InvalidTree, "whole number of 0 or more|no node -1"),
    (lambda: TREE.children(1.5), InvalidTree, "whole numbers, not 1.5"),
    (lambda: TREE.leaves(-1), InvalidTree, "no node -1"),
    (lambda: TREE.restrict([True, False]), InvalidTree, "flatnonzero"),
    (lambda: TREE.restrict([0.5, 1]), InvalidTree, "whole numbers, not 0.5"),
    (lambda: TREE.restrict([[0], [1, 2]]), InvalidTree, "rows of one length"),
    (lambda: TREE.lca(0, 0.5), InvalidTree, "whole numbers, not 0.5"),
    (lambda: TREE.lca(0, 2**40), InvalidTree, "needs nodes in"),
    (lambda: TREE.lca([0, 1], [0, 1, 2]), InvalidTree, "as many nodes"),
    # linkages
    (lambda: Tree.from_linkage(np.zeros((3, 3))), InvalidTree, r"\(n - 1, 4\), not \(3, 3\)"),
    (lambda: Tree.from_linkage(changed(1, 2, np.nan)), InvalidTree, "Row 1 .* height nan"),
    (lambda: Tree.from_linkage(changed(0, 2, np.inf)), InvalidTree, "Row 0 .* height inf"),
    (lambda: Tree.from_linkage(changed(1, 3, 7)), InvalidTree, "Row 1 .* 3 items; .* says 7"),
    # BUILD
    (lambda: hcviz.build(3.5, []), InvalidConstraint, "n_leaves .* not 3.5"),
    (lambda: hcviz.build("3", []), InvalidConstraint, "n_leaves must be whole"),
    (lambda: hcviz.build(0, []), InvalidConstraint, "1 or more, not 0"),
    (lambda: is_consistent(None, []), InvalidConstraint, "n_leaves"),
    (lambda: implies("3", [], [0, 1, 2]), InvalidConstraint, "n_leaves"),
    (lambda: minimal_conflict([3], []), InvalidConstraint, "n_leaves"),
    (lambda: chain_triplets([0, 1.5], 2), InvalidConstraint, "whole numbers, not 1.5"),
    (lambda: chain_triplets([0, 1], 2.5), InvalidConstraint, "whole numbers, not 2.5"),
    # metrics and data sets
    (lambda: metrics.triplet_agreement(TREE, GOOD), InvalidData, "compared, not Problem"),
    (lambda: metrics.triplet_agreement(GOOD, TREE), InvalidData, "compared, not Problem"),
    (lambda: metrics.triplet_distance(TREE, None), InvalidData, "compared, not NoneType"),
    (
        lambda: hcviz.datasets.load("nope"),
        InvalidParameter,
        "digits-all; and, with a path or HCVIZ_DATA, mnist, newsgroups, car, food",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES)
def test_invalid_input_raises_a_clear_error(call, kind, message):
    with pytest.raises(HcvizError, match=message) as caught:
        call()
    assert type(caught.value) is kind
    assert caught.value.message.endswith(".")
    assert "\n" not in str(caught.value)


def test_errors_name_the_asymmetric_row():
    """Rows are compared with columns some at a time."""
    matrix = np.eye(600)
    matrix[590, 300] = 0.5
    with pytest.raises(InvalidData, match="row 300, column 590 is 0 and row 590, column 300"):
        Problem(similarity=matrix)


PARAMETERS = [
    ("ddt", "steps", "x", "ddt: steps must be a whole number from 0 to 1000000000, not 'x'."),
    ("ddt", "steps", 2.5, "ddt: steps must be a whole number from 0 to 1000000000, not 2.5."),
    ("ddt", "steps", -1, "ddt: steps must be a whole number from 0 to 1000000000, not -1."),
    ("ddt", "c", "x", "ddt: c must be a number from 1e-08 to 100000000.0, or None, not 'x'."),
    ("ddt", "mu", "low", "ddt: mu must be 'mean' or 'zero', not 'low'."),
    ("ddt", "learn", "x", "ddt: learn must be True or False, not 'x'."),
    ("4k-al-active", "p", 0, "4k-al-active: p must be a number above 0 and at most 1, not 0."),
    ("ddt", "sigma", -1, "ddt: sigma must be a positive number, or one for each dimension."),
]


@pytest.mark.parametrize(("method", "name", "value", "message"), PARAMETERS)
def test_invalid_parameters_raise_a_clear_error(method, name, value, message):
    with pytest.raises(InvalidParameter, match=f"^{re.escape(message)}$"):
        get(method).parameters(**{name: value})


@pytest.mark.parametrize("method", hcviz.algorithms())
def test_no_method_accepts_infinity(method):
    """Not where nothing bounds a parameter from above, either."""
    found = get(method)
    for name in found.parameter_names():
        if isinstance(found.params.param[name], param.Number):
            for value in (np.inf, float("nan"), np.float64("inf"), True):
                with pytest.raises(InvalidParameter, match=f"{name} must be a"):
                    found.parameters(**{name: value})


def test_floats_without_a_fraction_are_integers():
    steps = get("ddt").parameters(steps=1e3).steps
    assert (steps, type(steps)) == (1000, int)
    assert parse_value(get("ddt").params.param["steps"], "1e3") == 1000
    assert TREE.restrict([0.0, 2.0]).n_leaves == 2
    assert TREE.lca(0.0, 1) == 3
    assert hcviz.build(3.0, [[0.0, 1.0, 2.0]]) == hcviz.build(3, [[0, 1, 2]])
    assert np.array_equal(TREE.children(np.int64(3)), [0, 1])


def test_documented_inputs_are_accepted():
    ranks = Tree.from_linkage(changed(0, 2, -1.0)).height[3:]
    assert ranks.tolist() == [1, 2]  # a negative height: ranks
    assert Tree.from_newick("((0:1,1:1):-2,2:3);").height.tolist() == [0, 0, 0, 1, 3]
    x = np.random.default_rng(0).normal(size=(20, 3)) * 1e99
    for method in ("average", "single", "complete", "ward", "crsc"):
        assert hcviz.fit(method, Problem(features=x)).n_leaves == 20
    assert Tree.from_linkage(linkage(x, "ward")).n_leaves == 20
    assert len(Comparisons.from_triplets(Triplets([[0, 1, 2]]))) == 2


# ---------------------------------------------------------------------- the command line


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x\na,0\nb,1\nc,5\n")
    return str(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "average", "TABLE", "--seed", "-1"], "The seed must be"),
        (["serve", "--port", "99999"], "no port 99999"),
        (["serve", "--port", "-1"], "no port -1"),
        (["serve", "--port", "6000"], "Browsers refuse port 6000"),
        (["run", "--steps", "x", "ddt", "TABLE"], "steps must be a whole number"),
        (["run", "ddt", "TABLE", "--mu", "low"], "mu must be 'mean' or 'zero', not 'low'"),
    ],
)
def test_the_command_line_prints_errors_in_one_line(words, message, table, capsys):
    assert cli.main([table if word == "TABLE" else word for word in words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.startswith("hcviz: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [["--steps", "3"], ["--steps=3"], ["--init", "average"], ["--json"], ["--init=random"]],
)
def test_options_may_stand_before_the_method(options, table, capsys):
    assert cli.main(["run", *options, "ddt", table, "--steps", "3"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in "abc")


def test_the_help_names_the_header_of_the_constraints(capsys):
    with pytest.raises(SystemExit):
        cli.main(["run", "--help"])
    assert "together_1,together_2,apart" in capsys.readouterr().out
