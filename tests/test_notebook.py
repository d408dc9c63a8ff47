"""The notebooks run from top to bottom, and what they show is what their words promise."""

from __future__ import annotations

import gc
import json
import re
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from bokeh.document import Document
from bokeh.server.callbacks import PeriodicCallback
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

import hcviz
from hcviz.session import actions as act
from hcviz.session.constraint import EVERYTHING_ELSE
from hcviz.ui.app import page
from hcviz.ui.state import data_sources as sources
from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: Seconds for one cell: the first run on a machine compiles the kernels.
CELL_SECONDS = 300


@pytest.fixture(autouse=True)
def script(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel's loop in this process, whatever Playwright, once started, leaves running here."""
    monkeypatch.setattr(page, "running_loop", lambda: None)


def kernelspecs(folder: Path) -> KernelSpecManager:
    """``python3`` is the running interpreter, whatever else the machine has under that name."""
    spec = folder / "kernels" / "python3"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": command, "display_name": "Python 3", "language": "python"})
    )
    return KernelSpecManager(kernel_dirs=[str(folder / "kernels")], ensure_native_kernel=False)


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The quickstart, executed; an error in any cell is an error here."""
    from jupyter_client.manager import AsyncKernelManager

    folder = tmp_path_factory.mktemp("quickstart")
    notebook = nbformat.read(ROOT / "notebooks" / "quickstart.ipynb", as_version=4)
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=kernelspecs(folder))
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=CELL_SECONDS,
        startup_timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return notebook


def outputs(notebook: Any, code: str) -> list[Any]:
    """What the one cell with this code put out."""
    found = [c for c in notebook.cells if c.cell_type == "code" and code in c.source]
    assert len(found) == 1, code
    return found[0].outputs


def text(notebook: Any, code: str) -> str:
    """All that the cell printed, in however many pieces that came, and its value on a new line."""
    put = outputs(notebook, code)
    printed = "".join(output.text for output in put if output.output_type == "stream")
    values = [o.data.get("text/plain", "") for o in put if o.output_type == "execute_result"]
    return "\n".join(part for part in (printed.rstrip("\n"), *values) if part)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert notebook.metadata.kernelspec.name == "python3"


def test_every_cell_ran(quickstart: Any) -> None:
    cells = [cell for cell in quickstart.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output.output_type != "error" for cell in cells for output in cell.outputs)


def test_the_data_match_the_notebook(quickstart: Any) -> None:
    assert "(101, (101," in text(quickstart, "len(zoo.labels)").replace("\n", " ")
    assert "ddt" in text(quickstart, "hcviz.algorithms()")


def test_the_numbers_of_the_trees_are_right(quickstart: Any) -> None:
    """The same distances and costs, computed here."""
    zoo = hcviz.datasets.load("zoo")
    problem = zoo.problem()
    shown = text(quickstart, "dasgupta_cost")
    for name, method in (("average linkage", "average"), ("recursive sparsest cut", "crsc")):
        tree = hcviz.fit(method, problem)
        found = re.search(rf"{name} +triplet distance ([\d.]+) +Dasgupta's cost ([\d,]+)", shown)
        assert found, shown
        distance = hcviz.metrics.triplet_distance(zoo.target, tree)
        cost = hcviz.metrics.dasgupta_cost(tree, problem.similarity)
        assert found.groups() == (f"{distance:.3f}", f"{cost:,.0f}")


def test_the_constrained_trees_satisfy_the_constraints(quickstart: Any) -> None:
    shown = text(quickstart, "corrected = ")
    before, after = shown.splitlines()[:2]
    assert "the average-linkage tree has it right" in before
    assert "False" in before  # else there would be nothing to correct
    assert after.endswith("[ True  True]")
    for code in ("steps=4000", "steps=2000"):
        lines = [line for line in text(quickstart, code).splitlines() if "satisfied:" in line]
        assert len(lines) >= 3
        assert all(line.endswith("satisfied: True") for line in lines)
    assert "101 leaves" in text(quickstart, "steps=2000")


def test_a_contradiction_is_named(quickstart: Any) -> None:
    shown = text(quickstart, "InconsistentTriplets")
    assert "rows at odds: (0, 1)" in shown


def test_the_explorer_is_in_its_cell(quickstart: Any) -> None:
    """Its document is there, with the Zoo's items, and all that the browser needs to draw it."""
    shown = outputs(quickstart, "hcviz.explore(")
    bundles = [output.data for output in shown if output.output_type == "execute_result"]
    assert len(bundles) == 1
    assert "application/vnd.holoviews_exec.v0+json" in bundles[0]
    page = bundles[0]["text/html"]
    for part in ("Shell", "tree-lines", "label-text", "Zoo (101 animals)"):
        assert part in page, part
    scripts = [o.data.get("application/javascript", "") for o in shown if "data" in o]
    assert max(map(len, scripts)) > 1_000_000  # BokehJS itself, not where to find it
    assert 'src="http' not in page
    session = text(quickstart, "session.method")
    assert session.replace("\n", " ").startswith("('ddt', 101, ()")


