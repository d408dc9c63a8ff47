"""Two versions of a taxonomy: kept, renamed, changed, split, merged, new and gone groups."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcviz import Group, Taxonomy, Tree
from hcviz.core.errors import InvalidTaxonomy
from hcviz.taxonomy.differences import find_differences
from hcviz.taxonomy.nesting import shared_properties

OPPOSITE = {"split": "merged", "merged": "split", "new": "gone", "gone": "new"}
LABELS = "abcdefghij"


def relation(one, other):
    if not one & other:
        return "disjoint"
    return "inside" if one < other else "around" if one > other else "other"


def statuses_slowly(first, second):
    """The definition, pair by pair: (name of the first group, of the second) -> status."""
    common = set(first.labels) & set(second.labels)

    def sets(taxonomy):
        return [
            frozenset(taxonomy.labels[item] for item in group.members) & common
            for group in taxonomy.groups
        ]

    def key(taxonomy, k):
        group = taxonomy.groups[k]
        return group.name, tuple(sorted(taxonomy.labels[item] for item in group.members))

    left, right = sets(first), sets(second)
    pairs = [
        (len(a & b) / len(a | b), i, j)
        for i, a in enumerate(left) for j, b in enumerate(right)
        if a & b and len(a & b) / len(a | b) >= 0.5
    ]  # fmt: skip

    def rank(pair):
        index, i, j = pair
        one, two = key(first, i), key(second, j)
        return -index, one[0] != two[0], sorted([one, two])

    match = {}
    for _, i, j in sorted(pairs, key=rank):
        if (
            i not in match
            and j not in match.values()
            and all(
                relation(left[i], left[x]) == relation(right[j], right[y]) for x, y in match.items()
            )
        ):
            match[i] = j
    back = {j: i for i, j in match.items()}

    def parts(own, others, its_match, taken):
        free = [k for k, each in enumerate(others) if k not in taken
                and 2 * len(each & own) > len(each)
                and (its_match is None or not each & others[its_match])]  # fmt: skip
        outer = [k for k in free if not any(others[k] < others[x] for x in free)]
        found = outer if its_match is None else [its_match, *outer]
        return sorted(found) if len(found) > 1 else []

    rows = [(i, match.get(i)) for i in range(len(left))]
    rows += [(None, j) for j in range(len(right)) if j not in back]
    found = []
    for i, j in rows:
        into = [] if i is None else parts(left[i], right, match.get(i), back)
        sources = [] if j is None else parts(right[j], left, back.get(j), match)
        if into and not sources:
            status = "split"
        elif sources and not into:
            status = "merged"
        elif i is None or j is None:
            status = "new" if i is None else "gone"
        elif left[i] != right[j]:
            status = "changed"
        else:
            status = "kept" if first.groups[i].name == second.groups[j].name else "renamed"
        found.append((
            i, j, status,
            tuple(second.groups[k].id for k in into), tuple(first.groups[k].id for k in sources),
        ))  # fmt: skip
    return found


@st.composite
def taxonomies(draw, side):
    labels = draw(st.permutations(LABELS))[: draw(st.integers(7, 10))]
    items = st.integers(0, len(labels) - 1)
    sets = draw(st.lists(st.sets(items, min_size=1), max_size=5, unique_by=frozenset))
    groups = []
    for k, members in enumerate(sets):
        made = Group(draw(st.sampled_from("ABC")), members, id=f"{side}{k}")
        if not list(shared_properties([*groups, made])):
            groups.append(made)
    return Taxonomy(labels, Tree.star(len(labels)), groups)


@given(taxonomies("x"), taxonomies("y"))
def test_the_statuses_are_those_of_the_definition(first, second):
    def at(groups, group):
        return None if group is None else groups.index(group)

    found = first.compared_with(second)
    assert [
        (at(first.groups, each.first), at(second.groups, each.second), each.status,
         tuple(part.id for part in each.into), tuple(part.id for part in each.sources))
        for each in found.groups
    ] == statuses_slowly(first, second)  # fmt: skip
    assert set(found.only_first) == set(first.labels) - set(second.labels)
    assert set(found.only_second) == set(second.labels) - set(first.labels)


@given(taxonomies("x"), taxonomies("y"))
def test_swapping_the_versions_swaps_the_result(first, second):
    found, swapped = first.compared_with(second), second.compared_with(first)

    def rows(differences, back=False):
        for each in differences.groups:
            ids = [None if group is None else group.id for group in (each.first, each.second)]
            parts = [{group.id for group in groups} for groups in (each.into, each.sources)]
            items = [set(each.gained), set(each.lost)]
            status = OPPOSITE.get(each.status, each.status) if back else each.status
            step = -1 if back else 1
            yield status, *ids[::step], *items[::step], *parts[::step]

    wanted, got = list(rows(found)), list(rows(swapped, back=True))
    assert len(wanted) == len(got)
    assert all(each in got for each in wanted)
    there = {(x.item, x.origin and x.origin.id, x.target and x.target.id) for x in found.moved}
    back = {(x.item, x.target and x.target.id, x.origin and x.origin.id) for x in swapped.moved}
    assert there == back


@given(taxonomies("x"))
def test_a_taxonomy_keeps_all_groups_of_itself(taxonomy):
    found = taxonomy.compared_with(taxonomy)
    assert [each.status for each in found.groups] == ["kept"] * len(taxonomy.groups)
    assert all(each.is_same and each.first is each.second for each in found.groups)
    assert (found.moved, found.only_first, found.only_second) == ((), (), ())


def version(*groups, n=10):
    made = [Group(name, [LABELS.index(item) for item in items]) for name, items in groups]
    return Taxonomy(LABELS[:n], Tree.star(n), made)


def statuses(first, second):
    return {
        (each.first and each.first.name, each.second and each.second.name): each.status
        for each in first.compared_with(second).groups
    }


def test_one_group_of_each_status():
    first = version(("Same", "ab"), ("Old name", "cd"), ("Long", "efg"), ("Away", "ij"))
    second = version(("Same", "ab"), ("New name", "cd"), ("Long", "ef"), ("Added", "gh"))
    assert statuses(first, second) == {
        ("Same", "Same"): "kept",
        ("Old name", "New name"): "renamed",
        ("Long", "Long"): "changed",
        ("Away", None): "gone",
        (None, "Added"): "new",
    }
    found = first.compared_with(second)
    assert [(x.item, x.origin.name, x.target.name) for x in found.moved] == [("g", "Long", "Added")]
    assert found.counts["kept"] == 1
    assert found.frame()["lost"].tolist()[2] == ("g",)
    assert not replace(found.groups[0], first=Group("Same", [0, 1], "a note")).is_same


def test_a_group_in_two_pieces_was_split_and_the_reverse_is_merged():
    whole, halves = version(("All", "abcdef")), version(("Left", "abc"), ("Right", "def"))
    assert statuses(whole, halves) == {("All", "Left"): "split", (None, "Right"): "new"}
    assert statuses(halves, whole) == {("Left", "All"): "merged", ("Right", None): "gone"}
    (row, _) = whole.compared_with(halves).groups
    assert [group.name for group in row.into] == ["Left", "Right"]


def test_a_new_level_is_no_split():
    flat = version(("All", "abcdef"))
    deep = version(("All", "abcdef"), ("Left", "abc"), ("Right", "def"))
    assert statuses(flat, deep) == {
        ("All", "All"): "kept", (None, "Left"): "new", (None, "Right"): "new",
    }  # fmt: skip
    assert flat.compared_with(deep).moved == ()


def test_items_of_one_version_only_are_listed_and_have_no_other_effect():
    first, second = version(("All", "abc"), n=5), version(("All", "abcj"), n=10)
    found = first.compared_with(second)
    assert (found.only_first, found.only_second) == ((), tuple("fghij"))
    assert [each.status for each in found.groups] == ["kept"]


def test_items_with_the_same_name_are_refused():
    group = [Group("A", [0, 1])]
    with pytest.raises(InvalidTaxonomy, match="first version has two items named 'a'"):
        find_differences("aa", group, "ab", group)
    with pytest.raises(InvalidTaxonomy, match="second version has two items named 'b'"):
        find_differences("abc", group, "abb", group)


def test_other_items_have_nothing_in_common():
    first = Taxonomy.from_text("A\n  a\n  b\nc\n")
    second = Taxonomy.from_text("A\n  x\n  y\nz\n")
    assert statuses(first, second) == {("A", None): "gone", (None, "A"): "new"}
