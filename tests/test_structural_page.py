"""What the page says of structural constraints, as data: costs, worth, dependencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array

from hcviz import Problem, Tree, Triplets, fit
from hcviz.algorithms.structural.profile import cut_profile, cut_ratio
from hcviz.core.errors import InvalidData
from hcviz.io.session_file import load_session, save_session
from hcviz.metrics import dasgupta_cost, dependency, node_costs, regularised_cost, usefulness
from hcviz.session import actions as act
from hcviz.session.model import Session
from hcviz.ui.app.sections import SECTIONS
from hcviz.ui.features.constraints.gestures import Gestures
from hcviz.ui.features.cut_profile import section as cut_profile_section
from hcviz.ui.features.dependencies import model as dependencies_model
from hcviz.ui.features.dependencies import section as dependencies_section
from hcviz.ui.features.dependencies import sheet as dependencies_sheet
from hcviz.ui.features.inspector import model as inspector_model
from hcviz.ui.features.node_costs import model as node_costs_model
from hcviz.ui.features.node_costs import section as node_costs_section
from hcviz.ui.features.price_curve import section as price_curve_section
from hcviz.ui.state.store import Store
from tests.stores import over_zoo


@pytest.fixture
def store(loop):
    with over_zoo(loop, "crsc") as made:
        made.drawn = made.session.snapshot
        yield made


def apply_answers(store, loop, *answers):
    for group, apart in answers:
        store.dispatch(act.AddConstraint(group, apart))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot


def asked(loop, store, look):
    """The result of ``look()`` when everything that it asks for has been computed."""
    while True:
        found, count = look(), store.n_computed
        if store.compute_cache.idle:
            return found
        loop.until(lambda count=count: store.n_computed > count)


# ---------------------------------------------------------------------- folding


def test_sections_are_there_where_they_mean_something(store):
    nothing = Store(Session(), lambda call: call())
    for section in SECTIONS.values():
        assert section.state(nothing) is None or not section.state(nothing)["open"]
    nothing.close()
    assert node_costs_section.SECTION.state(store)["open"]  # CRSC or one of its kind is in use


def test_a_section_stays_as_the_person_leaves_it(store, loop):
    before = node_costs_section.SECTION.depends_on(store)
    node_costs_section.SECTION.acts(Gestures(store), "fold", {})
    assert node_costs_section.SECTION.state(store) == {
        "title": "What the tree costs",
        "open": False,
    }
    assert node_costs_section.SECTION.depends_on(store) != before
    store.dispatch(act.SetMethod("average"))
    assert not node_costs_section.SECTION.state(store)["open"]
    node_costs_section.SECTION.acts(Gestures(store), "fold", {})
    assert node_costs_section.SECTION.state(store)["open"]


# ---------------------------------------------------------------------- costs


def test_the_cost_and_where_it_comes_from(store, loop):
    tree, similarity = store.drawn.tree, store.problem.similarity_or_default
    live = node_costs_section.state(store)
    assert live["cost"] == f"{dasgupta_cost(tree, similarity):,.1f}"
    found = asked(loop, store, lambda: node_costs_section.state(store))
    assert found["cost"] == live["cost"]
    assert found["regularised"] is None
    by_node = node_costs(tree, similarity)
    assert [each["node"] for each in found["mostExpensive"]] == np.argsort(-by_node)[:5].tolist()
    root = found["mostExpensive"][0]
    sides = sorted((tree.size[c] for c in tree.children(root["node"])), reverse=True)
    assert root["text"] == f"{sides[0]} | {sides[1]} items"
    assert root["share"] == f"{100 * by_node[root['node']] / by_node.sum():.1f} %"


@pytest.mark.parametrize(
    ("method", "params", "more"),
    [
        ("crsc", {}, False),
        ("densest-cut", {}, True),
        ("derandomised-cut", {}, True),
        ("dasgupta-search", {"proposals": 1000}, False),
        ("dasgupta-search", {"proposals": 1000, "objective": "dissimilarity"}, True),
    ],
)
def test_dissimilarities_are_to_be_far_apart(store, loop, method, params, more):
    store.dispatch(act.SetMethod(method), act.SetParams(params))
    store.change_view(folds={"costs": True})
    apply_answers(store, loop, ((0, 1), 2))
    found = node_costs_section.state(store)
    assert ("More is better" in found["what"]) == more
    assert ("Less is better" in found["what"]) != more


def test_similarities_for_a_method_of_dissimilarities_are_refused(store):
    assert inspector_model.DISSIMILARITY_NOTE not in inspector_model.state(store)["notes"]
    store.session = replace(store.session, method="densest-cut", params={})
    assert inspector_model.state(store)["notes"][0] == inspector_model.DISSIMILARITY_NOTE
    assert not SECTIONS["profile"].state(store)  # the sparsest cut is not what it looks for


def test_a_violated_answer_is_taken_from_a_value_that_is_to_be_high(store, loop):
    params = {"objective": "dissimilarity", "lam": 2.0, "proposals": 1000}
    store.dispatch(act.SetMethod("dasgupta-search"), act.SetParams(params))
    apply_answers(store, loop, ((0, 1), 2), ((0, 2), 1))
    tree, triplets = store.drawn.tree, store.session.triplets
    paid = regularised_cost(tree, np.zeros((101, 101)), triplets, 2.0)
    assert len(triplets) == 2
    assert paid > 0
    value = dasgupta_cost(tree, store.problem.similarity_or_default)
    assert node_costs_section.state(store)["regularised"]["cost"] == node_costs_section.format_cost(
        value - paid
    )


def test_a_method_without_a_price_has_no_regularised_cost(store, loop):
    apply_answers(store, loop, ((0, 1), 2))
    assert node_costs_section.state(store)["regularised"] == {
        "lam": "",
        "cost": "",
        "violated": "0 of 1",
    }


def test_the_regularised_cost_takes_the_methods_lambda(store, loop):
    store.dispatch(act.SetMethod("hrsc"), act.SetParams({"lam": 0.0}))
    apply_answers(store, loop, ((3, 7), 20), ((8, 9), 60), ((10, 11), 55))
    tree, triplets = store.drawn.tree, store.session.triplets
    broken = int((~tree.satisfies(triplets)).sum())
    assert broken
    store.session = replace(store.session, params=act.read_only({"lam": 250.0}))
    shown = node_costs_section.state(store)["regularised"]
    similarity = store.problem.similarity_or_default
    whole = regularised_cost(tree, similarity, triplets, 250.0)
    assert shown["cost"] == node_costs_section.format_cost(whole)
    assert shown["lam"] == "250"
    assert shown["violated"].startswith(f"{broken} of 3, weight {broken} of 3")


def test_levels_are_shares_of_the_whole_cost():
    costs_of = np.array([0.0, 0.0, 0.0, 0.5, 5.0, 45.0, 949.5])
    assert node_costs_model.cost_levels(costs_of).tolist() == [-1, -1, -1, -1, 0, 1, 3]
    assert node_costs_model.cost_levels(np.zeros(3)).tolist() == [-1, -1, -1]
    assert len(node_costs_model.LEVELS) == len(node_costs_model.LEVEL_NAMES)


def test_branches_are_coloured_by_cost_on_request_and_after_the_run(store, loop):
    assert node_costs_model.drawn_tree_levels(store) is None
    store.change_view(colour="cost")
    levels = asked(loop, store, lambda: node_costs_model.drawn_tree_levels(store))
    assert levels.shape == (store.drawn.tree.n_nodes,)
    assert levels[-1] == 3
    assert (levels[: store.drawn.tree.n_leaves] == -1).all()
    store.session = replace(store.session, status="sampling")
    assert node_costs_model.drawn_tree_levels(store) is None


def test_one_item_beside_another_is_one_other(store):
    tree = store.session.tree
    cherry = next(int(node) for node in range(tree.n_leaves, tree.n_nodes) if tree.size[node] == 2)
    assert node_costs_section.split_text(store, tree, cherry).endswith(" | 1 other")


def test_items_without_similarities_have_no_costs(loop):
    made = Store(Session(), loop.schedule)
    assert node_costs_model.problem_with_costs(made) is None
    assert node_costs_section.SECTION.state(made) is None
    made.close()


# ---------------------------------------------------------------------- what constraints are worth


def test_no_answers_no_list(store):
    assert dependencies_section.state(store)["sentence"].startswith("No constraints yet.")
    assert dependencies_sheet.SHEET.unavailable_because(store) == "There are no answers yet."


def test_what_the_answers_are_worth(store, loop):
    tree = store.drawn.tree  # without any: two of its own clades are true already
    a, b = (int(x) for x in tree.leaves(int(tree.parent[0]))[:2])
    far = int(next(x for x in range(101) if x not in (a, b) and tree.satisfies([[a, b, x]])[0]))
    apply_answers(store, loop, ((a, b), far), ((3, 7), 20), ((7, 20), 60), ((3, 7), 60))
    found = asked(loop, store, lambda: dependencies_section.state(store))
    by_id = {each["id"]: each["mark"] for each in found["answers"]}
    ids = [each.id for each in store.session.enabled]
    without = dependencies_model.tree_without_constraints(store)
    assert without == tree
    expected = usefulness(101, store.session.triplets.rows, without)
    for number, each in enumerate(ids):
        mark = by_id[each]
        assert (mark == "implied") == expected.implied[number]
        assert (mark == "useful") == expected.useful[number]
    assert by_id[ids[0]] == "already"
    assert by_id[ids[3]] == "implied"  # 3, 7 before 20, and 7, 20 before 60
    assert found["count"].startswith(f"{int(expected.useful.sum())} of 4 answers")
    facts = dict(map(tuple, found["facts"]))
    digraph = dependency(store.session.triplets)
    assert facts["Dependency measure"] == f"{digraph.dmc:,.6g}"
    assert facts["Triplets"] == "4"
    assert f"k = {np.unique(store.session.triplets.rows).size} of n = 101" in found["words"]


def test_a_statement_of_many_rows_is_implied_as_a_whole():
    rows = [[0, 1, 4], [1, 2, 4], [0, 1, 4], [1, 2, 4], [2, 3, 4]]
    owners = [0, 0, 1, 1, 1]  # {0,1,2} apart from 4; {0,1,2,3} apart from 4
    found = usefulness(5, rows, None, owners)
    assert found.implied.tolist() == [True, False]
    tree = Tree.from_newick("(((0,1),2),(3,4));")
    found = usefulness(5, rows, tree, owners)
    assert found.already.tolist() == [True, False]
    single = usefulness(5, rows, tree)
    assert single.already.tolist() == [True, True, True, True, False]


def test_the_digraph_in_layers(store, loop):
    # A chain: {3,7} waits for {7,20}, which waits for {20,60}; {1,2} is on its own.
    apply_answers(store, loop, ((3, 7), 20), ((7, 20), 60), ((20, 60), 90), ((1, 2), 50))
    found = asked(loop, store, lambda: dependencies_sheet.state(store))
    layer = {tuple(box["items"]): box["layer"] for box in found["boxes"]}
    assert layer == {(1, 2): -1, (3, 7): 0, (7, 20): 1, (20, 60): 2}
    names = store.session.labels
    first = next(box for box in found["boxes"] if box["items"] == [3, 7])
    assert first["pair"] == f"{names[3]} + {names[7]}"
    assert [key["name"] for key in first["keys"]] == [names[20]]
    assert first["measure"] == "8"
    assert [box["deciding"] for box in found["boxes"]].count(True) == 3
    assert found["sentence"].startswith("4 pairs bound, 2 dependencies, 3 layers")


@pytest.mark.parametrize("seed", range(5))
def test_layers_are_longest_paths_and_places_are_permutations(seed):
    rng = np.random.default_rng(seed)
    tree = Tree.from_linkage(linkage(rng.normal(size=(30, 2))))
    rows = np.array([rng.permutation(30)[:3] for _ in range(400)])
    rows = rows[tree.satisfies(rows)][:60]
    found = dependency(rows)
    layer, place = dependencies_sheet.arrange_layers(found)
    joined = set(found.edges.ravel().tolist())
    assert {i for i in range(len(layer)) if layer[i] < 0} == set(range(len(layer))) - joined

    above = {i: [int(a) for a, b in found.edges if b == i] for i in joined}

    def depth(i):
        return max((depth(j) + 1 for j in above[i]), default=0)

    assert all(layer[i] == depth(i) for i in joined)
    for each in np.unique(layer):
        here = place[layer == each]
        assert sorted(here.tolist()) == list(range(here.size))


def test_too_many_triplets_are_not_drawn(store, monkeypatch, loop):
    apply_answers(store, loop, ((3, 7), 20), ((1, 2), 50))
    monkeypatch.setattr(dependencies_model, "MAX_TRIPLETS", 1)
    assert dependencies_sheet.SHEET.unavailable_because(store) == "Available up to 1 triplets."
    assert dependencies_section.state(store) == {"sentence": "Available up to 1 triplets."}


# ---------------------------------------------------------------------- how it could be cut


def test_the_sweep_of_the_whole_and_the_trees_own_cut(store, loop):
    assert cut_profile_section.state(store)["sentence"] == "Computing…"
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    expected = cut_profile(store.problem, np.arange(101))
    inside, least = int(expected.inside[expected.best]), float(expected.ratio[expected.best])
    assert found["best"] == [inside, least]
    assert found["curve"] == [
        [int(a), float(f"{b:.6g}")] for a, b in zip(expected.inside, expected.ratio, strict=True)
    ]
    small = min(inside, 101 - inside)
    assert found["words"] == (
        f"All items: the sparsest sweep cut separates {small} of 101 items, and so does the tree."
    )
    assert found["own"] == pytest.approx([inside, least]) or found["own"][0] == 101 - inside


def test_a_tree_with_another_cut_shows_the_difference(store, loop):
    sides = np.arange(101) < 30
    rest = store.problem.similarity_or_default
    ratio = rest[np.ix_(sides, ~sides)].mean()
    halves = [np.flatnonzero(sides), np.flatnonzero(~sides)]
    parent = np.full(103 + 1, 103, np.int32)
    parent[halves[0]], parent[halves[1]], parent[103] = 101, 102, -1
    tree = Tree(parent, np.r_[np.zeros(101), 1.0, 1.0, 2.0], 101)
    store.drawn = replace(store.session.snapshot, tree=tree)
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    assert found["own"][0] in (30, 71)
    assert found["own"][1] == pytest.approx(ratio)
    times = ratio / found["best"][1]
    assert (
        f"the tree separates 30, at {times:.2f} times the mean similarity across." in found["words"]
    )
    store.change_view(
        selection=(0, 1)
    )  # the clade of the first thirty, which the tree parts into thirty
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    assert found["size"] == 30
    assert found["own"] is None
    assert found["words"].endswith("the tree divides them into more than two at once.")


def test_answers_bind_items_and_priced_ones_weigh(store, loop, unconstrained):
    apply_answers(store, loop, ((3, 7), 20), ((8, 9, 10), 60))
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    assert "Answers bind the items into 98 groups." in found["words"]
    store.dispatch(act.SetMethod("hrsc"), act.SetParams({"lam": 5.0}))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    constrained = store.problem.with_triplets(store.session.triplets)
    expected = cut_profile(constrained, np.arange(101), 0.0, 5.0)
    assert found["best"][1] == float(expected.ratio[expected.best])
    store.dispatch(act.SetMethod(unconstrained))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    plain = cut_profile(store.problem, np.arange(101))
    assert found["best"][1] == float(plain.ratio[plain.best])


def test_the_balanced_method_is_shown_its_balanced_cut(store, loop):
    store.dispatch(act.SetMethod("crbc"))
    loop.until(lambda: store.session.status == "settled")
    store.drawn = store.session.snapshot
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    assert found["third"]
    assert 34 <= found["best"][0] <= 67
    assert found["facts"][0][0] == "Lightest balanced cut"


def test_no_cut_is_called_balanced_that_is_not(store, loop):
    store.dispatch(act.SetMethod("crbc"))
    apply_answers(store, loop, (tuple(range(85)), 95))  # 85 of 101 travel as one
    found = asked(loop, store, lambda: cut_profile_section.state(store))
    assert found["facts"][0] == [
        "Most even cut", f"16 | 85 at {found['best'][1]:.4g}"
    ]  # fmt: skip
    assert found["words"].startswith(
        "All items: no cut leaves a third on each side, for answers bind 85 of 101 items into one. "
        "The most even cut separates 16 of 101 items, and so does the tree."
    )
    assert (
        found["best"] == pytest.approx(found["own"])
        or sum(x[0] for x in (found["best"], found["own"])) == 101
    )
    live = dict(inspector_model.live(store)["facts"])
    assert live["Sets without a balanced cut"] == "1"


def test_where_no_sweep_is_balanced_the_largest_group_is_cut_off():
    """5 - 8 - 5 items that travel as one, the largest between the others: 13 | 5 is none."""
    n, block = 18, np.repeat([0, 1, 2], [5, 8, 5])
    matrix = 1.0 * (np.abs(np.subtract.outer(block, block)) < 2)
    rows = [[i, i + 1, 0 if block[i] else 17] for i in range(n - 1) if block[i] == block[i + 1]]
    problem = Problem(similarity=matrix, triplets=rows)
    tree = fit("crbc", problem)
    sides = [tree.leaves(int(child)) for child in tree.children(tree.root)]
    assert sorted(len(side) for side in sides) == [8, 10]
    cuts = cut_profile_section.compare_cuts(problem, np.arange(n), sides, None, True)
    assert cuts.best[0] in (8, 10)  # whichever side the sweep begins with
    assert cuts.best[1] == pytest.approx(1.0)
    found = cut_profile_section.profile_state(cuts, n, True)
    assert found["facts"][0] == ["Lightest balanced cut", "8 | 10 at 1"]
    assert found["facts"][2] == ["Balance", "44 % on the smaller side"]
    assert found["words"].startswith(
        "All items: the lightest balanced cut separates 8 of 18 items, and"
    )


def test_a_leaf_means_the_clade_around_it_and_large_clades_are_refused(store, monkeypatch):
    tree = store.drawn.tree
    store.change_view(selection=(5,))
    assert cut_profile_section.shown_clade(store, tree) == tree.parent[5]
    store.change_view(selection=())
    assert cut_profile_section.shown_clade(store, tree) == tree.root
    monkeypatch.setattr(cut_profile_section, "MAX_ITEMS", 50)
    assert cut_profile_section.state(store)["sentence"].startswith(
        "Available for branches up to 50 items"
    )


def test_long_curves_are_thinned_without_losing_valleys():
    rng = np.random.default_rng(0)
    problem = Problem(
        similarity=np.exp(-np.abs(np.subtract.outer(*[np.sort(rng.random(700))] * 2)))
    )
    found = cut_profile(problem, np.arange(700))
    shown = cut_profile_section.thin_curve(found, int(found.inside[found.best]))
    assert len(shown) <= cut_profile_section.MAX_POINTS + 3
    assert [x for x, _ in shown] == sorted({x for x, _ in shown})
    assert min(y for _, y in shown) == float(f"{found.ratio.min():.6g}")
    assert shown[0][0] == 1
    assert shown[-1][0] == 699


@pytest.mark.parametrize("lam", [None, 2.5])
def test_a_cuts_ratio_is_its_definition(lam):
    rng = np.random.default_rng(3)
    similarity = rng.random((9, 9))
    similarity += similarity.T
    rows = [[0, 1, 2], [3, 4, 0], [5, 6, 8], [2, 3, 4]]
    weights = [1.0, 2.0, 3.0, 0.5]
    problem = Problem(similarity=similarity, triplets=Triplets(rows, weights))
    one, other = [0, 2, 4], [1, 3, 7]
    held = {*one, *other}
    weight = sum(similarity[i, j] - 0.25 for i in one for j in other)
    for (a, b, c), price in zip(rows, weights, strict=True):
        if lam and {a, b, c} <= held and (a in one) != (b in one):
            weight += lam * price
    assert cut_ratio(problem, one, other, 0.25, lam) == pytest.approx(weight / 9)
    sparse = Problem(similarity=csr_array(similarity), triplets=Triplets(rows, weights))
    assert cut_ratio(sparse, one, other, 0.25, lam) == pytest.approx(weight / 9)
    for wrong in ([], [0, 1]):
        with pytest.raises(InvalidData):
            cut_ratio(problem, one, wrong)


# ---------------------------------------------------------------------- lambda


@pytest.fixture
def priced(store, loop):
    store.dispatch(act.SetMethod("hrsc"))
    apply_answers(store, loop, ((3, 7), 20), ((8, 9), 60), ((10, 11), 55))
    return store


def test_the_slider_goes_there_and_back():
    for unit in (0.01, 1.0, 100.0):
        assert price_curve_section.price_at_step(0, unit) == 0
        assert price_curve_section.step_of_price(0, unit) == 0
        steps = [
            price_curve_section.price_at_step(k, unit)
            for k in range(price_curve_section.SLIDER_STEPS + 1)
        ]
        assert steps == sorted(set(steps))
        assert [price_curve_section.step_of_price(x, unit) for x in steps] == list(
            range(price_curve_section.SLIDER_STEPS + 1)
        )
        assert steps[-1] == price_curve_section.GRID[-1] * unit
    assert price_curve_section.step_of_price(1e9, 1.0) == price_curve_section.SLIDER_STEPS
    assert price_curve_section.step_of_price(1e-9, 1.0) == 1


def test_what_each_price_buys(priced, loop):
    found = asked(loop, priced, lambda: price_curve_section.state(priced))
    assert [each["lam"] for each in found["points"]] == [f"{x:g}" for x in price_curve_section.GRID]
    constrained = priced.problem.with_triplets(priced.session.triplets)
    for lam, point in zip(price_curve_section.GRID, found["points"], strict=True):
        tree = fit("hrsc", constrained, lam=lam)
        assert point["cost"] == pytest.approx(dasgupta_cost(tree, priced.problem.similarity))
        assert point["weight"] == float((~tree.satisfies(constrained.triplets)).sum())
    assert found["points"][0]["weight"] > 0 == found["points"][-1]["weight"]
    assert found["waiting"] == ""
    assert found["now"]["lam"] == "1"
    assert found["now"]["cost"] == pytest.approx(found["points"][3]["cost"])


def test_without_answers_lambda_has_no_slider(store, loop):
    store.dispatch(act.SetMethod("hrsc"))
    loop.until(lambda: store.session.status == "settled")
    assert "lambda changes nothing" in price_curve_section.state(store)["sentence"]
    store.dispatch(act.SetMethod("crsc"))
    assert price_curve_section.SECTION.state(store) is None


def test_a_drag_is_one_step_to_undo(priced, loop):
    hands = Gestures(priced)
    steps, trees = len(priced.session.past), len(priced.session.history)
    for number, step in enumerate((40, 60, 80)):
        price_curve_section.SECTION.acts(hands, "slide", {"step": step, "dragging": number > 0})
        loop.until(lambda: priced.session.status == "settled")
    assert len(priced.session.past) == steps + 1
    assert len(priced.session.history) <= trees + 1
    lam = price_curve_section.price_at_step(80, 1.0)
    assert priced.session.params["lam"] == lam
    assert priced.session.past[-1].label == f"Parameters: lam = {lam}"
    price_curve_section.SECTION.acts(hands, "point", {"lam": 10})
    assert len(priced.session.past) == steps + 2
    priced.dispatch(act.Undo(), act.Undo())
    assert "lam" not in priced.session.params


def test_a_drag_after_another_action_is_a_separate_step(priced, loop):
    hands = Gestures(priced)
    price_curve_section.SECTION.acts(hands, "slide", {"step": 40})
    priced.dispatch(act.SetSeed(4))
    steps = len(priced.session.past)
    price_curve_section.SECTION.acts(hands, "slide", {"step": 60, "dragging": True})
    assert len(priced.session.past) == steps + 1


def test_the_drag_replays_from_the_log(priced, loop):
    hands = Gestures(priced)
    for number, step in enumerate((40, 60, 80)):
        price_curve_section.SECTION.acts(hands, "slide", {"step": step, "dragging": number > 0})
        loop.until(lambda: priced.session.status == "settled")
    content = save_session(priced.session)
    again = load_session(content)
    kept = [each.action for each in again.log if isinstance(each.action, act.SetParams)]
    assert [each.is_dragging for each in kept] == [False, True, True]


def test_what_cannot_be_computed_is_reported_at_once(priced, loop):
    priced.dispatch(act.SetParams({"oracle": "exact"}))  # for up to 18 items
    loop.until(lambda: priced.session.status == "failed")
    found = asked(loop, priced, lambda: price_curve_section.state(priced))
    assert found["points"] == []
    assert "up to 18 supernodes" in found["waiting"]
    shown = asked(loop, priced, lambda: dependencies_section.state(priced))
    assert shown["method"].startswith("It is not known which are true without answers.")
    assert "already" not in {each["mark"] for each in shown["answers"]}
