"""The browser's check of messages refuses and allows what Python's does."""

from __future__ import annotations

import pytest

from hcviz.ui.parts.messages import BadMessage
from hcviz.ui.parts.part import PARTS
from tests.test_messages import ACTS, Target

MESSAGES = [
    ("pick", {"items": [3, 4], "share": 1}),
    ("pick", {"items": [], "name": "a", "share": 0.5}),
    ("first", {"on": True, "value": None}),
    ("second", {"on": False, "value": {"a": [1]}}),
    ("fold", {}),
    ("pick", {}),
    ("pick", {"items": [1], "more": 2}),
    ("pick", {"items": 3}),
    ("pick", {"items": [True]}),
    ("pick", {"items": [1.5]}),
    ("pick", {"items": ["1"]}),
    ("pick", {"items": [], "name": 3}),
    ("pick", {"items": [], "share": "1"}),
    ("pick", {"items": [], "name": None}),
    ("first", {"on": 1, "value": 0}),
    ("first", {"on": True}),
]


def is_taken(act: str, fields: dict[str, object]) -> bool:
    try:
        ACTS(Target(), act, fields)
    except BadMessage:
        return False
    return True


@pytest.fixture
def check(new_page):
    page = new_page()
    page.add_script_tag(content=(PARTS / "messages.js").read_text())
    return lambda act, fields: page.evaluate(
        """([schema, act, fields]) => {
          try { checkMessage(schema, act, fields) } catch { return false }
          return true
        }""",
        [ACTS.schema(), act, fields],
    )


def test_both_sides_refuse_the_same_messages(check):
    expected = [is_taken(*message) for message in MESSAGES]
    assert expected == [True] * 4 + [False] * 12
    assert [check(*message) for message in MESSAGES] == expected
