"""Columns of tables: what is detected, how it can be changed, weights, Gower's distance."""

from __future__ import annotations

import io
import math
import re
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from hcviz import HcvizError
from hcviz.cli import main
from hcviz.core.column_options import ColumnOptions
from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.core.gower import gower, gower_columns
from hcviz.core.table_dates import DateScale, parse_dates
from hcviz.io.file_kinds import detect_file
from hcviz.io.session_file import load_session, save_session
from hcviz.io.tables import read_table
from hcviz.io.workbook import read_sheet
from hcviz.session.model import DataSpec, Session
from hcviz.ui.features.columns.model import read_options

TABLE = b"""name,size,colour,fresh,bought,words,sku,empty,same
a,1,red,yes,2024-01-02,a sharp steel knife,1001,,x
b,2,red,no,2024-01-05,a blunt steel knife,1002,,x
c,,blue,yes,2024-02-01,a round wooden board,1003,,x
d,4,blue,no,,a square wooden board,1004,,x
"""


def column(data, name):
    return next(each for each in data.table.columns if each.name == name)


def test_kinds_examples_and_gaps():
    data = read_table(TABLE, "t.csv")
    kinds = {each.name: each.detected for each in data.table.columns}
    assert kinds == {
        "size": "number", "colour": "category", "fresh": "binary", "bought": "date",
        "words": "text", "sku": "identifier", "empty": "empty", "same": "constant",
    }  # fmt: skip
    size = column(data, "size")
    assert (size.missing, size.distinct, size.examples) == (1, 3, ("1", "2", "4"))
    assert not column(data, "sku").used
    assert "The column 'sku' holds 4 different numbers and was left out." in data.notes
    days = data.features[:, data.feature_names.index("bought")]
    assert np.array_equal(days, [0, 3, 30, np.nan], equal_nan=True)
    assert data.table.sentence() == (
        "Columns: 1 number, 1 yes/no, 2 categories, 1 date, 1 text, 2 left out; 2 missing cells."
    )


def test_new_dates_are_days_on_the_scale_of_the_column():
    month_first = DateScale.of(["3/25/2024", "1/2/2024 12:00", None])
    assert month_first.month_first
    assert month_first.days(["1/3/2024", "25/3/2024"])[0] == 0.5
    assert np.isnan(month_first.days(["25/3/2024", None])).all()
    days = month_first.days(["3/25/2024", "1/2/2024 12:00"])
    assert [month_first.text(day) for day in days] == ["2024-03-25", "2024-01-02 12:00"]
    assert month_first.text(1e8) == ""
    assert DateScale.of(["25/3/2024"]).days(["1/4/2024"]).tolist() == [7.0]


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["31.12.2023", "1.1.2024"], [0, 1]),
        (["01/02/2024", "01/13/2024"], [0, 11]),  # the month is first
        (["01/02/2024", "13/02/2024"], [0, 12]),  # the day is first
        (["2024-01-01T06:00:00Z", "2024-01-01 18:00"], [0, 0.5]),
        (["2024-01-01 00:00+09:00", "2024-01-01 23:59:59-11:00"], [0, 86_399 / 86_400]),
    ],
)
def test_dates(texts, days):
    data = read_table(f"name,when\nx,{texts[0]}\ny,{texts[1]}\nz,{texts[0]}\n".encode())
    assert data.features[:, 0] == pytest.approx([*days, days[0]])


@pytest.mark.parametrize("time", ["24:00", "12:60", "12:00:60", "99:99:99"])
def test_an_impossible_time_is_no_date(time):
    read = parse_dates([f"2024-01-03 {time}", f"3.1.2024 {time}", "2024-01-03 23:59:59"])
    assert np.isnan(read).tolist() == [True, True, False]


