"""New items are placed in named groups: probabilities, calibration, columns and files."""

from __future__ import annotations

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hcviz
from hcviz import Group, Problem, Taxonomy, Tree
from hcviz.cli import main
from hcviz.core.errors import InvalidData, InvalidParameter
from hcviz.core.matching_rows import matching_rows
from hcviz.datasets import load
from hcviz.io.tables import read_table
from hcviz.taxonomy.new_items import SHARED, SHARPNESS


def taxonomy_of(n, *groups):
    made = [Group(name, members, id=f"g{k}") for k, (name, members) in enumerate(groups)]
    return Taxonomy([f"i{k}" for k in range(n)], Tree.star(n), made)


def table(features):
    return Problem(features=features, labels=[f"i{k}" for k in range(len(features))])


def place_slowly(known, groups, fresh):
    """The definition: probability of each group for each new item, and the squared limit."""
    n = len(known)
    mean, deviation = known.mean(axis=0), known.std(axis=0)
    deviation[deviation == 0] = np.inf
    known, fresh = (known - mean) / deviation, (fresh - mean) / deviation

    def distance(one, other):
        return float(((one - other) ** 2).sum())

    typical = float(np.std([distance(a, b) for a in known for b in known])) or 1.0

    def votes(item, others, sharpness):
        weights = [math.exp(-sharpness * distance(item, known[k])) for k in others]
        return [weight / sum(weights) for weight in weights]

    own = [frozenset(g for g, members in enumerate(groups) if k in members) for k in range(n)]
    tried = []
    for sharpness in SHARPNESS / typical:
        for shared in SHARED:
            total = 0.0
            for k in range(n):
                others = [x for x in range(n) if x != k]
                peers = [own[x] == own[k] for x in others]
                if any(peers):
                    vote = votes(known[k], others, sharpness)
                    right = sum(v for v, peer in zip(vote, peers, strict=True) if peer)
                    total += math.log((1 - shared) * right + shared * sum(peers) / (n - 1))
            tried.append((total, sharpness, shared))
    most = max(total for total, _, _ in tried)
    sharpness, shared = next(each[1:] for each in tried if each[0] >= most - 1e-9)
    found = []
    for item in fresh:
        vote = [(1 - shared) * v + shared / n for v in votes(item, range(n), sharpness)]
        found.append([sum(vote[k] for k in members) for members in groups])
    return np.array(found)


@settings(max_examples=25)
@given(st.integers(0, 9999))
def test_probabilities_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    known = rng.normal(size=(n, 2)) + 3 * (np.arange(n) % 2)[:, None]
    outer = list(range(0, n, 2))
    groups = [outer, outer[: len(outer) - 1], list(range(1, n, 2))]
    fresh = rng.normal(size=(4, 2))
    expected = place_slowly(known, groups, fresh)
    named = taxonomy_of(n, *(("ABC"[k], members) for k, members in enumerate(groups)))
    found = hcviz.place(table(known), named, fresh, sure=0.0).items
    for row, each in zip(expected, found, strict=True):
        assert each.path
        for group, probability in zip(each.path, each.probabilities, strict=True):
            assert probability == pytest.approx(row["ABC".index(group.name)], abs=1e-6)
        assert list(each.probabilities) == sorted(each.probabilities, reverse=True)


