"""Tests of the claims of Perrot et al. (2020), section 5, on the tables of ``perrot2020``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from hcviz.reproduce.claims import (
    CHANCE_LEVEL,
    TOLERANCE,
    Claims,
    Curve,
    at,
    conjunction,
    first_exact,
    recovers_earlier,
)

Table = Mapping[str, Any]
#: The methods of MNIST.
SPUR, KNOWN, MULK = "AddS-3, SPUR", "AddS-3, k known", "MulK-3, k known"
STUDENT, MEANS = "t-STE and k-means", "k-means on the points"


def claims(result: Table) -> list[dict[str, Any]]:
    """Return the claims for a result of ``perrot2020.summary``. Missing parts are skipped."""
    checked = Claims()
    figure = {"answers": _answers, "noise": _noise, "distribution": _distributions}
    for part, judge in figure.items():
        if f"ari by {part}" in result:
            judge(checked, result[f"ari by {part}"])
    for digits, check in (("1 and 7", _two_digits), ("ten", _ten_digits)):
        name = f"ari by answers, MNIST {digits}"
        if name in result:
            check(checked, _by_power(result[name]), _curve(_by_power(result["k"][name]), "k"))
    if "car" in result:
        _cars(checked, result["car"])
    return checked.entries


def _by_power(table: Table) -> dict[float, Any]:
    """Return the rows by the power of ln n instead of "n (ln n)^power"."""
    return {float(x.rsplit("^", 1)[1]): row for x, row in table.items()}


def _curve(rows: Mapping[float, Any], method: str) -> Curve:
    return {x: row[method][0] for x, row in rows.items() if method in row}


def _answers(checked: Claims, table: Table) -> None:
    """Add the claims about figure 1a."""
    rows = _by_power(table)
    curves = {m: _curve(rows, m) for m in ("AddS-3", "AddS-4", "MulK-3", "MulK-4")}
    where = {m: first_exact(curve) for m, curve in curves.items()}

    def words(*methods: str) -> str:
        return "; ".join(f"{m} {at(where[m])}" for m in methods)

    def recovers(method: str, power: float, first: bool) -> bool | None:
        """Return True if recovery is exact from this power on; with ``first``, not below it.

        With ``first``, the grid must have a lower power.
        """
        curve = curves[method]
        if power not in curve or (first and min(curve) >= power):
            return None
        return where[method] == power if first else (where[method] or np.inf) <= power

    checked.add(
        "AddS-3 and AddS-4 recover the clusters exactly from n (ln n)^3 answers on.",
        conjunction(recovers(m, 3.0, False) for m in ("AddS-3", "AddS-4")),
        words("AddS-3", "AddS-4"),
    )  # fmt: skip
    for method, power in (("MulK-3", 4.5), ("MulK-4", 5.5)):
        checked.add(
            f"{method} needs n (ln n)^{power:g} answers for that: it does from there on, and not "
            "with fewer.",
            recovers(method, power, True), words(method),
        )  # fmt: skip
    for ours, theirs in (("AddS-3", "MulK-3"), ("AddS-4", "MulK-4")):
        checked.add(f"{ours} needs fewer answers than {theirs}.",
                 recovers_earlier(curves[ours], curves[theirs]), words(ours, theirs))  # fmt: skip
    shared = [x for x, row in rows.items() if all(m in row for m in curves)]
    means = {m: float(np.mean([c[x] for x in shared])) for m, c in curves.items() if shared}
    adds = [means.get("AddS-3"), means.get("AddS-4")]
    decided = None not in adds and max(adds) > CHANCE_LEVEL  # type: ignore[type-var, operator]
    checked.add(
        f"AddS-3 and AddS-4 are comparable (mean ARI over the grid within {TOLERANCE}).",
        abs(adds[0] - adds[1]) <= TOLERANCE if decided else None,  # type: ignore[operator]
        ", ".join(f"{m} {means[m]:.3f}" for m in ("AddS-3", "AddS-4") if m in means),
    )
    both = "MulK-3" in means and "MulK-4" in means
    checked.add(
        f"MulK-3 is significantly better than MulK-4 (by more than {TOLERANCE} on the mean).",
        means["MulK-3"] - means["MulK-4"] > TOLERANCE if both else None,
        ", ".join(f"{m} {means[m]:.3f}" for m in ("MulK-3", "MulK-4") if m in means),
    )


def _noise(checked: Claims, table: Table) -> None:
    """Add the claims about figure 1b."""
    rows = {float(eps): row for eps, row in table.items()}
    adds, mulk = _curve(rows, "AddS-3"), _curve(rows, "MulK-3")
    checked.add(
        "At n (ln n)^4 answers AddS-3 recovers the clusters for eps as small as 0.25.",
        (first_exact(adds) or np.inf) <= 0.25 if 0.25 in adds else None,
        f"eps {at(first_exact(adds))}",
    )  # fmt: skip
    low = [value for eps, value in mulk.items() if eps <= 0.9]
    high = [value for eps, value in mulk.items() if eps > 0.9]
    checked.add(
        "There MulK-3 does so for eps above 0.9, and only there.",
        max(low) < 1 and min(high) == 1 if low and high else None, f"eps {at(first_exact(mulk))}",
    )  # fmt: skip


def _distributions(checked: Claims, table: Table) -> None:
    """Add the claims about figure 1c."""
    powers = sorted({name.rsplit(", ", 1)[1] for name in table})
    checked.add(
        "AddS-3 outperforms MulK-3 with every pair of distributions, at n (ln n)^3 and at "
        "n (ln n)^4 answers.",
        all(row["AddS-3"][0] > row["MulK-3"][0] for row in table.values())
        if powers == ["n (ln n)^3", "n (ln n)^4"] and len(table) % 2 == 0 else None,
        ", ".join(f"{name}: {row['AddS-3'][0]:.2f} and {row['MulK-3'][0]:.2f}"
                  for name, row in table.items()),
    )  # fmt: skip
    spread = [
        np.ptp([row[m][0] for name, row in table.items() if name.endswith(power)])
        for power in powers for m in ("AddS-3", "MulK-3")
    ]  # fmt: skip
    several = len({name.rsplit(", ", 1)[0] for name in table}) > 1
    checked.add(
        f"The distributions affect the performance (some method's ARI by more than {TOLERANCE}).",
        max(spread) > TOLERANCE if several else None,
        f"at most by {max(spread):.2f}" if several else "",
    )


def _near(rows: Mapping[float, Any], power: float, method: str, goal: str) -> bool | None:
    """Return True if a method reaches another one less TOLERANCE.

    Return None if the other one is not better than chance.
    """
    if power not in rows or rows[power][goal][0] <= CHANCE_LEVEL:
        return None
    return bool(rows[power][method][0] >= rows[power][goal][0] - TOLERANCE)


def _words(rows: Mapping[float, Any], power: float, *methods: str) -> str:
    if power not in rows:
        return ""
    return ", ".join(f"{method} {rows[power][method][0]:.2f}" for method in methods)


def _two_digits(checked: Claims, rows: dict[float, Any], ks: Curve) -> None:
    """Add the claims about two digits in figure 2a."""
    checked.add(
        f"Ones and sevens: n (ln n)^2 answers take AddS-3 to k-means on the points and to t-STE "
        f"(less {TOLERANCE}).",
        conjunction(_near(rows, 2.0, KNOWN, goal) for goal in (MEANS, STUDENT)),
        _words(rows, 2.0, KNOWN, MEANS, STUDENT),
    )
    few, more = _near(rows, 2.0, MULK, MEANS), _near(rows, 3.0, MULK, MEANS)
    checked.add(
        "There MulK-3 requires n (ln n)^3: it falls behind with n (ln n)^2, and gets there then.",
        None if few is None or more is None else more and not few,
        "; ".join(_words(rows, power, MULK, MEANS) for power in (2.0, 3.0) if power in rows),
    )
    checked.add(
        f"SPUR does as well there as the known k (ARI within {TOLERANCE}).",
        conjunction(
            abs(row[SPUR][0] - row[KNOWN][0]) <= TOLERANCE if row[KNOWN][0] > CHANCE_LEVEL else None
            for row in rows.values()
        ),
        "; ".join(_words(rows, power, SPUR, KNOWN) for power in rows),
    )  # fmt: skip
    checked.add("It estimates their number rightly: 2, in every draw.",
             all(k == 2 for k in ks.values()) if ks else None, _ks(ks))  # fmt: skip


def _ten_digits(checked: Claims, rows: dict[float, Any], ks: Curve) -> None:
    """Add the claims about ten digits in figure 2b."""

    def ahead(method: str) -> bool | None:
        return bool(rows[2.0][KNOWN][0] > rows[2.0][method][0]) if 2.0 in rows else None

    checked.add("Ten digits, n (ln n)^2 answers: AddS-3 with the known k outperforms SPUR.",
             ahead(SPUR), _words(rows, 2.0, KNOWN, SPUR))  # fmt: skip
    checked.add("It outperforms MulK-3 too.", ahead(MULK), _words(rows, 2.0, KNOWN, MULK))
    checked.add(f"It is close to t-STE (less {TOLERANCE}).", _near(rows, 2.0, KNOWN, STUDENT),
             _words(rows, 2.0, KNOWN, STUDENT))  # fmt: skip
    checked.add(
        "With n (ln n)^4 answers all methods converge to k-means on the points "
        f"(less {TOLERANCE}).",
        conjunction(_near(rows, 4.0, method, MEANS) for method in (SPUR, KNOWN, MULK, STUDENT)),
        _words(rows, 4.0, SPUR, KNOWN, MULK, STUDENT, MEANS),
    )
    score = _curve(rows, SPUR)
    rising = [all(curve[a] < curve[b] for a, b in pairwise(sorted(curve))) for curve in (score, ks)]
    checked.add("More answers let SPUR see more clusters, and its ARI improves.",
             all(rising) if len(ks) > 1 else None, _ks(ks))  # fmt: skip
    checked.add("It sees 3 clusters with n (ln n)^2 answers, and up to 9 with n (ln n)^4.",
             round(ks[2.0]) == 3 and round(ks[4.0]) == 9 if {2.0, 4.0} <= set(ks) else None,
             _ks(ks))  # fmt: skip


def _ks(ks: Curve) -> str:
    return "k " + ", ".join(f"{k:g} at ^{power:g}" for power, k in sorted(ks.items()))


def _cars(checked: Claims, car: Table) -> None:
    """Add the claims about cars in figure 2c."""
    checked.add("SPUR estimates two clusters of cars.", car["k"] == 2, f"k = {car['k']:g}")
    names, matrix = car["methods"], np.array(car["matrix"])
    two = [where for where, name in enumerate(names) if name.endswith("k = 2")]
    block = matrix[np.ix_(two, two)]
    checked.add("All methods agree well at k = 2 (every ARI above 0.5).", block.min() > 0.5,
             f"least {block.min():.2f}")  # fmt: skip
    truth = names.index("true classes")
    scores = {name: float(matrix[truth, where])
              for where, name in enumerate(names) if where != truth}  # fmt: skip
    best = scores.pop("MulK-3, k = 3")
    checked.add("MulK-3 at k = 3 agrees the most with the classes.", best > max(scores.values()),
             f"{best:.2f}, the next {max(scores.values()):.2f}")  # fmt: skip


__all__ = ["claims"]
