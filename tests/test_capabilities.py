"""The page and the runner ask a method what it can do. They do not know any method's name."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from hcviz.algorithms import MODULES, get
from hcviz.algorithms.base import Algorithm, ClusterCurve
from hcviz.core.errors import InvalidParameter
from hcviz.core.snapshot import Series
from hcviz.datasets import load
from hcviz.jobs import warming
from hcviz.ui.features.learning_curve import model as learning_curve_model
from hcviz.ui.parts.method_runs import default_methods
from tests.conftest import ROOT
from tests.toymethod import ALGORITHMS

#: String constants that equal the name of a method the page begins with; today there are none.
DEFAULTS: set[tuple[str, str]] = set()
FOLDERS = ("ui", "jobs")


def named(source: str) -> list[str]:
    """The string constants of a source file that equal a registry name."""
    constants = (
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [value for value in constants if value in MODULES]


@pytest.mark.parametrize(
    "path",
    [path for folder in FOLDERS for path in sorted((ROOT / "hcviz" / folder).rglob("*.py"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_view_and_no_job_names_a_method(path):
    found = {(path.name, name) for name in named(path.read_text(encoding="utf-8"))}
    assert found <= DEFAULTS


def test_the_reader_of_constants_sees_what_it_should():
    assert named('A = ("ddt", 3)\nf(method="crsc", x=f"{ddt}")\n# "ward"\n') == ["ddt", "crsc"]


def test_scripts_of_the_page_name_no_method():
    for path in sorted((ROOT / "hcviz" / "ui").rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        found = [name for name in MODULES if any(f"{q}{name}{q}" in text for q in "\"'`")]
        assert not found, path.name


# ---------------------------------------------------------------------- what methods declare

MINIMISERS = {"crsc", "crbc", "hrsc", "dasgupta-search"}
MAXIMISERS = {"random-cut", "derandomised-cut", "densest-cut"}


def names(holds):
    return {name for name in MODULES if holds(get(name))}


def test_methods_declare_their_capabilities():
    assert names(lambda each: each.objective == "minimise") == MINIMISERS
    assert names(lambda each: each.maximises_cost({})) == MAXIMISERS
    far = names(
        lambda each: (
            "objective" in each.parameter_names()
            and each.maximises_cost({"objective": "dissimilarity"})
        )
    )
    assert far == {"dasgupta-search"}
    assert names(lambda each: each.balanced) == {"crbc"}
    assert names(lambda each: each.priced_by) == {"hrsc", "dasgupta-search"}
    assert names(lambda each: each.curve is not None) == {"adds-sdp"}
    assert names(lambda each: each.sampled_division is not None) == {
        "active-spectral", "active-kmeans", "heurspec",
    }  # fmt: skip
    assert learning_curve_model.baseline_methods() == [
        ("average", "average linkage"),
        ("ddt", "sampler without answers"),
    ]


def test_the_agreement_sheet_runs_what_it_always_ran():
    zoo = load("zoo").problem()
    assert default_methods(zoo) == (
        "average",
        "complete",
        "ward",
        "crsc",
        "spectral",
        "ddt",
    )
    flowers = load("flowers").problem()
    assert default_methods(flowers) == (
        "4-al",
        "4k-al",
        "adds-sdp",
        "t-ste",
        "forte",
    )


def test_a_price_is_none_where_all_triplets_hold():
    assert get("hrsc").price({"lam": 3}) == 3.0
    assert get("dasgupta-search").price({}) is None
    assert get("adds-sdp").price({"lam": 2.0}) is None  # its lam is no price of a triplet


def test_kernels_of_any_method_are_warmed_without_a_list(monkeypatch):
    """Modules of hcviz and of the registry, but not those that start the warming."""
    called = []

    def module(name):
        def warm():
            called.append(name)

        warm.__module__ = name
        return SimpleNamespace(warm=warm)

    names = ["hcviz.new.kernels", "elsewhere.method", "elsewhere.other", "hcviz.ui.page", "numpy"]
    modules = {name: module(name) for name in names}
    monkeypatch.setitem(MODULES, "mine", "elsewhere.method")
    monkeypatch.setattr(warming, "sys", SimpleNamespace(modules=modules))
    monkeypatch.setattr(warming, "import_module", lambda name: None)
    assert warming.warm_modules() == called == ["elsewhere.method", "hcviz.new.kernels"]
    assert warming.warm_modules(backwards=True) == ["hcviz.new.kernels", "elsewhere.method"]


def changed(**fields):
    return Algorithm(**{**vars(ALGORITHMS[0]), **fields})


def test_a_declaration_that_does_not_fit_is_one_sentence():
    with pytest.raises(InvalidParameter, match="priced by 'lam', which is not one of its param"):
        changed(priced_by="lam")
    curve = ClusterCurve("quality", "k")
    with pytest.raises(InvalidParameter, match="a curve 'quality', which is not one of its views"):
        changed(curve=curve)
    with pytest.raises(InvalidParameter, match="by 'k', which is not one of its parameters"):
        changed(curve=curve, views={"quality": Series})
