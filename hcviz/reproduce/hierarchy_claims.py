"""The claims of Ghoshdastidar et al. (2019) (section 4, appendix B), tests of
``ghoshdastidar2019``'s tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from hcviz.reproduce.claims import FOUND, Claims, Curve, all_of, at, reached, sooner

#: "Do not degrade much": the mean AARI over delta falls by no more than this.
MUCH = 0.1
#: "Comparable": a mean cost no more than this above the other's; "stable": within this of the mean.
ALIKE, STABLE = 1.02, 0.05
#: "Drastically worsen": the mean cost rises by this factor or more.
DRASTIC = 1.1
#: The authors' code's active kernel: every item is a landmark, of fewer reference pairs.
ALL_LANDMARKS = "4k-al-active, all landmarks"
NAMES = {
    "sl": "SL", "cl": "CL", "4k-al": "4K-AL", "4-al": "4-AL",
    "4k-al-active": "4K-AL-act (the paper's landmarks)",
    ALL_LANDMARKS: "4K-AL-act (all landmarks, as in the authors' code)",
    "4-al-i3": "4-AL-I3", "4-al-i5": "4-AL-I5",
}  # fmt: skip
#: What the paper's second claim is about.
THEIRS = ("4k-al", "4k-al-active", ALL_LANDMARKS, "4-al")

Table = Mapping[str, Any]


def claims(result: Table) -> list[dict[str, Any]]:
    """``result`` as ``ghoshdastidar2019.summary`` makes it; what is not there is passed over."""
    told = Claims()
    # A mean over the small deltas alone, where the run was interrupted, would say nothing.
    most = max(map(len, result["planted"].values()), default=0)
    planted = {rate: row for rate, row in result["planted"].items() if len(row) == most}
    if any(rate != "all" for rate in planted):
        _planted(told, planted)
    for data, table in result["cost"].items():
        _costs(told, data, table)
    if result["cost"]:
        _dimensions(told, result["cost"])
    return told.said


def _planted(told: Claims, planted: Table) -> None:
    """Figures 2 and S.1."""
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
    told.say(
        "SL can hardly recover the hierarchy, even at the largest delta (AARI below .5, where "
        "another method has .95).",
        sl[top] < 0.5 if sl and max(others) >= 0.95 else None,
        f"{sl[top]:.2f} at delta = {top:g}" if sl else "",
    )
    told.say("CL performs better than SL (mean AARI over delta).",
             _mean(cl) > _mean(sl) if sl and cl else None,
             f"{_mean(cl):.3f} and {_mean(sl):.3f}" if sl and cl else "")  # fmt: skip
    many = [rate for rate in rates if float(rate) >= 0.1] or rates[-1:]
    for method in THEIRS:
        own = {rate: curves[rate][method] for rate in many if method in curves[rate]}
        verdicts = []
        for curve in own.values():
            soon = [sooner(curve, curves["all"][m]) for m in linkages]
            verdicts.append(False if reached(curve) is None else all_of(soon))
        told.say(
            f"{NAMES[method]} recovers it exactly at smaller delta than SL and CL do, at p = "
            f"{' and '.join(many)}.",
            all_of(verdicts),
            "; ".join((*(f"p = {rate}: {at(reached(curve))}" for rate, curve in own.items()),
                       *(f"{NAMES[m]}: {at(reached(linkages[m]))}" for m in linkages))),
        )  # fmt: skip
    for method in THEIRS:
        means = [_mean(curves[rate][method]) for rate in rates if method in curves[rate]]
        decided = len(means) > 1 and means[-1] > FOUND
        told.say(
            f"{NAMES[method]} does not degrade much with fewer answers (p = {rates[0]} for "
            f"{rates[-1]} costs {MUCH} of the mean AARI at most).",
            means[0] >= means[-1] - MUCH if decided else None,
            f"{means[0]:.3f} and {means[-1]:.3f}" if len(means) > 1 else "",
        )
    _initial(told, {rate: curves[rate] | linkages for rate in rates})


def _initial(told: Claims, curves: dict[str, dict[str, Curve]]) -> None:
    """4-AL-I5 and I3 beside all others."""
    means = {rate: {m: _mean(curve) for m, curve in row.items()} for rate, row in curves.items()}
    orders = {rate: sorted(row, key=lambda m, row=row: -row[m]) for rate, row in means.items()}  # type: ignore[misc]

    def place(method: str, rank: int) -> bool:
        """Whether it stands there at every rate, and not by a tie."""
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
    told.say("4-AL-I5 is the best method at every rate (mean AARI over delta).",
             place("4-al-i5", 0), words)  # fmt: skip
    told.say("4-AL-I3 is the second best at every rate.", place("4-al-i3", 1), words)
    told.say(
        "4-AL-I5 recovers the hierarchy exactly even for very small delta: from a smaller one on "
        "than 4-AL, at every rate.",
        all_of(sooner(row["4-al-i5"], row["4-al"]) for row in curves.values()
               if "4-al-i5" in row and "4-al" in row),
        "; ".join(f"p = {rate}: {at(reached(row['4-al-i5']))} and {at(reached(row['4-al']))}"
                  for rate, row in curves.items() if "4-al-i5" in row and "4-al" in row),
    )  # fmt: skip


def _costs(told: Claims, data: str, table: Table) -> None:
    """Figures 3 and S.2 to S.4: are ours as good as the best embedding, and is p of no matter?"""
    means = _costs_by_method(table)
    embeddings = {m: cost for m, cost in means.items() if m.startswith(("t-ste", "forte"))}
    ours = {m: means[m] for m in ("4-al", "4k-al") if m in means}
    best = min(embeddings.values(), default=0.0)
    told.say(
        f"On {data}, 4-AL and 4K-AL both cost no more than the best embedding (within 2 per cent).",
        max(ours.values()) <= ALIKE * best if best > 0 and len(ours) == 2 else None,
        ", ".join(f"{m} {cost:.3f}" for m, cost in (ours | embeddings).items()),
    )
    spread = {}
    for method in means:
        costs = [row[method][0] for row in table.values() if method in row]
        spread[method] = float(np.ptp(costs)) / means[method] if means[method] else float("nan")
    worst = max(spread, key=lambda m: spread[m])
    told.say(
        f"On {data}, costs are stable in p (each method's within 5 per cent of its mean).",
        max(spread.values()) <= STABLE
        if len(table) > 1 and not np.isnan(list(spread.values())).any() else None,
        f"{worst} moves by {100 * spread[worst]:.1f} per cent",
    )  # fmt: skip


def _dimensions(told: Claims, cost: Table) -> None:
    """Figures S.2 to S.4: the embeddings' dimension."""
    curves: dict[tuple[str, str], Curve] = {}
    for data, table in cost.items():
        for method, value in _costs_by_method(table).items():
            if method.startswith(("t-ste", "forte")):
                name, d = method.split(", d = ")
                curves.setdefault((data, name), {})[float(d)] = value
    ratio = {where: max(c.values()) / min(c.values())
             for where, c in curves.items() if len(c) > 1 and min(c.values()) > 0}  # fmt: skip
    worst = max(ratio, key=lambda where: ratio[where], default=None)
    told.say(
        "A poor choice of the dimension can drastically worsen an embedding (cost 1.1 times that "
        "of the best one, or more).",
        ratio[worst] >= DRASTIC if worst else None,
        f"{worst[1]} on {worst[0]}: {ratio[worst]:.2f} times" if worst else "",
    )
    zoo, glass = curves.get(("zoo", "t-ste"), {}), curves.get(("glass", "forte"), {})
    told.say("On zoo, t-STE gets worse with every dimension more.",
             all(a < b for a, b in _steps(zoo)) if len(zoo) > 1 else None, _by(zoo))  # fmt: skip
    told.say("On glass, FORTE gets better with more dimensions.",
             all(a > b for a, b in _steps(glass)) if len(glass) > 1 else None,
             _by(glass))  # fmt: skip


def _costs_by_method(table: Table) -> dict[str, float]:
    """Each method's mean over the rates."""
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
