"""The rules of language that can be checked: forbidden words, long sentences, private citations."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from tools import public_api

ROOT = Path(__file__).resolve().parents[1]
CODE = ROOT / "hcviz"

#: Words and phrases that are not plain, by what to write instead.
FORBIDDEN = {
    r"whom": "who, or the noun",
    r"nobody": "no one, or the noun",
    r"gives? way": "is cancelled, is replaced",
    r"lets? go of": "frees, forgets",
    r"takes? no notice": "ignores",
    r"footing": "warm start",
    r"courier": "channel",
    r"dear(er|est)?": "expensive",
    r"is said already": "is already in the list",
    r"done again": "redone",
    r"worked out": "computed",
    r"stands still": "has finished",
    r"paper 0\d\d": "authors and year",
    r"of a person's own": "custom",
    r"wherever it may": "everywhere",
    r"whatever becomes": "the result",
    r"has a say": "has an effect",
    r"whoever": "any person, any thread",
    r"somebody": "a person, a page, a thread",
    r"anew|afresh": "again",
    r"unheeded|unsaid": "ignored, open",
}
_FORBIDDEN = re.compile(r"\b(" + "|".join(FORBIDDEN) + r")\b", re.IGNORECASE)

#: Words that no identifier has.
FORBIDDEN_NAMES = {
    "said": "message, output, answers", "unsaid": "open", "heed": "use, satisfy",
    "heeds": "uses", "unheeded": "ignored", "whom": "the noun",
    "nobody": "the noun", "dear": "expensive", "courier": "channel", "footing": "warm_start",
    "veil": "query_mask",
}  # fmt: skip
#: Classes of style sheets that say nothing to a reader, by what to write instead.
FORBIDDEN_CLASSES = {
    "asked": "queries", "belief": "sample-share", "beside": "baseline", "clash": "conflict-card",
    "fresh": "new", "odds": "answers, contradictions", "over": "toolbar", "says": "message",
    "spur": "series", "stating": "bar-open", "sure": "accuracy", "twist": "toggle",
    "unheeded": "ignored", "who": "name", "weigh": "weight", "you": "your-name",
}  # fmt: skip

#: Words in a sentence, at most.
LONGEST = 25


def sentences(text: str) -> list[str]:
    """The sentences of a text. A list item, a table row or a definition ends one."""
    plain = re.sub(r"``[^`]*``|:\w+:`[^`]*`|`[^`]*`", "code", text)
    plain = re.sub(r"\n\s*(?:[-*•]|\d+\.)\s", ". ", plain)
    parts = re.split(r"(?<=[.!?:;])\s+|\n\s*\n", plain)
    return [" ".join(part.split()) for part in parts if part.strip()]


def words(sentence: str) -> int:
    return len(re.findall(r"[A-Za-z][\w'’-]*", sentence))


def docstrings(path: Path) -> list[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    each = [(getattr(node, "lineno", 1), ast.get_docstring(node) or "") for node in found]
    return [(line, text) for line, text in each if text]


def comments(path: Path) -> list[tuple[int, str]]:
    mark = "//" if path.suffix == ".js" else "#"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        (number, line.split(mark, 1)[1])
        for number, line in enumerate(lines, 1)
        if re.match(rf"\s*{mark}", line)
    ]


def messages(path: Path) -> list[tuple[int, str]]:
    """The texts of a module that look like sentences of the page, of errors or of commands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(each) for each in _docstring_nodes(tree)}
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            text = node.value
            code = re.search(r"=>|\bconst |\breturn ", text)
            if " " in text and re.search(r"[a-z]{3}", text) and not code:
                found.append((node.lineno, text))
    return found


def _docstring_nodes(tree: ast.AST):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value


PUBLIC = list(public_api.objects())
PYTHON = sorted(CODE.rglob("*.py"))
SCRIPTS = sorted(CODE.rglob("*.js"))
STYLES = sorted(CODE.rglob("*.css"))
TOOLS = [
    path
    for folder in ("tests", "benchmarks", "tools")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__).resolve()
]
DOCUMENTS = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_made" not in path.parts),
]


