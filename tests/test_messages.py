"""The messages of the browser: one definition, which Python and JavaScript check."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hcviz.io.unfinished import new_token
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.sheets import SHEETS
from hcviz.ui.compat.message_component import MessageComponent
from hcviz.ui.parts.messages import KINDS, Acts, BadMessage
from tests.stores import Loop

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


def test_a_number_is_a_float_since_javascript_sends_whole_numbers_without_a_point():
    target = Target()
    ACTS(target, "pick", {"items": [], "share": 1})
    assert type(target.calls[0][3]) is float


def test_a_part_has_the_messages_of_others_too():
    more = Acts(ACTS)
    calls = []
    more.on("fold")(lambda target: calls.append("fold"))
    target = Target()
    more(target, "pick", {"items": [7]})
    more(target, "fold", {})
    assert (calls, target.calls) == (["fold"], [("pick", [7], "", 0.0)])
    assert set(more.schema()) == {"pick", "first", "second", "fold"}
    assert "fold" not in ACTS


def test_the_browser_checks_every_kind_of_field():
    script = (UI / "parts" / "messages.js").read_text(encoding="utf-8")
    table = script[script.index("const FITS = {") :].split("}", 1)[0]
    assert set(re.findall(r'^  "?([a-z ]+)"?:', table, re.MULTILINE)) == set(KINDS.values())


# ---------------------------------------------------------------------- the parts of the page


@pytest.fixture(scope="module")
def loop():
    return Loop()


@pytest.fixture(scope="module")
def explorer(loop, tmp_path_factory):
    made = Explorer(loop.schedule)
    made.keep_below(tmp_path_factory.mktemp("sessions"), new_token())
    for sheet in SHEETS.values():
        made.middle.part_of(sheet)
    yield made
    made.close()


def parts_of(explorer) -> dict[str, MessageComponent]:
    """Return all components that send messages, by the name of their class."""
    below = [explorer.shell, *explorer.shell.select(), *explorer.middle.view.select()]
    for sheet in SHEETS.values():
        below += explorer.middle.part_of(sheet).select()
    return {type(each).__name__: each for each in below if isinstance(each, MessageComponent)}


def test_only_the_checked_messages_reach_python(explorer, loop, caplog):
    """A component that compares strings by hand takes the message without a word."""
    for name, part in parts_of(explorer).items():
        caplog.clear()
        part._handle_msg({"act": "no such message"})
        while not loop.waiting.empty():
            loop.waiting.get()()
        refused = [each.getMessage() for each in caplog.records]
        assert len(refused) == 1, f"{name} takes a message that is not in its schema"
        assert "'no such message'" in refused[0]
        assert part.acts, f"{name} has no schema"


def components(base: type[MessageComponent] = MessageComponent):
    for each in base.__subclasses__():
        if each.__module__.startswith("hcviz."):
            yield each
            yield from components(each)


def test_every_component_of_the_page_is_among_these(explorer):
    for module in UI.rglob("*.py"):
        import_module(".".join(module.relative_to(UI.parents[1]).with_suffix("").parts))
    abstract = {"Part", "MessageFrame"}
    assert {each.__name__ for each in components()} - abstract == set(parts_of(explorer))


def test_messages_come_in_at_two_places():
    places = {
        str(path.relative_to(UI))
        for path in UI.rglob("*.py")
        if re.search(r"def _handle_msg|_send_event|on_msg\(", path.read_text(encoding="utf-8"))
    }
    assert places == {"parts/part.py", "app/shell.py"}


def handlers_by_hand(tree: ast.AST):
    """Yield the comparisons with ``name`` in functions of (..., name: str, fields: dict)."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        types = [(a.arg, ast.unparse(a.annotation or a)) for a in function.args.args]
        names = {
            first
            for (first, kind), (_, after) in pairwise(types)
            if kind == "str" and re.match(r"(dict|Mapping)\b", after)
        }
        for each in ast.walk(function):
            if not isinstance(each, ast.Compare) or ast.unparse(each.left) not in names:
                continue
            if any(isinstance(x, ast.Constant) for c in each.comparators for x in ast.walk(c)):
                yield f"line {each.lineno}: {ast.unparse(each)}"


def test_comparisons_by_hand_are_found():
    by_hand = "def act(name: str, more: dict[str, Any]):\n    if name == 'pick':\n        pick()"
    assert list(handlers_by_hand(ast.parse(by_hand))) == ["line 2: name == 'pick'"]
    several = by_hand.replace("== 'pick'", "in ('pick', 'take')")
    assert list(handlers_by_hand(ast.parse(several))) == ["line 2: name in ('pick', 'take')"]
    assert not list(handlers_by_hand(ast.parse(by_hand.replace("== 'pick'", "in ACTS"))))


@pytest.mark.parametrize("path", sorted(UI.rglob("*.py")), ids=lambda path: path.stem)
def test_no_handler_compares_the_names_of_messages(path):
    found = [each for each in handlers_by_hand(ast.parse(path.read_text(encoding="utf-8")))]
    assert not found


# ---------------------------------------------------------------------- scripts


def modules_with_acts():
    for path in sorted(UI.rglob("*.py")):
        if re.search(r"^ACTS = Acts\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield path


def sent_by(path: Path) -> set[str]:
    """Return the messages that a script sends by a literal name."""
    return set(re.findall(r'\bsend\(\s*"([a-z-]+)"', path.read_text(encoding="utf-8"))) - {
        "repaint"
    }


@pytest.mark.parametrize(
    "path", list(modules_with_acts()), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_scripts_send_what_the_handlers_take(path):
    """Names that a script computes cannot be read in it: those are looked for as strings."""
    module = import_module(".".join(path.relative_to(UI.parents[1]).with_suffix("").parts))
    scripts = "\n".join(each.read_text(encoding="utf-8") for each in UI.rglob("*.js"))
    for name in module.ACTS.schema():
        assert re.search(f"[\"'`]{name}[\"'`]|\\b{name}\\b", scripts), f"nothing sends {name!r}"


#: Scripts that another feature's part draws -> the feature that handles their messages.
HANDLED_BY = {
    "about": "hcviz.ui.features.inspector",
    "form": "hcviz.ui.features.files",
}


def schema_of(script: Path) -> set[str]:
    """Return the names of the messages that a feature's script may send."""
    feature = f"hcviz.ui.features.{script.parent.name}"
    if script.stem in ("section", "sheet"):
        module = import_module(f"{feature}.{script.stem}")
        return set(getattr(module, script.stem.upper()).acts.schema())
    feature = HANDLED_BY.get(script.stem, feature)
    return set(import_module(f"{feature}.controller").ACTS.schema())


@pytest.mark.parametrize(
    "script",
    sorted((UI / "features").glob("*/*.js")),
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_handlers_take_what_the_scripts_send(script):
    sent = sent_by(script)
    assert not sent or sent <= schema_of(script)  # a script that only draws has no handlers
