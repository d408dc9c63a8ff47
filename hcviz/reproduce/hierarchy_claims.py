"""Tests of the claims of Ghoshdastidar et al. (2019), section 4 and appendix B."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from hcviz.reproduce.claims import (
    CHANCE_LEVEL,
    Claims,
    Curve,
    at,
    conjunction,
    first_exact,
    recovers_earlier,
)

#: "Do not degrade much": the mean AARI over delta falls by at most this.
MAX_LOSS = 0.1
#: "Comparable": the mean cost is at most this times the other's.
MAX_RATIO = 1.02
#: "Stable": costs differ by at most this share of the mean.
MAX_SPREAD = 0.05
#: "Drastically worsen": the mean cost rises by this factor or more.
DRASTIC = 1.1
#: The active kernel in the authors' code: all items are landmarks, with fewer reference pairs.
ALL_LANDMARKS = "4k-al-active, all landmarks"
NAMES = {
    "sl": "SL", "cl": "CL", "4k-al": "4K-AL", "4-al": "4-AL",
    "4k-al-active": "4K-AL-act (the paper's landmarks)",
    ALL_LANDMARKS: "4K-AL-act (all landmarks, as in the authors' code)",
    "4-al-i3": "4-AL-I3", "4-al-i5": "4-AL-I5",
}  # fmt: skip
#: Methods of the paper's second claim.
THEIRS = ("4k-al", "4k-al-active", ALL_LANDMARKS, "4-al")

Table = Mapping[str, Any]


def claims(result: Table) -> list[dict[str, Any]]:
    """Return the claims for ``ghoshdastidar2019.summary``. Missing parts are skipped."""
    checked = Claims()
    # After an interrupt, rates without all deltas are left out, since their means are too low.
    most = max(map(len, result["planted"].values()), default=0)
    planted = {rate: row for rate, row in result["planted"].items() if len(row) == most}
    if any(rate != "all" for rate in planted):
        _planted(checked, planted)
    for data, table in result["cost"].items():
        _costs(checked, data, table)
    if result["cost"]:
        _dimensions(checked, result["cost"])
    return checked.entries


def _planted(checked: Claims, planted: Table) -> None:
    """Add the claims about figures 2 and S.1."""
    curves = {
        rate: {m: _curve(planted[rate], m) for m in NAMES if _curve(planted[rate], m)}
        for rate in planted
    }
    linkages = curves.get("all", {})
    rates = sorted((rate for rate in planted if rate != "all"), key=float)
    best = {rate: max(row, key=lambda m, row=row: _mean(row[m])) for rate, row in curves.items()}  # type: ignore[misc]
    sl, cl = linkages.get("sl", {}), linkages.get("cl", {})
    top = max(sl, default=0.0)
    others = [row[best[rate]].get(top, 0.0) for rate, row in curves.items() if rate != "all"]
    checked.add(
        "SL can hardly recover the hierarchy, even at the largest delta (AARI below .5, where "
        "another method has .95).",
        sl[top] < 0.5 if sl and max(others) >= 0.95 else None,
        f"{sl[top]:.2f} at delta = {top:g}" if sl else "",
    )
    checked.add("CL performs better than SL (mean AARI over delta).",
             _mean(cl) > _mean(sl) if sl and cl else None,
             f"{_mean(cl):.3f} and {_mean(sl):.3f}" if sl and cl else "")  # fmt: skip
    many = [rate for rate in rates if float(rate) >= 0.1] or rates[-1:]
    for method in THEIRS:
        own = {rate: curves[rate][method] for rate in many if method in curves[rate]}
        verdicts = []
        for curve in own.values():
            soon = [recovers_earlier(curve, curves["all"][m]) for m in linkages]
            verdicts.append(False if first_exact(curve) is None else conjunction(soon))
        checked.add(
            f"{NAMES[method]} recovers it exactly at smaller delta than SL and CL do, at p = "
            f"{' and '.join(many)}.",
            conjunction(verdicts),
            "; ".join((*(f"p = {rate}: {at(first_exact(curve))}" for rate, curve in own.items()),
                       *(f"{NAMES[m]}: {at(first_exact(linkages[m]))}" for m in linkages))),
        )  # fmt: skip
    for method in THEIRS:
        means = [_mean(curves[rate][method]) for rate in rates if method in curves[rate]]
        decided = len(means) > 1 and means[-1] > CHANCE_LEVEL
        checked.add(
            f"{NAMES[method]} does not degrade much with fewer answers (p = {rates[0]} for "
            f"{rates[-1]} costs {MAX_LOSS} of the mean AARI at most).",
            means[0] >= means[-1] - MAX_LOSS if decided else None,
            f"{means[0]:.3f} and {means[-1]:.3f}" if len(means) > 1 else "",
        )
    _initial(checked, {rate: curves[rate] | linkages for rate in rates})


def _initial(checked: Claims, curves: dict[str, dict[str, Curve]]) -> None:
    """Add the claims that compare 4-AL-I5 and 4-AL-I3 with all other methods."""
    means = {rate: {m: _mean(curve) for m, curve in row.items()} for rate, row in curves.items()}
    orders = {rate: sorted(row, key=lambda m, row=row: -row[m]) for rate, row in means.items()}  # type: ignore[misc]

    def place(method: str, rank: int) -> bool:
        """Return True if the method has this rank at every rate, without a tie."""
        return all(
            method in row and orders[rate][rank] == method
            and row[method] > max((v for m, v in row.items()
                                   if m not in orders[rate][: rank + 1]), default=0.0)
            for rate, row in means.items()
        )  # fmt: skip

    words = "; ".join(
        f"p = {rate}: " + ", ".join(f"{NAMES[m]} {means[rate][m]:.3f}" for m in order[:3])
        for rate, order in orders.items()
    )
    checked.add("4-AL-I5 is the best method at every rate (mean AARI over delta).",
             place("4-al-i5", 0), words)  # fmt: skip
    checked.add("4-AL-I3 is the second best at every rate.", place("4-al-i3", 1), words)
    checked.add(
        "4-AL-I5 recovers the hierarchy exactly even for very small delta: from a smaller one on "
        "than 4-AL, at every rate.",
        conjunction(recovers_earlier(row["4-al-i5"], row["4-al"]) for row in curves.values()
               if "4-al-i5" in row and "4-al" in row),
        "; ".join(f"p = {rate}: {at(first_exact(row['4-al-i5']))} and "
                  f"{at(first_exact(row['4-al']))}"
                  for rate, row in curves.items() if "4-al-i5" in row and "4-al" in row),
    )  # fmt: skip


def _costs(checked: Claims, data: str, table: Table) -> None:
    """Add the claims about costs in figures 3 and S.2 to S.4."""
    means = _costs_by_method(table)
    embeddings = {m: cost for m, cost in means.items() if m.startswith(("t-ste", "forte"))}
    ours = {m: means[m] for m in ("4-al", "4k-al") if m in means}
    best = min(embeddings.values(), default=0.0)
    checked.add(
        f"On {data}, 4-AL and 4K-AL both cost no more than the best embedding (within 2 per cent).",
        max(ours.values()) <= MAX_RATIO * best if best > 0 and len(ours) == 2 else None,
        ", ".join(f"{m} {cost:.3f}" for m, cost in (ours | embeddings).items()),
    )
    spread = {}
    for method in means:
        costs = [row[method][0] for row in table.values() if method in row]
        spread[method] = float(np.ptp(costs)) / means[method] if means[method] else float("nan")
    worst = max(spread, key=lambda m: spread[m])
    checked.add(
        f"On {data}, costs are stable in p (each method's within 5 per cent of its mean).",
        max(spread.values()) <= MAX_SPREAD
        if len(table) > 1 and not np.isnan(list(spread.values())).any() else None,
        f"{worst} moves by {100 * spread[worst]:.1f} per cent",
    )  # fmt: skip


def _dimensions(checked: Claims, cost: Table) -> None:
    """Add the claims about dimensions of embeddings in figures S.2 to S.4."""
    curves: dict[tuple[str, str], Curve] = {}
    for data, table in cost.items():
        for method, value in _costs_by_method(table).items():
            if method.startswith(("t-ste", "forte")):
                name, d = method.split(", d = ")
                curves.setdefault((data, name), {})[float(d)] = value
    ratio = {where: max(c.values()) / min(c.values())
             for where, c in curves.items() if len(c) > 1 and min(c.values()) > 0}  # fmt: skip
    worst = max(ratio, key=lambda where: ratio[where], default=None)
    checked.add(
        "A poor choice of the dimension can drastically worsen an embedding (cost 1.1 times that "
        "of the best one, or more).",
        ratio[worst] >= DRASTIC if worst else None,
        f"{worst[1]} on {worst[0]}: {ratio[worst]:.2f} times" if worst else "",
    )
    zoo, glass = curves.get(("zoo", "t-ste"), {}), curves.get(("glass", "forte"), {})
    checked.add("On zoo, t-STE gets worse with every dimension more.",
             all(a < b for a, b in _steps(zoo)) if len(zoo) > 1 else None, _by(zoo))  # fmt: skip
    checked.add("On glass, FORTE gets better with more dimensions.",
             all(a > b for a, b in _steps(glass)) if len(glass) > 1 else None,
             _by(glass))  # fmt: skip


def _costs_by_method(table: Table) -> dict[str, float]:
    """Return the mean cost of each method over the rates."""
    methods = dict.fromkeys(m for row in table.values() for m in row)
    return {m: float(np.mean([row[m][0] for row in table.values() if m in row])) for m in methods}


def _curve(by_delta: Table, method: str) -> Curve:
    return {float(delta): row[method][0] for delta, row in by_delta.items() if method in row}


def _mean(curve: Curve) -> float:
    return float(np.mean(list(curve.values())))


def _steps(curve: Curve) -> list[tuple[float, float]]:
    values = [curve[x] for x in sorted(curve)]
    return list(pairwise(values))


def _by(curve: Curve) -> str:
    return ", ".join(f"d = {d:g}: {curve[d]:.3f}" for d in sorted(curve))


__all__ = ["ALL_LANDMARKS", "claims"]
