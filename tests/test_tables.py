"""Users' tables: what is read, and the one sentence that everything else gets."""

from __future__ import annotations

import base64
import io
import random
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from hcviz import HcvizError
from hcviz.core.errors import InvalidData, InvalidParameter, TooLarge
from hcviz.datasets import Dataset, load
from hcviz.datasets.pictures import thumbnail
from hcviz.io.tables import MAX_UPLOAD_BYTES, read_table


def read(text, filename="t.csv", kind="features") -> Dataset:
    return read_table(text.encode() if isinstance(text, str) else text, filename, kind)


def refused(text, message, filename="t.csv", kind="features"):
    """One sentence that says what and where, and a remedy."""
    with pytest.raises(HcvizError) as caught:
        read(text, filename, kind)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert caught.value.message.endswith(".")
    return caught.value


def parquet(frame, **options) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out, **options)
    return out.getvalue()


# ---------------------------------------------------------------------- what is read


def test_names_numbers_and_gaps():
    data = read("name,height,weight\nann,1.5,70\nbob,,80.5\ncid,1.9,NA\n", "people.csv")
    assert data.labels == ("ann", "bob", "cid")
    assert data.feature_names == ("height", "weight")
    assert np.array_equal(data.features, [[1.5, 70], [np.nan, 80.5], [1.9, np.nan]], equal_nan=True)
    assert (data.name, data.title) == ("people", "people.csv")
    assert "people.csv" in data.provenance
    assert data.notes == ("2 cells of 6 are missing.",)
    assert data.problem().n_items == 3


@pytest.mark.parametrize("word", ["", "?", "NA", "n/a", "NaN", "null", "None", "-", " "])
def test_words_for_missing(word):
    data = read(f"name,a,kind\nx,1,red\ny,{word},{word}\nz,3,red\nw,4,blue\n")
    assert np.isnan(data.features[1]).all()
    assert data.feature_names == ("a", "kind=blue", "kind=red")


def test_categories_become_columns_of_zeros_and_ones():
    data = read("name,colour,sure,n\na,red,yes,1\nb,blue,no,2\nc,red,,3\n")
    assert data.feature_names == ("colour=blue", "colour=red", "sure", "n")
    assert data.feature_kinds == ("category", "category", "binary", "number")
    want = [[0, 1, 1, 1], [1, 0, 0, 2], [0, 1, np.nan, 3]]
    assert np.array_equal(data.features, want, equal_nan=True)


def test_text_that_differs_in_every_row_is_no_category():
    data = read("name,remark,n\na,good,1\nb,bad,2\nc,ugly,3\n")
    assert data.feature_names == ("n",)
    assert data.notes == ("The column 'remark' holds 3 different texts and was left out.",)
    refused("name,remark\na,good\nb,bad\nc,ugly\n", "no column of numbers or categories")


@pytest.mark.parametrize("name", ["class", "Label", "SPECIES"])
def test_a_class_column_is_shown_and_not_used(name):
    data = read(f"name,n,{name}\na,1,cat\nb,2,dog\nc,3,\nd,4,cat\n")
    assert data.feature_names == ("n",)
    assert data.classes == ("cat", "dog", None, "cat")
    assert list(data.strips) == [name]
    numbers = read(f"name,n,{name}\na,1,1\nb,2,2\nc,3,1\n")
    assert numbers.classes == ("1", "2", "1")


def test_constant_columns_are_kept_with_a_note():
    data = read("name,a,b,c\nx,1,7,u\ny,2,7,u\nz,3,7,u\n")
    assert data.feature_names == ("a", "b", "c=u")
    assert data.notes == ("'b', 'c=u' are the same for all items.",)
    assert np.isfinite(data.problem().similarity).all()
    refused("name,a,b\nx,1,7\ny,1,7\n", "All columns are constant")


