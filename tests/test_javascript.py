"""``tools.javascript`` lints the page's scripts as the browser runs them."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tools.javascript import Script, faults, located, page_scripts


def module(text: str, name: str = "a.js") -> Script:
    return Script(text, tuple(f"{name}:{line + 1}" for line in range(text.count("\n") + 1)))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("export const f = () => missing(1)", "eslint(no-undef)"),
        ("export const f = a => a == 1", "eslint(eqeqeq)"),
        ("export const f = () => ({ a: 1, a: 2 })", "eslint(no-dupe-keys)"),
        ("const unused = 1\nexport const f = 1", "eslint(no-unused-vars)"),
        ("export const f = a => { const g = a => a; return g(a) }", "eslint(no-shadow)"),
        ("export const f = async () => 1", "eslint(require-await)"),
    ],
)
def test_a_fault_is_found_at_its_place(text, rule):
    (fault,) = faults([module(text)])
    assert (fault.rule, fault.place) == (rule, "a.js:1")


def test_a_script_that_cannot_be_read_is_a_fault():
    (fault,) = faults([module("export const f = (")])
    assert fault.place == "a.js:1"


def test_a_name_is_unused_if_no_module_with_its_line_uses_it():
    shared = "const shared = 1\n"
    files = {ROOT / "shared.js": shared}
    used = located(shared + "export const f = shared", "used", files)
    unused = located(shared + "export const f = 1", "unused", files)
    assert faults([used, unused]) == []
    (fault,) = faults([unused, unused])
    assert fault.place == "shared.js:1"


def test_all_scripts_of_the_repository_are_linted():
    places = {place for script in page_scripts() for place in script.places}
    scripts = [path.relative_to(ROOT) for path in (ROOT / "hcviz").rglob("*.js")]
    assert len(scripts) > 50
    assert [path for path in scripts if f"{path}:1" not in places] == []
