"""What the repository promises of itself: dependencies, commands, imports, nothing hidden."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from PIL import Image

import hcviz
from hcviz.algorithms import get
from hcviz.cli import PAPERS
from hcviz.io.rawtable import MAX_ROWS, MAX_UPLOAD_BYTES
from hcviz.io.triplet_csv import REQUIRED_COLUMNS
from tests.conftest import ROOT
from tools import chromium

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NOT_OURS = {".git", ".venv", "__pycache__", "artifacts", "build", "dist", "node_modules"}
TEXTS = {".py", ".md", ".toml", ".yml", ".cff", ".sh", ".js", ".ts", ".css", ".html", ".ipynb", ""}


def files() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            f for f in folders if f not in NOT_OURS and not f.endswith(("_cache", ".egg-info"))
        ]
        for name in names:
            path = Path(folder, name)
            if path.suffix in TEXTS and not name.startswith(".DS"):
                yield path


def requirement(text: str) -> tuple[str, str]:
    """Name and the rest of a requirement."""
    name, rest = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", text.replace(" ", "")).groups()
    return name.lower(), rest


# ---------------------------------------------------------------------- words


def test_papers_are_cited_by_authors_and_year():
    """No private numbers, such as 003 for Vikram and Dasgupta (2016)."""
    private = re.compile(r"\bpapers?\s+0\d\d\b", re.IGNORECASE)
    assert [path for path in files() if private.search(path.read_text(errors="replace"))] == []


def test_the_glossary_defines_each_term_once():
    text = (ROOT / "docs" / "glossary.md").read_text()
    terms = [term.lower() for term in re.findall(r"\*\*(.+?)\*\*", text)]
    assert len(terms) > 50
    assert len(set(terms)) == len(terms)
    for long in re.split(r"(?<=[.;:])\s|\n\n|\n-", text):
        assert len(long.split()) <= 25, long


# ---------------------------------------------------------------------- private fields

#: Private attributes that tests use of objects of other packages: the contract tests of these
#: internals (hcviz/ui/compat), and what Panel calls with a message of the browser.
INTERNALS_OF_OTHERS = {
    "test_compat.py": {
        "_busy_cleanup_scheduled", "_curdoc", "_roots", "_schedule_busy_cleanup",
    },
    "test_compat_sessions.py": {
        "_cleanup", "_held_events", "_models", "_patch_datamodel_ref", "_render_mimebundle",
        "_render_model", "_socket", "_subscribed_connections", "_update_model", "_views",
    },
    "test_explorer.py": {"_handle_msg"},
    "test_loop_watchdog.py": {"_run"},
    "test_message_batch.py": {"_new_models", "_session_context"},
    "test_messages.py": {"_handle_msg"},
    "test_notebook.py": {"_cleanup", "_session_context"},
}  # fmt: skip


def is_private(name: str) -> bool:
    return bool(re.match(r"_[^_]", name))


def private_names_of_others(source: str) -> set[str]:
    """Return the private names that a module uses and does not define."""
    used, own = set(), {"_replace", "_repr_html_"}  # of named tuples and of notebooks: public
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            found = used if isinstance(node.ctx, ast.Load) else own
            (found if ast.unparse(node.value) == "self" else used).add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            own.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            used |= {each.name for each in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr")):
            texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
            used |= {str(text).rpartition(".")[2] for text in texts}
    return {name for name in used - own if is_private(name)}


def test_tests_use_no_private_fields_of_the_library():
    """Such a test breaks when the inside of a class changes, though its behaviour stays."""
    found = {}
    for path in (ROOT / "tests").rglob("*.py"):
        names = private_names_of_others(path.read_text())
        if names:
            found[path.name] = names
    assert found == INTERNALS_OF_OTHERS


@pytest.mark.parametrize(
    "source",
    [
        "store._start()", "from hcviz.ui.app.page import _theme", "store._run = 1",
        "patch.setattr(page, '_theme', None)", "patch.setattr('hcviz.ui.app.page._theme', None)",
        "class Slow(Runner):\n    def start(self):\n        self._job.stop()",
    ],
)  # fmt: skip
def test_a_private_field_is_found(source):
    assert private_names_of_others(source)


def texts_without_encoding(source: str) -> list[int]:
    """Return the lines that read or write a text in whatever encoding the system has."""
    lines = []
    for call in (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = len(call.args) + sum(each.arg == "encoding" for each in call.keywords)
        if (name == "read_text" and not given) or (name == "write_text" and given == 1):
            lines.append(call.lineno)
    return lines


def test_texts_have_an_encoding():
    """On Windows, and where no locale is set, the page's scripts could not be read otherwise."""
    found = {
        str(path.relative_to(ROOT)): lines
        for folder in ("hcviz", "tools", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if "taxonomy" not in path.parts
        and (lines := texts_without_encoding(path.read_text("utf-8")))
    }
    assert found == {}
    assert texts_without_encoding("a.read_text()\nb.write_text('x')") == [1, 2]


# ---------------------------------------------------------------------- dependencies


def test_conda_installs_what_pip_installs():
    made = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in made if isinstance(entry, dict))
    assert pip.pop() == "-e ."
    plain = [entry for entry in made if isinstance(entry, str)] + pip
    conda = dict(map(requirement, plain))
    conda["matplotlib"] = conda.pop("matplotlib-base")  # conda-forge's matplotlib adds Qt
    assert conda.pop("pip") == ""
    assert conda.pop("python") == PROJECT["requires-python"]
    assert conda == dict(map(requirement, PROJECT["dependencies"]))


