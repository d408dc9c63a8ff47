"""4-AL against equations (4) and (5) in fractions: the same merges in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings

import hcviz
from hcviz import Comparisons, InconsistentTriplets, Problem, Tree, cli
from hcviz.algorithms import get
from hcviz.algorithms.comparison import foural
from hcviz.algorithms.comparison.foural import four_al
from hcviz.algorithms.comparison.passive import clusters_of
from hcviz.algorithms.comparison.similarities import mulk3, mulk4
from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.datasets import load, planted_hierarchy, sample_comparisons
from hcviz.ui.features.parameters.model import parse_field
from tests import comparisonslow as slow
from tests.test_agglomerate import clades, merge_order
from tests.test_comparison_similarities import answers
from tests.trees import all_trees, random_tree


@settings(deadline=None, max_examples=80)
@example((5, np.array([[1, 3, 2], [2, 1, 0], [1, 3, 2], [0, 1, 4]], np.int32)))  # W = 0, rounded
@given(answers())
def test_every_merge_is_the_definitions_ties_included(given_answers):
    n, rows = given_answers
    expected = slow.four_al(n, rows.tolist())
    assert merge_order(four_al(n, slow.table(n, rows.tolist()))) == expected
    assert merge_order(four_al(n, Comparisons(rows))) == expected  # small: dense from the start


@pytest.mark.parametrize("room", [0, 300, 2000])
def test_lists_give_the_same_in_either_phase(room, monkeypatch):
    """No room: all from the list. A little: the list first, the matrix over clusters then."""
    monkeypatch.setattr(foural, "MAX_BYTES", room)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        rows = [[*rng.choice(n, 2, False), *rng.choice(n, 2, False)] for _ in range(80)]
        expected = slow.four_al(n, rows)
        assert merge_order(four_al(n, Comparisons(rows))) == expected


@pytest.mark.parametrize("seed", range(6))
def test_a_table_gives_what_the_list_gives_and_stays_as_it_is(seed, monkeypatch):
    """Enough merges for rows of sums to be given back and used again, at any shape of the tree."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 31))
    scores = rng.normal(size=(n, n)) if seed % 2 else np.add.outer(*[np.arange(n) ** 1.5] * 2)
    pairs = np.array([(i, j) for j in range(n) for i in range(j)])
    first, second = rng.choice(len(pairs), (2, 6000))
    swap = scores[tuple(pairs[first].T)] < scores[tuple(pairs[second].T)]
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    answers = np.hstack([pairs[first], pairs[second]])[first != second]
    table = slow.table(n, answers.tolist())
    kept = table.copy()
    tree = four_al(n, table)
    assert np.array_equal(table, kept)
    assert four_al(n, table.astype(np.int16)) == tree
    for room in (0, 10**9):
        monkeypatch.setattr(foural, "MAX_BYTES", room)
        assert four_al(n, Comparisons(answers)) == tree


def test_sums_beyond_sixteen_bits(monkeypatch):
    """40,000 times the same answer, and a table of the largest signs: no cell goes round."""
    rows = [[0, 1, 2, 3]] * 40_000 + [[2, 3, 0, 2], [0, 2, 1, 3]]
    for room in (0, 10**9):
        monkeypatch.setattr(foural, "MAX_BYTES", room)
        tree = four_al(4, Comparisons(rows))
        assert merge_order(tree)[0] == {0, 1}
    table = 30_000 * slow.table(5, [[0, 1, 2, 3], [0, 1, 3, 4], [0, 2, 3, 4]]).astype(np.int16)
    assert merge_order(four_al(5, table)) == merge_order(four_al(5, np.sign(table)))


@pytest.mark.parametrize("room", [0, 100, 10**9])
def test_initial_clusters(room, monkeypatch):
    monkeypatch.setattr(foural, "MAX_BYTES", room)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = 8
        rows = [[*rng.choice(n, 2, False), *rng.choice(n, 2, False)] for _ in range(150)]
        initial = np.array([0, 0, 1, -1, 1, 1, -1, -1])
        sets = [frozenset(s) for s in ([0, 1], [2, 4, 5], [3], [6], [7])]
        tree = four_al(n, Comparisons(rows), initial=initial)
        expected = slow.four_al(n, rows, sets)
        assert merge_order(tree)[2:] == expected
        assert set(merge_order(tree)[:2]) == {frozenset([0, 1]), frozenset([2, 4, 5])}
        dense = four_al(n, slow.table(n, rows), initial=initial)
        assert dense == tree


