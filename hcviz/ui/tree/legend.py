"""The line above the tree: title, classes by colour, and the scale of the heatmap's colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from hcviz.ui.parts.palette import Theme, class_colours, diverging, sequential
from hcviz.ui.tree.heatmap_cells import HeatmapCells
from hcviz.ui.tree.items import Strip
from hcviz.ui.tree.label_fitting import shorten, text_width, truncate

#: Classes shown at most. The tooltip lists more.
MAX_CHIPS = 12
FONT, GAP, CHIP_GAP = 12.0, 18, 9
#: Pixels of a chip's square with the space before its name, and of "and 99 more".
SQUARE, MORE = 13, 80
#: Pixels of the longest name: the first with which all names fit, else the first one.
LONGEST = (150, 100, 80, 70, 64, 58, 54, 50, 46, 42)


def legend(
    title: str,
    n: int,
    strips: Sequence[Strip],
    cells: HeatmapCells | None,
    theme: Theme,
    width: float = float("inf"),
) -> str:
    """Return HTML, one line high and ``width`` pixels wide. Texts from the data are escaped.

    Chips that do not fit are left out, and their number is shown.
    """
    counted = (
        "" if re.search(rf"\b{n}\b", title) else f" {n:,} items"
    )  # some titles contain the number
    title = shorten(title, FONT, max(120.0, width / 3))
    room = width - 20 - 1.08 * text_width(f"{title}{counted}", FONT)  # the title is semibold
    if cells is not None:
        room -= GAP + _bar_width(cells)
    parts = [
        f'<span style="font-weight:600;color:{theme.ink};white-space:nowrap">{escape(title)}'
        f'<span style="font-weight:400;color:{theme.soft}">{counted}</span></span>'
    ]
    for k, strip in enumerate(strips):  # room that a strip does not need is left to the next
        chips, used = _chips(strip, room / (len(strips) - k) - GAP)
        parts.append(chips)
        room -= used + GAP
    if cells is not None:
        parts.append(_bar(cells, theme))
    return (
        f'<div style="display:flex;align-items:center;gap:18px;height:26px;padding:0 10px;'
        f"overflow:hidden;font:12px system-ui,'Segoe UI',Arial,sans-serif;color:{theme.soft}\">"
        + "".join(parts)
        + "</div>"
    )


def _chips(strip: Strip, room: float) -> tuple[str, float]:
    """Return as many chips as fit ``room`` pixels, and about the pixels that they take.

    Names are shortened if all chips fit then.
    """
    count = len(strip.names)

    def shortened(longest: int) -> tuple[list[str], list[float]]:
        names = [truncate(name, FONT, longest) for name in strip.names[:MAX_CHIPS]]
        if len(set(names)) < len(names):  # they differ at the end
            names = [shorten(name, FONT, longest) for name in strip.names[:MAX_CHIPS]]
        wides = [
            SQUARE + text_width(each, FONT) + CHIP_GAP * (k > 0) for k, each in enumerate(names)
        ]
        return names, wides

    tried = [shortened(longest) for longest in LONGEST] if count <= MAX_CHIPS else []
    fitting = next((each for each in tried if sum(each[1]) <= room), None)
    names, wides = fitting or shortened(LONGEST[0])
    all_fit = fitting is not None
    chips, used = "", 0.0
    for k, (name, colour) in enumerate(
        zip(names, strip.colours or class_colours(count), strict=False)
    ):
        wide = wides[k]
        if not all_fit and used + wide + CHIP_GAP + MORE > room:
            break
        used += wide
        chips += (
            '<span style="white-space:nowrap"><span style="display:inline-block;width:9px;'
            f'height:9px;border-radius:2px;margin-right:4px;background:{colour}"></span>'
            f"{escape(name)}</span>"
        )
    else:
        k = len(names)
    if k < count:
        text = f"and {count - k} more" if k else f"{count} {strip.many}"
        chips += f'<span style="white-space:nowrap">{text}</span>'
        used += CHIP_GAP + MORE
    html = (
        # If the line is narrower than expected, whole chips wrap and are hidden.
        '<span style="display:flex;flex-wrap:wrap;gap:0 9px;overflow:hidden;min-width:0;'
        'height:18px;line-height:18px;flex:0 1 auto" '
        f'title="{escape(strip.name, quote=True)}: '
        f'{escape(", ".join(strip.names[:60]), quote=True)}">{chips}</span>'
    )
    return html, used


def _bar_width(cells: HeatmapCells) -> float:
    text = f"{cells.unit} {_number(cells.low)}{_number(cells.high)}"
    missing = 21 + text_width("missing", FONT) if (cells.levels == 255).any() else 0.0
    return text_width(text, FONT) + 84 + 12 + missing


def _bar(cells: HeatmapCells, theme: Theme) -> str:
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
