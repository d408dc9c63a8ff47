"""Configuration of the documentation. ``make docs`` builds it, without the network."""

from hcviz import __version__

project = "hcviz"
author = copyright = "The hcviz developers"
version = release = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autosummary"]
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