def test_empty_and_repeated_column_names():
    data = read("name,a,,a,\nx,1,2,3,\ny,2,3,4,\n")
    assert data.feature_names == ("a", "column 3", "a (column 4)")
    assert data.notes == (
        "Several columns are named 'a'; later ones get their number.",
        "The column 'column 5' is empty and was left out.",
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(separator):
    lines = [["name", "a", "b"], ["x", "1", "2"], ["y; or, |\tz", "3", "4"]]
    text = "\n".join(separator.join(f'"{cell}"' for cell in line) for line in lines)
    data = read(text)
    assert data.labels == ("x", "y; or, |\tz")
    assert np.array_equal(data.features, [[1, 2], [3, 4]])


def test_decimal_commas():
    data = read("name;a;b\nx;1,5;2\ny;-3,25;1,5e3\n")
    assert np.array_equal(data.features, [[1.5, 2], [-3.25, 1500]])


@pytest.mark.parametrize(
    ("columns", "numbers", "example"),
    [
        ([['"1,20"', "3", '"-0,5"', ""]], [[1.2, 3, -0.5, np.nan]], "1,20"),
        ([['"1,20 €"', '"3,40 €"', '"2 €"', '"1 €"']], [[1.2, 3.4, 2, 1]], "1,20 €"),
        ([['"0,500"', '"1,250"', "2"]], [[0.5, 1.25, 2]], "0,500"),  # 1,250 alone may be 1250
        ([['"1,200"', "2", "3"], ['"1,5"', "2", "3"]], [[1.2, 2, 3], [1.5, 2, 3]], "1,5"),
        ([['"1,5"', "2", "3"], ["0.5", "2", "3"]], [[1.5, 2, 3], [0.5, 2, 3]], "1,5"),
    ],
)
def test_decimal_commas_in_quotes(columns, numbers, example):
    """In a table with commas too, if nothing contradicts it. A note says so."""
    rows = (f"i{k}," + ",".join(cells) for k, cells in enumerate(zip(*columns, strict=True)))
    data = read("\n".join(["name," + ",".join("abc"[: len(columns)]), *rows]))
    assert np.array_equal(data.features.T, np.array(numbers, float), equal_nan=True)
    assert data.notes[0] == f"Numbers have decimal commas, such as {example!r}."


def test_commas_that_can_be_read_in_two_ways():
    either = read('name,a\nx,"1,200"\ny,2\n')
    assert either.features[:, 0].tolist() == [1200, 2]
    assert either.notes == ("The comma in '1,200' is read as one between thousands.",)
    assert read('name,a\nx,"1,200.5"\ny,2\n').notes == ()
    hint = "Write decimal points"
    message = r"Row 2, column 'a' holds the text '1,5' among numbers"
    for a in ("3.5", '"1,2,3"', '"1,200,000"'):
        refused(f'name,a\nx,"1,5"\ny,{a}\nz,3\nw,4\n', message)
    refused('name,a,b\nx,"1,5","1,200"\ny,2,3.5\nz,3,4\n', hint)
    refused('name,a,b\nx,"1,5","1,200.5"\ny,2,3\nz,3,4\n', hint)
    names = read('name,a\n"1,5",1\n"2,7",2\n')  # names of items are no numbers
    assert (names.labels, names.notes) == (("1,5", "2,7"), ())


def test_a_matrix_with_decimal_commas_in_quotes():
    data = read('a,b\n0,"1,5"\n"1,5",0\n', kind="distance")
    assert data.dissimilarity.tolist() == [[0, 1.5], [1.5, 0]]


@pytest.mark.parametrize(
    ("separator", "cells", "numbers"),
    [
        (",", ['"1,200"', "900", '"2,300,000.5"'], [1200, 900, 2_300_000.5]),
        (",", ['"-1,200"', '"+1,200"', ""], [-1200, 1200, np.nan]),
        (";", ["1'200", "900,5", "2\u2019300\u2019000"], [1200, 900.5, 2_300_000]),
        (",", ["1\u00a0200", "900", "2\u202f300"], [1200, 900, 2300]),
        (";", ["1,200,000", "1,200", "7"], [1_200_000, 1200, 7]),
        (";", ["1,200", "1,300", "7"], [1.2, 1.3, 7]),  # decimal commas
    ],
)
def test_marks_between_thousands(separator, cells, numbers):
    rows = (separator.join((f"i{k}", cell, str(k))) for k, cell in enumerate(cells))
    data = read("\n".join([separator.join(("name", "price", "n")), *rows]))
    assert data.features[:, 0] == pytest.approx(np.array(numbers, float), nan_ok=True)
    assert data.feature_kinds[0] == "number"


def test_encodings():
    table = "name,größe\nmüller,1\nweiß,2\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        data = read(table.encode(encoding))
        assert data.labels == ("müller", "weiß")
        assert data.feature_names == ("größe",)
        assert data.notes == ()
    latin = read(table.encode("cp1252"))
    assert latin.labels == ("müller", "weiß")
    assert latin.notes == (
        "The file is not UTF-8; it was read as Windows-1252 (Western European).",
    )
    refused(b"name,a\nx\x81,1\ny,2\n", "not text in a known encoding")


def test_newlines_blank_lines_and_quotes():
    for newline in ("\n", "\r\n", "\r"):
        text = newline.join(["", "name,a", "", 'x,"1"', ",", '"y ""z""",2', "", ""])
        assert read(text).labels == ("x", 'y "z"')
    data = read('name,a\n"two\nlines",1\nx,2\nx ,3\ny,4\n'.replace("x ,3\n", ""))
    assert data.labels == ("two\nlines", "x", "y")


def test_tables_without_a_header():
    data = read("aardvark,1,0,4\nbear,1,1,4\ncarp,0,1,0\n")
    assert data.labels == ("aardvark", "bear", "carp")
    assert data.feature_names == ("column 2", "column 3", "column 4")
    assert data.notes == ("The first row holds values, so columns are named by their numbers.",)
    numbers = read("5.1,3.5\n4.9,3.0\n4.9,3.0\n")
    assert numbers.labels == ("row 1", "row 2", "row 3")
    assert numbers.features.shape == (3, 2)
    assert len(numbers.notes) == 2


def test_years_and_numbers_as_column_names():
    assert read("country,1990,1991\nA,1,2\nB,2,3\n").feature_names == ("1990", "1991")
    assert read(",0,1\nA,1,2\nB,2,3\n").feature_names == ("0", "1")
    assert read("id,3,4\n7,1,2\n8,2,3\n").labels == ("7", "8")


def test_the_header_of_r():
    """R writes no corner; others end every row with a separator."""
    assert read('"a" "b"\n"x" 1 2\n'.replace(" ", ",") + '"y",3,4\n').labels == ("x", "y")
    assert read("name,a\nx,1,\ny,2,\n").feature_names == ("a",)


def test_parquet():
    frame = pd.DataFrame(
        {
            "who": ["a", "b", "c"],
            "x": [1, None, 3],
            "kind": ["u", "v", "u"],
            "ok": [True, False, True],
        }
    )
    data = read(parquet(frame), "t.parquet")
    assert data.labels == ("a", "b", "c")
    assert data.feature_names == ("x", "kind=u", "kind=v", "ok")
    assert data.feature_kinds == ("number", "category", "category", "binary")
    assert np.isnan(data.features[1, 0])
    indexed = read(parquet(frame.set_index("who")[["x"]].fillna(2)), "t.parquet")
    assert indexed.labels == ("a", "b", "c")
    numbers = pd.DataFrame({"id": [10, 11], "x": [0.5, 1]})
    assert read(parquet(numbers), "t.parquet").labels == ("10", "11")
    refused(parquet(frame)[:-20] + b"x" * 20, "damaged Parquet", "t.parquet")
    refused("name,a\nx,1\ny,2\n", "not a Parquet file", "t.parquet")
    refused(parquet(frame[["who"]]), "only one column", "t.parquet")
    refused(parquet(pd.DataFrame({"n": range(1_000_001), "x": 1.0})), "1,000,001 rows", "t.parquet")


def test_a_path_is_read(tmp_path):
    file = tmp_path / "zoo.csv"
    file.write_text("name,a\nx,1\ny,2\n")
    assert read_table(file).title == "zoo.csv"
    assert read_table(str(file)).labels == ("x", "y")
    with pytest.raises(InvalidData, match="cannot be read: No such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["zoo", "iris", "glass", "yeast"])
def test_a_built_in_set_survives_the_journey(name):
    data = load(name)
    frame = pd.DataFrame(data.features, columns=data.feature_names)
    frame.insert(0, "name", data.labels)
    frame["class"] = data.classes
    for content, filename in [
        (frame.to_csv(index=False).encode(), "a.csv"),
        (frame.to_csv(index=False, sep="\t").encode(), "a.tsv"),
        (frame.to_csv(index=False, sep=";", decimal=",").encode(), "a.csv"),
        (parquet(frame), "a.parquet"),
    ]:
        back = read_table(content, filename)
        assert back.labels == data.labels
        assert back.feature_names == data.feature_names
        assert back.classes == data.classes
        assert np.array_equal(back.features, data.features, equal_nan=True)


# ---------------------------------------------------------------------- pictures


def picture(kind="PNG", size=(300, 200)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, kind)
    return out.getvalue()


def test_pictures_are_redrawn_small():
    uri = "data:image/jpeg;base64," + base64.b64encode(picture("JPEG")).decode()
    data = read(f'name,image,a\nx,"{uri}",1\ny,https://example.org/a.png,2\nz,,3\n')
    assert data.feature_names == ("a",)
    small = Image.open(io.BytesIO(data.images[0]))
    assert (small.format, small.size) == ("PNG", (96, 64))
    assert data.images[1:] == (None, None)
    assert len(data.notes) == 1
    assert data.notes[0].startswith("1 cell of the image column is not a picture")
    table = pd.DataFrame({"name": ["x", "y"], "image": [picture("GIF"), b"no"], "a": [1, 2]})
    stored = read(parquet(table), "t.parquet")
    assert stored.images[0].startswith(b"\x89PNG")
    assert stored.images[1] is None


def test_what_is_no_picture_is_refused():
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"
    for content in (b"", svg, picture()[:60], b"\x89PNG\r\n\x1a\n", picture(size=(6000, 6000))):
        with pytest.raises(InvalidData):
            thumbnail(content)


# ---------------------------------------------------------------------- square matrices

W = ",a,b,c\na,0,1,4\nb,1,0,2\nc,4,2,0\n"


def test_matrices_with_names_in_any_place():
    want = np.array([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    for text, labels in [
        (W, ("a", "b", "c")),
        ("name,b,a,c\na,1,0,4\nb,0,1,2\nc,2,4,0\n", ("a", "b", "c")),
        ("a,b,c\n0,1,4\n1,0,2\n4,2,0\n", ("a", "b", "c")),
        ("a,0,1,4\nb,1,0,2\nc,4,2,0\n", ("a", "b", "c")),
        ("0,1,4\n1,0,2\n4,2,0\n", ("row 1", "row 2", "row 3")),
        ("0,1,2\n0,1,4\n1,0,2\n4,2,0\n", ("0", "1", "2")),
        (",7,8,9\n7,0,1,4\n8,1,0,2\n9,4,2,0\n", ("7", "8", "9")),
        ("\n" + W.replace("0", ""), ("a", "b", "c")),
    ]:
        data = read(text, kind="distance")
        assert data.labels == labels
        assert data.similarity == pytest.approx((4 - want) / 4)
        assert data.features is None
        assert data.problem().similarity == pytest.approx((4 - want) / 4)
    assert read(W, kind="similarity").similarity == pytest.approx(want)
    empty = read(W.replace("0", ""), kind="similarity").similarity
    assert empty == pytest.approx(want + 4 * np.eye(3))
    frame = pd.DataFrame(want * 1.0, index=list("abc"), columns=list("abc"))
    for table in (frame, frame.reset_index(names="name"), frame.reset_index(drop=True)):
        stored = read(parquet(table), "m.parquet", "similarity")
        assert stored.labels == ("a", "b", "c")
        assert stored.similarity == pytest.approx(want)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (W + "d,1,2,3\n", "similarity", "must be square; this one has 4 rows and 3 columns"),
        ("name,a,b\nx,1,2\ny,2,1\nz,3,3\n", "distance", "square.* 3 rows and 2 columns"),
        (W.replace("b,1", "b,3"), "similarity",
         r"not symmetric: from 'a' to 'b' it has 1 \(row 2\), and back 3 \(row 3\)"),
        (W.replace("0,2", "0,"), "distance", r"Row 3 \('b'\), column 'c' of the matrix is empty"),
        (W.replace("0,2", "0,far"), "distance", r"Row 3 \('b'\), column 'c' .* is 'far'"),
        (W.replace("0,2", "0,inf"), "similarity", r"Row 3 \('b'\), column 'c' .* is 'inf'"),
        (W.replace("1", "-1"), "distance", r"row 2 \('a'\), column 'b' is negative: -1"),
        (W.replace("a,0", "a,3"), "distance", "row 2, the distance of 'a' to itself is 3, not 0"),
        (W.replace("\nb,", "\na,"), "similarity", "'a' occurs twice, in rows 2 and 3"),
        (W.replace(",b,", ",a,"), "similarity", "'a' occurs twice, in columns 1 and 2"),
        (W.replace("\nb,", "\nd,"), "similarity", "Row 3 is 'd', but its column is 'b'"),
        (W.replace("\nb,", "\n,"), "similarity", "row 3 has no name"),
        (",a\na,0\n", "similarity", "only one item"),
    ],
)  # fmt: skip
def test_bad_matrices(text, kind, message):
    refused(text, message, kind=kind)


# ---------------------------------------------------------------------- one sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n\n ", "is empty"),
        ('""', "is empty"),
        ("name,a\n", "single row"),
        ("name,a\n,\n", "no items below its header"),
        ("name,a\nx,1\n", "only one item"),
        ("x\ny\nz\n", "only one column"),
        ("name,a\nx,1\ny,2\nx,3\n", "'x' occurs twice, in rows 2 and 4"),
        ("name,a\nx,1\n\nx,3\n", "'x' occurs twice, in rows 2 and 4"),
        ("name,a\nx,1\n,2\n", "Row 3 has no name"),
        ("name,a\nv,5\nw,1\nx,2\ny,oops\nz,1\n", "Row 5, column 'a' holds the text 'oops'"),
        ("\n\nname,a\nv,5\nw,4\nx,1\ny,2\nz,no\n", "Row 8, column 'a' holds the text 'no'"),
        ("name,a\nx,1e999\ny,2\n", "Row 2, column 'a' holds inf, which is too large"),
        ("name,a\nx,1\ny,-1e200\n", "Row 3, column 'a' holds -1e[+]200, which is too large"),
        ("name,a,b\nx,1,2\ny,1\nz,3,4\n", "Row 3 of the table has 2 cells, row 1 has 3"),
        ("name,a,b\nx,1,2\ny,1,5,6\nz,3,4\n", "Row 3 of the table has 4 cells, row 1 has 3"),
        ("name,a\nx,1,2\ny,3,4\n", "Row 2 of the table has 3 cells, row 1 has 2"),
        ('name,a\nx,1\ny,"2\nz,3\n', "quotation mark is never closed|has .* cells?, row"),
        ('{"name": ["a", "b"], "x": [1, 2]}', "is JSON"),
        ('[{"name": "a"}]\n', "is JSON"),
        ("<!DOCTYPE html><table></table>", "a web page"),
    ],
)  # fmt: skip
def test_bad_tables(text, message):
    refused(text, message)