def test_no_dependency_has_an_upper_bound():
    extras = PROJECT["optional-dependencies"].values()
    for text in [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]:
        assert not re.search(r"<|==|~=", text), text


def test_every_dependency_has_its_reason():
    reasons = (ROOT / "docs" / "architecture.md").read_text()
    explained = set(re.findall(r"^\| `([\w.-]+)` \| \S", reasons, re.MULTILINE))
    names = {requirement(text)[0] for text in PROJECT["dependencies"]}
    assert explained == names


def test_scripts_and_styles_fit_the_line_length():
    """The linter holds the Python files to it."""
    columns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["line-length"]
    checked = [path for path in files() if path.suffix in (".js", ".css")]
    assert len(checked) > 50
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in checked
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > columns
    ]
    assert not long


def test_failed_tests_are_not_rerun():
    """A rerun hides what a browser test finds once in a while."""
    extras = PROJECT["optional-dependencies"].values()
    packages = [requirement(text.split("[")[0])[0] for extra in extras for text in extra]
    assert not [name for name in packages if "rerun" in name or "flaky" in name or "retry" in name]
    here = Path(__file__)
    for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / "tests").rglob("*.py")]:
        if path != here:
            found = re.search(r"mark\.flaky|\breruns?=|--reruns", path.read_text())
            assert not found, f"{path.name}: {found}"


# ---------------------------------------------------------------------- commands and texts


def test_the_commands_of_the_readme_exist():
    readme = (ROOT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"\bmake ([a-z]+)", readme))
    assert {"app", "test"} <= mentioned <= targets
    tests = (ROOT / "docs" / "extending.md").read_text().partition("## Run the tests")[2]
    assert {"check", "lint", "docs"} <= set(re.findall(r"\bmake ([a-z]+)", tests)) <= targets
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    for path in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (ROOT / path).exists(), path


