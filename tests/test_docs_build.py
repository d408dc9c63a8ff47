"""``make docs`` builds the documentation without a warning and without the network."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import unquote

import pytest
from playwright.sync_api import sync_playwright

from tests.conftest import ROOT
from tools import chromium, public_api


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


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium.find(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


def test_the_steps_of_a_figure_are_shown_one_by_one(site, browser):
    page = browser.new_page()
    page.goto((site / "papers" / "vikram2016.html").as_uri())
    frames, place = page.locator(".frame"), page.locator(".frames-bar output")
    back, following = (page.get_by_role("button", name=name) for name in ("Back", "Next"))

    def shown():
        return [frame.is_visible() for frame in frames.all()]

    assert shown() == [True, False, False]
    assert back.is_disabled()
    following.click()
    assert shown() == [False, True, False]
    assert place.text_content() == "Step 2 of 3"
    following.press("ArrowRight")
    assert shown() == [False, False, True]
    assert following.is_disabled()
    page.keyboard.press("ArrowLeft")  # Back has the focus now, since Next is disabled
    assert shown() == [False, True, False]
    page.emulate_media(media="print")
    assert shown() == [True, True, True]
    page.close()
    plain = browser.new_page(java_script_enabled=False)
    plain.goto((site / "papers" / "vikram2016.html").as_uri())
    assert all(frame.is_visible() for frame in plain.locator(".frame").all())
    plain.close()


@pytest.mark.parametrize("width", [1440, 820])
def test_pages_fit_the_window_and_ask_no_other_host(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    names = ["index.html", "start.html", "concepts.html", "extending.html"]
    names += [f"{folder}/{path.stem}.html" for folder in ("papers", "how-to")
              for path in sorted((ROOT / "docs" / folder).glob("*.md"))]  # fmt: skip
    for name in names:
        page.goto((site / name).as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(name)
    assert wrong == []
    assert len(asked) > len(names)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
