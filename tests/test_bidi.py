"""Characters that reorder text are shown as their codes, in Python and on the page alike."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from hcviz.core.text import escape_html, printable, show_bidi
from hcviz.taxonomy import Taxonomy
from hcviz.ui.tree.items import Items
from tests.conftest import ROOT

#: By Unicode's bidirectional classes, and the three marks, whose classes are those of letters.
CONTROLS = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.bidirectional(chr(code))
    in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
] + ["\u061c", "\u200e", "\u200f"]


@pytest.mark.parametrize("control", CONTROLS)
def test_the_code_replaces_the_character(control):
    shown = f"invoice[U+{ord(control):04X}]fdp.exe"
    for show in (show_bidi, printable, escape_html):
        assert show(f"invoice{control}fdp.exe") == shown


def test_right_to_left_letters_stay():
    for name in ("שלום", "سلام", "naïve 猫"):
        assert show_bidi(name) == printable(name) == escape_html(name) == name


def test_the_page_has_the_same_list():
    script = (ROOT / "hcviz/ui/parts/dom.js").read_text(encoding="utf-8")
    (found,) = re.findall(r"BIDI_CONTROL = /(\[.*\])/g", script)
    page = {chr(code) for code in range(0x10000) if re.match(found, chr(code))}
    assert page == {*CONTROLS}


def test_the_tree_shows_codes():
    names = ["owl\u202e", "rook", "elm"]
    classes = {"k\u200f": ["\u202a1", "b", "b"]}
    items = Items(names, [[1.0]] * 3, ["\u2066x"], classes, title="\u2069")
    assert items.labels == ["owl[U+202E]", "rook", "elm"]
    assert items.columns() == ("[U+2066]x",)
    assert items.title == "[U+2069]"
    (strip,) = items.strips()
    assert (strip.name, strip.names) == ("k[U+200F]", ("b", "[U+202A]1"))


def test_html_shows_codes():
    page = Taxonomy.from_text("Birds\u202e\n  owl\u2067\n  rook\nelm\n").to_html("a\u202eb")
    assert not {*CONTROLS} & {*page}
    assert all(code in page for code in ("Birds[U+202E]", "owl[U+2067]", "a[U+202E]b"))