def test_the_readme_is_short_and_has_a_moving_picture():
    """A sentence, a picture of several moments of the page, two commands and four links."""
    readme = (ROOT / "README.md").read_text()
    assert len(readme.encode()) <= 3000
    (name,) = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", readme, re.MULTILINE)
    picture = ROOT / name
    assert picture.stat().st_size < 1_000_000
    with Image.open(picture) as frames:
        assert 800 <= frames.width <= 1000
        assert getattr(frames, "n_frames", 1) >= 10
        shown = set()
        for number in range(frames.n_frames):
            frames.seek(number)
            shown.add(frames.convert("RGB").tobytes())
    assert len(shown) >= 10
    commands = re.search(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert [line.partition("#")[0].strip() for line in commands] == ["make app", "make test"]
    assert len(re.findall(r"^- \[[^\]]+\]\(docs/", readme, re.MULTILINE)) == 4


def test_the_python_of_the_documentation_runs(capsys):
    first, frame, described, second, groups, third, fourth = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs" / "in-python.md").read_text(), re.M | re.S
    )
    made = {}
    exec(first, made)
    assert made["tree"].satisfies(made["odd_one_out"]).tolist() == [True]
    assert made["tree"].n_leaves == len(made["zoo"].labels)
    snapshot = made["snapshot"]
    assert snapshot.step == snapshot.total
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{snapshot.step} {snapshot.total}")
    exec(frame, made)
    assert made["hcviz"].Problem(features=made["knives"]).labels[0] == "chef knife"
    exec(described, made)
    assert made["tree"].info.method == "crsc"
    exec(second, made)
    # The traits do not decide it: a dolphin swims and has fins as a carp, and gives milk as a bear.
    posterior = made["posterior"]
    assert 0 < posterior.triplet_probability(made["odd_one_out"])[0] < 1
    assert made["tree"].n_internal == len(posterior.support(made["tree"]))
    assert all(support >= 0.9 for _, support in posterior.clades(min_support=0.9))
    exec(groups, made)
    assert made["taxonomy"].placed == (made["fish"],)
    assert made["other"].labels_at(1)["carp"] == "Fish"
    exec(third, made)
    found, sums, best = made["found"], made["sums"], made["best"]
    assert found.metrics["k"] == found.labels.max() + 1 == 3
    assert sums.seen > 100_000
    assert sums.similarity.shape == best.x.shape == (60, 60)
    assert best.value <= best.bound <= best.value * 1.002
    exec(fourth, made)
    assert made["tree"].n_leaves == 5
    assert 0 < made["oracle"].queries <= 10


def test_the_stated_limits_are_those_of_uploads():
    stated = (ROOT / "docs" / "files.md").read_text()
    assert f"{MAX_UPLOAD_BYTES >> 20} MB and {MAX_ROWS:,} rows" in stated
    assert f"`{','.join(REQUIRED_COLUMNS)}`" in stated


def methods_of_the_table() -> Iterator[tuple[str, str, str]]:
    """Name, how it treats constraints, and paper, of each method that docs/methods.md names."""
    table = (ROOT / "docs" / "methods.md").read_text().partition("\n## ")[0]
    for row in re.findall(r"^\| `.*\|$", table, re.MULTILINE):
        names, _, constraints, paper = (cell.strip() for cell in row.strip("|").split("|"))
        for name in re.findall(r"`([a-z0-9-]+)`", names):
            yield name, constraints, paper


def test_the_table_and_the_registry_agree_about_methods():
    """The registry is the list; the table describes some of its methods, each of them once."""
    rows = list(methods_of_the_table())
    names = [name for name, _, _ in rows]
    assert len(names) == len(set(names)) > 20
    for name, constraints, paper in rows:
        method = get(name)  # refuses a name that is not in the registry
        kinds = {"hard": "hard", "soft": "soft", "ignored": "ignored"}
        assert constraints.split(",")[0] == kinds[method.triplets], name
        assert ("," in constraints) == bool(method.softened_by), name
        if paper:
            years = set(re.findall(r"\b(?:19|20)\d\d\b", paper))
            assert years & set(re.findall(r"\d{4}", method.paper)), name


def test_a_module_of_kernels_needs_no_entry_in_a_list():
    """mypy's exceptions for compiled code are comments in the modules themselves."""
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    modules = [module for each in overrides for module in each["module"]]
    assert [module for module in modules if not module.endswith(".*")] == []


def test_one_version_and_five_papers():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == hcviz.__version__ == cited["version"]
    assert {paper["title"] for paper in cited["references"]} == set(PAPERS.values())


# The words are put together here, so that this file does not contain them.
FORBIDDEN = {
    "a registry's host": "|".join(
        name + r"\." + end
        for name, end in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("anaconda", "(org|com)"),
            ("npmjs", "(org|com)"),
            ("jsdelivr", "net"),
            ("unpkg", "com"),
        ]
    ),
    "a test that does not run": r"(pytest\.|mark\.)(" + "ski" + r"p|xf" + "ail|importor" + "skip)",
    "something unfinished": "TO" + r"DO|FIX" + r"ME|NotImplement" + "edError",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what):
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


# ---------------------------------------------------------------------- a machine that lacks things


