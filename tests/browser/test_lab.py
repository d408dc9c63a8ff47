"""The explorer in a real JupyterLab: it lives in a cell, and leaves the rest of the page alone."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from hcviz.jobs.warming import warm_modules
from tests.browser.driving import ARTIFACTS, Watch
from tests.conftest import ROOT
from tests.ports import free_port

#: Milliseconds: a kernel that loads its kernels on a loaded machine is slow, and is not wrong.
PATIENCE = 120_000

#: The pixel of a point of a figure in the explorer of that number, and a column of its sources.
DOCUMENT = "const doc = Bokeh.documents.filter(d => d.get_model_by_name('tree'))[which]"
PIXEL = f"""([which, name, x, y]) => {{
  {DOCUMENT}
  const view = Bokeh.index.find_one(doc.get_model_by_name(name))
  const box = view.el.getBoundingClientRect()
  return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
}}"""
COLUMN = f"""([which, name, column]) => {{
  {DOCUMENT}
  const data = doc.get_model_by_name(name).data
  return Array.from(data[column]).filter((_, k) => name !== "label-text" || data.text[k])
}}"""
#: The pixel of an item's name; null if it is not drawn.
NAME_PIXEL = f"""([which, item]) => {{
  {DOCUMENT}
  const {{ text, x, y }} = doc.get_model_by_name("label-text").data
  const k = Array.from(text).indexOf(item)
  return k < 0 ? null : ({PIXEL})([which, "labels", x[k] + 4, y[k]])
}}"""


class Cell:
    """One explorer in the notebook, by its place among the explorers."""

    def __init__(self, page: Page, which: int) -> None:
        self.page, self.which = page, which
        self.root = page.locator(".jp-Cell", has=page.locator(".hc-bar")).nth(which)
        self.status = self.root.locator(".hc-bar .status")
        self.selected = self.root.locator(".hc-inspector .name")
        self.constraints = self.root.locator(".hc-constraints ul[aria-label=Constraints] > li")
        self.draft = self.root.locator(".hc-constraints .draft")

    def show(self) -> Cell:
        """Bring the whole of it into view."""
        self.root.locator(".hc").evaluate("node => node.scrollIntoView({ block: 'center' })")
        return self

    def settle(self) -> Cell:
        expect(self.status).to_have_class("status settled", timeout=PATIENCE)
        self.page.wait_for_function(
            f"(which) => {{ {DOCUMENT}\n return doc &&"
            " doc.get_model_by_name('tree-lines').data.x.length > 3 }",
            arg=self.which,
            timeout=PATIENCE,
        )
        return self

    def set_steps(self, steps: int) -> None:
        field = self.root.get_by_label("Steps", exact=True)
        field.fill(str(steps))
        field.press("Enter")

    def column(self, source: str, name: str) -> list:
        return self.page.evaluate(COLUMN, [self.which, source, name])

    def click_label(self, item: str) -> None:
        self.page.mouse.click(*self.until_still([self.which, item], NAME_PIXEL))

    def until_still(self, place: list, pixel: str = PIXEL) -> list[float]:
        """The pixel of a place, once it is at rest: outputs elsewhere move the whole notebook."""
        before, now = None, self.page.evaluate(pixel, place)
        while now is None or before != now:
            self.page.wait_for_timeout(100)
            before, now = now, self.page.evaluate(pixel, place)
        return now

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


class Desk:
    """A JupyterLab of its own with the quickstart's explorer and a second one, all cells run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        self.port = free_port()
        self._write_notebook()
        home = folder / "home"
        quiet = home / "settings" / "@jupyterlab" / "apputils-extension"
        quiet.mkdir(parents=True)
        (quiet / "notification.jupyterlab-settings").write_text(
            json.dumps({"fetchNews": "false", "checkForUpdates": False})
        )
        environment = os.environ | {
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "IPYTHONDIR": str(home / "ipython"),
        }
        ARTIFACTS.mkdir(exist_ok=True)
        self.log = ARTIFACTS / "jupyterlab.log"
        self._file = self.log.open("wb")
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=self._file, stderr=subprocess.STDOUT
        )

    def _write_notebook(self) -> None:
        shutil.copy(ROOT / "notebooks" / "quickstart.ipynb", self.folder)
        path = self.folder / "quickstart.ipynb"
        notebook = json.loads(path.read_text())
        # tests/test_notebook.py runs all cells; here only what the explorer needs.
        long = re.compile(r"hcviz\.(fit|run)\(|\+ hcviz|hcviz\.build\(")
        notebook["cells"] = [c for c in notebook["cells"] if not long.search("".join(c["source"]))]
        more = ['second = hcviz.explore("iris", method="average")\nsecond', "1 + 1"]
        notebook["cells"] += [
            {
                "cell_type": "code", "id": f"more-{number}", "metadata": {},
                "execution_count": None, "outputs": [], "source": source,
            }
            for number, source in enumerate(more)
        ]  # fmt: skip
        path.write_text(json.dumps(notebook))

    def wait(self, seconds: float = 120) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise AssertionError(f"JupyterLab does not answer:\n{self.log.read_text()[-4000:]}")

    def open(self, page: Page) -> None:
        page.goto(f"http://127.0.0.1:{self.port}/lab/tree/quickstart.ipynb?token={self.token}")
        expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=PATIENCE)
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
        page.locator(".lm-Menu-itemLabel").get_by_text("Run All Cells", exact=True).click()

    def _ask(self, path: str, method: str = "GET") -> bytes:
        url = f"http://127.0.0.1:{self.port}/api/{path}"
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(url, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def stop(self) -> None:
        """End the kernels, then the server: a server that must be killed would leave kernels."""
        try:
            if self.process.poll() is None:
                for kernel in json.loads(self._ask("kernels")):
                    self._ask(f"kernels/{kernel['id']}", "DELETE")
                assert json.loads(self._ask("kernels")) == []
        finally:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self._file.close()


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The notebook with all cells run; no test may make it err or ask another host."""
    desk, watch = Desk(tmp_path_factory.mktemp("lab")), Watch()
    context = browser.new_context(viewport={"width": 1800, "height": 1150}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    try:
        warm_modules()  # while JupyterLab starts
        desk.wait()
        watch.over_context(context)
        page = context.new_page()
        desk.open(page)
        expect(page.locator(".hc-bar")).to_have_count(2, timeout=PATIENCE)
        for which in range(2):
            Cell(page, which).settle()
        expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=PATIENCE)
        yield page
    finally:
        try:
            for page in context.pages:
                page.screenshot(path=ARTIFACTS / "notebook-end.png", timeout=PATIENCE)
            context.close()
        finally:
            desk.stop()
    assert not watch.faults, "\n".join(watch.faults)


@pytest.fixture
def zoo(lab: Page) -> Cell:
    return Cell(lab, 0).settle().show()


@pytest.fixture
def iris(lab: Page) -> Cell:
    return Cell(lab, 1).settle()


def ask(page: Page, code: str) -> Locator:
    """Type code into the last cell and run it; return what it says."""
    cell = page.locator(".jp-CodeCell").last
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(code)
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    page.keyboard.press("Control+Enter")
    ran = re.compile(rf"^(?!{re.escape(before)}$)\[\d+\]:$")  # another number, and no longer a star
    expect(prompt).to_have_text(ran, timeout=PATIENCE)
    return cell.locator(".jp-OutputArea-output")


def test_the_explorer_is_drawn_in_its_cell(zoo):
    page = zoo.page
    for part in (".hc-bar", ".hc-tools", ".hc-foot"):
        expect(zoo.root.locator(part)).to_be_visible()
    assert set(zoo.column("label-text", "text")) >= {"dolphin", "wolf"}
    for figure in ("tree", "labels", "heat"):
        x, y = zoo.until_still([0, figure, 0, -50])
        box = zoo.root.bounding_box()
        assert box["x"] < x < box["x"] + box["width"]
        assert box["y"] < y < box["y"] + box["height"]
    page.screenshot(path=ARTIFACTS / "notebook.png")


def test_a_click_and_keys_correct_the_tree(zoo):
    page = zoo.page
    zoo.click_label("dolphin")
    expect(zoo.selected).to_have_text("dolphin")
    zoo.press("Escape")
    expect(zoo.selected).to_have_count(0)
    zoo.press("t")
    expect(zoo.draft).to_have_count(1)
    for name in ("dolphin", "flea"):
        zoo.click_label(name)
        expect(zoo.root.locator(".hc-constraints .statement")).to_contain_text(name)
    zoo.press("o")
    expect(zoo.root.locator(".hc-constraints .statement")).to_contain_text("odd one out")
    zoo.click_label("wolf")
    expect(zoo.root.locator(".hc-constraints .assessment")).to_contain_text("correction")
    run = zoo.status.get_attribute("data-run")
    zoo.press("Enter")
    expect(zoo.constraints).to_have_count(1)
    expect(zoo.status).not_to_have_attribute("data-run", run)
    zoo.settle()
    expect(zoo.constraints.first.locator(".tag")).to_have_text("satisfied")
    answer = ask(
        page,
        "t = view.explorer.store.session.snapshot.tree; "
        'said = [zoo.labels.index(name) for name in ["dolphin", "flea", "wolf"]]; '
        "bool(t.satisfies([said])[0]), "
        "len(second.explorer.store.session.constraints)",
    )
    expect(answer).to_have_text("(True, 0)")


def test_trees_stream_in_until_the_run_is_cancelled(zoo):
    """Meanwhile the cell answers, and the kernel runs other cells.

    A new tree is shown when the draws have grown by a share, so few are waited for.
    """
    page = zoo.page
    page.evaluate(
        f"(which) => {{ {DOCUMENT}\n window.trees = 0\n doc.get_model_by_name('tree-lines')"
        ".properties.data.change.connect(() => { window.trees += 1 }) }",
        0,
    )
    zoo.set_steps(1_000_000_000)
    expect(zoo.status).to_have_class("status sampling", timeout=PATIENCE)
    page.wait_for_function("window.trees > 2", timeout=PATIENCE)
    zoo.root.get_by_placeholder(re.compile("^Find")).fill("dolphin")
    zoo.press("Enter")
    expect(zoo.selected).to_have_text("dolphin", timeout=PATIENCE)
    expect(ask(page, "view.explorer.store.session.status")).to_have_text("'sampling'")
    title = zoo.status.get_attribute("title")
    expect(zoo.status).not_to_have_attribute("title", title, timeout=PATIENCE)
    zoo.show().root.get_by_role("button", name="Cancel", exact=True).click()
    expect(zoo.status).to_have_class("status cancelled", timeout=PATIENCE)
    expect(ask(page, "view.explorer.store.session.status")).to_have_text("'cancelled'")
    zoo.show().set_steps(0)
    zoo.settle()
    zoo.root.get_by_role("button", name="Whole tree").click()  # the search has zoomed in
    page.wait_for_function(
        f"(which) => {{ {DOCUMENT}\n return doc.get_model_by_name('label-text').data.text"
        ".includes('wolf') }",
        arg=0,
        timeout=PATIENCE,
    )
    zoo.press("Escape")
    expect(zoo.selected).to_have_count(0)


def test_a_zoom_reaches_the_kernel_which_names_the_rows_in_view(zoo):
    page = zoo.page
    names = set(zoo.column("label-text", "text"))
    page.mouse.move(*zoo.until_still([0, "tree", 0, -50]))
    page.mouse.wheel(0, -600)
    count = f"""([which, n]) => {{ {DOCUMENT}
      return doc.get_model_by_name('label-text').data.text.filter(Boolean).length {{}} n }}"""
    page.wait_for_function(count.replace("{}", "<"), arg=[0, len(names) / 2], timeout=PATIENCE)
    assert set(zoo.column("label-text", "text")) <= names
    zoo.root.get_by_role("button", name="Whole tree").click()
    page.wait_for_function(count.replace("{}", "=="), arg=[0, len(names)], timeout=PATIENCE)


def test_keys_typed_elsewhere_are_not_the_explorers(zoo):
    page = zoo.page
    zoo.click_label("dolphin")
    expect(zoo.selected).to_have_text("dolphin")
    expect(ask(page, '"toe" + "zyt"')).to_have_text("'toezyt'")
    heading = page.get_by_role("heading", name="hcviz in five minutes")
    heading.click()
    zoo.press("Escape", "t", "o")  # JupyterLab's command mode
    expect(ask(page, "6 * 7")).to_have_text("42")  # the kernel has handled what came before
    zoo.show()
    expect(zoo.selected).to_have_text("dolphin")
    expect(zoo.draft).to_have_count(0)


def test_the_explorers_keys_are_not_jupyters(zoo):
    """In JupyterLab's command mode `a` adds a cell, `z` takes one back, Enter edits one."""
    page = zoo.page
    cells = page.locator(".jp-Cell").count()
    zoo.click_label("wolf")
    expect(zoo.selected).to_have_text("wolf")
    zoo.press("a", "z", "e")
    expect(zoo.draft).to_have_count(1)
    zoo.press("Escape", "Escape")
    expect(zoo.draft).to_have_count(0)
    expect(page.locator(".jp-Cell")).to_have_count(cells)


def test_the_dark_explorer_leaves_the_notebook_as_it_was(zoo):
    page = zoo.page
    look = "() => [{...document.documentElement.dataset}, document.documentElement.style.cssText]"
    before = page.evaluate(look)
    url = page.url
    zoo.root.get_by_role("button", name="Dark theme").click()
    expect(zoo.root.locator(".hc")).to_have_attribute("data-hc-theme", "dark")
    assert page.evaluate(look) == before
    page.screenshot(path=ARTIFACTS / "notebook-dark.png")
    zoo.root.get_by_role("button", name="Light theme").click()
    expect(zoo.root.locator(".hc")).to_have_attribute("data-hc-theme", "light")
    assert page.url == url


def test_two_explorers_do_not_touch_each_other(zoo, iris):
    zoo.click_label("wolf")
    expect(zoo.selected).to_have_text("wolf")
    iris.show()
    name = iris.column("label-text", "text")[0]
    iris.click_label(name)
    expect(iris.selected).to_have_text(name)
    expect(zoo.selected).to_have_text("wolf")
    iris.press("Escape")
    expect(iris.selected).to_have_count(0)
    expect(zoo.selected).to_have_text("wolf")