def test_columns_are_switched_off_weighted_and_drawn():
    data = read_table(
        TABLE,
        columns={"size": "category", "fresh": "off", "words": False, "colour": {"strip": True}},
    )
    assert [name for name in data.feature_names if name.startswith("size")] == [
        "size=1", "size=2", "size=4",
    ]  # fmt: skip
    assert {"fresh", "words: knife"}.isdisjoint(data.feature_names)
    assert data.strips == {"colour": ("red", "red", "blue", "blue")}
    assert "colour=red" in data.feature_names
    shown = read_table(TABLE, columns={"colour": "strip", "fresh": "strip"})
    assert list(shown.strips) == ["colour", "fresh"]
    assert "colour=red" not in shown.feature_names


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"nothing": "off"}, "There is no column 'nothing'"),
        ({"size": "huge"}, "cannot be 'huge'"),
        ({"size": 0.0}, "The weight of the column 'size' is 0"),
        ({"size": float("nan")}, "weight"),
        ({"size": {"colour": 1}}, "not readable"),
        ({"colour": "number"}, "holds the text 'red' among numbers"),
        ({"colour": "date"}, "which is not a date"),
        ({"words": "binary"}, "has 4 different values"),
        ({name: "off" for name in TABLE.decode().split("\n")[0].split(",")[1:]}, "no column"),
    ],
)
def test_wrong_options(columns, message):
    with pytest.raises(HcvizError, match=message):
        read_table(TABLE, columns=columns)


@pytest.mark.parametrize("weight", [10**400, "heavy", None])
def test_a_weight_from_the_page_that_is_no_number_gets_a_sentence(weight):
    row = {"name": "size", "kind": "number", "used": True, "strip": False, "weight": weight}
    with pytest.raises(InvalidParameter, match="A weight is not a number"):
        read_options([row], ())


def test_a_weight_of_two_is_the_same_as_the_column_twice():
    once = read_table(b"name,a,b\nx,1,5\ny,2,3\nz,4,9\nw,0,1\n", columns={"a": 2})
    twice = read_table(b"name,a,a2,b\nx,1,1,5\ny,2,2,3\nz,4,4,9\nw,0,0,1\n")
    for kind in ("cosine-z", "cosine", "gaussian", "euclidean", "gower"):
        assert once.problem(kind).similarity == pytest.approx(twice.problem(kind).similarity)
    features, other = once.problem().features, twice.problem().features
    assert features @ features.T == pytest.approx(other @ other.T)


def test_a_text_counts_as_much_as_a_number():
    rows = "\n".join(f"i{k},{k},the word w{k % 4} and v{k % 3} again {k + 100}" for k in range(24))
    features = read_table(f"name,n,words\n{rows}\n".encode()).problem().features
    assert (features[:, 0] ** 2).mean() == pytest.approx(1)
    assert (features[:, 1:] ** 2).mean(axis=0).sum() == pytest.approx(1)


def test_texts_without_common_words_are_left_out():
    notes = read_table(b"name,n,t\nx,1,one two three\ny,2,four five six\n", columns={"t": "text"})
    assert "The texts of 't' have no word in common and were left out." in notes.notes


# ---------------------------------------------------------------------- Gower


def plain_gower(columns, kinds, weights, i, j):
    """The definition, for columns of the table as they are."""
    total = weight = 0.0
    for cells, kind, w in zip(columns, kinds, weights, strict=True):
        if cells[i] is None or cells[j] is None:
            continue
        known = [cell for cell in cells if cell is not None]
        if kind == "number":
            width = max(known) - min(known)
            apart = abs(cells[i] - cells[j]) / width if width else 0.0
        else:
            apart = float(cells[i] != cells[j])
        total += w * apart
        weight += w
    return 1.0 - total / weight if weight else 0.0


