"""Lint the page's scripts with oxlint as the browser runs them; ``make lint`` runs this script.

A component runs several files as one module, and Bokeh runs a callback as the body of a function.
So a file alone has names that it does not define or does not use. This script collects the modules
and the callbacks of one page, and reports each fault at its place in the source. A name is unused
if none of the modules that contain its line uses it. The rules are in ``tools/oxlint.json``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bokeh.models import CustomJS

from hcviz.ui.app.explorer import Explorer
from hcviz.ui.compat.message_component import MessageComponent

ROOT = Path(__file__).resolve().parents[1]
RULES = Path(__file__).with_name("oxlint.json")
UNUSED = "eslint(no-unused-vars)"


@dataclass(frozen=True)
class Script:
    """A module as the browser gets it, and where each of its lines is in the source."""

    text: str
    places: tuple[str, ...]


@dataclass(frozen=True, order=True)
class Fault:
    """What the linter reports of a place."""

    place: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule} {self.message}"


def program() -> str:
    """Return the path of oxlint, which pip installs beside Python."""
    folders = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    found = shutil.which("oxlint", path=folders)
    if found is None:
        raise SystemExit(
            "oxlint is not installed. Install hcviz with its tests: tools/venv.sh test"
        )
    return found


def page_scripts() -> Iterator[Script]:
    """Yield the modules of all components and the callbacks of a page."""
    files = {
        path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "hcviz").rglob("*.js"))
    }
    explorer = Explorer(lambda callback: None)
    try:
        for component in _subclasses(MessageComponent):
            if component._esm:
                yield located(component._esm, component.__name__, files)
        models: Any = explorer.view.get_root().select({"type": CustomJS})
        callbacks = {_as_function(each) for each in models}
        for text in sorted(callbacks):
            yield located(text, "a callback", files)
    finally:
        explorer.close()


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def _as_function(callback: CustomJS) -> str:
    """Return a module whose function runs the callback with its arguments, as Bokeh does."""
    names = ", ".join([*callback.args, "cb_obj", "cb_data", "cb_context"])
    used = "".join(f"void {name}\n" for name in names.split(", "))  # arguments may be unused
    return f"export default function ({names}) {{\n{used}{callback.code}\n}}"


def located(text: str, name: str, files: dict[Path, str]) -> Script:
    """Return the script with the places of its lines; ``name`` is where no file has a line."""
    places = [f"{name}: {line.strip()[:60]}" for line in text.split("\n")]
    for path, content in files.items():
        start = text.find(content)
        if start >= 0:
            first = text.count("\n", 0, start)
            for line in range(content.count("\n")):
                places[first + line] = f"{path.relative_to(ROOT)}:{line + 1}"
    return Script(text, tuple(places))


def faults(scripts: Iterable[Script]) -> list[Fault]:
    """Return the faults of the scripts, each once."""
    scripts = list(scripts)
    found: dict[Fault, int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as folder:
        for number, script in enumerate(scripts):
            Path(folder, f"{number}.js").write_text(script.text, encoding="utf-8")
        command = [program(), "--config", str(RULES), "--format", "json", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        diagnostics = json.loads(done.stdout)["diagnostics"]
    except ValueError:
        raise SystemExit(f"oxlint failed: {done.stdout}{done.stderr}") from None
    for each in diagnostics:
        script = scripts[int(Path(each["filename"]).stem)]
        line = each["labels"][0]["span"]["line"] if each["labels"] else 1
        found[Fault(script.places[line - 1], each.get("code", "syntax"), each["message"])] += 1

    def in_all_scripts(fault: Fault) -> bool:
        return found[fault] >= sum(fault.place in script.places for script in scripts)

    return sorted(each for each in found if each.rule != UNUSED or in_all_scripts(each))


def main() -> int:
    """Print the faults of the page's scripts; return 1 if there are any."""
    found = faults(page_scripts())
    print("\n".join(map(str, found)) or "All scripts of the page are valid.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
