"""Which package may import which: docs/architecture.md's rules, read from the statements."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "hcviz"
#: The page and the commands, which may import any package.
TOP = {"ui", "cli", "commands", "__main__", "__init__"}
#: Package -> the packages it may import from, beside itself.
MAY_IMPORT = {
    "core": set(),
    "metrics": {"core"},
    "datasets": {"core"},
    "session": {"core", "taxonomy"},  # a session holds named groups
    "taxonomy": {"core"},
    "posterior": {"core"},
    "description": {"core", "datasets", "taxonomy", "posterior", "algorithms"},  # AddS
    "algorithms": {"core", "posterior"},  # a sampler says how far its chains agree
    "questions": {"core", "posterior", "metrics", "algorithms"},  # the loop runs the sampler
    "reproduce": {"core", "metrics", "datasets", "algorithms", "questions"},
    "side_by_side": {"core", "metrics", "datasets", "algorithms"},
    "worksheets": {"core", "datasets", "algorithms", "questions"},
    "io": {"core", "session", "datasets"},  # a table read from a file becomes a Dataset
    "serving": {"core", "io"},  # a proxy and the processes of servers
    "methods": {"core", "algorithms"},  # a function for each method
    "conformance": {"core", "algorithms", "conformance_data"},  # checks of methods
    "conformance_data": {"core"},
    "sklearn": {"core", "algorithms"},  # the estimator
    "jobs": {"core", "algorithms", "session", "posterior"},
}
DRAWING = {"panel", "holoviews", "bokeh"}
#: The exception: ``Tree.hv`` imports it inside a function, when it is called.
DRAWS_ON_CALL = PACKAGE / "core" / "tree_elements.py"


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path):
    return path.relative_to(ROOT).with_suffix("").parts


def package_of(path):
    return name_of(path)[1]


@cache
def imports(path):
    """Absolute dotted names of everything a file imports, at any depth of its code.

    ``from hcviz.core import build`` gives ``hcviz.core.build``: the import rules
    treat a module and a name in it alike.
    """
    here = name_of(path)
    package = here[:-1]
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                stem = package[: len(package) - node.level + 1]
                base = ".".join([*stem, base] if base else stem)
            names += [f"{base}.{alias.name}" for alias in node.names]
    return names


def inner(path):
    """The packages of hcviz that a file imports from."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("hcviz.")}


def identify(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", modules(), ids=identify)
def test_packages_import_only_what_they_may(path):
    package = package_of(path)
    if package in TOP:
        return
    assert package in MAY_IMPORT, f"hcviz/{package} is new: list in MAY_IMPORT what it may import"
    others = inner(path) - MAY_IMPORT[package] - {package}
    assert not others, f"{identify(path)} imports hcviz.{', hcviz.'.join(sorted(others))}"


@pytest.mark.parametrize("path", modules(), ids=identify)
def test_only_the_interface_draws(path):
    if package_of(path) == "ui":
        return
    if path == DRAWS_ON_CALL:
        on_import = ast.parse(path.read_text(encoding="utf-8")).body
        modules_on_import = {each.module for each in on_import if isinstance(each, ast.ImportFrom)}
        assert modules_on_import <= {"__future__", "collections.abc", "typing", "numpy.typing"}
        assert "holoviews" in set(imports(path))
        return
    drawn = DRAWING & {name.split(".")[0] for name in imports(path)}
    assert not drawn, f"{identify(path)} imports {', '.join(sorted(drawn))}"


#: The modules beside the methods: what a method declares, and how it is started.
CONTRACT = {"base", "declared_parts", "needs", "parameter_values", "starting"}


@pytest.mark.parametrize("path", sorted((PACKAGE / "algorithms").rglob("*.py")), ids=identify)
def test_methods_do_not_import_each_other(path):
    """Below ``algorithms``, a method may import the contract and its own folder."""
    parts = name_of(path)[2:]
    if parts in {("__init__",), ("plugins",)}:  # the registry
        return
    own = parts[0]
    for name in imports(path):
        if name.startswith("hcviz.algorithms."):
            other = name.split(".")[2]
            assert other in {own, *CONTRACT}, f"{identify(path)} imports {name}"


def test_no_imports_form_a_circle():
    """Not even through imports inside functions, or those for types alone."""
    files = {}
    for path in modules():
        name = ".".join(name_of(path))
        files[name.removesuffix(".__init__")] = path
    graph = nx.DiGraph()
    for name, path in files.items():
        for found in imports(path):
            # ``from package import name``: a module, or a name in the package's own file
            module = found if found in files else found.rpartition(".")[0]
            if module in files and module != name:
                graph.add_edge(name, module)
    circles = [sorted(each) for each in nx.strongly_connected_components(graph) if len(each) > 1]
    assert len(graph) > 200
    assert not circles, circles


#: Modules that the page and ``import hcviz`` load only on request.
ON_REQUEST = (
    "distributed",
    "dask",
    "hcviz.jobs.cluster",
    "hcviz.jobs.long_task",
    "hcviz.reproduce",
    "hcviz.core.tree_elements",
    "arviz",
)


@pytest.mark.parametrize("module", ["hcviz", "hcviz.ui.app.explorer", "hcviz.cli"])
def test_dask_and_the_papers_figures_are_imported_only_on_request(module):
    """A new process imports the module; Dask's part and ``hcviz.reproduce`` stay out."""
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = found.stdout.split()
    assert module in loaded
    assert not [name for name in loaded if name.startswith(ON_REQUEST)]


def test_only_the_cluster_imports_dask():
    """Other modules may import ``jobs/cluster.py`` only inside a function or for types."""
    dask = {"cluster", "long_task"}
    for path in modules():
        for name in imports(path):
            if name.split(".")[0] in ("dask", "distributed"):
                assert name_of(path)[1:] in [("jobs", each) for each in dask], identify(path)
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if name_of(path)[-1] in dask and package_of(path) == "jobs":
            continue
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                assert node.module not in {f"hcviz.jobs.{each}" for each in dask}, identify(path)


def test_nothing_imports_the_package_itself():
    """``import hcviz`` imports every package. Only the page and the commands may do so."""
    for path in modules():
        if package_of(path) not in TOP:
            assert "hcviz" not in set(imports(path)), identify(path)
            names = {name for name in imports(path) if name.count(".") == 1}
            short = {name.split(".")[1] for name in names if name.startswith("hcviz.")}
            assert short <= {p.stem for p in PACKAGE.iterdir()}, f"{identify(path)}: {short}"


def test_the_reader_of_imports_sees_what_it_should(tmp_path, monkeypatch):
    """The rules above mean nothing if imports() misses some kinds of statement."""
    home = tmp_path / "hcviz" / "core"
    home.mkdir(parents=True)
    file = home / "x.py"
    file.write_text(
        "import panel as pn\n"
        "from .. import session\n"
        "from ..io import newick\n"
        "def f():\n    from hcviz.ui.app import page\n    import bokeh.models\n"
        "from . import tree\n"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert set(imports(file)) == {
        "panel", "hcviz.session", "hcviz.io.newick", "hcviz.ui.app.page", "bokeh.models",
        "hcviz.core.tree",
    }  # fmt: skip
    assert inner(file) == {"session", "io", "ui", "core"}