def sizes(*cells) -> bytes:
    rows = "".join(f"item {k},{cell},{k}\n" for k, cell in enumerate(cells))
    return f"name,size,n\n{rows}".encode()


def test_numbers_with_a_few_texts_are_categories():
    data = read_table(sizes(38, 39, 40, "L"))
    assert data.feature_names == ("size=38", "size=39", "size=40", "size=L", "n")
    note = (
        "The column 'size' has the text 'L' among numbers, so it is read as categories. "
        "Empty such cells to read numbers."
    )
    assert data.notes == (note,)
    assert read_table(sizes(38, 39, 40, "L"), columns={"size": "category"}).notes == ()
    two = read_table(sizes(38, "XL", 40, 38, 39, "L")).notes
    assert two == (note.replace("the text 'L'", "2 texts such as 'XL'"),)
    refused(sizes(0.5, '"1,5"', 2, '"3,05"').decode(), "'1,5' among numbers [(]2 such cells")
    with pytest.raises(InvalidData, match=r"Row 3, column 'size' .* \(2 such cells in all\)"):
        read_table(sizes(38, "XL", 40, 38, 39, "L"), columns={"size": "number"})


def test_numbers_with_a_few_texts_and_too_many_values_are_left_out():
    for count in (19, 60):  # 9 in 10 cells are different; more than 50 categories
        data = read_table(sizes(*range(count), "L", "XL"))
        note = "among numbers and too many different values, so it was left out."
        assert data.feature_names == ("n",)
        assert data.notes == (f"The column 'size' has 2 texts such as 'L' {note}",)
    assert len(read_table(sizes(*range(18), "L", "XL")).feature_names) == 21