def held_out(features, classes, seeds):
    """Hold out 20 %: which groups are right, their probabilities, and which count as unplaced."""
    right, sure, apart = [], [], []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(classes))
        test, known = order[: len(order) // 5], order[len(order) // 5 :]
        names = sorted({classes[k] for k in known})
        groups = [
            (name, [at for at, k in enumerate(known) if classes[k] == name]) for name in names
        ]
        named = taxonomy_of(len(known), *groups)
        for k, each in zip(
            test, hcviz.place(table(features[known]), named, features[test]).items, strict=True
        ):
            right.append(each.group.name == classes[k])
            sure.append(each.probability)
            apart.append(each.is_unplaced)
    return np.array(right), np.array(sure), np.array(apart)


@pytest.mark.parametrize("name", ["zoo", "iris"])
def test_held_out_items_get_their_classes_with_calibrated_probabilities(name):
    data = load(name)
    right, sure, apart = held_out(data.filled(), data.classes, 40)
    assert right.mean() > 0.92
    assert abs(right.mean() - sure.mean()) < 0.04
    assert right[sure > 0.9].mean() > 0.95
    assert apart.mean() < 0.08


NESTED = (("Low", range(8)), ("Lowest", range(4)), ("High", range(8, 12)))
LINE = np.array([[0, 0.1, 0.2, 0.3, 1, 1.1, 1.2, 1.3, 9, 9.1, 9.2, 9.3]]).T


def test_an_item_can_be_sure_of_the_outer_group_only():
    named = taxonomy_of(12, *NESTED)
    inner, between, far = hcviz.place(table(LINE), named, [[0.15], [0.72], [30.0]]).items
    assert [group.name for group in inner.path] == ["Low", "Lowest"]
    assert inner.probability > 0.8
    assert [group.name for group in between.path] == ["Low"]
    assert between.probability > 0.9
    assert (far.group.name, far.is_unplaced) == ("High", True)
    assert not inner.is_unplaced
    assert named == taxonomy_of(12, *NESTED)


def test_an_item_among_items_without_a_group_is_unplaced():
    named = taxonomy_of(12, ("Low", range(8)))
    (found,) = hcviz.place(table(LINE), named, [[9.15]]).items
    assert (found.path, found.probability, found.is_unplaced) == ((), 0.0, True)


def test_a_taxonomy_without_groups_places_nothing():
    assert hcviz.place(table(LINE), taxonomy_of(12), [[1.0]]).items[0].is_unplaced


FRAME = pd.DataFrame(
    {
        "legs": [4, 4, 2, 2],
        "coat": ["fur", "fur", "down", "down"],
        "flies": ["no", "no", "yes", "yes"],
    },
    index=["i0", "i1", "i2", "i3"],
)
BEASTS = taxonomy_of(4, ("Beasts", [0, 1]), ("Birds", [2, 3]))


def test_columns_are_matched_by_name_and_others_are_noted():
    new = pd.DataFrame(
        {"coat": ["down", "silk", ""], "size": [1, 2, 3], "legs": [2, 4, np.nan]},
        index=["wren", "vole", "rook"],
    )
    found = hcviz.place(FRAME, BEASTS, new)
    assert found.frame()["group"].tolist()[:2] == ["Birds", "Beasts"]
    assert [each.item for each in found.items] == ["wren", "vole", "rook"]
    notes = " ".join(found.notes)
    assert "1 other column ignored: 'size'" in notes
    assert "1 column missing in the new rows: 'flies'" in notes
    assert "'coat' has values that the table lacks: 'silk'" in notes


DATED = b"""name,when,size,desc
i0,1/2/2020,1,a big red house
i1,3/2/2020,1,one big red tent
i2,1/6/2024,1,the small blue boat
i3,25/6/2024,1,one small blue sail
"""


def test_dates_count_from_the_first_date_of_the_table_and_texts_have_one_sentence():
    new = pd.DataFrame(
        {"when": ["2/6/2024", "2/2/2020", ""], "size": [1, 1, 1], "desc": ["a big boat"] * 3},
        index=["ship", "hut", "thing"],
    )
    data = read_table(DATED, "dated.csv")
    found = hcviz.place(data, BEASTS, new)
    assert [each.group.name for each in found.items[:2]] == ["Birds", "Beasts"]
    assert found.notes == ()
    soon = pd.DataFrame({"when": ["soon"], "size": [1], "desc": ["a tent"]}, index=["den"])
    note = "Columns of dates are not compared: 'when'."
    assert hcviz.place(data, BEASTS, soon).notes == (note,)
    with pytest.raises(InvalidData, match="holds 'soon', where the table has dates"):
        hcviz.place(data, BEASTS, pd.concat([new, soon]))
    assert hcviz.place(data, BEASTS, new[["size"]]).notes == (
        "2 columns missing in the new rows: 'when', 'desc'. Items are compared by the others.",
    )


TALES = """name,size,story
i0,1,a big red house with a red roof
i1,2,one big red tent and a house
i2,1,the small blue boat with a sail
i3,2,one small blue sail on a boat
"""


def test_texts_are_compared_by_the_words_of_the_table():
    """The rows of the table, given as new rows, get the features that they have."""
    data = read_table(TALES.encode(), "tales.csv")
    same = pd.read_csv(io.StringIO(TALES), index_col=0)
    columns = {name: same[name].to_numpy(object) for name in same}
    found = matching_rows(columns, list(same.index), data.feature_names, ",", [], data)
    np.testing.assert_allclose(found, data.features, atol=1e-12)
    new = pd.DataFrame(
        {"size": [1, 2, 1], "story": ["a red red house", "blue boat", "nothing of it"]},
        index=["hut", "ship", "fog"],
    )
    placed = hcviz.place(data, BEASTS, new)
    assert placed.notes == ()
    assert [each.group.name for each in placed.items[:2]] == ["Beasts", "Birds"]
    assert placed.items[0].probability > 0.5
    only = hcviz.place(data, BEASTS, new[["story"]])
    assert [each.group.name for each in only.items[:2]] == ["Beasts", "Birds"]
    gap = matching_rows({"story": np.array([""])}, ["x"], data.feature_names, ",", [], data)
    assert np.isnan(gap).all()


def test_weights_of_columns_count_when_items_are_placed():
    rows = b"name,a,b\ni0,0,0\ni1,0,1\ni2,1,0\ni3,1,1\n"
    taxonomy = taxonomy_of(4, ("Low a", [0, 1]), ("High a", [2, 3]))
    new = pd.DataFrame({"a": [0.3], "b": [0.9]}, index=["x"])

    def sure(weight):
        data = read_table(rows, "t.csv", columns={"a": weight})
        return hcviz.place(data, taxonomy, new).items[0].probability

    assert sure(9) > sure(1) > sure(1 / 9)


def test_terms_of_a_table_without_kinds_are_one_column_of_text():
    known = Problem(
        features=[[1, 0.5, 0], [1, 0.5, 0], [0, 0, 1], [0, 0, 1]],
        feature_names=["legs", "desc: big", "desc: red"],
        labels=[f"i{k}" for k in range(4)],
    )
    new = pd.DataFrame({"legs": [1], "desc": ["big"]}, index=["vole"])
    notes = hcviz.place(known, BEASTS, new).notes
    assert notes == ("Columns of text are not compared: 'desc'.",)


def test_a_column_of_dates_is_left_out_with_a_sentence():
    new = pd.DataFrame({"legs": ["2024-03-31"], "coat": ["fur"]}, index=["vole"])
    found = hcviz.place(FRAME, BEASTS, new)
    assert found.items[0].group.name == "Beasts"
    assert found.notes[0] == "Columns of dates are not compared: 'legs'."
    silk = hcviz.place(FRAME, BEASTS, new.assign(legs=["many"]))
    assert "'legs' has no numbers in the new rows" in silk.notes[0]


@pytest.mark.parametrize(
    ("table_", "new", "words"),
    [
        (FRAME, pd.DataFrame({"wings": [1]}), "none of the columns"),
        (FRAME, pd.DataFrame({"legs": ["many", "3"]}), "holds the text 'many'"),
        (FRAME, [[1.0]], "1 columns, and the table has 4"),
        (FRAME, [[np.inf] * 4], "infinite"),
        (FRAME.iloc[:3], FRAME, "lacks 1 items of the taxonomy: i3"),
        (Problem(similarity=np.eye(4)), FRAME, "the data have none"),
    ],
)
def test_items_that_cannot_be_placed_are_reported(table_, new, words):
    with pytest.raises(InvalidData, match=words):
        hcviz.place(table_, BEASTS, new)


@pytest.mark.parametrize("wrong", [{"sure": 1.5}, {"outliers": -0.1}, {"sure": float("nan")}])
def test_shares_are_between_0_and_1(wrong):
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        hcviz.place(FRAME, BEASTS, FRAME, **wrong)


def test_the_command_places_the_rows_of_a_file(tmp_path, capsys):
    beasts = BEASTS.carried_to(Tree.from_newick("((0,1),(2,3));"))
    (tmp_path / "groups.json").write_text(beasts.to_json())
    FRAME.to_csv(tmp_path / "data.csv")
    rows = 'name;legs;coat;age\n"=1+1, ""x""";2,0;down;3\nvole;4;fur;1\n'
    (tmp_path / "new.csv").write_text(rows)
    words = ["place", str(tmp_path / "groups.json"), str(tmp_path / "data.csv")]
    assert main([*words, str(tmp_path / "new.csv")]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "item,group,path,probability,unplaced"
    assert lines[1].startswith('"\'=1+1, ""x""",Birds,Birds,0.')  # no formula
    assert "'age'" in err
    assert "'flies'" in err
    assert main([*words, str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").read_text() == out
    assert "2 items" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "no.csv")]) == 2
    assert "no file" in capsys.readouterr().err


def test_the_command_compares_two_files(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("Birds\n  owl\n  rook\n  wren\nelm\nyew\n")
    (tmp_path / "b.md").write_text("- **Fowl**\n  - owl\n  - rook\n- elm\n- yew\n- wren\n- oak\n")
    words = ["compare", str(tmp_path / "a.txt"), str(tmp_path / "b.md")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "changed  Birds  Fowl    -1 (wren)" in out
    assert "wren: Birds -> no group" in out
    assert "Only in the second: oak." in out
    assert main([*words, "--json"]) == 0
    assert '"only_second": [\n    "oak"\n  ]' in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "a.txt"), str(tmp_path / "x.png")]) == 2
    assert "a taxonomy is read from" in capsys.readouterr().err


