"""Lesson scripts: what they say, and one sentence for what is wrong in them."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from hcviz import datasets
from hcviz.core.errors import HcvizError
from hcviz.io import lesson_script
from hcviz.io.lesson_script import check_items, check_settings, read_lesson
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """# Bats and birds
For the teacher: read the sentences aloud.
- data: zoo
- method: average
- seed: 3
- parameter: constraints = repair

1. The bat flies,
   and yet it is no bird.
   - predict: Where does the bat go?
   - [ ] beside the birds
   - [x] beside the mammals
   - answer: bat + bear together, apart from dove + gull
   - reveal: Beside the mammals.
   - discuss: Which columns say so?
2. Look.
3. Two groups.
   - answer: dove + gull are a group
   - answer: bat + dove are not a group
   - select: dove + gull
   - show: consensus
4. More.
   - compare: carp is the odd one out beside bat + bear
   - switch off: bat + bear before dove + gull
   - method: single
   - parameter: s = 20
   - ask
   - merge
   - merge: bat + bear
   - discuss: Why?
"""


def test_a_script_is_read_whole():
    lesson = read_lesson(SCRIPT)
    assert (lesson.title, lesson.data.name, lesson.method) == ("Bats and birds", "zoo", "average")
    assert (lesson.seed, lesson.parameters) == (3, {"constraints": "repair"})
    first, second, third, fourth = lesson.steps
    assert first.sentence == "The bat flies, and yet it is no bird."
    assert first.phases == ("predict", "reveal", "discuss")
    assert first.choices == (("beside the birds", False), ("beside the mammals", True))
    assert first.actions[0].group == ("bat", "bear")
    assert first.actions[0].others == ("dove", "gull")
    assert second.phases == ("step",)
    assert [each.meaning for each in third.actions] == [EVERYTHING_ELSE, NOT_A_GROUP]
    assert (third.select, third.show) == (("dove", "gull"), "consensus")
    assert [each.kind for each in fourth.actions] == [
        "compare", "switch off", "method", "parameter", "merge", "merge",
    ]  # fmt: skip
    assert fourth.actions[0].meaning == "odd"
    assert (fourth.actions[3].name, fourth.actions[3].value) == ("s", 20)
    assert fourth.phases == ("step", "discuss")
    assert (fourth.merges, fourth.ask) == (2, True)


def test_a_script_can_have_its_own_table():
    lesson = read_lesson("# Towns\n```distances\n,A,B\nA,0,1\nB,1,0\n```\n1. Look.")
    assert lesson.data.table_kind == "distance"
    assert lesson.data.content == b",A,B\nA,0,1\nB,1,0\n"


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("- data: zoo\n1. Look.", 1, "# Linkage by hand"),
        ("# T\n- date: zoo\n1. Look.", 2, "data, method, seed"),
        ("# T\n- data: zoo\n- seed: x\n1. Look.", 3, "- seed: 0"),
        ("# T\n- data: zoo\n- parameter: s\n1. Look.", 3, "s = 20"),
        ("# T\n```numbers\n1\n```\n1. Look.", 2, "distances"),
        ("# T\n```table\n1. Look.", 2, "below its last row"),
        ("# T\n- data: zoo\n1. Look.\n   - answr: a + b before c", 4, "'answer'"),
        ("# T\n- data: zoo\n1. Look.\n   - xyz", 4, "It can: answer"),
        ("# T\n- data: zoo\n1. Look.\n   - answer: bat before bear", 4, "bat + bear before dove"),
        ("# T\n- data: zoo\n1. Look.\n   - compare: bat", 4, "is the odd one out beside"),
        ("# T\n- data: zoo\n1. Look.\n   - [x] yes", 4, "- predict:"),
        ("# T\n- data: zoo\n1. Look.\n   - predict:", 4, "- predict: ..."),
        ("# T\n- data: zoo\n" + "1. Look.\n" * 201, 203, "Split"),
        ("# T\n- data: zoo\n1. Look.\n- predict: what?\n" + "- [ ] it\n" * 10, 14, "Leave some"),
        ("# T\n- data: zoo\n1. Look.\n" + "- merge\n" * 101, 104, "several steps"),
    ],
)
def test_an_error_is_one_sentence_with_its_line(text, line, hint):
    with pytest.raises(HcvizError) as wrong:
        read_lesson(text)
    assert wrong.value.message.startswith(f"Line {line} of the lesson: ")
    assert "\n" not in str(wrong.value)
    assert hint in wrong.value.hint


@pytest.mark.parametrize("text", ["# T\n1. Look.", "# T\n- data: zoo", "x" * 200_001])
def test_a_script_without_data_or_steps_or_an_end_is_refused(text):
    with pytest.raises(HcvizError) as wrong:
        read_lesson(text)
    assert wrong.value.hint


def test_names_methods_and_views_are_compared_with_those_that_exist():
    lesson = read_lesson(SCRIPT)
    with pytest.raises(HcvizError, match=r"Line 13 .* no item 'gull'\. Did you mean 'gul'"):
        check_items(lesson, ["bat", "bear", "dove", "gul", "carp"])
    check_items(lesson, ["bat", "bear", "dove", "gull", "carp"])
    check_settings(lesson, ["average", "single"], ["tree", "consensus"])
    with pytest.raises(HcvizError, match=r"Line 25 .* no method 'single'"):
        check_settings(lesson, ["average"], ["tree", "consensus"])
    with pytest.raises(HcvizError, match="no method 'average'"):
        check_settings(lesson, ["single"], ["tree", "consensus"])
    with pytest.raises(HcvizError, match=r"Line 17 .* no view 'consensus'"):
        check_settings(lesson, ["average", "single"], ["tree"])


def test_the_examples_run_also_those_of_the_page_for_teachers():
    assert doctest.testmod(lesson_script).failed == 0
    page = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```markdown\n(.*?)```", page, re.DOTALL)
    lesson = read_lesson(script)
    check_items(lesson, datasets.load("zoo").labels)
    assert lesson.steps[0].choices[1] == ("beside the bear", True)
    words = {word for line in re.findall(r"^\| (`- .*?) \|", page, re.MULTILINE)
             for word in re.findall(r"`- ([a-z ]+?)(?::|`)", line)}  # fmt: skip
    known = {*lesson_script.WORDS, *lesson_script.SETTINGS}
    assert words == known, words ^ known