def until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


def small(n: int = 12) -> hcviz.Problem:
    return hcviz.Problem(features=np.random.default_rng(7).normal(size=(n, 3)))


def running(steps: int) -> Any:
    """An explorer whose sampler has work for ``steps`` proposals; it is not displayed yet."""
    view = hcviz.explore(small(), method="average")
    store = view.explorer.store
    until(lambda: store.session.status == "settled")
    view.explorer.controls["bar"].act("method", {"value": "ddt"})
    view.explorer.controls["form"].act("set", {"name": "steps", "value": str(steps)})
    assert store.session.status == "sampling"
    return view


class Visit:
    """What Bokeh's server knows of one browser session, as far as it is asked."""

    def __init__(self, document: Document) -> None:
        self.session = self
        self.connection_count = 1
        self.document = document


def test_an_explorer_that_is_gone_leaves_no_data_behind() -> None:
    gc.collect()  # explorers of earlier tests, whose names could be given again
    before = set(sources.GIVEN)
    problem = small()
    for _ in range(3):  # as a cell that is executed again and again
        view = hcviz.explore(problem, method="average")
        until(lambda shown=view: shown.explorer.store.session.status == "settled")
        (name,) = set(sources.GIVEN) - before
        assert view.explorer.store.session.data.name == name
        seen = weakref.ref(view.explorer)
        del view
        until(lambda gone=seen: gc.collect() >= 0 and gone() is None)
        assert set(sources.GIVEN) <= before  # an earlier test's may go meanwhile, too


def test_the_same_data_shown_twice_is_kept_once() -> None:
    before = set(sources.GIVEN)
    data = hcviz.datasets.load("iris")
    views = [hcviz.explore(data, method="average") for _ in range(2)]
    assert len(set(sources.GIVEN) - before) == 1
    other = hcviz.explore(hcviz.datasets.load("iris"), method="average")
    names = {each.explorer.store.session.data.name for each in (*views, other)}
    assert len(names) == 2
    assert all(each.explorer.store.dataset is data for each in views)


def test_a_served_explorer_holds_its_job_while_its_tab_is_gone() -> None:
    view = running(10**9)
    store, document = view.explorer.store, Document()
    visit = Visit(document)
    document._session_context = weakref.ref(visit)  # as Bokeh's server does
    document.add_root(view.get_root(document))
    held: list[str] = []
    runner = store.runner
    for name in ("pause", "resume"):
        plain = getattr(runner, name)

        def noted(name: str = name, plain: Callable[[], None] = plain) -> None:
            held.append(name)
            plain()

        setattr(runner, name, noted)
    calls = document.session_callbacks  # the sampler's trees wait there, too
    (look,) = [each.callback for each in calls if isinstance(each, PeriodicCallback)]
    look()
    assert held == []
    visit.connection_count = 0
    look()
    look()
    assert held == ["pause"]
    visit.connection_count = 1
    look()
    assert held == ["pause", "resume"]
    view.explorer.store.close()


