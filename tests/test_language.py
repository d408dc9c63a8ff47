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
}
_FORBIDDEN = re.compile(r"\b(" + "|".join(FORBIDDEN) + r")\b", re.IGNORECASE)

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