def test_the_message_names_the_file():
    assert "'people.csv'" in str(refused("", "empty", "people.csv"))


@pytest.mark.parametrize("kind", ["features", "similarity", "distance"])
def test_ten_megabytes_of_the_wrong_thing(kind):
    noise = random.Random(0).randbytes(10_000_000)
    for content, message in [
        (noise, "binary data"),
        (picture() + noise, "PNG image"),
        (picture("JPEG") + noise, "JPEG image"),
        (b"%PDF-1.7" + noise, "PDF"),
        (b"PK\x03\x04" + noise, "Excel workbook"),
        (b"PAR1" + noise, "damaged Parquet"),
        (b"\xff\xfe" + noise, "known encoding|binary"),
        (b'{"a": "' + b"x" * 10_000_000 + b'"}', "JSON"),
        (b"x" * 10_000_000, "longer than|one column"),
        (b"word " * 2_000_000, "longer than|one column"),
        (b"a,b;" * 2_500_000, "10,000 columns"),
        (b"\n" * 10_000_000, "empty"),
        (b"\n" * 10_000_000 + b"a,b", "1,000,000 rows"),
        (b"name,a\n" + b"\n" * 10_000_000 + b"b,2", "1,000,000 rows"),
        (b"lorem ipsum\n" * 1_200_000, "1,000,000 rows"),
        (b"Lorem, ipsum\ndolor sit, amet, con\n" * 300_000, "cells"),
        (b'"' * 10_000_000, "longer than|column|closed|empty"),
    ]:
        refused(content, message, "thing.csv", kind)


