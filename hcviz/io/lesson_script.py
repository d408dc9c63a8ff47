"""Reading of lesson scripts: Markdown that a teacher writes, one numbered sentence for each step.

A script has a heading, its data and method, and numbered steps. Lines that begin with ``-`` below a
step say what the step does (docs/teaching.md)::

    # Where does the bat go?
    - data: zoo
    - method: average

    1. The bat flies, and yet it is no bird.
       - predict: Where does the bat go?
       - [ ] beside the birds
       - [x] beside the mammals
       - answer: bat + bear before dove
       - reveal: It gives milk.
       - discuss: Which columns say so?
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hcviz.core.errors import HcvizError, InvalidData
from hcviz.core.text import closest_name, shorten
from hcviz.session.constraint import EVERYTHING_ELSE, NOT_A_GROUP, DataSpec

Kind = Literal["answer", "compare", "merge", "method", "parameter", "switch on", "switch off"]
Phase = Literal["step", "predict", "reveal", "discuss"]

#: Kinds of the table that a script can contain -> the kind of the data.
TABLES: Mapping[str, Any] = {
    "table": "features", "distances": "distance", "similarities": "similarity",
    "card sort": "card-sort", "comparisons": "comparisons",
}  # fmt: skip
SETTINGS = ("data", "method", "seed", "parameter")
#: What a line below a step can begin with.
WORDS = (
    "answer", "compare", "merge", "predict", "reveal", "discuss", "select", "show", "ask",
    "method", "parameter", "switch off", "switch on",
)  # fmt: skip
#: A script with more characters or steps is refused.
MAX_LETTERS, MAX_STEPS = 200_000, 200
#: Choices of a question, and actions of a step, at most.
MAX_CHOICES, MAX_ACTIONS = 9, 100


@dataclass(frozen=True)
class LessonAction:
    """What a step does to the session.

    Attributes
    ----------
    kind : str
        An answer, a comparison, a merge, a method, a parameter, or a switched answer.
    line : int
        The line of the script.
    group, others : tuple of str
        The items of an answer that are together, and those apart. For a comparison, the chosen item
        and the two others.
    meaning : int or str
        ``EVERYTHING_ELSE`` or ``NOT_A_GROUP`` for a statement about a group; "central" or "odd".
    name, value : str, object
        A method, or a parameter with its value.
    """

    kind: Kind
    line: int
    group: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    meaning: int | str = 0
    name: str = ""
    value: Any = None


@dataclass(frozen=True)
class LessonStep:
    """One sentence, what the class predicts, what the step does, and what to discuss."""

    sentence: str
    line: int
    actions: tuple[LessonAction, ...] = ()
    predict: str = ""
    choices: tuple[tuple[str, bool], ...] = ()
    reveal: str = ""
    discuss: str = ""
    select: tuple[str, ...] = ()
    show: str = ""
    ask: bool = False

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the step, in order. Its actions are done before the second of them."""
        if not self.predict:
            return ("step", "discuss") if self.discuss else ("step",)
        return ("predict", "reveal", "discuss") if self.discuss else ("predict", "reveal")

    @property
    def merges(self) -> int:
        """Number of merges of the step."""
        return sum(each.kind == "merge" for each in self.actions)


@dataclass(frozen=True)
class LessonScript:
    """A lesson: its title, how its data are loaded, and its steps. ``text`` is the whole script."""

    title: str
    data: DataSpec
    method: str
    steps: tuple[LessonStep, ...]
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    text: str = field(default="", repr=False)


class _Fault(InvalidData):
    """What is wrong in a line, and what to do about it."""

    def __init__(self, line: int, wrong: str, hint: str) -> None:
        super().__init__(f"Line {line} of the lesson: {wrong}", hint)


