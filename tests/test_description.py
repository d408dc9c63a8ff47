"""What makes a group: each number against its definition, and names that fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Comparisons, Group, Problem, Tree
from hcviz.core.errors import InvalidData
from hcviz.datasets import Dataset, load
from hcviz.description.columns import Columns
from hcviz.description.contrasts import LOG_ODDS_UNIT, feature_contrasts
from hcviz.io.tables import read_table
from hcviz.posterior import Posterior, membership_shares

TABLE = b"""name,price,material,electric
bread knife,30,steel,no
paring knife,20,steel,no
chef knife,,steel,no
milk pot,40,iron,no
stock pot,50,iron,no
kettle,60,plastic,yes
toaster,55,plastic,yes
"""


DATED = b"""name,when,desc
a,2020-02-01,a big red house
b,2020-02-03,one big red tent
c,2024-06-01 06:30,the blue boat sails
d,2024-06-25,one blue boat there
e,,other things only here
f,2024-07-01,
"""


# ---------------------------------------------------------------------- definitions


def definition(values, kind, inside, outside):
    """The effect and its standard error, for one column."""
    a = [values[k] for k in inside if not math.isnan(values[k])]
    b = [values[k] for k in outside if not math.isnan(values[k])]
    if not a or not b:
        return None
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    if kind != "number":
        if mean_a == mean_b:
            return None
        yes_a, yes_b = sum(a) + 0.5, sum(b) + 0.5
        no_a, no_b = len(a) - sum(a) + 0.5, len(b) - sum(b) + 0.5
        odds = math.log(yes_a / no_a) - math.log(yes_b / no_b)
        if odds * (mean_a - mean_b) <= 0:
            return None
        error = math.sqrt(1 / yes_a + 1 / no_a + 1 / yes_b + 1 / no_b)
        return LOG_ODDS_UNIT * odds, LOG_ODDS_UNIT * error
    every = [v for v in values if not math.isnan(v)]
    middle = sum(every) / len(every)
    whole = sum((v - middle) ** 2 for v in every) / (len(every) - 1)
    if whole < 1e-20:
        return None
    squares = sum((v - mean_a) ** 2 for v in a) + sum((v - mean_b) ** 2 for v in b)
    pooled = (squares + 2 * whole) / (len(a) - 1 + len(b) - 1 + 2)
    effect = (mean_a - mean_b) / math.sqrt(pooled)
    return effect, math.sqrt(1 / len(a) + 1 / len(b) + effect**2 / (2 * (len(a) + len(b))))


def mean_similarity(matrix, item, others):
    found = [matrix[item, k] for k in others if k != item]
    return sum(found) / len(found)


def share_inside(trees, item, members):
    """Leave out the item, find the best clade of the rest, and see where the item branches off."""
    others = set(members) - {item}
    if not others:
        return math.nan
    inside = 0
    for tree in trees:
        clades = [set(tree.leaves(node).tolist()) for node in range(tree.n_nodes)]
        everything = set(range(tree.n_leaves)) - {item}

        def index(clade, others=others):
            return len(clade & others) / len(clade | others)

        rests = {frozenset(clade - {item}) for clade in clades} - {frozenset()}
        rests = [rest for rest in rests if rest != everything or others == everything]
        best = max((index(rest) for rest in rests), default=0.0)
        if best < 0.5:
            continue
        least = min(len(rest) for rest in rests if index(rest) == best)
        homes = [rest for rest in rests if index(rest) == best and len(rest) == least]
        inside += any(home | {item} in clades for home in homes) or any(
            item in clade and clade - {item} == home for home in homes for clade in clades
        )
    return inside / len(trees)


# ---------------------------------------------------------------------- features


@given(st.data())
def test_contrasts_are_the_definitions(data):
    n = data.draw(st.integers(3, 9))
    cell = st.sampled_from([0.0, 1.0, 2.5, 4.0, math.nan])
    flag = st.sampled_from([0.0, 1.0, math.nan])
    values = np.array([[data.draw(cell), data.draw(flag)] for _ in range(n)])
    columns = Columns(values, ("x", "y"), (None, None), ("number", "binary"))
    cut = data.draw(st.integers(1, n - 1))
    inside, outside = np.arange(cut), np.arange(cut, n)
    found = {each.feature: each for each in feature_contrasts(columns, inside, outside, 6)}
    for k, (name, kind) in enumerate((("x", "number"), ("y", "binary"))):
        wanted = definition(values[:, k].tolist(), kind, inside, outside)
        if wanted is None or abs(wanted[0]) - wanted[1] < -1e-9:
            assert name not in found
        elif abs(wanted[0]) - wanted[1] > 1e-9:
            assert (found[name].effect, found[name].error) == pytest.approx(wanted)


def test_values_are_named_as_in_the_table():
    data = read_table(TABLE, "shop.csv")
    tree = hcviz.fit("average", data.problem())
    found = hcviz.describe_group(data, tree, [0, 1, 2])
    titles = {each.title: each for each in found.against_rest}
    steel = titles["material = steel"]
    assert (steel.value, steel.inside, steel.outside) == ("steel", 1.0, 0.0)
    assert [each.feature for each in found.against_rest].count("material") == 1
    price = titles["price"]
    assert (price.inside, price.outside, price.n_inside) == (25.0, 51.25, 2)
    assert price.effect < 0


def test_one_item_and_constant_columns_have_finite_effects():
    features = [[1.0, 7.0], [5.0, 7.0], [5.0, 7.0], [5.0, 7.0]]
    tree = Tree.from_newick("(0,(1,(2,3)));")
    found = hcviz.describe_group(features, tree, [0])
    assert [each.feature for each in found.against_rest] == ["feature 1"]
    assert -10 < found.against_rest[0].effect < -1
    assert found.typical == found.least_fitting == ()


def test_the_prior_keeps_equal_shares_equal():
    flags = np.ones((10, 1))
    flags[9] = 0.0
    columns = Columns(flags, ("hair",), (None,), ("binary",))
    assert feature_contrasts(columns, np.arange(8), np.array([8]), 6) == ()


# ---------------------------------------------------------------------- similarities


def test_fits_are_mean_similarities_and_margins():
    zoo = load("zoo")
    problem = zoo.problem()
    tree = hcviz.fit("average", problem)
    birds = [k for k, kind in enumerate(zoo.classes) if kind == "bird"]
    fish = [k for k, kind in enumerate(zoo.classes) if kind == "fish"]
    found = hcviz.describe_group(problem, tree, birds, [Group("Fish", fish), Group("All", birds)])
    near = {
        k: max((mean_similarity(problem.similarity, k, found.sibling), ""),
               (mean_similarity(problem.similarity, k, fish), "Fish"))
        for k in birds
    }  # fmt: skip
    own = {k: mean_similarity(problem.similarity, k, birds) for k in birds}
    assert found.similarity_inside == pytest.approx(np.mean(list(own.values())))
    assert found.nearest_group[0] == "Fish"
    assert found.typical[0].similarity == pytest.approx(max(own.values()))
    typical = {each.item for each in found.typical}
    least = found.least_fitting[0]
    assert least.item not in typical
    lowest = min(own[k] - near[k][0] for k in birds if k not in typical)
    assert least.margin == pytest.approx(lowest)
    assert least.nearest == near[least.item][1]


def test_data_without_features_are_described_by_similarity():
    matrix = np.array([[1, 0.9, 0.1, 0.2], [0.9, 1, 0.2, 0.1], [0.1, 0.2, 1, 0.8],
                       [0.2, 0.1, 0.8, 1]])  # fmt: skip
    tree = Tree.from_newick("((0,1),(2,3));")
    found = hcviz.describe_group(Problem(similarity=matrix), tree, [0, 1])
    assert found.against_rest == ()
    assert found.similarity_inside == pytest.approx(0.9)
    assert found.similarity_sibling == pytest.approx(0.15)
    answers = Comparisons([[0, 1, 2], [1, 0, 3], [2, 3, 0], [3, 2, 1]])
    described = hcviz.describe_group(
        Problem(labels=list("abcd"), comparisons=answers), tree, [0, 1]
    )
    assert described.similarity_inside > described.similarity_sibling
    silent = hcviz.describe_group(Problem(labels=list("abcd")), tree, [0, 1])
    assert (silent.similarity_inside, silent.typical, silent.names) == (None, (), ())


def test_an_oracle_is_sampled_and_agrees():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(900, 3))
    features[:450, 0] += 3.0
    oracle = hcviz.FeatureOracle(features)
    tree = Tree.from_children([list(range(450)), list(range(450, 900)), [900, 901]], 900)
    found = hcviz.describe_group(Problem(oracle=oracle), tree, range(450))
    exact = hcviz.describe_group(Problem(features=features), tree, range(450))
    assert found.similarity_inside == pytest.approx(exact.similarity_inside, abs=0.01)


def test_items_that_do_not_exist_are_refused():
    tree = Tree.from_newick("((0,1),2);")
    for items in ([], [3], [-1]):
        with pytest.raises(InvalidData, match="one or more items"):
            hcviz.describe_group([[0.0], [1.0], [2.0]], tree, items)
    with pytest.raises(InvalidData, match="The tree has 3 items, and the data have 2"):
        hcviz.describe_group([[0.0], [1.0]], tree, [0])
    with pytest.raises(InvalidData, match="must be a Problem, a DataFrame or an array, not int"):
        hcviz.suggest_names(7, [0])


# ---------------------------------------------------------------------- names


def names(data, items):
    return [(each.name, each.source) for each in hcviz.suggest_names(data, items)]


def test_names_come_from_words_and_values():
    data = read_table(TABLE, "shop.csv")
    assert names(data, [0, 1, 2]) == [("Knife", "words"), ("Steel", "features")]
    assert names(data, [5, 6]) == [("Plastic", "features"), ("Electric", "features")]
    assert names(data, range(7)) == []  # all items
    pots = hcviz.suggest_names(data, [3, 4])[0]
    assert (pots.name, pots.inside, pots.total, pots.outside) == ("Pot", 2, 2, 0)


def test_values_are_joined_where_none_is_enough():
    flags = np.array([[1, 1], [1, 1], [1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]], float)
    data = Dataset("x", "x", tuple("abcdefgh"), features=flags, feature_names=["wood", "handle"])
    assert names(data, [0, 1]) == [("Wood, handle", "features")]


def test_piles_are_kept_and_name_groups():
    rows = ["participant,card,pile"]
    for who in ("Ada", "Bea", "Cid"):
        for card, pile in (("lute", "Strings"), ("harp", "strings "), ("oboe", "Winds")):
            rows.append(f"{who},{card},{pile if who != 'Cid' else 'pile 1'}")
    rows.append("Dot,oboe,")  # a card without a pile
    data = read_table("\n".join(rows).encode(), "sort.csv")
    assert [(pile.participant, pile.name, pile.items) for pile in data.piles][:3] == [
        ("Ada", "Strings", (0,)), ("Ada", "strings", (1,)), ("Ada", "Winds", (2,)),
    ]  # fmt: skip
    found = hcviz.suggest_names(data, [2])
    assert [(each.name, each.inside, each.total) for each in found] == [("Winds", 2, 3)]
    # Names of numbered piles name nothing.
    assert "pile 1" not in [each.name for each in hcviz.suggest_names(data, [0, 1])]


def test_a_pile_of_other_items_is_refused():
    from hcviz.datasets import Pile

    with pytest.raises(InvalidData, match="a pile has an item"):
        Dataset("x", "x", ("a", "b"), similarity=np.eye(2), piles=[Pile("Ada", "p", (2,))])


# ---------------------------------------------------------------------- items


def test_the_row_of_an_item_has_one_entry_for_a_category():
    data = read_table(TABLE, "shop.csv")
    found = hcviz.describe_item(data, 2)
    assert found.row == (("price", None), ("material", "steel"), ("electric", False))
    assert found.nearest[0][0] in (0, 1)
    assert [value for _, value in found.nearest] == sorted(
        (value for _, value in found.nearest), reverse=True
    )


@given(st.data())
def test_membership_is_the_definition(data):
    n = data.draw(st.integers(3, 7))
    trees = [random_tree(n, data.draw) for _ in range(data.draw(st.integers(1, 3)))]
    groups = [
        data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
        for _ in range(2)
    ]
    item = data.draw(st.integers(0, n - 1))
    wanted = [share_inside(trees, item, group) for group in groups]
    assert membership_shares(trees, item, groups).tolist() == pytest.approx(wanted, nan_ok=True)


def random_tree(n, draw):
    parts = list(range(n))
    children = []
    while len(parts) > 1:
        size = draw(st.integers(2, min(3, len(parts))))
        chosen = [parts.pop(draw(st.integers(0, len(parts) - 1))) for _ in range(size)]
        children.append(chosen)
        parts.append(n + len(children) - 1)
    return Tree.from_children(children, n)


def test_probabilities_of_groups_follow_from_the_sampled_trees():
    posterior = Posterior(4)
    for text in ("((0,1),(2,3));", "((0,1),(2,3));", "((0,(2,3)),1);"):
        posterior.add(Tree.from_newick(text), 0.0)
    pair, other = Group("Pair", [0, 1]), Group("Other", [2, 3])
    found = hcviz.describe_item([[0.0], [0.1], [5.0], [5.1]], 0, [pair, other], posterior)
    assert dict(found.groups) == pytest.approx({"Pair": 2 / 3, "Other": 1 / 3})
    described = hcviz.describe_group(
        [[0.0], [0.1], [5.0], [5.1]], posterior.trees()[0], [0, 1], posterior=posterior
    )
    assert described.support == pytest.approx(2 / 3)


def test_membership_needs_trees_and_known_items():
    with pytest.raises(InvalidData, match="No tree has been sampled yet"):
        membership_shares([], 0, [[1]])
    with pytest.raises(InvalidData, match=r"numbers in 0\.\.2"):
        membership_shares([Tree.star(3)], 0, [[3]])


def test_the_row_of_an_item_has_its_dates_and_the_terms_of_its_text():
    data = read_table(DATED, "dated.csv")
    rows = [dict(hcviz.describe_item(data, k).row) for k in range(6)]
    assert rows[0] == {"when": "2020-02-01", "desc": "big, red"}
    assert rows[2] == {"when": "2024-06-01 06:30", "desc": "blue, boat"}
    assert rows[4] == {"when": None}  # no term of the text is one of the features
    assert rows[5] == {"when": "2024-07-01", "desc": None}


def test_a_term_is_compared_by_the_shares_of_items_that_contain_it():
    data = read_table(DATED, "dated.csv")
    columns = Columns.of(data)
    assert columns.kinds[1:] == ("text",) * (len(columns.kinds) - 1)
    found = feature_contrasts(columns, np.array([0, 1]), np.array([2, 3, 4, 5]), 9)
    shares = {each.title: (each.inside, each.outside, each.n_outside) for each in found}
    assert shares["desc: big"] == (1.0, 0.0, 3)
    values = columns.values[:, columns.categories.index("big")].tolist()
    effect = next(each.effect for each in found if each.title == "desc: big")
    assert effect == pytest.approx(definition(values, "text", [0, 1], [2, 3, 4, 5])[0])
