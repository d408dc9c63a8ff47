"""Write ``hcviz/algorithms/names.py`` from the registry; part of ``make lint``."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "hcviz" / "algorithms"


def registered() -> list[str]:
    """Return the keys of ``MODULES`` as they are written, without methods of other packages."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES":
            return list(ast.literal_eval(node.value))
    raise SystemExit("There is no MODULES in hcviz/algorithms/__init__.py.")


def main() -> None:
    """Replace the names between the brackets, if they are not those of the registry."""
    path = PACKAGE / "names.py"
    text = path.read_text(encoding="utf-8")
    head, rest = text.split("Literal[\n")
    _, tail = rest.split("]\n", 1)
    lines = "".join(f'    "{name}",\n' for name in registered())
    wanted = f"{head}Literal[\n{lines}]\n{tail}"
    if wanted != text:
        path.write_text(wanted, encoding="utf-8")
        print("The names of methods in hcviz/algorithms/names.py were written again.")


if __name__ == "__main__":
    main()
