"""Configuration of the documentation. ``make docs`` builds it, without the network."""

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat

from hcviz import __version__
from hcviz.cli import make_parser
from tools.method_pages import methods_page

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for docs/figures

project = "hcviz"
author = copyright = "The hcviz developers"
version = release = __version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autosummary", "figures.directive"]
root_doc = "index"

# Anchors of headings, for links such as `[Mixing](#mixing)`.
myst_heading_anchors = 3

# One page for each public name, made of its docstring.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have types with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"hcviz {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["tables.css", "frames.css", "all-pages.css"]
html_js_files = ["frames.js"]

# The notebooks with outputs that the build makes. Their last run is cached in build/.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_ipywidgets_js = {}  # loads nothing from other hosts
suppress_warnings = ["mystnb.unknown_mime_type"]  # a widget's; the text beside it is shown

# Pages that are made here, of files outside of this folder and of the command's parser.
MADE = HERE / "_made"
shutil.rmtree(MADE, ignore_errors=True)
MADE.mkdir()
for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(r"hcviz\.explore\(|^view\b", cell.source, re.M):
            cell.metadata["tags"] = ["skip-execution"]  # a page has no Python to answer clicks
    nbformat.write(notebook, MADE / path.name)
changes = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
(MADE / "methods.md").write_text(methods_page(), encoding="utf-8")
(MADE / "changelog.md").write_text(changes.replace("](docs/", "](../"), encoding="utf-8")

os.environ["COLUMNS"] = "88"  # of the help texts
parser = make_parser()
commands = next(each.choices for each in parser._actions if getattr(each, "choices", None))
lines = ["# The command line", "", "What `hcviz COMMAND --help` prints.", ""]
for name, command in commands.items():
    lines += [f"## {name}", "", "```text", command.format_help().rstrip(), "```", ""]
(MADE / "command-line.md").write_text("\n".join(lines), encoding="utf-8")


def _link_notebooks(app, docname, source):
    """Links to notebooks of the repository become links to their pages."""
    folder = "../" * docname.count("/")
    source[0] = source[0].replace(f"]({folder}../notebooks/", f"]({folder}_made/")


def setup(app):
    app.connect("source-read", _link_notebooks)
