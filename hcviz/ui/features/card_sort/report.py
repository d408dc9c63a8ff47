"""The report of a card sort: one HTML page, which needs no server, no network and no script."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.core.text import count_noun, escape_html

#: With more cards, the numbers of the agreement are left out. The picture has their colours.
MAX_IN_TABLE = 80

_STYLE = Path(__file__).with_name("report.css").read_text(encoding="utf-8")


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
    title = escape_html(f"Card sort: {state['title']}")
    off = state["participants"] - state["on"]
    facts = [
        count_noun(state["participants"], "participant")
        + (f", {off} of them left out" if off else ""),
        count_noun(state["cards"], "card"),
        count_noun(state["piles"], "pile"),
        count_noun(state["nameCount"], "name"),
    ]
    image = base64.b64encode(picture).decode()
    note = f"Method: {method}. Colours: the share of participants with both cards on one pile."
    alt = "The tree of the cards beside their agreement"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,"><title>{title}</title>\n<style>{_STYLE}</style></head>\n'
        f'<body><h1><bdi>{title}</bdi></h1><p class="soft">{" · ".join(facts)}</p>\n'
        f"<h2>Tree and agreement of cards</h2><p>{escape_html(note)}</p>"
        f'<div class="wide"><img alt="{alt}" src="data:image/svg+xml;base64,{image}"></div>\n'
        f"{_names(state)}{_people(state)}{_various(state)}{_pairs(shares, labels, order)}"
        "</body></html>\n"
    )


def _names(state: Mapping[str, Any]) -> str:
    rows = [
        (
            _name(row["name"]) + _spellings(row),
            _bar(row["participants"] / max(1, state["on"]), str(row["participants"])),
            "".join(
                f'<span class="card"><bdi>{escape_html(card)}</bdi> <small>{count}</small></span>'
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
    return f"<br><small><bdi>{escape_html(written)}</bdi></small>"


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
        "How far the piles with the card differ between two participants: 1 minus the mean Jaccard "
        "index. 0 % if all made the same pile.",
        ("Card", "Variety"),
        rows,
        state["variousCount"],
    )


def _pairs(shares: NDArray[np.float64], labels: Sequence[str], order: Sequence[int]) -> str:
    if len(labels) > MAX_IN_TABLE:
        return ""
    head = "".join(f"<th>{_name(labels[k])}</th>" for k in order)
    note = "Per cent of the participants who sorted both cards."
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
        f"<h2>Agreement of each two cards</h2><p>{note}</p>"
        '<div class="wide"><table class="pairs"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>\n"
    )


def _shade(share: float) -> str:
    return f"rgba(11,99,181,{0.55 * float(share):.2f})"


def _section(
    title: str, note: str, heads: Sequence[str], rows: Iterable[Sequence[str]], total: int
) -> str:
    shown = list(rows)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in shown)
    head = "".join(f"<th>{each}</th>" for each in heads)
    left = total - len(shown)
    return (
        f'<h2>{title}</h2><p class="soft">{note}</p><div class="wide"><table><thead><tr>{head}</tr>'
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
    return f"<bdi>{escape_html(text)}</bdi>"


__all__ = ["card_sort_report"]