def test_sizes_are_stated():
    assert isinstance(refused(b"x" * (MAX_UPLOAD_BYTES + 1), "the limit is 256 MB"), TooLarge)
    rows = "".join(f"r{k},{k}\n" for k in range(20_000))
    assert read("name,a\n" + rows).n_items == 20_000
    wide = ",".join(["name", *(f"c{k}" for k in range(5_000))]) + "\n"
    refused(wide + ("x" + ",1" * 5_000 + "\n") * 2_001, "more than 1,999 rows of 5,001 columns")
    texts = [
        ",".join(f"{'abcdefghij'[(r * 7 + c) % 10]}" for c in range(700)) for r in range(1_600)
    ]
    many = ",".join(["name", *(f"c{k}" for k in range(700))]) + "\n"
    refused(many + "".join(f"r{k},{t}\n" for k, t in enumerate(texts)), "0/1 columns")


def test_an_unknown_kind():
    with pytest.raises(InvalidParameter, match="features, similarity, distance"):
        read("name,a\nx,1\ny,2\n", kind="table")


# ---------------------------------------------------------------------- anything at all

KINDS = st.sampled_from(["features", "similarity", "distance"])
NAMES = st.sampled_from(["t.csv", "t.tsv", "t.parquet", "", "../../é.txt"])
cell = st.one_of(
    st.sampled_from(
        ["", "name", "class", "image", "1", "2", "0", "-3.5", "1,5", "x", "y", "NA", "yes", "no",
         '"', '"a', "a;b", "inf", "nan", "1e999", "\t", " ", "é", "\ufeff", "'",
         "data:image/png;base64,", "#", "\u2028", "\x0c", "1990", "True"]
    ),
    st.text(max_size=4),
    st.integers(-5, 5).map(str),
)  # fmt: skip