def test_an_item_is_compared_by_the_columns_that_it_has():
    """A missing cell alone does not make an item unlike all others, and hides no other oddity."""
    rng = np.random.default_rng(3)
    centre = np.repeat([0.0, 10.0], 30)
    table = pd.DataFrame(
        {
            "size": centre + rng.normal(size=60),
            "price": centre + rng.normal(size=60),
            "shelf": np.where(centre > 5, "high", "low"),
        },
        index=[f"i{k}" for k in range(60)],
    )
    taxonomy = taxonomy_of(60, ("Low", list(range(30))), ("High", list(range(30, 60))))
    new = pd.DataFrame(
        {"size": [0.1, 9.9, 40.0, np.nan], "price": [0.0, 10.0, 10.0, np.nan], "shelf": [None] * 4},
        index=["small", "large", "huge", "blank"],
    )
    found = hcviz.place(table, taxonomy, new)
    assert [each.group.name for each in found.items[:3]] == ["Low", "High", "High"]
    assert [each.is_unplaced for each in found.items[:3]] == [False, False, True]
    alone = hcviz.place(table[["size", "price"]], taxonomy, new.iloc[:3])
    assert [each.probability for each in alone.items] == pytest.approx(
        [each.probability for each in found.items[:3]]
    )
    half = pd.DataFrame({"size": [0.1], "price": [np.nan], "shelf": ["low"]}, index=["half"])
    together = hcviz.place(table, taxonomy, pd.concat([new, half]))
    assert together.items[4] == hcviz.place(table, taxonomy, half).items[0]
