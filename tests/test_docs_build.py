"""``make docs`` builds the documentation without a warning and without the network."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import unquote

import pytest

from tests.conftest import ROOT
from tools import public_api


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built pages."""
    recipe = re.search(
        r"-m (sphinx .*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )[1]
    folder = tmp_path_factory.mktemp("docs")
    # Other tests run the notebooks (test_lesson_notebooks.py, test_notebook.py).
    command = [*recipe.replace("build/docs", str(folder)).split(), "-D", "nb_execution_mode=off"]
    assert "-W" in command
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_public_name_and_document_has_a_page(site):
    pages = {path.stem for path in (site / "_api").glob("*.html")}
    names = {f"{module}.{name}" for module, name in public_api.names()}
    for path in names - pages:  # on a page under hcviz
        assert f"hcviz.{path.rsplit('.', 1)[1]}" in pages
    docs = ROOT / "docs"
    documents = [path for path in docs.rglob("*.md") if "_made" not in path.parts]
    assert len(documents) > 20
    for document in documents:
        assert (site / document.relative_to(docs).with_suffix(".html")).exists()
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert (site / "_made" / f"{notebook.stem}.html").exists()


def test_each_paper_has_a_figure_of_several_steps(site):
    papers = list((ROOT / "docs" / "papers").glob("*.md"))
    assert len(papers) == 5
    for paper in papers:
        page = (site / "papers" / f"{paper.stem}.html").read_text(encoding="utf-8")
        assert page.count('<div class="frame"><svg ') >= 3
        assert len(page) < 400_000
        assert "frames.js" in page


def test_the_commands_are_those_of_the_parser(site):
    page = re.sub(r"<[^>]+>", "", (site / "_made" / "command-line.html").read_text("utf-8"))
    assert "usage: hcviz serve [-h]" in page
    assert "--processes N" in page
    assert "usage: hcviz cite [-h]" in page


def test_the_reference_has_types_and_examples(site):
    page = re.sub(r"<[^>]+>", "", (site / "_api" / "hcviz.Tree.html").read_text(encoding="utf-8"))
    assert "int or array of int" in page
    assert "from_newick" in page
    assert "tree.lca(0, 2)" in page


def test_every_link_within_the_site_points_to_something(site):
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    ids = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    broken, followed = [], 0
    for path, text in texts.items():
        for link in re.findall(r'<a\b[^>]*? href="([^"]+)"', text):
            if re.match(r"[a-z]+:", link) or link == "#":
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            followed += 1
            found = target in texts and (not anchor or unquote(anchor) in ids[target])
            if not found and not (target.is_file() and not anchor):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert followed > 5_000
    assert broken == []


def test_a_page_loads_nothing_from_another_host(site):
    loads = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["'](?:https?:)?//""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 70
    assert [path.name for path in pages if loads.search(path.read_text(encoding="utf-8"))] == []
    imports = re.compile(r"""@import|url\(["']?(?:https?:)?//""")
    sheets = list(site.rglob("*.css"))
    assert [path.name for path in sheets if imports.search(path.read_text(encoding="utf-8"))] == []