cell = st.one_of(st.none(), st.integers(-3, 3))


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.lists(
            st.tuples(
                st.lists(cell, min_size=n, max_size=n),
                st.sampled_from(["number", "category"]),
                st.sampled_from([0.5, 1.0, 3.0]),
            ),
            min_size=1,
            max_size=4,
        )
    )
)
def test_gower_matches_its_definition(table):
    columns, kinds, sources, weights = [], [], [], []
    for at, (cells, kind, weight) in enumerate(table):
        values = sorted({each for each in cells if each is not None}) or [0]
        for value in values if kind == "category" else [None]:
            column = [each if value is None else each == value for each in cells]
            known = zip(column, cells, strict=True)
            columns.append([np.nan if cell is None else float(x) for x, cell in known])
            kinds.append(kind)
            sources.append(str(at))
            weights.append(weight)
    features = np.array(columns, dtype=float).T
    found = gower(*gower_columns(features, kinds, sources, np.array(weights)))
    plain = [list(each) for each in zip(*table, strict=True)]
    n = len(features)
    for i in range(n):
        for j in range(n):
            want = 1.0 if i == j else plain_gower(*plain, i, j)
            assert math.isclose(found[i, j], want, abs_tol=1e-12)


def test_gower_of_a_table_has_texts_and_gaps():
    data = read_table(TABLE)
    found = data.problem("gower").similarity
    assert found[0, 1] > found[0, 2]
    assert np.isfinite(found).all()


# ---------------------------------------------------------------------- workbooks


def workbook(**sheets) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


ROWS = [["name", "n", "when"], ["x", 1.5, None], ["y", 2, None], ["z", "=1+1", None]]


def test_a_workbook_is_read_like_text():
    content = workbook(cover=[], data=[[], [None, *ROWS[0]], *([None, *row] for row in ROWS[1:])])
    data = read_table(content, "t.xlsx")
    # A formula without a stored result is an empty cell: nothing is computed.
    assert data.table is not None
    assert (data.table.sheet, data.table.sheets) == ("data", ("cover", "data"))
    assert data.labels == ("x", "y", "z")
    assert np.array_equal(data.features[:, 0], [1.5, 2, np.nan], equal_nan=True)


def test_the_sheet_can_be_chosen():
    content = workbook(one=ROWS[:3], two=[["name", "k"], ["p", 1], ["q", 2]])
    assert read_table(content, "t.xlsx").labels == ("x", "y")
    assert read_table(content, "t.xlsx", sheet="two").labels == ("p", "q")
    with pytest.raises(InvalidData, match="no sheet 'three'"):
        read_table(content, "t.xlsx", sheet="three")
    with pytest.raises(InvalidData, match="has no cells"):
        read_table(workbook(one=[]), "t.xlsx")


def test_a_damaged_or_huge_workbook_gets_one_sentence(monkeypatch):
    content = workbook(one=ROWS)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for each in old.infolist():
            new.writestr(each, b"<broken" if "sheet1" in each.filename else old.read(each))
    with pytest.raises(InvalidData, match="damaged Excel workbook"):
        read_table(out.getvalue(), "t.xlsx")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (60 * 2**20))
    with pytest.raises(TooLarge, match="too large once unpacked"):
        read_table(bomb.getvalue(), "t.xlsx")
    monkeypatch.setattr("hcviz.io.rawtable.MAX_ROWS", 2)
    with pytest.raises(TooLarge, match="more than 2 rows"):
        read_table(content, "t.xlsx")


def test_formulas_without_stored_results_are_reported():
    rows = [["name", "a", "b"], ["x", 1, 4], ["y", 2, 5], ["z", 3, "=B4*2"], ["w", 9, "=B5*2"]]
    data = read_table(workbook(one=rows), "t.xlsx")
    (note,) = [each for each in data.notes if "formula" in each]
    assert note.startswith("2 formulas have no stored result, the first in C4, and count")
    assert np.isnan(data.features[2:, 1]).all()
    one = read_table(workbook(one=rows[:4]), "t.xlsx").notes
    assert "The formula in C4 has no stored result, and counts as empty." in one[0]
    stored = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(one=rows))) as old,
        zipfile.ZipFile(stored, "w") as new,
    ):
        for each in old.infolist():
            xml = old.read(each)
            new.writestr(each, re.sub(rb"(</f>)(<v\s*/>|<v></v>)?", rb"\1<v>7</v>", xml))
    assert read_table(stored.getvalue(), "t.xlsx").notes == ()
    assert read_table(stored.getvalue(), "t.xlsx").features[3, 1] == 7


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHARED_TEXTS = (
    '<Override PartName="/xl/sharedStrings.xml" ContentType="application/'
    'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def repeated_text(text: str, cells: int) -> bytes:
    """Return a workbook that has a text once, for all its cells."""
    rows = [["name", "word"], *([f"item {k}", "REPEATED"] for k in range(cells))]
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(one=rows))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for each in old.infolist():
            xml = old.read(each).decode()
            xml = xml.replace('t="inlineStr"><is><t>REPEATED</t></is>', 't="s"><v>0</v>')
            new.writestr(each, xml.replace("</Types>", f"{SHARED_TEXTS}</Types>"))
        new.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>{text}</t></si></sst>')
    return out.getvalue()