@pytest.mark.parametrize("room", [0, 10**9])
def test_under_triplets(room, monkeypatch):
    monkeypatch.setattr(foural, "MAX_BYTES", room)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 5
        rows = [[*rng.choice(n, 2, False), *rng.choice(n, 2, False)] for _ in range(60)]
        truth = random_tree(rng, n)
        answers = np.array([rng.choice(n, 3, replace=False) for _ in range(6)])
        answers = answers[truth.satisfies(answers)]
        trees = [t for t in all_trees(n) if t.satisfies(answers).all()]

        def possible(clade, made, trees=trees):
            wanted = {*made, clade} - {frozenset(range(5))}
            return any(wanted <= clades(t) for t in trees)

        tree = four_al(n, Comparisons(rows), triplets=answers)
        assert merge_order(tree) == slow.four_al(n, rows, possible=possible)


def test_the_numbering_matters_only_for_the_seeded_order():
    """Renumber the items and the seeded order with them: the same tree."""

    class Fixed:
        def __init__(self, order):
            self.order = order

        def permutation(self, n):
            return self.order

    rng = np.random.default_rng(5)
    n = 9
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(40)])
    new = rng.permutation(n)  # item i becomes new[i]
    order = rng.permutation(n)
    one = four_al(n, Comparisons(rows), rng=Fixed(order))
    other = four_al(n, Comparisons(new[rows]), rng=Fixed(new[order]))
    assert [{int(new[i]) for i in c} for c in merge_order(one)] == [
        set(c) for c in merge_order(other)
    ]


def test_a_planted_hierarchy_is_recovered():
    data = planted_hierarchy(levels=2, pure_size=10, delta=0.3, sigma=0.1, seed=0)
    found = sample_comparisons(data.similarity, 0.2, seed=0)
    tree = four_al(40, found, rng=np.random.default_rng(0))
    assert hcviz.metrics.aari(data.target, tree, 2) == 1.0
    assert tree.height[40:].tolist() == list(range(1, 40))


def test_bad_input_gets_a_sentence():
    with pytest.raises(InvalidData, match="name item 5"):
        four_al(3, Comparisons([[0, 1, 5]]))
    with pytest.raises(InvalidData, match="initial must"):
        four_al(3, Comparisons([[0, 1, 2]]), initial=[0, 1])
    with pytest.raises(InvalidData, match="cannot hold with these initial"):
        four_al(4, Comparisons([[0, 1, 2]]), initial=[0, 1, 0, 1], triplets=[[0, 1, 2]])
    with pytest.raises(InconsistentTriplets):
        four_al(3, Comparisons([[0, 1, 2]]), triplets=[[0, 1, 2], [0, 2, 1]])
    assert four_al(1, Comparisons(np.empty((0, 4), int))).n_leaves == 1
    assert four_al(4, Comparisons(np.empty((0, 4), int))).is_binary


# ---------------------------------------------------------------------- as a method


def drawn(seed, n=9, m=120):
    rng = np.random.default_rng(seed)
    return [[*rng.choice(n, 2, False), *rng.choice(n, 2, False)] for _ in range(m)]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_initial_clusters_are_a_parameter(kind):
    problem = Problem(comparisons=drawn(0))
    numbers = [0, 0, 1, -1, 1, 1, -1, -1, -1]
    tree = hcviz.fit("4-al", problem, initial=kind(numbers), seed=4)
    rng = np.random.default_rng(np.random.SeedSequence((4, 0)))
    assert tree == four_al(9, problem.comparisons, initial=numbers, rng=rng)
    named = ["b", "b", "a", None, "a", "a", "", -3, None]
    assert hcviz.fit("4-al", problem, initial=named, seed=4) == tree
    assert merge_order(tree)[:2] == [frozenset([0, 1]), frozenset([2, 4, 5])]
    assert hcviz.fit("4-al", problem, seed=4) != tree


