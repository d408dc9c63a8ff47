"""The line above the tree: title, classes by colour, and what the heatmap's colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hcviz.ui.centre.cells import Cells
from hcviz.ui.centre.items import Strip
from hcviz.ui.palette import Theme, class_colours, diverging, sequential

#: Chips shown; the others are told by the tooltip.
MOST_CHIPS = 12


def legend(title: str, n: int, strips: Sequence[Strip], cells: Cells | None, theme: Theme) -> str:
    """HTML, one line high; every text from the data is escaped."""
    parts = [
        f'<span style="font-weight:600;color:{theme.ink};white-space:nowrap">{escape(title)}'
        f'<span style="font-weight:400;color:{theme.soft}"> {n:,} items</span></span>'
    ]
    parts += [_chips(strip, theme) for strip in strips]
    if cells is not None:
        parts.append(_bar(cells, theme))
    return (
        f'<div style="display:flex;align-items:center;gap:18px;height:26px;padding:0 10px;'
        f"overflow:hidden;font:12px system-ui,'Segoe UI',Arial,sans-serif;color:{theme.soft}\">"
        + "".join(parts)
        + "</div>"
    )


def _chips(strip: Strip, theme: Theme) -> str:
    colours = class_colours(len(strip.names))
    chips = "".join(
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:9px;height:9px;'
        f'border-radius:2px;margin-right:4px;background:{colour}"></span>{escape(name)}</span>'
        for name, colour in list(zip(strip.names, colours, strict=True))[:MOST_CHIPS]
    )
    more = len(strip.names) - MOST_CHIPS
    if more > 0:
        chips += f'<span style="white-space:nowrap">and {more} more</span>'
    return (
        '<span style="display:flex;gap:9px;overflow:hidden;min-width:0" '
        f'title="{escape(strip.name, quote=True)}: '
        f'{escape(", ".join(strip.names[:60]), quote=True)}">{chips}</span>'
    )


def _bar(cells: Cells, theme: Theme) -> str:
    palette = (diverging if cells.diverging else sequential)(theme)[:-1]
    stops = ",".join(palette[k] for k in range(0, 255, 14))
    return (
        '<span style="margin-left:auto;display:flex;align-items:center;gap:6px;'
        f'white-space:nowrap;flex:none">{escape(cells.unit)} {_number(cells.low)}'
        '<span style="width:84px;height:9px;border-radius:2px;'
        f'background:linear-gradient(90deg,{stops})"></span>{_number(cells.high)}'
        + (
            f'<span style="width:9px;height:9px;border-radius:2px;margin-left:6px;'
            f'background:{theme.missing}"></span>missing'
            if (cells.levels == 255).any()
            else ""
        )
        + "</span>"
    )


def _number(value: float) -> str:
    return f"{value:.2g}".replace("-", "−") if abs(value) < 100 else f"{value:,.0f}"