def test_a_long_text_in_many_cells_of_a_workbook_is_refused_before_it_is_copied():
    message = "1,500,000 characters in row 2, column B; the limit is 32,767"
    with pytest.raises(TooLarge, match=message):
        read_table(repeated_text("x" * 1_499_999 + "\N{NO-BREAK SPACE}", 300), "t.xlsx")
    text = "x" * 32_766 + "\N{NO-BREAK SPACE}"
    assert len(read_sheet(repeated_text(text, 3), "", "", 9, 99)[0][3][1]) == 32_766
    with pytest.raises(TooLarge, match="too large once unpacked"):
        read_table(repeated_text(text, 1_600), "t.xlsx")


# ---------------------------------------------------------------------- kinds of files, sessions

#: More than 1 MiB without a line break.
LONG_JSON = b"[" + b",".join([b'{"name": "a", "x": 1}'] * 70_000) + b"]"


def npy(values) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def linkage(kind=float) -> bytes:
    return npy(np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 2.0, 3.0]], dtype=kind))


def huge_npy() -> bytes:
    """Return a small file that declares 32 TB."""
    out = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 4)}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue()


def long_matrix(own: int) -> bytes:
    """Return the first rows of a matrix whose names take more than 1 MiB."""
    names = [f"{k:0110}" for k in range(10_000)]
    rows = [f"{names[k]},{','.join(['1'] * k + [str(own)] + ['1'] * (9_999 - k))}" for k in (0, 1)]
    return "\n".join([f"name,{','.join(names)}", *rows]).encode()


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (TABLE, "t.csv", "features"),
        (b"((a,b),c);", "t.txt", "tree"),
        (b"((x,y),z);", "t.nwk", "reference"),
        (linkage(), "t.npy", "tree"),
        (b",p,q,r\np,0,1,2\nq,1,0,3\nr,2,3,0\n", "t.csv", "distance"),
        (b"i;p;q\np;1;0,5\nq;0,5;1\n", "t.csv", "similarity"),
        (b">a\nACGT\n>b\nACGA\n", "t.fasta", "sequences"),
        (workbook(one=ROWS), "t.xlsx", "features"),
        (save_session(Session()), "t.hcviz", "session"),
        (b"", "t.csv", "features"),
        (huge_npy(), "t.npy", "features"),
        (linkage(complex), "t.npy", "features"),
        (npy(np.eye(4)), "t.npy", "features"),
        (npy(np.zeros(4)), "t.npy", "features"),
        (linkage() + b"0", "t.npy", "features"),
        (long_matrix(0), "t.csv", "distance"),
        (long_matrix(1), "t.csv", "similarity"),
        (LONG_JSON, "t.json", "features"),
        (b'"x",' * 2_500_000, "t.csv", "features"),
    ],
)
def test_the_kind_of_a_file_is_detected(content, name, kind):
    assert detect_file(content, name, ["x", "y", "z"]) == kind


def test_a_long_line_of_json_is_named():
    with pytest.raises(InvalidData, match="is JSON, not a table"):
        read_table(LONG_JSON, "t.json")


def test_a_header_of_many_long_names_is_read():
    header = ",".join(f"column {k:0110}" for k in range(10_000))
    row = ",".join(map(str, range(9_999)))
    content = f"{header}\nx,{row}\ny,{row}1\n".encode()
    assert detect_file(content, "t.csv") == "features"
    assert read_table(content, "t.csv").features.shape == (2, 9_999)