def test_initial_clusters_from_the_command_line_and_the_form(capsys):
    names = [0, 0, 0, 1, 1, *[-1] * 43]
    assert cli.main(["run", "4-al", "flowers", "--initial", str(names)]) == 0
    tree = Tree.from_newick(capsys.readouterr().out.strip(), load("flowers").labels)
    assert {frozenset([0, 1, 2]), frozenset([3, 4])} <= clades(tree)
    assert cli.main(["run", "4-al", "flowers", "--initial", "some"]) == 2
    assert "initial must be a list" in capsys.readouterr().err
    assert cli.main(["run", "4-al", "flowers", "--initial", "[0, 0]"]) == 2
    assert "each of the 48 items; it has 2" in capsys.readouterr().err
    assert get("4-al").parameters(initial=parse_field(str(names))).initial == names
    for written in ("a, a, a, b, b" + ", -1" * 43, "[0,0,0,b,b" + ",-1" * 43 + "]"):
        assert cli.main(["run", "4-al", "flowers", "--initial", written]) == 0
        assert Tree.from_newick(capsys.readouterr().out.strip(), load("flowers").labels) == tree
        assert clusters_of(written, 48).tolist()[:6] == [0, 0, 0, 1, 1, -1]


def test_initial_clusters_that_are_none_get_a_sentence():
    problem = Problem(comparisons=drawn(0))
    with pytest.raises(InvalidParameter, match="each of the 9 items; it has 2"):
        hcviz.run("4-al", problem, initial=[0, 1])
    with pytest.raises(InvalidParameter, match="each of the 9 items; it has 3"):
        hcviz.run("4-al", problem, initial="0, 0, 1,")
    for wrong in (3, "some", [0.5] * 9, {0: 1}):
        with pytest.raises(InvalidParameter, match="initial must be a list"):
            hcviz.run("4-al", problem, initial=wrong)
    with pytest.raises(InvalidData, match="cannot hold with these initial"):
        hcviz.run("4-al", problem.with_triplets([[0, 1, 2]]), initial=[0, 1, 0, *[-1] * 6])


@pytest.mark.parametrize("name", ["4-al", "4k-al", "adds-sdp", "t-ste"])
@pytest.mark.parametrize("repeats", ["all", "once"])
def test_a_matrix_of_signs_is_as_good_as_its_list(name, repeats):
    rows = Comparisons(drawn(1)).once().rows  # nothing cancels, so that both say the same
    table = slow.table(9, [*rows.tolist(), *rows[:20].tolist()])
    listed = Problem(comparisons=[*rows.tolist(), *rows[:20].tolist()])
    dense = Problem(comparisons=Comparisons.from_table(table))
    options = {"k": 3} if name == "adds-sdp" else {}
    one, other = (
        list(hcviz.run(name, problem, seed=2, repeats=repeats, **options))[-1]
        for problem in (dense, listed)
    )
    if name == "t-ste":  # the same answers in another order are summed in another order
        assert one.metrics["answers"] == other.metrics["answers"]
        return
    assert one.tree == other.tree
    assert one.metrics == other.metrics
    for matrix, values in other.matrices.items():
        assert np.array_equal(one.matrices[matrix], values)


def test_a_matrix_of_signs_is_read_as_it_is(monkeypatch):
    """No list is ever made of it by the methods that take it."""
    table = slow.table(7, drawn(3, n=7))
    made = Comparisons.from_table(table)

    def never(table):
        raise AssertionError("a list was made")

    monkeypatch.setattr("hcviz.core.sign_table.quadruplets", never)
    for name, options in (("4-al", {}), ("4k-al", {"kernel": "published"}), ("adds-sdp", {"k": 2})):
        hcviz.fit(name, Problem(comparisons=made), **options)
    wider = Problem(labels=[str(i) for i in range(8)], comparisons=made)
    monkeypatch.undo()
    shown = list(hcviz.run("4-al", wider))[-1]
    assert shown.metrics["never compared"] == 1


@pytest.mark.parametrize(
    "name", ["4-al", "4k-al", "adds-sdp", "t-ste", "forte", "sl", "4k-al-active"]
)
def test_too_many_items_are_refused_before_anything_is_made(name):
    class Oracle:
        n_items = 10_001

        def compare(self, first, second):
            raise AssertionError("nothing is asked")

    problem = Problem(comparisons=[[0, 1, 2]], oracle=Oracle())
    with pytest.raises(TooLarge, match=r"at most 10,000 items; these are 10,001"):
        hcviz.run(name, problem)
    with pytest.raises(TooLarge):
        four_al(40_000, Comparisons([[0, 1, 2]]))
    with pytest.raises(TooLarge):
        mulk4(40_000, Comparisons([[0, 1, 2]]))
    with pytest.raises(TooLarge):
        mulk3(40_000, Comparisons([[0, 1, 2]]))
