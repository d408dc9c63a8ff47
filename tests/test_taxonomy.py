"""Named groups: where they are placed, what they say, and that files give them back."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hcviz
from hcviz import Group, Taxonomy, Tree
from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.placement import place
from tests.trees import random_tree

HOSTILE = ["'", '"', "a,b", "=1+1", "</script>", "line\nbreak", "مرحبا", "🦉", "**bold**", "{#id}",
           "- x", "a\\b", "tab\tin", "[x](y)", "&amp;", "_a_", "(b:1)", " ends ", "#1"]  # fmt: skip


def jaccard(one, other):
    one, other = set(one), set(other)
    return len(one & other) / len(one | other)


def nodes_of(tree):
    return {node: frozenset(tree.leaves(node).tolist()) for node in range(tree.n_nodes)}


def place_slowly(tree, groups):
    """The definition, node by node."""
    clades, found = nodes_of(tree), {}
    exact = {k: node for k, own in enumerate(groups) for node in clades if clades[node] == set(own)}
    found.update(exact)
    for k in sorted(range(len(groups)), key=lambda k: (-len(groups[k]), k)):
        if k in exact:
            continue
        own, best = set(groups[k]), None
        for node, clade in clades.items():
            if node in found.values():
                continue
            if node == tree.root and len(own) < tree.n_leaves:
                continue
            if node < tree.n_leaves and len(own) > 1:
                continue
            fits = True
            for other, there in found.items():
                theirs, its = set(groups[other]), clades[there]
                if own < theirs:
                    fits &= clade < its
                elif theirs < own:
                    fits &= its < clade
                elif not own & theirs:
                    fits &= not clade & its
            rank = (-jaccard(own, clade), len(clade), node)
            if fits and -rank[0] >= 0.5 and (best is None or rank < best[0]):
                best = rank, node
        if best is not None:
            found[k] = best[1]
    return [found.get(k, -1) for k in range(len(groups))]


def sets(n):
    return st.lists(
        st.sets(st.integers(0, n - 1), min_size=1, max_size=n), min_size=1, max_size=6,
        unique_by=frozenset,
    )  # fmt: skip


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), sets(n))), st.integers(0, 999))
def test_places_are_those_of_the_definition(given_sets, seed):
    n, groups = given_sets
    tree = random_tree(np.random.default_rng(seed), n)
    groups = [sorted(group) for group in groups]
    assert place(tree, groups) == place_slowly(tree, groups)


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), sets(n))), st.integers(0, 999))
def test_placed_groups_keep_their_nesting(given_sets, seed):
    n, groups = given_sets
    tree = random_tree(np.random.default_rng(seed), n)
    nodes = place(tree, groups)
    clades = nodes_of(tree)
    there = [(set(g), clades[node]) for g, node in zip(groups, nodes, strict=True) if node >= 0]
    for (one, its), (other, other_its) in combinations(there, 2):
        assert its != other_its
        if one < other:
            assert its < other_its
        elif other < one:
            assert other_its < its
        elif not one & other:
            assert not its & other_its


def named(groups):
    return [Group(f"group {k}", members, id=f"g{k}") for k, members in enumerate(groups)]


@given(st.integers(3, 12).flatmap(lambda n: st.tuples(st.just(n), sets(n))), st.integers(0, 999))
def test_no_name_is_lost_on_any_tree_and_going_back_restores_all(given_sets, seed):
    n, groups = given_sets
    rng = np.random.default_rng(seed)
    one, other = random_tree(rng, n), random_tree(rng, n)
    labels = [f"i{k}" for k in range(n)]
    first = Taxonomy(labels, one, named(groups))
    second = first.carried_to(other)
    for taxonomy in (first, second):
        names = sorted(each.name for each in (*taxonomy.placed, *taxonomy.unplaced))
        assert names == sorted(f"group {k}" for k in range(len(groups)))
        assert {change.group for change in taxonomy.changes} <= set(taxonomy.placed)
    assert second.carried_to(one) == first
    assert second.carried_to(one).nodes == first.nodes


def kitchen():
    labels = ["pan", "pot", "wok", "jar", "box", "fork", "knife"]
    tree = Tree.from_children([[0, 1], [7, 2], [3, 4], [8, 9], [5, 6], [10, 11]], 7)
    groups = [
        Group("Cooking", [0, 1, 2], id="c", locked=True),
        Group("Storage", [3, 4], id="s", note="with lids", alternatives=["Keeping"]),
        Group("Kitchen", [0, 1, 2, 3, 4], id="k", status="accepted"),
    ]
    return Taxonomy(labels, tree, groups)


def test_a_taxonomy_has_its_groups():
    taxonomy = kitchen()
    assert taxonomy.changes == ()
    assert taxonomy.unplaced == ()
    top = taxonomy.outline
    assert [each.name for each in top.children] == ["Kitchen"]
    assert [each.name for each in top.children[0].children] == ["Cooking", "Storage"]
    assert [taxonomy.labels[item] for item in top.items] == ["fork", "knife"]
    first, second = taxonomy.labels_at(1), taxonomy.labels_at(2)
    assert first.to_dict()["wok"] == "Kitchen"
    assert np.isnan(first["fork"])
    assert second[["pan", "jar"]].tolist() == ["Cooking", "Storage"]
    assert taxonomy.n_levels == 2
    with pytest.raises(InvalidTaxonomy, match="counted from 1"):
        taxonomy.labels_at(0)


def test_changes_by_a_tree_are_listed_and_can_be_accepted():
    taxonomy = kitchen()
    other = Tree.from_children([[0, 1], [2, 3], [8, 4], [7, 9], [5, 6], [10, 11]], 7)
    carried = taxonomy.carried_to(other)
    changes = {each.name: (each.gained, each.lost) for each in carried.changes}
    assert changes == {"Storage": ((2,), ()), "Cooking": ((), (2,))}
    accepted = carried.accepted("Storage")
    assert next(g for g in accepted.groups if g.name == "Storage").members == (2, 3, 4)
    assert next(g for g in accepted.groups if g.name == "Cooking").members == (0, 1, 2)
    assert carried.accepted().changes == ()
    with pytest.raises(InvalidTaxonomy, match="no group Nothing"):
        carried.accepted("Nothing")


def test_a_group_like_no_clade_waits_without_a_place():
    taxonomy = kitchen()
    apart = Tree.from_children([[0, 5], [1, 3], [2, 6], [7, 8], [10, 9], [11, 4]], 7)
    carried = taxonomy.carried_to(apart)
    assert "Storage" in {group.name for group in carried.unplaced}
    assert "Storage" not in carried.to_markdown()
    assert carried.carried_to(taxonomy.tree) == taxonomy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Group("  ", [1]), "needs a name"),
        (lambda: Group("a", []), "has no members"),
        (lambda: Group("a", [1, 1]), "repeated or negative item"),
        (lambda: Group("a", [-1]), "negative item"),
        (lambda: Group("a", ["x"]), "members of 'a'"),
        (lambda: Group("a", [1], status="done"), "draft or accepted"),
        (lambda: Taxonomy(["a"], Tree.star(3)), "3 items, but there are 1 labels"),
        (lambda: Taxonomy(["a", "a", "b"], Tree.star(3)), "same name"),
        (lambda: Taxonomy("abc", Tree.star(3), [Group("g", [7])]), "only 3 items"),
        (lambda: Taxonomy("abc", Tree.star(3), named([[0, 1], [1, 0]])), "the same items"),
        (
            lambda: Taxonomy(
                "abc", Tree.star(3), [Group("g", [0], id="x"), Group("h", [1], id="x")]
            ),
            "the id 'x'",
        ),
        (
            lambda: Taxonomy("abcd", Tree.star(4), [Group("g", [0, 1]), Group("g", [2, 3])]),
            "same name below the same group",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(make, message):
    with pytest.raises(InvalidTaxonomy, match=message):
        make()


def test_a_taxonomy_is_frozen_and_public():
    taxonomy = kitchen()
    with pytest.raises(AttributeError, match="frozen"):
        taxonomy.tree = Tree.star(7)
    assert hcviz.Taxonomy is Taxonomy
    assert hcviz.Group is Group


# ---------------------------------------------------------------------- files

JSON = '{"format": "hcviz-taxonomy", "version": 1, "contents": %s}'
FORMS = ["json", "markdown", "csv", "newick"]


def summary(taxonomy, form):
    """What a form keeps of the groups."""
    kept = {
        "json": lambda g: (g.name, g.id, g.note, g.alternatives, g.status, g.locked),
        "markdown": lambda g: (g.name, g.id, g.status, g.locked),
        "csv": lambda g: (g.name,),
        "newick": lambda g: (g.name,),
    }[form]
    return sorted(
        (kept(group), sorted(taxonomy.labels[item] for item in group.members))
        for group in taxonomy.groups
    )


def read(form, text, labels=None):
    return getattr(Taxonomy, f"from_{form}")(text, labels)


def write(form, taxonomy):
    return getattr(taxonomy, f"to_{form}")()


@st.composite
def taxonomies(draw):
    """Clades of a tree as groups, all of whose names are hostile."""
    n = draw(st.integers(3, 10))
    tree = random_tree(np.random.default_rng(draw(st.integers(0, 999))), n)
    word = st.sampled_from(HOSTILE) | st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
        min_size=1,
        max_size=8,
    )
    labels = draw(st.lists(word, min_size=n, max_size=n, unique=True))
    clades = [tree.leaves(v).tolist() for v in range(n, tree.n_nodes - 1)]
    chosen = draw(st.lists(st.sampled_from(clades), unique_by=tuple, max_size=5)) if clades else []
    names = draw(st.lists(word.filter(str.strip), min_size=len(chosen), max_size=len(chosen),
                          unique_by=str.strip))  # fmt: skip
    groups = [
        Group(name, items, note=draw(word), alternatives=[draw(word)], locked=draw(st.booleans()),
              status=draw(st.sampled_from(["draft", "accepted"])))
        for name, items in zip(names, chosen, strict=True)
    ]  # fmt: skip
    return Taxonomy(labels, tree, groups)


@pytest.mark.parametrize("form", FORMS)
@given(taxonomy=taxonomies())
def test_readers_give_back_what_writers_wrote(form, taxonomy):
    if form == "csv" and not taxonomy.groups:
        return
    text = write(form, taxonomy)
    back = read(form, text)
    assert summary(back, form) == summary(taxonomy, form)
    assert sorted(back.labels) == sorted(taxonomy.labels)
    known = read(form, text, taxonomy.labels)
    assert known.labels == taxonomy.labels
    assert write(form, read(form, write(form, back))) == write(form, back)


def test_an_outline_can_be_changed_by_hand():
    text = kitchen().to_markdown()
    assert "- **Cooking** {#c .locked}" in text
    changed = text.replace("**Storage**", "**Keeping things**").replace("- fork\n", "")
    changed = changed.replace("    - jar\n", "    - jar\n    - fork\n")
    back = Taxonomy.from_markdown(changed, kitchen().labels)
    group = next(group for group in back.groups if group.id == "s")
    assert (group.name, group.members) == ("Keeping things", (3, 4, 5))
    assert next(group for group in back.groups if group.id == "c").locked


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("markdown", "- **A**\n      - x\n- y\n", "Line 2 .* indented by 6 spaces, where 2"),
        ("markdown", "Heading\n- x\n", "Line 1 of the outline is not a list entry"),
        ("markdown", "- **A**\n  - x\n- **A**\n  - y\n", "named 'A' .line 3."),
        ("markdown", "- **A**\n- x\n- y\n", "'A' .line 1. is empty"),
        ("markdown", "- **A**\n  - **B**\n    - x\n    - z\n- y\n", "only the group 'B' in it"),
        ("markdown", "- x\n- x\n", "item 'x' twice"),
        ("json", "{", "cannot be read as JSON"),
        ("json", "[]", "JSON is not a taxonomy"),
        ("json", JSON % '[{"name": "a", "contents": 3}]', "contents in 'a' must be a list"),
        ("json", JSON % "[7]", "7 where a group should be"),
        ("json", JSON % ("[{\"contents\":" * 5000), "nested too deeply"),
        ("csv", "a,b\n1,2\n", "columns must be level_1"),
        ("csv", "level_1,level_2,item\n,B,x\n", "Row 2 has a group on level 2, but none above"),
        ("csv", "level_1,item\nA\n", "Row 2 has 1 cells"),
        ("newick", "((x,y)A", "more opening than closing"),
        ("newick", "((x,y)A,(z,w)A);", "in the same group are named 'A'"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_sentence_with_its_place(form, text, message):
    with pytest.raises(InvalidTaxonomy, match=message) as fault:
        read(form, text)
    assert len(str(fault.value)) < 300


@pytest.mark.parametrize("form", FORMS)
def test_a_file_about_other_items_names_them(form):
    text = write(form, kitchen())
    with pytest.raises(InvalidTaxonomy, match=r"'wok'.*not an item.*nearest is 'woks'"):
        read(form, text, ["pan", "pot", "woks", "jar", "box", "fork", "knife"])
    with pytest.raises(InvalidTaxonomy, match="lacks 1 of the items: spoon"):
        read(form, text, [*kitchen().labels, "spoon"])


def test_a_group_that_is_a_clade_is_placed_before_a_larger_one_like_it():
    tree = Tree.from_children([[0, 1], [6, 2, 3, 4, 5]], 6)
    assert place(tree, [[0, 1, 2, 3], [0, 1]]) == [-1, 6]


def test_two_groups_of_one_name_whose_parents_have_no_place_are_not_written():
    tree = Tree.from_children([[0, 1], [6, 7], [8, 9, 2, 3, 4, 5]], 8)
    groups = [
        Group("A", [0, 1, 2, 3]), Group("T", [0, 1]), Group("B", [4, 5, 6, 7]), Group("T", [6, 7])
    ]  # fmt: skip
    taxonomy = Taxonomy([f"i{k}" for k in range(8)], tree, groups)
    assert {group.name for group in taxonomy.unplaced} == {"A", "B"}
    for form in FORMS:
        if form != "newick":
            with pytest.raises(InvalidTaxonomy, match="Two groups in the same group are named 'T'"):
                write(form, taxonomy)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("locked", "false", "must be true or false"),
        ("name", None, "must be a text"),
        ("id", "a b", "has white space"),
        ("note", "\ud800", "incomplete character"),
    ],
)
def test_a_group_of_json_with_a_wrong_value_is_refused(key, value, message):
    group = {"name": "a", "contents": ["x", "y"], key: value}
    document = {"format": "hcviz-taxonomy", "version": 1, "contents": [group, "z"]}
    with pytest.raises(InvalidTaxonomy, match=message):
        Taxonomy.from_json(json.dumps(document))
    with pytest.raises(InvalidTaxonomy, match="version 99"):
        Taxonomy.from_json(json.dumps(document | {"version": 99}))


def test_what_people_and_editors_do_to_an_outline_is_read():
    text = "\ufeff* **Birds**\r\n\t* owl  \r\n\t* rook\r\n* elm\r\n"
    taxonomy = Taxonomy.from_markdown(text)
    assert set(taxonomy.labels) == {"owl", "rook", "elm"}
    assert [group.name for group in taxonomy.groups] == ["Birds"]


def test_a_plain_nested_list_is_an_outline():
    text = "# Things\n\n- Animals\n  - Birds\n    - owl\n    - rook\n  - cat\n- elm\n"
    taxonomy = Taxonomy.from_markdown(text)
    members = {g.name: {taxonomy.labels[k] for k in g.members} for g in taxonomy.groups}
    assert members == {"Animals": {"owl", "rook", "cat"}, "Birds": {"owl", "rook"}}
    with pytest.raises(InvalidTaxonomy, match=r"Line 2 .* indented by 6 spaces"):
        Taxonomy.from_markdown("- Animals\n      - owl\n")


def test_a_table_without_groups_and_one_without_an_item():
    plain = Taxonomy("abc", Tree.star(3))
    assert Taxonomy.from_csv(plain.to_csv()).labels == ("a", "b", "c")
    with pytest.raises(InvalidTaxonomy, match="Row 3 has no item"):
        Taxonomy.from_csv("level_1,item\nA,x\nA,\n")
