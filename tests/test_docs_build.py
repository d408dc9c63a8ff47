"""``make docs`` builds the documentation without a warning and without the network."""

from __future__ import annotations

import re
import subprocess
import sys

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
    for document in (ROOT / "docs").glob("*.md"):
        assert (site / f"{document.stem}.html").exists()
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert (site / "_made" / f"{notebook.stem}.html").exists()


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


def test_a_page_loads_nothing_from_another_host(site):
    loads = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["'](?:https?:)?//""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 70
    assert [path.name for path in pages if loads.search(path.read_text(encoding="utf-8"))] == []
    imports = re.compile(r"""@import|url\(["']?(?:https?:)?//""")
    sheets = list(site.rglob("*.css"))
    assert [path.name for path in sheets if imports.search(path.read_text(encoding="utf-8"))] == []
