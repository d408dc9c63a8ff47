"""The report of a card sort: one HTML page, which needs no server, no network and no script."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Characters that HTML does not allow, not even as references.
_NOT_HTML = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
#: With more cards, the numbers of the agreement are left out. The picture has their colours.
MOST_IN_TABLE = 80

_STYLE = """
:root{--ink:#1d2329;--soft:#5b6670;--line:#dde2e6;--bar:#0b63b5}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1rem 4rem;background:#fff;color:var(--ink);
font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .25rem}
p{margin:.25rem 0 .75rem;max-width:50rem}.soft,small{color:var(--soft)}
.wide{overflow-x:auto}img{max-width:100%;height:auto;min-width:40rem}
table{border-collapse:collapse}
th,td{padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top;overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.card{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;
margin:0 .25rem .2rem 0;font-size:.85rem}
.bar{display:inline-block;width:6rem;height:.6rem;background:var(--line);margin-right:.5rem}
.bar i{display:block;height:100%;background:var(--bar)}
.pairs{font-size:.7rem}.pairs th{font-weight:400;white-space:nowrap;padding:.1rem .3rem .1rem 0}
.pairs thead th{writing-mode:vertical-rl;transform:rotate(180deg);padding:.3rem 0}
.pairs td{padding:.1rem .2rem;text-align:right;border:1px solid #fff}
@media print{body{max-width:none;padding:0;font-size:9pt}h2{break-after:avoid}
tr{break-inside:avoid}}
"""


def card_sort_report(
    state: Mapping[str, Any],
    picture: bytes,
    method: str,
    shares: NDArray[np.float64],
    labels: Sequence[str],
    order: Sequence[int],
) -> str:
    """Return the report as HTML. All names are escaped, and the page may load nothing.

    Parameters
    ----------
    state : mapping
        The contents of the sheet (:func:`hcviz.ui.features.card_sort.model.state`).
    picture : bytes
        The tree beside its heatmap, as SVG.
    method : str
        What made the tree.
    shares : float64 (n, n)
        Share of participants for each two cards.
    labels : sequence of str
        Names of the cards.
    order : sequence of int
        The cards from top to bottom in the picture.
    """
    title = _escaped(f"Card sort: {state['title']}")
    off = state["participants"] - state["on"]
    facts = [
        _count(state["participants"], "participant") + (f", {off} of them left out" if off else ""),
        _count(state["cards"], "card"),
        _count(state["piles"], "pile"),
        _count(state["nameCount"], "name"),
    ]
    image = base64.b64encode(picture).decode()
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,"><title>{title}</title>\n<style>{_STYLE}</style></head>\n'
        f'<body><h1><bdi>{title}</bdi></h1><p class="soft">{" · ".join(facts)}</p>\n'
        f"<h2>Tree and agreement of cards</h2><p>Method: {_escaped(method)}. The colours show the "
        "share of participants who put both cards on one pile.</p>"
        '<div class="wide"><img alt="The tree of the cards beside their agreement" '
        f'src="data:image/svg+xml;base64,{image}"></div>\n'
        f"{_names(state)}{_people(state)}{_various(state)}{_pairs(shares, labels, order)}"
        "</body></html>\n"
    )


def _names(state: Mapping[str, Any]) -> str:
    rows = [
        (
            _name(row["name"]) + _spellings(row),
            _bar(row["participants"] / max(1, state["on"]), str(row["participants"])),
            "".join(
                f'<span class="card"><bdi>{_escaped(card)}</bdi> <small>{count}</small></span>'
                for card, count in row["cards"]
            )
            + _rest(row["cardCount"] - len(row["cards"])),
        )
        for row in state["names"]
    ]
    return _section(
        "Names of piles",
        "The number beside a card is the number of participants who put it on a pile of that name.",
        ("Name", "Participants", "Cards"),
        rows,
        state["nameCount"],
    )


def _spellings(row: Mapping[str, Any]) -> str:
    if not row["merged"] and len(row["spellings"]) < 2:
        return ""
    written = ", ".join(f"{name} ({count})" for name, count in row["spellings"])
    return f"<br><small><bdi>{_escaped(written)}</bdi></small>"


def _people(state: Mapping[str, Any]) -> str:
    rows = [
        (
            _name(each["name"]),
            f'<span class="number">{each["piles"]}</span>',
            f'<span class="number">{each["cards"]}</span>',
            _share(each["agreement"]) if each["on"] else "left out",
        )
        for each in state["people"]
    ]
    return _section(
        "Participants",
        "Agreement is the mean Jaccard index with each other participant: pairs of cards that both "
        "put on one pile, divided by pairs that at least one of them did.",
        ("Participant", "Piles", "Cards", "Agreement"),
        rows,
        state["peopleCount"],
    )


def _various(state: Mapping[str, Any]) -> str:
    rows = [(_name(each["name"]), _share(each["variety"])) for each in state["various"]]
    return _section(
        "Cards placed most variously",
        "0 % if all participants put the card on the same pile. 100 % if no two piles with the "
        "card share a card.",
        ("Card", "Variety"),
        rows,
        state["variousCount"],
    )


def _pairs(shares: NDArray[np.float64], labels: Sequence[str], order: Sequence[int]) -> str:
    if len(labels) > MOST_IN_TABLE:
        return ""
    head = "".join(f"<th>{_name(labels[k])}</th>" for k in order)
    body = []
    for a in order:
        cells = "".join(
            "<td></td>"
            if a == b
            else f'<td style="background:{_shade(shares[a, b])}">{round(100 * shares[a, b])}</td>'
            for b in order
        )
        body.append(f"<tr><th>{_name(labels[a])}</th>{cells}</tr>")
    return (
        "<h2>Agreement of each two cards</h2><p>Per cent of the participants who sorted both "
        'cards.</p><div class="wide"><table class="pairs"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>\n"
    )


def _shade(share: float) -> str:
    return f"rgba(11,99,181,{0.55 * float(share):.2f})"


def _section(
    title: str, said: str, heads: Sequence[str], rows: Iterable[Sequence[str]], total: int
) -> str:
    shown = list(rows)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in shown)
    head = "".join(f"<th>{each}</th>" for each in heads)
    left = total - len(shown)
    return (
        f'<h2>{title}</h2><p class="soft">{said}</p><div class="wide"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>{_rest(left)}\n"
    )


def _rest(left: int) -> str:
    return f"<small>and {left:,} more</small>" if left > 0 else ""


def _share(value: float | None) -> str:
    return "–" if value is None else _bar(value, f"{round(100 * value)} %")


def _bar(share: float, text: str) -> str:
    width = 100 * min(1.0, max(0.0, share))
    return f'<span class="bar"><i style="width:{width:.0f}%"></i></span>{text}'


def _name(text: str) -> str:
    return f"<bdi>{_escaped(text)}</bdi>"


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _escaped(text: str) -> str:
    return html.escape(_NOT_HTML.sub("\ufffd", text))


__all__ = ["card_sort_report"]