def run_venv_script(
    tmp_path: Path, python3: str, extra: str = "", made: str | None = None
) -> subprocess.CompletedProcess[str]:
    """``tools/venv.sh extra`` where the only Python is this script; ``made``: the .venv so far."""
    home = tmp_path / "checkout"
    (home / "tools").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "venv.sh", home / "tools")
    shutil.copy(ROOT / "pyproject.toml", home)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in ("sh", "cksum", "dirname", "cat", "rm"):
        (binaries / name).symlink_to(shutil.which(name))
    if python3:
        (binaries / "python3").write_text(f"#!/bin/sh\n{python3}\n")
        (binaries / "python3").chmod(0o755)
    if made is not None:
        (home / ".venv" / "bin").mkdir(parents=True)
        (home / ".venv" / "bin" / "python").symlink_to(shutil.which("true"))
        with (home / "pyproject.toml").open() as project:
            now = subprocess.run(["cksum"], stdin=project, capture_output=True, text=True).stdout
        (home / ".venv" / ".made-from").write_text(f"{now.strip()} {made}\n")
    return subprocess.run(
        [str(home / "tools" / "venv.sh"), *extra.split()],
        env={"PATH": str(binaries), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("made", "extra", "installs"),
    [("test", "docs", False), ("docs", "", False), ("docs", "docs", False),
     ("docs", "test", True), ("", "docs", True)],
)  # fmt: skip
def test_an_environment_is_kept_and_packages_are_added(made, extra, installs, tmp_path):
    """A server that runs from .venv goes on while ``make docs`` or ``make test`` adds to it."""
    done = run_venv_script(tmp_path, "", extra, made)
    assert done.returncode == 0, done.stderr
    assert ("pip installs packages" in done.stdout) == installs
    made_from = (tmp_path / "checkout" / ".venv" / ".made-from").read_text().split()
    assert made_from[2:] == [extra if installs else made]


@pytest.mark.parametrize(
    ("python3", "message"),
    [
        ("", "no Python 3.11 or newer"),
        ("exit 1", "no Python 3.11 or newer"),  # too old: the question about the version fails
        (f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"', "python3-venv"),
    ],
)
def test_a_python_that_will_not_do_is_one_sentence(python3, message, tmp_path):
    done = run_venv_script(tmp_path, python3)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


@pytest.fixture
def only_path(tmp_path, monkeypatch):
    monkeypatch.delenv("HCVIZ_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def fake(path: Path, code: int) -> str:
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_the_named_browser_comes_first_and_must_run(only_path, monkeypatch):
    fake(only_path / "chromium", 0)
    named = fake(only_path / "mine", 0)
    monkeypatch.setenv("HCVIZ_CHROMIUM", named)
    assert chromium.find() == named
    monkeypatch.setenv("HCVIZ_CHROMIUM", fake(only_path / "broken", 1))
    with pytest.raises(SystemExit, match="HCVIZ_CHROMIUM names"):
        chromium.find()


def test_a_browser_on_the_path_that_does_not_run_is_passed_over(only_path):
    fake(only_path / "chromium", 1)
    runs = fake(only_path / "google-chrome", 0)
    assert chromium.find() == runs


def test_without_any_browser_there_is_a_sentence(only_path, monkeypatch, capsys):
    monkeypatch.setattr(chromium, "find_of_playwright", lambda: None)
    monkeypatch.setattr(sys, "argv", ["chromium.py"])
    with pytest.raises(SystemExit) as ended:
        chromium.main()
    assert ended.value.code == chromium.MISSING


@pytest.mark.parametrize(
    ("begin", "end"),
    [("The functions from the key Enter", "- A replaced run"), ("## Where each paper", "## From")],
)
def test_what_the_architecture_names_is_in_the_code(begin, end):
    """Files and functions on the way from a key to the sampler, and of each paper."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    part = text[text.index(begin) :].split(f"\n{end}")[0]
    code = {path: path.read_text(encoding="utf-8") for path in (ROOT / "hcviz").rglob("*.[pj][ys]")}
    paths = "\n".join(str(path) for path in code)
    everything = "\n".join(code.values())
    named = re.findall(r"`([\w./]+)`", part)
    assert len(named) > 10
    for name in named:
        if "/" in name or name.endswith((".py", ".js")):
            assert f"/{name}" in paths, name
            continue
        for each in name.removeprefix("hcviz.").split("."):
            assert re.search(rf"\b(?:def|class|function|const) {each}\b", everything), name