@st.composite
def tableish(draw):
    """Text that is nearly a table: of one width, or ragged here and there."""
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    width = draw(st.integers(1, 5))
    ragged = draw(st.booleans())
    rows = [
        draw(st.lists(cell, min_size=0 if ragged else width, max_size=width + ragged))
        for _ in range(draw(st.integers(0, 6)))
    ]
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(separator.join(row) for row in rows)


def check_anything(content, filename, kind):
    try:
        data = read_table(content, filename, kind)
    except HcvizError:
        return
    assert isinstance(data, Dataset)
    assert data.n_items >= 2
    problem = data.problem()
    assert problem.n_items == data.n_items
    for part in (problem.features, problem.similarity):
        assert part is None or np.isfinite(part).all()


@given(st.binary(max_size=400), NAMES, KINDS)
@example(b"\xff\xfe", "t.csv", "features")
@example(b"PAR1PAR1", "t.parquet", "features")
def test_no_bytes_give_a_traceback(content, filename, kind):
    check_anything(content, filename, kind)


@settings(max_examples=400)
@given(tableish(), st.sampled_from(["utf-8", "cp1252", "utf-16"]), KINDS)
def test_nothing_like_a_table_is_a_traceback(text, encoding, kind):
    check_anything(text.encode(encoding, "replace"), "t.csv", kind)


@given(st.data(), KINDS)
def test_no_damaged_table_is_a_traceback(data, kind):
    frame = pd.DataFrame({"n": ["a", "b", "c"], "x": [1.0, 2, None], "k": ["u", "v", "u"]})
    whole = data.draw(st.sampled_from([parquet(frame), W.encode(), frame.to_csv().encode()]))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    check_anything(bytes(damaged), "t.csv", kind)
    check_anything(whole[:cut], "t.csv", kind)


numbers = st.lists(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=3, max_size=6
).filter(lambda rows: len({row[0] for row in rows}) > 1)


@given(numbers, st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]),
                                 min_size=1), min_size=6, max_size=6, unique=True))  # fmt: skip
def test_what_is_written_is_read(rows, names):
    frame = pd.DataFrame(rows, columns=["x", "y"])
    frame.insert(0, "name", names[: len(rows)])
    data = read(frame.to_csv(index=False))
    assert data.labels == tuple(names[: len(rows)])
    assert np.array_equal(data.features, frame[["x", "y"]])