def names(path: Path) -> list[tuple[int, str]]:
    """The names that a module defines or reads, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    attributes = ("name", "id", "arg", "attr")
    return [
        (getattr(node, "lineno", 1), name)
        for node in ast.walk(tree)
        for attribute in attributes
        if isinstance(name := getattr(node, attribute, None), str)
    ]


def style_classes(text: str) -> set[str]:
    """The classes in the selectors of a style sheet."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return set(re.findall(r"\.([A-Za-z_][\w-]*)", re.sub(r"\{[^{}]*\}", "{}", text)))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [*PYTHON, *SCRIPTS], ids=relative)
def test_forbidden_words(path):
    texts = comments(path)
    if path.suffix == ".py":
        texts += docstrings(path) + messages(path)
    else:
        texts += [(n, x) for n, x in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)]
    found = [f"{line}: {hit[0]!r} in {text[:80]!r}" for line, text in texts
             if (hit := _FORBIDDEN.search(text))]  # fmt: skip
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_forbidden_words_of_documents(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [f"{n}: {line[:80]!r}" for n, line in enumerate(lines, 1) if _FORBIDDEN.search(line)]
    assert not found, "\n".join(found)


def test_forbidden_words_of_tests_and_tools():
    found = [
        f"{relative(path)}:{line}: {hit[0]!r} in {text[:80]!r}"
        for path in TOOLS
        if _FORBIDDEN.search(path.read_text(encoding="utf-8"))
        for line, text in comments(path) + docstrings(path)
        if (hit := _FORBIDDEN.search(text))
    ]
    assert not found, "\n".join(found)


def test_forbidden_names():
    anywhere = re.compile("|".join(FORBIDDEN_NAMES), re.IGNORECASE)
    found = [
        f"{relative(path)}:{line}: {name}"
        for path in [*PYTHON, *TOOLS]
        if anywhere.search(path.read_text(encoding="utf-8"))
        for line, name in names(path)
        if FORBIDDEN_NAMES.keys() & set(name.casefold().split("_"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", STYLES, ids=relative)
def test_forbidden_classes(path):
    classes = style_classes(path.read_text(encoding="utf-8"))
    assert not [name for name in classes if FORBIDDEN_CLASSES.keys() & set(name.split("-"))]


@pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_public_docstrings_have_short_sentences(name, thing):
    text = inspect.getdoc(getattr(thing, "__func__", thing)) or ""
    assert text, f"{name} has no docstring"
    text = re.sub(r"(?s)(References|Examples)\n-{3,}.*", "", text)
    text = re.sub(r"\n[A-Z]\w+\n-{3,}\n", "\n\n", text)
    text = re.sub(r"(?m)^(\w+(?:, \w+)*) : .*$", "\n", text)
    found = [each for each in sentences(text) if words(each) > LONGEST]
    assert not found, "\n".join(found)


def test_texts_of_the_page_have_short_sentences():
    folders = [CODE / "ui", CODE / "session"]
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            found += [
                f"{relative(path)}:{line}: {sentence}"
                for line, text in messages(path)
                for sentence in sentences(text)
                if words(sentence) > LONGEST
            ]
    assert not found, "\n".join(found)


def test_each_term_is_defined_once():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^- \*\*([^*]+)\*\*", text, re.MULTILINE)
    assert len(terms) > 40
    lower = [term.casefold() for term in terms]
    assert len(set(lower)) == len(lower)


def test_the_reader_of_sentences():
    assert words("One, two — three.") == 3
    assert sentences("A b. C d.\n\nE f ``g. h`` i? J") == ["A b.", "C d.", "E f code i?", "J"]
    assert _FORBIDDEN.search("It is Worked out here.")
    assert not _FORBIDDEN.search("the endearing networked outlet")


def test_the_reader_of_style_sheets():
    text = "/* .note */ .a > .b-c:not(.d) { margin: .5em; } @media print { .e { top: .2px } }"
    assert style_classes(text) == {"a", "b-c", "d", "e"}