def test_a_tree_is_data_with_cophenetic_distances():
    data = read_table(b"(((a,b),c),(d,e));", "t.nwk", kind="tree")
    assert data.labels == ("a", "b", "c", "d", "e")
    nearer = data.dissimilarity
    assert nearer[0, 1] < nearer[0, 2] < nearer[0, 3] == nearer[2, 4]
    assert read_table(linkage(), "t.npy", kind="tree").dissimilarity.tolist() == [
        [0, 0.5, 2], [0.5, 0, 2], [2, 2, 0],
    ]  # fmt: skip
    with pytest.raises(HcvizError, match=r"twice|same"):
        read_table(b"((a,b),a);", kind="tree")


def test_session_files_keep_the_columns():
    options = (ColumnOptions("size", "category", True, False, 2.5), ColumnOptions("sku"))
    spec = DataSpec("table", "t", filename="t.csv", content=TABLE, columns=options, sheet="s")
    assert load_session(save_session(Session(data=spec))).data == spec
    with pytest.raises(InvalidParameter):
        ColumnOptions("size", "shape")  # type: ignore[arg-type]


# ---------------------------------------------------------------------- command line


def test_options_of_columns_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLE)
    options = ["--column", "size=off", "--column", "colour=strip"]
    assert main(["check", str(path), *options]) == 0
    assert "1 yes/no, 1 category, 1 date, 1 text, 3 left out" in capsys.readouterr().out
    assert main(["check", str(path), "--column", "size"]) == 2
    assert "--column size has no '='" in capsys.readouterr().err
    assert main(["run", "average", "zoo", "--column", "size=off"]) == 2
    assert "--column is for tables" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$5", "$1,200.50", "-$7", "$-2", ""], [5, 1200.5, -7, -2, np.nan]),
        (["0,125 kg", "1,500 kg", "2 kg", "3 kg"], [0.125, 1.5, 2, 3]),  # a decimal comma
        (["12,50 €", "1 €", "\u22123 €", "4 €"], [12.5, 1, -3, 4]),
        (["5 L", "6 L", "7,5 L", "8L"], [5, 6, 7.5, 8]),
        (["1A", "2A", "3A", "4A"], None),  # seats
        (["5 %", "6%", "7 %", "n/a"], [5, 6, 7, np.nan]),
        (["20 cm", "24cm", "30", "1 cm"], [20, 24, 30, 1]),
        (["1.200 €", "3 €", "4.5 €", "€"], None),  # one is no number
        (["5 cm", "7 kg", "1", "2"], None),
        (["A1", "A2", "A3", "A4"], None),
        (["12 3", "4", "5", "6"], None),
    ],
)
def test_numbers_with_a_sign_or_unit(texts, numbers):
    """Texts are numbers if all have the same unit. Codes and mixed units are not."""
    rows = "".join(f'i{k};"{text}";{k % 3}\n' for k, text in enumerate(texts))
    data = read_table(f"name;amount;other\n{rows}".encode(), "t.csv")
    (amount,) = [each for each in data.table.columns if each.name == "amount"]
    assert (amount.kind == "number") == (numbers is not None)
    if numbers is not None:
        found = np.asarray(data.features)[:, data.feature_names.index("amount")]
        assert found == pytest.approx(np.array(numbers, float), nan_ok=True)


def test_in_a_table_with_commas_a_comma_is_between_thousands():
    texts = ['"$1,200"', '"$1,300,000"', "$5", "$6"]
    rows = "".join(f"i{k},{text},{k % 3}\n" for k, text in enumerate(texts))
    data = read_table(f"name,amount,other\n{rows}".encode(), "t.csv")
    found = np.asarray(data.features)[:, data.feature_names.index("amount")]
    assert found.tolist() == [1200, 1_300_000, 5, 6]
    wrong = f"name,amount,other\n{rows}".replace("$1,200", "$1,20").encode()
    assert "amount" not in read_table(wrong, "t.csv").feature_names
