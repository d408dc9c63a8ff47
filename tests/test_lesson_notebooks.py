"""The notebooks for learners: form, and every cell and solution runs."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pytest
from matplotlib import pyplot

import hcviz
from hcviz.ui.app import page
from tests.conftest import ROOT
from tests.test_language import FORBIDDEN, LONGEST, sentences, words

mpl.use("agg")
PATHS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if path.stem != "quickstart"]


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def prose(notebook: Any) -> str:
    return "\n\n".join(each.source for each in notebook.cells if each.cell_type == "markdown")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_has_the_form_of_a_lesson(path: Path) -> None:
    """A title, more prose than code, an exercise with a folded solution, no other host."""
    notebook = read(path)
    assert notebook.cells[0].source.startswith("# ")
    text = prose(notebook)
    code = "".join(each.source for each in notebook.cells if each.cell_type == "code")
    assert len(text) > len(code)
    exercise = text[text.index("## Exercise") :]
    assert "<summary>Solution</summary>" in exercise
    assert exercise.rstrip().endswith("</details>")
    assert "://" not in text + code
    assert "**" in text  # a question to think about before the answer


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_its_prose_is_plain(path: Path) -> None:
    """No forbidden words, and short sentences; tables and code are not sentences."""
    text = prose(read(path))
    forbidden = "|".join(FORBIDDEN)
    assert not re.search(rf"\b({forbidden})\b", text, re.IGNORECASE)
    text = re.sub(r"```.*?```|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not [each for each in sentences(text) if words(each) > LONGEST]


def test_the_files_and_first_cells_say_where_to_begin() -> None:
    """The numbers of the files are the order, and each notebook names the next one."""
    titles = [read(path).cells[0].source.splitlines()[0].removeprefix("# ") for path in PATHS]
    for number, path in enumerate(PATHS, 1):
        assert path.stem.startswith(f"{number:02}-")
        first = " ".join(read(path).cells[0].source.split())
        assert f"*Notebook {number} of {len(PATHS)}." in first
        if number < len(PATHS):
            assert re.search(rf"Next: {re.escape(titles[number])}[.*]", first)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_its_cells_and_solution_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, without a kernel's loop: kernels of numba are loaded once for all."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, "running_loop", lambda: None)
    views: list[Any] = []
    explore = hcviz.explore

    def noted(*arguments: Any, **options: Any) -> Any:
        views.append(explore(*arguments, **options))
        return views[-1]

    monkeypatch.setattr(hcviz, "explore", noted)
    scope: dict[str, Any] = {}
    for cell in read(path).cells:
        if cell.cell_type == "code":
            exec(cell.source, scope)
        for solution in re.findall(r"```python\n(.*?)```", cell.source, re.DOTALL):
            exec(solution, scope)
    assert views
    for view in views:
        view.explorer.store.close()
    pyplot.close("all")
    scope.clear()
    views.clear()
    del view
    gc.collect()  # other tests look at what explorers leave behind


def test_the_start_page_and_the_index_name_the_notebooks() -> None:
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in PATHS:
        assert f"(../notebooks/{path.name})" in start
        assert f"\n_made/{path.stem}\n" in index
    for text in (start[start.index("## Tutorials") :], index[index.index(":caption: Tutorials") :]):
        places = [text.index(path.stem) for path in PATHS]
        assert places == sorted(places)
