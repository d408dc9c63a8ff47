"""The directive ``frames``: a figure of several steps, made by ``docs/figures/NAME.py``.

Without scripts, and in print, all steps are below each other. `docs/_static/frames.js` shows one at
a time, with two buttons.
"""

from __future__ import annotations

import html
import importlib
from typing import Any

import matplotlib as mpl
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from figures.drawing import STYLE, svg


class Frames(SphinxDirective):
    """``{frames} NAME``, with the title of the figure as its content."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        self.env.note_reread()  # the picture depends on hcviz, not only on this page
        with mpl.rc_context(STYLE):
            found = importlib.import_module(f"figures.{name}").frames()
            pictures = [svg(frame, f"{name}-{k}-") for k, frame in enumerate(found)]
        title = html.escape(" ".join(self.content))
        steps = "".join(
            f'<div class="frame">{picture}<p class="frame-caption">{html.escape(frame.caption)}</p>'
            "</div>"
            for frame, picture in zip(found, pictures, strict=True)
        )
        text = f'<figure class="frames"><figcaption>{title}</figcaption>{steps}</figure>'
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("frames", Frames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
