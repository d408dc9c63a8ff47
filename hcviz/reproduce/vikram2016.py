"""Vikram and Dasgupta 2016, Figure 6 and its supplement: triplet distance and log joint density by
answers, for every kind of question."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.datasets import SimulatedUser
from hcviz.questions import strategies, teach
from hcviz.questions.teach import Variant
from hcviz.reproduce import record
from hcviz.reproduce.cases import PUBLISHED, Case, cases

#: What ``--quick`` and the whole have: answers by data set (else the first), and runs.
ANSWERS, ANSWERS_QUICK, RUNS, RUNS_QUICK = {"iris": 100, "": 150}, {"iris": 60, "": 100}, 4, 1
#: Items a question, candidates, proposals per item between two questions.
SIZE, CANDIDATES, PROPOSALS = 10, 20, 100

#: The goals: data, kind of question, TD at most (None: below average linkage), within answers.
GOALS: tuple[tuple[str, str, float | None, int], ...] = (
    ("iris", "interleaved", None, 20),
    ("iris", "interleaved", 0.02, 60),
    ("iris", "interleaved", 0.01, 60),
    ("iris", "smart", 0.0, 40),
    ("zoo", "interleaved", None, 20),
    ("zoo", "interleaved", 0.05, 100),
)


@dataclass(frozen=True)
class Curve:
    """One run: a value for each number of answers, 0 first. ``bits``: told so far."""

    td: list[float]
    log_joint: list[float]
    bits: list[float]
    corrections: int


def reproduce(
    quick: bool, as_json: bool, out: Path | None = None, variant: Variant = "central"
) -> None:
    """Compute all curves; print a table, or with ``as_json`` the mean curves as one JSON object:
    ``{data: {kind: {"answers": [...], "td": [...]}, "average": td, "vanilla": td}}``.

    ``out``: a folder for ``vikram2016.svg``, ``.png``, ``.csv`` and ``.json`` (the run record).
    """
    record.check(out)
    began = time.monotonic()
    runs = RUNS_QUICK if quick else RUNS
    answers = ANSWERS_QUICK if quick else ANSWERS
    found: dict[str, dict[str, list[Curve]]] = {}
    everything = cases(quick)
    for case in everything:
        number = answers.get(case.key, answers[""])
        found[case.key] = curves_of(case, number, runs, variant)
    result = {case.key: summary(case, found[case.key]) for case in everything}
    goals = judged(everything, found)
    seconds = time.monotonic() - began
    if out is not None:
        from hcviz.reproduce.curves_figure import draw  # matplotlib takes a second: only here

        record.write(
            out,
            "vikram2016",
            record.table(COLUMNS, rows_of(everything, found)),
            run_record(everything, found, goals, variant, quick, seconds),
            lambda files: draw(everything, found, PROPOSALS, files),
        )
    if as_json:
        print(json.dumps(result))
    else:
        print(table(everything, found, goals))


def curves_of(case: Case, answers: int, runs: int, variant: Variant) -> dict[str, list[Curve]]:
    """For each kind of question ``runs`` curves; under ``vanilla`` the sampler left alone."""
    found: dict[str, list[Curve]] = {}
    for kind in [*strategies(), "vanilla"]:
        record.progress(f"{case.key}, {kind}")
        found[kind] = [
            curve(case, kind, answers if kind != "vanilla" else answers // 4, seed, variant)
            for seed in range(1, runs + 1)
        ]
    return found


class Silent:
    """A user who accepts everything: the sampler is left alone."""

    def answer(self, shown: Any, items: Any) -> None:
        return None

    def odd_one_out(self, items: Any) -> None:
        return None


def curve(case: Case, kind: str, answers: int, seed: int, variant: Variant) -> Curve:
    """One run. A run that ends early (nothing left to ask) stays where it is.

    ``vanilla`` asks for the odd one of three and hears nothing: no constraint comes of it.
    """
    user: Any = SimulatedUser(case.target, seed=1000 + seed) if kind != "vanilla" else Silent()
    steps = list(
        teach(
            case.problem,
            user,
            kind if kind != "vanilla" else "simple",
            answers=answers,
            target=case.target,
            size=SIZE,
            candidates=CANDIDATES,
            proposals_per_item=PROPOSALS,
            variant=variant,
            seed=seed,
            params=case.params,
        )
    )
    td = [step.td for step in steps]
    joint = [step.log_joint for step in steps]
    bits = np.cumsum([step.bits for step in steps]).tolist()
    more = answers + 1 - len(steps)
    count = sum(step.kind == "correction" for step in steps)
    return Curve(td + td[-1:] * more, joint + joint[-1:] * more, bits + bits[-1:] * more, count)


def mean_td(curves: list[Curve]) -> list[float]:
    return [float(x) for x in np.mean([each.td for each in curves], axis=0)]


def vanilla_td(curves: list[Curve]) -> float:
    """The mean over runs and over the second half of each: it has no end."""
    half = len(curves[0].td) // 2
    return float(np.mean([each.td[half:] for each in curves]))


def summary(case: Case, found: dict[str, list[Curve]]) -> dict[str, Any]:
    """What ``--json`` prints for one data set."""
    result: dict[str, Any] = {
        kind: {"answers": list(range(len(curves[0].td))), "td": rounded(mean_td(curves))}
        for kind, curves in found.items()
        if kind != "vanilla"
    }
    return result | {
        "average": round(case.average, 6),
        "vanilla": round(vanilla_td(found["vanilla"]), 6),
    }


def rounded(values: list[float]) -> list[float]:
    return [round(value, 6) for value in values]


def first_below(curve: list[float], limit: float, strictly: bool = False) -> int | None:
    """The number of answers after which the curve is at most (below) ``limit`` for the first
    time."""
    here = np.array(curve)
    at = np.flatnonzero(here < limit if strictly else here <= limit)
    return int(at[0]) if at.size else None


def judged(
    everything: list[Case], found: dict[str, dict[str, list[Curve]]]
) -> list[dict[str, Any]]:
    """Each goal, how many answers the mean curve took, and TD at the goal's own number.

    ``bits``: what was told until then, on average; ``bits_an_answer``: an upper bound on what one
    answer can tell, the logarithm of how many different answers there are (3 C(s, 3) triplets less
    the C(s, 3) that the shown tree has, and "accept").
    """
    known = {case.key: case for case in everything}
    out = []
    for key, kind, limit, within in GOALS:
        if key not in known:
            continue
        case, curves = known[key], found[key][kind]
        td = mean_td(curves)
        below = case.average if limit is None else limit
        shown = case.problem.n_items if kind == "smart" else SIZE
        at = first_below(td, below, strictly=limit is None)
        out.append(
            {
                "data": key,
                "question": kind,
                "td_at_most": round(below, 4),
                "within": within,
                "reached_after": at,
                "met": at is not None and at <= within,
                "td_then": round(td[min(within, len(td) - 1)], 4),
                "bits": round(
                    float(np.mean([c.bits[min(within, len(td) - 1)] for c in curves])), 1
                ),
                "bits_an_answer": round(math.log2(2 * math.comb(shown, 3) + 1), 2),
                "bits_of_the_target": round(target_bits(case), 1),
            }
        )
    return out


def target_bits(case: Case) -> float:
    """log2 of how many trees have the target's shape with other items at the leaves: what it takes
    to name the target, if its shape is known and the data say nothing.

    n! over the number of symmetries, by isomorphism classes of subtrees (Knuth's AHU codes).
    """
    tree = case.target
    codes: dict[tuple[int, ...], int] = {(): 0}
    below: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    symmetries = 0.0
    for v in range(tree.n_nodes):
        shape = tuple(sorted(below[v]))
        code = codes.setdefault(shape, len(codes))
        _, counts = np.unique(below[v], return_counts=True)
        symmetries += sum(math.lgamma(int(count) + 1) for count in counts)
        if tree.parent[v] >= 0:
            below[tree.parent[v]].append(code)
    return (math.lgamma(tree.n_leaves + 1) - symmetries) / math.log(2)


# ---------------------------------------------------------------------- what is written

COLUMNS = ["data", "question", "run", "answers", "iterations", "td", "log_joint", "bits"]


def table(
    everything: list[Case], found: dict[str, dict[str, list[Curve]]], goals: list[dict[str, Any]]
) -> str:
    """For people: TD after some numbers of answers, then the goals."""
    lines = []
    for case in everything:
        curves = found[case.key]
        last = len(curves["simple"][0].td) - 1
        at = [k for k in (0, 10, 20, 40, 60, 100, 150) if k <= last]
        lines.append(f"{case.title} ({case.problem.n_items} items; {case.note})")
        lines.append(f"{'TD after answers':>18}" + "".join(f"{k:>8}" for k in at))
        for kind in strategies():
            td = mean_td(curves[kind])
            lines.append(f"{kind:>18}" + "".join(f"{td[k]:8.3f}" for k in at))
        told = f"{'average linkage':>18}{case.average:8.3f}"
        if case.key in PUBLISHED:
            told += f"  (published: {PUBLISHED[case.key]:.3f})"
        lines.append(told)
        lines.append(f"{'vanilla':>18}{vanilla_td(curves['vanilla']):8.3f}")
        lines.append("")
    for goal in goals:
        reached = "not reached" if goal["reached_after"] is None else f"{goal['reached_after']}"
        lines.append(
            f"{goal['data']}, {goal['question']}: TD {goal['td_at_most']} within {goal['within']} "
            f"answers: {reached}; {goal['td_then']} after {goal['within']}"
        )
    return "\n".join(lines)


def rows_of(
    everything: list[Case], found: dict[str, dict[str, list[Curve]]]
) -> Iterator[list[Any]]:
    """The CSV's: one for each data set, kind, run and number of answers."""
    for case in everything:
        for kind, curves in found[case.key].items():
            for run, one in enumerate(curves, 1):
                for k, (td, joint, bits) in enumerate(
                    zip(one.td, one.log_joint, one.bits, strict=True)
                ):
                    steps = (k + 1) * PROPOSALS * case.problem.n_items
                    numbers = (f"{td:.6f}", f"{joint:.3f}", f"{bits:.3f}")
                    yield [case.key, kind, run, k, steps, *numbers]


def run_record(
    everything: list[Case],
    found: dict[str, dict[str, list[Curve]]],
    goals: list[dict[str, Any]],
    variant: str,
    quick: bool,
    seconds: float,
) -> dict[str, Any]:
    """What was run, with what, and how it ended: enough to run it again."""
    return record.run_record(
        "vikram2016",
        seconds,
        options={"variant": variant, "quick": quick},
        settings={
            "size": SIZE,
            "candidates": CANDIDATES,
            "proposals_per_item": PROPOSALS,
            "user": "SimulatedUser(rule='paper')",
            "seeds": list(range(1, len(found[everything[0].key]["simple"]) + 1)),
        },
        found={
            "data": {case.key: data_of(case, found[case.key]) for case in everything},
            "goals": goals,
        },
        packages=("scikit-learn",),
    )


def data_of(case: Case, found: dict[str, list[Curve]]) -> dict[str, Any]:
    """What the run record says of one data set."""
    return {
        "title": case.title,
        "items": case.problem.n_items,
        "features": int(case.problem.features.shape[1]),
        "prepared": case.note,
        "sampler": case.params,
        "average": round(case.average, 6),
        "average_published": PUBLISHED.get(case.key),
        "vanilla": round(vanilla_td(found["vanilla"]), 6),
        "corrections": {
            kind: [one.corrections for one in curves]
            for kind, curves in found.items()
            if kind != "vanilla"
        },
    }
