"""``PlainGlyphs``: a figure's glyphs without copies for selected, other, muted and hovered points.

The methods of Bokeh's ``figure`` make up to four such copies of each glyph. These figures never
select points of a glyph, so the copies would only make pages slow to open: they were one in seven
models.
"""

from __future__ import annotations

from typing import Any

from bokeh.models import glyphs
from bokeh.models.renderers.glyph_renderer import GlyphRenderer

_CLASSES: dict[str, Any] = {
    "hbar": glyphs.HBar, "image": glyphs.Image, "image_rgba": glyphs.ImageRGBA,
    "image_url": glyphs.ImageURL, "line": glyphs.Line, "multi_line": glyphs.MultiLine,
    "patch": glyphs.Patch, "patches": glyphs.Patches, "quad": glyphs.Quad,
    "scatter": glyphs.Scatter, "segment": glyphs.Segment, "text": glyphs.Text,
    "vspan": glyphs.VSpan,
}  # fmt: skip
_OF_RENDERER = ("level", "name", "visible", "view")


class PlainGlyphs:
    """The methods of a figure that add glyphs, such as ``PlainGlyphs(figure).line("x", "y", ...)``.

    The arguments are those of the figure's own methods: fields or values of the glyph, the
    ``source``, and properties of the renderer.
    """

    def __init__(self, figure: Any) -> None:
        self._figure = figure

    def __getattr__(self, kind: str) -> Any:
        if kind not in _CLASSES:
            raise AttributeError(kind)
        made = _CLASSES[kind]

        def add(*values: Any, source: Any, **options: Any) -> GlyphRenderer[Any]:
            properties = dict(zip(made._args, values, strict=False)) | options
            kept = {name: properties.pop(name) for name in _OF_RENDERER if name in properties}
            glyph = made(**properties)
            renderer: GlyphRenderer[Any] = GlyphRenderer(
                data_source=source, glyph=glyph, selection_glyph=None, nonselection_glyph=None,
                hover_glyph=None, muted_glyph=None, **kept,
            )  # fmt: skip
            self._figure.renderers.append(renderer)
            return renderer

        return add


__all__ = ["PlainGlyphs"]