def read_lesson(text: str) -> LessonScript:
    """Read a lesson script.

    Parameters
    ----------
    text : str
        The script, in Markdown.

    Returns
    -------
    LessonScript
        The lesson. Its items are names; :func:`check_items` compares them with the data.

    Raises
    ------
    InvalidData
        If a line cannot be read, or the title, the data or the steps are missing. The message has
        the number of the line.

    Examples
    --------
    >>> from hcviz.io.lesson_script import read_lesson
    >>> lesson = read_lesson("# Bats\\n- data: zoo\\n1. Is a bat a bird?\\n   - predict: Is it?")
    >>> lesson.title, lesson.steps[0].phases
    ('Bats', ('predict', 'reveal'))
    """
    if len(text) > MAX_LETTERS:
        raise InvalidData(
            f"The lesson has {len(text):,} characters; {MAX_LETTERS:,} is the limit.",
            "Open large tables first, or split the lesson.",
        )
    settings: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    steps: list[LessonStep] = []
    title, data, sentence_open = "", None, False
    lines = iter(enumerate(text.lstrip("\ufeff").splitlines(), 1))
    for number, whole in lines:
        line = whole.strip()
        step = re.match(r"\d+[.)]\s+(.*)", line)
        if not line:
            sentence_open = False
        elif line.startswith("```"):
            data = _table(number, line.strip("` ").lower(), lines, title)
        elif line.startswith("#"):
            title = title or line.strip("# ")
        elif step:
            if len(steps) == MAX_STEPS:
                raise _Fault(number, f"more than {MAX_STEPS} steps.", "Split the lesson.")
            steps.append(LessonStep(step[1], number))
            sentence_open = True
        elif re.match(r"[-*]\s", line):
            sentence_open = False
            entry = line[1:].strip()
            if steps:
                steps[-1] = _with_entry(steps[-1], number, entry)
            else:
                _set(settings, parameters, number, entry)
        elif sentence_open and steps:
            steps[-1] = replace(steps[-1], sentence=f"{steps[-1].sentence} {line}")
        # Any other text is a remark for the teacher.
    if not title:
        raise _Fault(1, "there is no title.", "Begin with a line such as: # Linkage by hand")
    if data is None and "data" in settings:
        data = DataSpec(name=settings["data"])
    if data is None:
        raise InvalidData(
            "The lesson has no data.",
            "Write a line such as - data: zoo below the title, or a block ```table with rows.",
        )
    if not steps:
        raise InvalidData("The lesson has no steps.", "Write a line such as: 1. Look at the tree.")
    return LessonScript(
        title, data, settings.get("method", "average"), tuple(steps), settings.get("seed", 0),
        parameters, text,
    )  # fmt: skip


def check_items(lesson: LessonScript, labels: Sequence[str]) -> None:
    """Raise :class:`InvalidData` for the first name in the lesson that no item has."""
    known = set(labels)
    for step in lesson.steps:
        named = [(name, step.line) for name in step.select]
        for each in step.actions:
            named += [(name, each.line) for name in (*each.group, *each.others)]
        for name, line in named:
            if name not in known:
                near = closest_name(name, labels)
                raise _Fault(
                    line,
                    f"the data have no item {shorten(name)!r}.",
                    f"Did you mean {near!r}?" if near else "Write a name that the page shows.",
                )


def check_settings(lesson: LessonScript, methods: Sequence[str], sheets: Sequence[str]) -> None:
    """Raise :class:`HcvizError` for a method or a view in the lesson that does not exist."""
    used = [(lesson.method, 0)]
    for step in lesson.steps:
        used += [(each.name, each.line) for each in step.actions if each.kind == "method"]
        if step.show and step.show not in sheets:
            hint = f"It can show: {', '.join(sheets)}."
            raise _Fault(step.line, f"there is no view {shorten(step.show)!r}.", hint)
    for name, line in used:
        if name not in methods:
            where = f"Line {line} of the lesson" if line else "The lesson's setting"
            near = closest_name(name, methods)
            hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(methods)}."
            raise HcvizError(f"{where}: there is no method {shorten(name)!r}.", hint)


# ---------------------------------------------------------------------- settings


def _set(settings: dict[str, Any], parameters: dict[str, Any], line: int, entry: str) -> None:
    """Read a line between the title and the first step."""
    name, _, value = (part.strip() for part in entry.partition(":"))
    name = name.lower()
    if name not in SETTINGS or not value:
        raise _Fault(
            line,
            f"{shorten(entry)!r} is no setting.",
            "Before step 1 there are only data, method, seed and parameter, such as - data: zoo",
        )
    if name == "parameter":
        key, parsed = _parameter(line, value)
        parameters[key] = parsed
    elif name == "seed":
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise _Fault(
                line, f"the seed is {shorten(value)!r}.", "Write a whole number: - seed: 0"
            )
        settings[name] = int(value)
    else:
        settings[name] = value