def test_a_cell_that_is_gone_stops_computing() -> None:
    view = running(10**9)
    store = view.explorer.store
    root = view.get_root(Document())
    assert store.session.status == "sampling"
    view._cleanup(root)
    until(lambda: store.session.status == "cancelled")


def test_the_view_has_its_results_as_attributes() -> None:
    view = hcviz.explore(small(), method="average")
    seen: list[tuple[str, Any]] = []
    names = ["tree", "constraints", "problem", "taxonomy", "session"]
    view.param.watch(lambda *events: seen.extend((e.name, e.new) for e in events), names)
    store = view.explorer.store
    until(lambda: store.session.status == "settled")
    assert view.tree == store.drawn.tree
    assert view.tree.labels == store.session.labels
    assert view.tree.info.method == "average"
    assert (view.constraints, view.taxonomy) == ((), None)
    assert view.problem.n_constraints == 0
    odd = int(view.tree.leaves(view.tree.n_leaves)[0])
    group = [item for item in range(12) if item != odd][:3]
    seen.clear()
    store.dispatch(act.AddConstraint(tuple(group), EVERYTHING_ELSE))
    store.dispatch(act.NameGroup(tuple(group), "Trio"))
    until(lambda: store.session.status == "settled" and view.session is store.session)
    assert {name for name, _ in seen} == set(names)
    assert [c.group for c in view.constraints] == [tuple(group)]
    assert view.tree.has_clade(group)
    assert view.taxonomy.groups[0].name == "Trio"
    assert view.tree.info.constraints == {"groups": 1}
    assert hcviz.fit("average", view.problem) == view.tree
    until(lambda: view.session is store.session)  # another thread ends the run
    seen.clear()
    store.change_view(selection=(0, 1))
    assert seen == []
    with pytest.raises(TypeError):
        view.tree = None
    store.close()


def test_constraints_of_a_problem_are_in_the_list() -> None:
    problem = small().with_triplets([[0, 1, 2]]).with_group([3, 4, 5])
    view = hcviz.explore(problem, method="average")
    store = view.explorer.store
    until(lambda: view.tree is not None and store.session.status == "settled")
    assert [(c.group, c.apart) for c in view.constraints] == [
        ((0, 1), 2), ((3, 4, 5), EVERYTHING_ELSE),
    ]  # fmt: skip
    assert view.tree == hcviz.fit("average", view.problem) == hcviz.fit("average", problem)
    store.close()


def test_names_fit_the_height_before_a_browser_reports_it() -> None:
    view = hcviz.explore("zoo", method="average", height=600)
    until(lambda: view.explorer.store.session.status == "settled")
    figures = view.explorer.centre.figures
    assert figures.tree_height == 600 - page.AROUND_TREE
    text = figures.labels.text.data
    drawn = [(x, y) for x, y, name in zip(text["x"], text["y"], text["text"], strict=True) if name]
    assert len(drawn) > 20
    for column in {x for x, _ in drawn}:
        rows = np.sort([y for x, y in drawn if x == column])
        assert (np.diff(rows) * figures.row_px >= 8).all()
    view.explorer.store.close()


def test_a_saved_page_names_no_other_host(tmp_path: Path) -> None:
    view = hcviz.explore(small(), method="average")
    until(lambda: view.explorer.store.session.status == "settled")
    view.get_root(Document())  # it is shown in a cell, too
    path = tmp_path / "page.html"
    view.save(path, title="Twelve & more")
    text = path.read_text(encoding="utf-8")
    assert "<title>Twelve &amp; more</title>" in text
    assert "tree-lines" in text
    assert text.index("<body") < text.index("This is a saved page.") < text.index("</body>")
    assert not re.findall(r'<(?:link|script|img)[^>]*(?:src|href)="https?:', text)
    assert not re.findall(r'"url":"https?://[^"]*\.css', text)
    view.explorer.store.close()
