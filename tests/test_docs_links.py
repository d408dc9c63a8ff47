"""Every relative link and anchor in the documents points to something."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_made" not in path.parts),
]
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")


@cache
def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub and Sphinx make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = LINK.sub("", heading).replace("`", "").replace("[", "").strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        copies = sum(each == anchor or re.fullmatch(rf"{anchor}-\d+", each) is not None
                     for each in found)  # fmt: skip
        found.add(f"{anchor}-{copies}" if copies else anchor)
    return found


def broken_links(path: Path) -> list[str]:
    found = []
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_points_to_something(path):
    assert broken_links(path) == []


def test_files_that_documents_name_exist():
    named = {
        (path.name, name)
        for path in DOCUMENTS
        if path.name != "CHANGELOG.md"  # it names files that no longer exist
        for name in re.findall(
            r"`((?:hcviz|tests(?!/artifacts)|docs|tools|benchmarks|notebooks)/[\w./-]+)`",
            path.read_text(encoding="utf-8"),
        )
    }
    assert len(named) > 60
    assert {each for each in named if not (ROOT / each[1]).exists()} == set()


def test_a_broken_link_is_found(tmp_path):
    other = tmp_path / "other.md"
    other.write_text("# A `code`, and more\n\n## Twice\n\n## Twice\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#a-code-and-more) [c](#here) [d](other.md#twice-1)\n"
        "[e](gone.md) [f](other.md#gone) [g](#gone) `[h](gone.md)` [i](mailto:a@example.org)\n",
        encoding="utf-8",
    )
    assert broken_links(page) == ["gone.md", "other.md#gone", "#gone"]


def test_the_documents_have_links():
    links = [link for path in DOCUMENTS for link in LINK.findall(path.read_text(encoding="utf-8"))]
    assert len(DOCUMENTS) > 30
    assert sum("#" in link for link in links) > 20
