"""The messages of the browser: one definition, which Python and JavaScript check."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hcviz.ui.parts.messages import KINDS, Acts, BadMessage

UI = Path(__file__).resolve().parents[1] / "hcviz" / "ui"

ACTS = Acts()


class Target:
    def __init__(self):
        self.calls = []

    @ACTS.on("pick")
    def _pick(self, items: Sequence[int], name: str = "", share: float = 0.0) -> None:
        self.calls.append(("pick", items, name, share))

    @ACTS.on("first", "second")
    def _both(self, act: str, on: bool, value: Any) -> None:
        self.calls.append((act, on, value))


def test_the_schema_is_made_of_the_handlers():
    both = {"on": "yes or no", "value": "anything"}
    assert ACTS.schema() == {
        "pick": {"items": "whole numbers", "name": "text?", "share": "number?"},
        "first": both,
        "second": both,
    }
    assert "pick" in ACTS
    assert "fold" not in ACTS


def test_a_message_calls_its_handler():
    target = Target()
    ACTS(target, "pick", {"items": [3, 4], "share": 1})
    ACTS(target, "second", {"on": True, "value": None})
    assert target.calls == [("pick", [3, 4], "", 1), ("second", True, None)]


@pytest.mark.parametrize(
    ("act", "fields", "wrong"),
    [
        ("fold", {}, "no message 'fold'"),
        ("pick", {}, "needs the field 'items'"),
        ("pick", {"items": [1], "more": 2}, "no field 'more'"),
        ("pick", {"items": 3}, "must be whole numbers"),
        ("pick", {"items": [True]}, "must be whole numbers"),
        ("pick", {"items": [1.5]}, "must be whole numbers"),
        ("pick", {"items": [], "name": 3}, "must be text"),
        ("pick", {"items": [], "share": "1"}, "must be number"),
        ("first", {"on": 1, "value": 0}, "must be yes or no"),
    ],
)
def test_a_message_that_is_not_in_the_schema_is_refused(act, fields, wrong):
    target = Target()
    with pytest.raises(BadMessage, match=wrong):
        ACTS(target, act, fields)
    assert target.calls == []


def test_a_message_has_one_handler():
    with pytest.raises(ValueError, match="two handlers"):
        ACTS.on("pick")(lambda target: None)


def test_the_browser_knows_every_kind_of_field():
    script = (UI / "parts" / "dom.js").read_text()
    table = script[script.index("const FITS = {") :].split("}", 1)[0]
    assert set(re.findall(r'^  "?([a-z ]+)"?:', table, re.MULTILINE)) == set(KINDS.values())


def folders_with_acts():
    for path in sorted((UI / "features").glob("*/*.py")):
        if re.search(r"^ACTS = Acts\(\)", path.read_text(), re.MULTILINE):
            yield path


@pytest.mark.parametrize("path", list(folders_with_acts()), ids=lambda path: path.parent.name)
def test_scripts_send_what_the_handlers_of_their_folder_take(path):
    """Names that a script computes cannot be read in it: those are looked for as strings."""
    module = import_module(".".join(path.relative_to(UI.parents[1]).with_suffix("").parts))
    own = list(path.parent.glob("*.js")) or list(UI.rglob("*.js"))
    scripts = "\n".join(each.read_text() for each in own)
    for name in module.ACTS.schema():
        assert re.search(f"[\"'`]{name}[\"'`]|\\b{name}\\b", scripts), f"nothing sends {name!r}"
