"""Vikram and Dasgupta (2016), figure 6 and supplement: learning curves for each kind of question.

A learning curve has the triplet distance (TD) and the log joint density by number of answers.
"""

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
from hcviz.reproduce.claims import exit_code, paper_size, verdict

#: Answers by data set ("" for all others) and numbers of runs, without and with ``--quick``.
ANSWERS, ANSWERS_QUICK, RUNS, RUNS_QUICK = {"iris": 100, "": 150}, {"iris": 60, "": 100}, 4, 1
#: What the experiments have without ``--quick``.
PAPER_SIZE = paper_size(
    {"runs": RUNS, "answers": ANSWERS[""]}, {"runs": RUNS_QUICK, "answers": ANSWERS_QUICK[""]}
)
#: Items per question, candidates, and proposals per item between two questions.
SIZE, CANDIDATES, PROPOSALS = 10, 20, 100

#: Goals: data, kind of question, largest TD (None: below average linkage), number of answers.
GOALS: tuple[tuple[str, str, float | None, int], ...] = (
    ("iris", "interleaved", None, 20),
    ("iris", "interleaved", 0.02, 60),
    ("iris", "interleaved", 0.01, 60),
    ("iris", "smart", 0.0, 40),
    ("zoo", "interleaved", None, 20),
    ("zoo", "interleaved", 0.05, 100),
)


@dataclass(frozen=True)
class LearningCurve:
    """One run, with a value for each number of answers from 0; ``bits`` are cumulative."""

    td: list[float]
    log_joint: list[float]
    bits: list[float]
    corrections: int


def reproduce(
    quick: bool, as_json: bool, out: Path | None = None, variant: Variant = "central"
) -> int:
    """Compute all curves, and print tables or a JSON object.

    Parameters
    ----------
    quick : use fewer data sets, answers and runs
    as_json : print ``{data: {kind: {"answers": [...], "td": [...]}, "average": td,
        "vanilla": td}}``
    out : a folder for ``vikram2016.svg``, ``.png``, ``.csv`` and ``.json``
    variant : how the loop of questions shows trees (:func:`hcviz.questions.teach`)
    """
    record.check_folder(out)
    began = time.monotonic()
    runs = RUNS_QUICK if quick else RUNS
    answers = ANSWERS_QUICK if quick else ANSWERS
    found: dict[str, dict[str, list[LearningCurve]]] = {}
    all_cases = cases(quick)
    for case in all_cases:
        number = answers.get(case.key, answers[""])
        found[case.key] = curves_of(case, number, runs, variant)
    result = {case.key: summary(case, found[case.key]) for case in all_cases}
    goals = check_goals(all_cases, found)
    small = PAPER_SIZE if quick else ""
    seconds = time.monotonic() - began
    if out is not None:
        from hcviz.reproduce.curves_figure import draw  # matplotlib is slow to import

        record.write_files(
            out,
            "vikram2016",
            record.csv_text(COLUMNS, rows_of(all_cases, found)),
            run_record(all_cases, found, goals, variant, quick, seconds),
            lambda files: draw(all_cases, found, PROPOSALS, files),
        )
    if as_json:
        print(json.dumps(result))
    else:
        print(table(all_cases, found, goals, small))
    return exit_code((goal["met"] for goal in goals), small)


def curves_of(
    case: Case, answers: int, runs: int, variant: Variant
) -> dict[str, list[LearningCurve]]:
    """Return ``runs`` curves for each kind of question; ``vanilla`` is a run without answers."""
    found: dict[str, list[LearningCurve]] = {}
    for kind in [*strategies(), "vanilla"]:
        record.progress(f"{case.key}, {kind}")
        found[kind] = [
            learning_curve(
                case, kind, answers if kind != "vanilla" else answers // 4, seed, variant
            )
            for seed in range(1, runs + 1)
        ]
    return found


class SilentUser:
    """A user who never returns a triplet, so that the sampler has no constraints."""

    def answer(self, shown: Any, items: Any) -> None:
        return None

    def odd_one_out(self, items: Any) -> None:
        return None


def learning_curve(
    case: Case, kind: str, answers: int, seed: int, variant: Variant
) -> LearningCurve:
    """Return the curve of one run.

    If a run ends early, because no question is left, its last values are repeated. The kind
    ``vanilla`` asks a silent user, and so adds no constraint.
    """
    user: Any = SimulatedUser(case.target, seed=1000 + seed) if kind != "vanilla" else SilentUser()
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
    return LearningCurve(
        td + td[-1:] * more, joint + joint[-1:] * more, bits + bits[-1:] * more, count
    )


def mean_td(curves: list[LearningCurve]) -> list[float]:
    return [float(x) for x in np.mean([each.td for each in curves], axis=0)]