def _table(line: int, kind: str, lines: Iterator[tuple[int, str]], title: str) -> DataSpec:
    """Read a block of data, whose first line names the kind of its table."""
    if kind not in TABLES:
        raise _Fault(
            line,
            f"{shorten(kind)!r} is no kind of data.",
            f"Begin the block with ``` and one of: {', '.join(TABLES)}.",
        )
    rows: list[str] = []
    for _, row in lines:
        if row.strip().startswith("```"):
            content = "".join(f"{each.strip()}\n" for each in rows if each.strip())
            name = f"{title or 'lesson'}.csv"
            return DataSpec(
                kind="table", name=name, filename=name, content=content.encode(),
                table_kind=TABLES[kind],
            )  # fmt: skip
        rows.append(row)
    raise _Fault(line, "the block of data has no end.", "Write ``` below its last row.")


def _parameter(line: int, text: str) -> tuple[str, Any]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not name or not value:
        raise _Fault(line, f"{shorten(text)!r} sets no parameter.", "Write: - parameter: s = 20")
    for convert in (int, float):
        try:
            return name, convert(value)
        except ValueError:
            continue
    return name, {"true": True, "false": False}.get(value.lower(), value)


# ---------------------------------------------------------------------- the lines of a step


def _with_entry(step: LessonStep, line: int, entry: str) -> LessonStep:
    """Return the step with what one line below it says."""
    choice = re.match(r"\[([ xX])\]\s+(.+)", entry)
    if choice:
        if not step.predict:
            raise _Fault(line, "a choice without a question.", "Write - predict: above it.")
        if len(step.choices) == MAX_CHOICES:
            raise _Fault(line, f"more than {MAX_CHOICES} choices.", "Leave some out.")
        return replace(step, choices=(*step.choices, (choice[2], choice[1] != " ")))
    word, colon, text = (part.strip() for part in entry.partition(":"))
    word = word.lower()
    if word not in WORDS:
        near = closest_name(word, WORDS)
        raise _Fault(
            line,
            f"a step cannot do {shorten(word)!r}.",
            f"Did you mean {near!r}?" if near else f"It can: {', '.join(WORDS)}.",
        )
    if word == "ask":
        return replace(step, ask=True)
    if len(step.actions) == MAX_ACTIONS:
        raise _Fault(line, f"a step of more than {MAX_ACTIONS} lines.", "Make several steps of it.")
    if word == "merge":
        done = LessonAction("merge", line, group=_names(text) if text else ())
        return replace(step, actions=(*step.actions, done))
    if not colon or not text:
        raise _Fault(line, f"{word!r} says nothing.", f"Write what follows it: - {word}: ...")
    if word in ("predict", "reveal", "discuss"):
        text_of: dict[str, Any] = {word: text}
        return replace(step, **text_of)
    if word == "show":
        return replace(step, show=text.lower())
    if word == "select":
        return replace(step, select=_names(text))
    return replace(step, actions=(*step.actions, _action(word, line, text)))


def _action(word: str, line: int, text: str) -> LessonAction:
    kind: Any = word
    if word == "method":
        return LessonAction(kind, line, name=text)
    if word == "parameter":
        name, value = _parameter(line, text)
        return LessonAction(kind, line, name=name, value=value)
    if word == "compare":
        return _comparison(line, text)
    about = re.fullmatch(r"(.+) are (not )?a group\.?", text)
    if about:
        meaning = NOT_A_GROUP if about[2] else EVERYTHING_ELSE
        return LessonAction(kind, line, _names(about[1]), meaning=meaning)
    found = re.fullmatch(r"(.+?)(?: together,)? (?:before|apart from) (.+)", text)
    if not found or len(_names(found[1])) < 2:
        raise _Fault(
            line,
            f"{shorten(text)!r} is no answer.",
            f"Write: - {word}: bat + bear before dove, or - {word}: bat + bear are a group",
        )
    return LessonAction(kind, line, _names(found[1]), _names(found[2]))


def _comparison(line: int, text: str) -> LessonAction:
    found = re.fullmatch(r"(.+) is the (most central|odd one out) beside (.+)", text)
    others = _names(found[3]) if found else ()
    if not found or len(others) != 2:
        raise _Fault(
            line,
            f"{shorten(text)!r} is no comparison.",
            "Write: - compare: dove is the odd one out beside bat + bear",
        )
    meaning = "odd" if found[2] == "odd one out" else "central"
    return LessonAction("compare", line, (found[1].strip(),), others, meaning)


def _names(text: str) -> tuple[str, ...]:
    """Return the names in ``bat + bear``."""
    return tuple(name.strip() for name in re.split(r"\s\+\s", text) if name.strip())


__all__ = [
    "LessonAction",
    "LessonScript",
    "LessonStep",
    "check_items",
    "check_settings",
    "read_lesson",
]