def vanilla_td(curves: list[LearningCurve]) -> float:
    """Return the mean TD over the second halves of all runs."""
    half = len(curves[0].td) // 2
    return float(np.mean([each.td[half:] for each in curves]))


def summary(case: Case, found: dict[str, list[LearningCurve]]) -> dict[str, Any]:
    """Return the part of the JSON object for one data set."""
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


def first_below(learning_curve: list[float], limit: float, strictly: bool = False) -> int | None:
    """Return the first number of answers at which the curve is at most (or below) ``limit``."""
    here = np.array(learning_curve)
    at = np.flatnonzero(here < limit if strictly else here <= limit)
    return int(at[0]) if at.size else None


def check_goals(
    all_cases: list[Case], found: dict[str, dict[str, list[LearningCurve]]]
) -> list[dict[str, Any]]:
    """Return for each goal the answers that the mean curve needed, and TD at the goal's number.

    ``bits`` is the mean information of the answers up to the goal's number. ``bits_an_answer`` is
    an upper bound for one answer: log2 of the number of possible answers. These are "accept" and
    2 C(s, 3) triplets, since the shown tree has the other C(s, 3).
    """
    known = {case.key: case for case in all_cases}
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
    """Return log2 of the number of trees with the target's shape and permuted leaves.

    This is the information that identifies the target if only its shape is known. The number is n!
    divided by the symmetries, from isomorphism classes of subtrees (Aho, Hopcroft and Ullman 1974).
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


# ---------------------------------------------------------------------- report and files

COLUMNS = ["data", "question", "run", "answers", "iterations", "td", "log_joint", "bits"]


def table(
    all_cases: list[Case],
    found: dict[str, dict[str, list[LearningCurve]]],
    goals: list[dict[str, Any]],
    small: str = "",
) -> str:
    """Return the results as text: TD after some numbers of answers, and the goals."""
    lines = []
    for case in all_cases:
        curves = found[case.key]
        last = len(curves["simple"][0].td) - 1
        at = [k for k in (0, 10, 20, 40, 60, 100, 150) if k <= last]
        lines.append(f"{case.title} ({case.problem.n_items} items; {case.note})")
        lines.append(f"{'TD after answers':>18}" + "".join(f"{k:>8}" for k in at))
        for kind in strategies():
            td = mean_td(curves[kind])
            lines.append(f"{kind:>18}" + "".join(f"{td[k]:8.3f}" for k in at))
        line = f"{'average linkage':>18}{case.average:8.3f}"
        if case.key in PUBLISHED:
            line += f"  (published: {PUBLISHED[case.key]:.3f})"
        lines.append(line)
        lines.append(f"{'vanilla':>18}{vanilla_td(curves['vanilla']):8.3f}")
        lines.append("")
    for goal in goals:
        reached = "not reached" if goal["reached_after"] is None else f"{goal['reached_after']}"
        lines.append(
            f"{verdict(goal['met'], small)}: {goal['data']}, {goal['question']}: "
            f"TD {goal['td_at_most']} within {goal['within']} answers: {reached}; "
            f"{goal['td_then']} after {goal['within']}"
        )
    return "\n".join(lines)


def rows_of(
    all_cases: list[Case], found: dict[str, dict[str, list[LearningCurve]]]
) -> Iterator[list[Any]]:
    """Yield the rows of the CSV, one for each data set, kind, run and number of answers."""
    for case in all_cases:
        for kind, curves in found[case.key].items():
            for run, one in enumerate(curves, 1):
                for k, (td, joint, bits) in enumerate(
                    zip(one.td, one.log_joint, one.bits, strict=True)
                ):
                    steps = (k + 1) * PROPOSALS * case.problem.n_items
                    numbers = (f"{td:.6f}", f"{joint:.3f}", f"{bits:.3f}")
                    yield [case.key, kind, run, k, steps, *numbers]


def run_record(
    all_cases: list[Case],
    found: dict[str, dict[str, list[LearningCurve]]],
    goals: list[dict[str, Any]],
    variant: str,
    quick: bool,
    seconds: float,
) -> dict[str, Any]:
    """Return the run record."""
    return record.run_record(
        "vikram2016",
        seconds,
        options={"variant": variant, "quick": quick},
        settings={
            "size": SIZE,
            "candidates": CANDIDATES,
            "proposals_per_item": PROPOSALS,
            "user": "SimulatedUser(rule='paper')",
            "seeds": list(range(1, len(found[all_cases[0].key]["simple"]) + 1)),
        },
        found={
            "data": {case.key: data_of(case, found[case.key]) for case in all_cases},
            "goals": goals,
        },
        packages=("scikit-learn",),
    )


def data_of(case: Case, found: dict[str, list[LearningCurve]]) -> dict[str, Any]:
    """Return the part of the run record for one data set."""
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
