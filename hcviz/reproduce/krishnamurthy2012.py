"""Krishnamurthy, Balakrishnan, Xu and Singh (2012): figures 1 to 4, and columns of the tables.

The paper does not specify the block matrix of figure 2. Here it has three levels, ideal
similarities depth / 3, and items in random order. Methods of the paper use the sign of the
Laplacian's eigenvector, no repair, and do not divide clusters of s items or fewer. The method
"ours" is ``active-spectral`` with default parameters.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from hcviz import metrics
from hcviz.algorithms import fit
from hcviz.algorithms.active import ActiveCluster
from hcviz.algorithms.active.framework import PAPER
from hcviz.core.counting_oracle import CountingOracle
from hcviz.core.problem import Problem
from hcviz.core.tree import Tree
from hcviz.reproduce import active_cases, record
from hcviz.reproduce.active_cases import TableData, blocks, is_true_division, queries_of_division
from hcviz.reproduce.claims import exit_code, paper_size
from hcviz.reproduce.claims import lines as claim_lines

NAME = "krishnamurthy2012"

#: Published values of tables 1 and 2: HKM, HRC, probes, outlier fraction, seconds.
PUBLISHED: dict[str, dict[str, list[float | None]]] = {
    "SNP": {"HSC": [0.022, 475, 0.38, 0.596, 1350], "ASC": [0.019, 19.1, 0.13, 0.374, 450],
            "AKM": [0.018, 12.5, 0.12, 0.383, 420], "KM": [0.0028, 18.7, 1, None, 160],
            "SC": [0.0075, 130, 1, None, 5660]},
    "Phylo": {"HSC": [0.020, 371, 0.29, 0.878, 2500], "ASC": [0.012, 22.9, 0.071, 0.971, 600],
              "AKM": [0.012, 25, 0.071, 0.94, 555], "KM": [0.0017, 22.9, 1, None, 967],
              "SC": [0.0022, 23.5, 1, None, 997]},
    "NIPS": {"HSC": [0.0088, 65.7, 0.19, None, 140], "ASC": [0.010, 1.5, 0.094, None, 79.4],
             "AKM": [0.011, 1.37, 0.12, None, 29], "KM": [0.0017, 1.66, 1, None, 723],
             "SC": [0.0033, 6.30, 1, None, 26200]},
    "RTW": {"HSC": [0.0079, 18.1, 0.41, None, 419], "ASC": [0.0084, 0.64, 0.13, None, 151],
            "AKM": [0.0073, 0.485, 0.22, None, 70.9]},
}  # fmt: skip

#: Method -> (registry name, parameters). Active methods also get c.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "SC": ("spectral", {"variant": "paper"}),
    "SL": ("single", {}),
    "KM": ("kmeans", {"variant": "paper"}),
    "ASC": ("active-spectral", {"variant": "paper"}),
    "AKM": ("active-kmeans", {"variant": "paper"}),
    "HSC": ("heurspec", {"variant": "paper"}),
    "ours": ("active-spectral", {}),
}
ACTIVE = ("ASC", "AKM", "HSC", "ours")
#: Method of the first panels -> its division of n items with s = c ln n.
DIVISIONS: dict[str, Callable[[int, float], ActiveCluster]] = {
    "SC": lambda n, c: active_cases.spectral(n),
    "KM": lambda n, c: active_cases.kmeans(n),
    "ASC": lambda n, c: ActiveCluster("laplacian", c=c, **PAPER),
    "AKM": lambda n, c: ActiveCluster("kmeans", c=c, **PAPER),
    "ours": lambda n, c: ActiveCluster("centred", c=c),
}


@dataclass(frozen=True)
class Sizes:
    """Sizes of the experiments."""

    ns: tuple[int, ...] = (64, 128, 256, 512)
    sigmas: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0)
    trials: int = 40
    n_sample: int = 256
    samples: tuple[int, ...] = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
    n_noise: int = 512
    noises: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
    runs: int = 5
    active_ns: tuple[int, ...] = (1024, 2048, 4096, 8192, 16384, 32768, 65536)
    full_ns: tuple[int, ...] = (256, 512, 1024, 2048)


FULL = Sizes()
QUICK = Sizes(
    ns=(64, 256), sigmas=(0.05, 0.1, 0.2, 0.3, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2), trials=10,
    samples=(8, 24, 64, 128), n_noise=256,
    noises=(0.0, 0.3, 0.8), runs=2, active_ns=(1024, 2048, 4096, 8192), full_ns=(128, 256, 512),
)  # fmt: skip
#: Other methods of figure 2 (e) -> their entries, as a share of the queries of a division by a
#: sample.
ENTRIES = {"sampled entries": 1.0, "half the entries": 0.5}
#: s = c ln n. The paper has c = 1 in figure 2 (a) to (d), and does not specify it elsewhere.
C_THRESHOLD, C_NOISE, C_TABLE = 1.0, 4.0, 2.0
SIGMA_SAMPLE, SIGMA_GROWTH = 0.75, 0.1
#: A threshold grows if its exponent of n is at least this (1.5 times from 64 to 512).
MIN_GROWTH = 0.2


@dataclass(frozen=True)
class FigurePoint:
    """One point of a figure, or one row of a table: means over ``runs``.

    Attributes
    ----------
    part : ``threshold`` (2a-d), ``sample`` (2e), ``noise`` (2f), ``growth`` (2g, h) or ``table``
    success : share of runs in which the first division is right
    agreement : the paper's outlier fraction, the share of all C(n, 3) triples that the target and
        the tree resolve in the same way
    most : the agreement of the target with itself, below 1 if it has polytomies
    deepest : share of the target's triplets at its deepest level that the tree has
    hkm, hrc, queries, share, seconds : as in the paper's tables
    """

    part: str
    data: str
    method: str
    n: int
    sigma: float | None = None
    s: int | None = None
    runs: int = 1
    success: float | None = None
    agreement: float | None = None
    most: float | None = None
    deepest: float | None = None
    hkm: float | None = None
    hrc: float | None = None
    queries: float | None = None
    share: float | None = None
    seconds: float | None = None


def reproduce(quick: bool, as_json: bool, out: Path | None = None) -> int:
    """Compute all figures, and print tables or a JSON object.

    Parameters
    ----------
    quick : use smaller experiments
    as_json : print ``{"rows": [...], "slopes": {method: {"queries", "seconds"}}, "thresholds":
        {method: {n: sigma}}, "paper": ..., "claims": [{"claim": "...", "holds": true or false}]}``
    out : a folder for ``krishnamurthy2012.svg``, ``.png``, ``.csv`` and ``.json``
    """
    record.check_folder(out)
    began = time.monotonic()
    sizes = QUICK if quick else FULL
    rows: list[FigurePoint] = []
    all_parts = list(parts(sizes, quick))
    for at, (part, more) in enumerate(all_parts, 1):
        record.progress(f"part {at} of {len(all_parts)}: {part}")
        rows.extend(more)
    record.progress("figures 1, 3 and 4")
    pictures = make_figure_data(quick)
    small = paper_size(asdict(FULL), asdict(QUICK)) if quick else ""
    result = summary(rows) | {"paper_size": small}
    if out is not None:
        from hcviz.reproduce.active_figure import draw  # matplotlib is slow to import

        settings = {
            "levels": active_cases.LEVELS, "trials": sizes.trials, "runs": sizes.runs,
            "c": {"threshold": C_THRESHOLD, "noise": C_NOISE, "table": C_TABLE},
            "sigma": {"sample": SIGMA_SAMPLE, "growth": SIGMA_GROWTH},
        }  # fmt: skip
        seconds = time.monotonic() - began
        table = record.csv_text(
            [f.name for f in fields(FigurePoint)], [astuple(row) for row in rows]
        )
        made = record.run_record(NAME, seconds, {"quick": quick}, settings, result)
        record.write_files(
            out, NAME, table, made, lambda files: draw(rows, result, pictures, files)
        )
    print(json.dumps(result) if as_json else report(rows, result))
    return exit_code((each["holds"] for each in result["claims"]), small)


def parts(sizes: Sizes, quick: bool) -> Iterator[tuple[str, Iterable[FigurePoint]]]:
    yield "figure 2, a to d: noise thresholds", thresholds(sizes)
    yield "figure 2, e: success by s", by_sample(sizes)
    yield "figure 2, f: agreement by noise", by_noise(sizes)
    yield "figure 2, g and h: similarities and time by n", by_size(sizes)
    yield "tables 1 and 2", table_rows(sizes.runs, quick)


# ---------------------------------------------------------------------- figure 2


def thresholds(sizes: Sizes) -> Iterator[FigurePoint]:
    """Yield the success of the first division by sigma.

    After two values of sigma with no success, a method is not run with larger values.
    """
    for method, division in DIVISIONS.items():
        for n in sizes.ns:
            failed = 0
            for sigma in sizes.sigmas:
                right = 0.0
                if failed < 2:
                    right = (
                        sum(
                            is_true_division(division(n, C_THRESHOLD).divide(data.oracle, t), data)
                            for t in range(sizes.trials)
                            for data in [blocks(n, sigma, t)]
                        )
                        / sizes.trials
                    )
                    failed = failed + 1 if right == 0 else 0
                s = min(n, math.ceil(C_THRESHOLD * math.log(n)))
                active = method in ACTIVE
                yield FigurePoint(
                    "threshold", "blocks", method, n, sigma, s if active else n, sizes.trials, right
                )


def by_sample(sizes: Sizes) -> Iterator[FigurePoint]:
    """Yield success by s.

    The method of Shamir and Tishby gets as many entries as a division by a sample of s queries, and
    half as many. An entry compares two items. So with all entries, an item is compared with 2 s
    others, and with half of them with s others, as in a sample.
    """
    n = sizes.n_sample
    for s in sizes.samples:
        found = dict.fromkeys(("ASC", "AKM", "ours", *ENTRIES), 0)
        for t in range(sizes.trials):
            data = blocks(n, SIGMA_SAMPLE, t)
            made = {
                "ASC": ActiveCluster("laplacian", s, **PAPER),
                "AKM": ActiveCluster("kmeans", s, **PAPER),
                "ours": ActiveCluster("centred", s, repair=0.0),
            }
            for name, each in made.items():
                found[name] += is_true_division(each.divide(data.oracle, t), data)
            for name, share in ENTRIES.items():
                entries = active_cases.sampled_entries(
                    data, int(share * queries_of_division(n, s)), t
                )
                found[name] += is_true_division(entries, data)
        for name, right in found.items():
            yield FigurePoint(
                "sample", "blocks", name, n, SIGMA_SAMPLE, s, sizes.trials, right / sizes.trials,
                queries=int(ENTRIES.get(name, 1.0) * queries_of_division(n, s)),
            )  # fmt: skip


def run_one(method: str, oracle: Any, c: float, seed: int) -> tuple[Tree, int, float]:
    """Return a method's tree, the number of its queries, and its CPU seconds."""
    name, params = METHODS[method]
    n = oracle.n_items
    began = time.process_time()
    if method == "SL":
        everyone = np.arange(n, dtype=np.int32)
        matrix = oracle.similarity(everyone, everyone)
        tree = fit(name, Problem(similarity=matrix), seed=seed)
        return tree, n * (n - 1) // 2, time.process_time() - began
    counted = CountingOracle(oracle, cache=0)
    more: dict[str, Any] = {"c": c} if method in ACTIVE else {}
    tree = fit(name, Problem(oracle=counted), seed=seed, **params, **more)
    spent = time.process_time() - began
    return tree, counted.queries, spent


def self_agreement(target: Tree | None) -> float | None:
    """Return the agreement of a target with itself: the share of triples that it resolves."""
    return None if target is None else metrics.triplet_agreement(target, target)


def by_noise(sizes: Sizes) -> Iterator[FigurePoint]:
    """Yield the agreement by sigma."""
    n = sizes.n_noise
    for sigma in sizes.noises:
        for method in METHODS:
            agreed, deep, asked = [], [], []
            for t in range(sizes.runs):
                data = blocks(n, sigma, t)
                tree, queries, _ = run_one(method, data.oracle, C_NOISE, t)
                assert data.target is not None
                levels = metrics.triplet_agreement_by_level(data.target, tree)
                agreed.append(metrics.triplet_agreement(data.target, tree))
                deep.append(float(levels[active_cases.LEVELS - 1]))
                asked.append(queries)
            s = math.ceil(C_NOISE * math.log(n)) if method in ACTIVE else n
            yield FigurePoint(
                "noise", "blocks", method, n, sigma, s, sizes.runs,
                agreement=float(np.mean(agreed)), most=self_agreement(data.target),
                deepest=float(np.mean(deep)), queries=float(np.mean(asked)),
                share=float(np.mean(asked)) / (n * (n - 1) / 2),
            )  # fmt: skip


def by_size(sizes: Sizes) -> Iterator[FigurePoint]:
    """Yield CPU seconds with those of the similarities. A first small run compiles each method."""
    for method in METHODS:
        run_one(method, blocks(64, SIGMA_GROWTH, 0).oracle, C_THRESHOLD, 0)
        run_one(method, blocks(2000, SIGMA_GROWTH, 0).oracle, C_THRESHOLD, 0)
        for n in sizes.active_ns if method in ACTIVE else sizes.full_ns:
            _, queries, seconds = run_one(method, blocks(n, SIGMA_GROWTH, 0).oracle, 1.0, 0)
            s = math.ceil(math.log(n)) if method in ACTIVE else n
            yield FigurePoint(
                "growth", "blocks", method, n, SIGMA_GROWTH, s, queries=queries,
                share=queries / (n * (n - 1) / 2), seconds=seconds,
            )  # fmt: skip


# ---------------------------------------------------------------------- the tables


def table_rows(runs: int, quick: bool) -> Iterator[FigurePoint]:
    """Yield the tables' rows: means over ``runs`` for active methods, which use random samples."""
    for case in active_cases.cases(quick):
        similarity = case.similarity()
        features = similarity if case.features is None else case.features
        for method in METHODS:
            seeds = range(runs if method in ACTIVE else 1)
            found = [run_one(method, case.oracle, C_TABLE, seed) for seed in seeds]
            trees = [tree for tree, _, _ in found]
            agreement = None
            if case.target is not None:
                agreement = fmean(metrics.triplet_agreement(case.target, tree) for tree in trees)
            queries = fmean(asked for _, asked, _ in found)
            yield FigurePoint(
                "table", case.name, method, case.n, None,
                math.ceil(C_TABLE * math.log(case.n)) if method in ACTIVE else case.n,
                len(found), agreement=agreement, most=self_agreement(case.target),
                hkm=fmean(metrics.hkm(tree, features) for tree in trees),
                hrc=fmean(metrics.hrc(tree, similarity) for tree in trees), queries=queries,
                share=queries / (case.n * (case.n - 1) / 2),
                seconds=fmean(seconds for _, _, seconds in found),
            )  # fmt: skip


# ---------------------------------------------------------------------- figures 1, 3 and 4


@dataclass(frozen=True, eq=False)
class FigureData:
    """Data for figures 1, 4 and 3.

    Attributes
    ----------
    masks : title -> query mask
    heat : data -> method -> similarities in the order of the tree's leaves
    articles : a tree, and the names of its leaves
    """

    masks: dict[str, Any]
    heat: dict[str, dict[str, Any]]
    articles: tuple[Tree, tuple[str, ...]]


#: Largest number of items in figure 4, evenly spaced in the tree's order.
MAX_DRAWN = 1000


def make_figure_data(quick: bool) -> FigureData:
    masks = active_cases.sampling_patterns(256 if quick else 512)
    found = active_cases.cases(quick)
    articles = found[1]
    heat: dict[str, dict[str, Any]] = {}
    for case in found:
        if case is not articles:
            for method in ("HSC", "ASC", "AKM", "ours"):
                leaves = run_one(method, case.oracle, C_TABLE, 0)[0].leaf_order
                leaves = leaves[:: -(-case.n // MAX_DRAWN)]
                heat.setdefault(case.name, {})[method] = case.oracle.similarity(leaves, leaves)
    tree = run_one("AKM", articles.oracle, C_TABLE, 0)[0]
    return FigureData(masks, heat, choose_articles(tree, articles))


def choose_articles(tree: Tree, case: TableData) -> tuple[Tree, Any]:
    """Return the tree restricted to the first articles of some kinds, evenly spaced by name."""
    kinds, each = 6, 4
    names = np.array(case.labels)
    known = [k for k in sorted(set(case.labels)) if (names == k).sum() >= each]
    places = np.linspace(0, len(known) - 1, min(kinds, len(known))).round().astype(int)
    leaves = np.concatenate([np.flatnonzero(names == known[k])[:each] for k in places])
    return tree.restrict(leaves), tuple(names[leaves].tolist())


# ---------------------------------------------------------------------- report


def summary(rows: list[FigurePoint]) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    slopes = {}
    for method in METHODS:
        found = [r for r in rows if r.part == "growth" and r.method == method]
        found = found[len(found) // 2 - 1 :]  # the larger half has less overhead
        slopes[method] = {name: slope(found, name) for name in ("queries", "seconds")}
    limits: dict[str, dict[str, float]] = {}
    for r in rows:
        if r.part == "threshold" and (r.success or 0) >= 0.5 and r.sigma is not None:
            limits.setdefault(r.method, {})[str(r.n)] = r.sigma
    values = [{k: v for k, v in vars(r).items() if v is not None} for r in rows]
    return {
        "rows": values, "slopes": slopes, "thresholds": limits, "paper": PUBLISHED,
        "claims": claims(rows, slopes, crossings(rows)),
    }  # fmt: skip


def crossings(rows: list[FigurePoint]) -> dict[str, dict[str, float]]:
    """Return where the curves of figure 2 (a) to (d) fall below 1/2: method -> n -> sigma.

    Sigma is interpolated linearly in log sigma. It is the least sigma for a curve that starts below
    1/2, and the largest sigma for a curve that does not fall below 1/2.
    """
    out: dict[str, dict[str, float]] = {}
    for method, n in dict.fromkeys((r.method, r.n) for r in rows if r.part == "threshold"):
        curve = sorted(
            (math.log(r.sigma), r.success)
            for r in rows
            if (r.part, r.method, r.n) == ("threshold", method, n)
            and r.sigma is not None and r.success is not None
        )  # fmt: skip
        if not curve:
            continue
        right = [k for k, (_, success) in enumerate(curve) if success >= 0.5]
        k = right[-1] if right else 0
        at = curve[k][0]
        if right and k + 1 < len(curve):
            (x, y), (x_next, y_next) = curve[k : k + 2]
            at = x + (y - 0.5) / (y - y_next) * (x_next - x)
        out.setdefault(method, {})[str(n)] = math.exp(at)
    return out


def claims(rows: list[FigurePoint], slopes: Any, limits: Any) -> list[dict[str, Any]]:
    """Return the paper's claims about figure 2, and if these numbers confirm them.

    ``limits`` is the result of :func:`crossings`.
    """
    out: list[dict[str, Any]] = []

    def add_claim(text: str, holds: bool) -> None:
        out.append({"claim": text, "holds": bool(holds)})

    def mean(part: str, method: str, value: str) -> float:
        found = [getattr(r, value) for r in rows if (r.part, r.method) == (part, method)]
        return float(np.mean(found))

    def grows(method: str) -> bool:
        ns = sorted(int(n) for n in limits.get(method, {}))
        if len(ns) < 2:
            return False
        least, most = (limits[method][str(n)] for n in (ns[0], ns[-1]))
        return math.log(most / least) >= MIN_GROWTH * math.log(ns[-1] / ns[0])

    asc, entries = mean("sample", "ASC", "success"), mean("sample", "sampled entries", "success")
    half = mean("sample", "half the entries", "success")
    add_claim(
        "2 a, b: The noise that all similarities bear grows with n.", grows("SC") and grows("KM")
    )
    add_claim(
        "2 c, d: The noise that ln n of them bear does not.", not (grows("ASC") or grows("AKM"))
    )
    add_claim("2 e: ActiveSpectral needs fewer similarities than sampled entries.", asc > entries)
    add_claim("2 e: It does where both show an item to as many others.", asc > half)
    add_claim("2 e: ActiveKMeans needs fewer still.", mean("sample", "AKM", "success") >= asc)
    noise = {m: mean("noise", m, "agreement") for m in METHODS}
    add_claim("2 f: All similarities bear more noise, but for single linkage.",
        min(noise["SC"], noise["KM"]) > max(noise["ASC"], noise["AKM"], noise["HSC"]))  # fmt: skip
    add_claim("2 f: HeurSpec's heuristics help.", noise["HSC"] > noise["ASC"])
    active, whole = ("ASC", "AKM", "HSC"), ("SC", "KM", "SL")
    for what, name in (("2 g: The active methods' similarities", "queries"),
                       ("2 h: Their time", "seconds")):  # fmt: skip
        steep = min(slopes[m][name] for m in whole)
        add_claim(f"{what} grow by a smaller exponent.".replace("time grow", "time grows"),
            max(slopes[m][name] for m in active) < steep)  # fmt: skip
    return out


def slope(rows: list[FigurePoint], name: str) -> float:
    """Return the exponent of n: the slope in a log-log plot."""
    points = np.log([[r.n, max(getattr(r, name), 1e-6)] for r in rows])
    return round(float(np.polyfit(points[:, 0], points[:, 1], 1)[0]), 3)


def report(rows: list[FigurePoint], result: dict[str, Any]) -> str:
    """Return the summary as text."""
    lines = [
        "Figure 2 a-d: the largest sigma at which the first division is right in half the runs"
    ]
    ns = sorted({r.n for r in rows if r.part == "threshold"})
    lines.append(f"{'n':>16}" + "".join(f"{n:>8}" for n in ns))
    for method in DIVISIONS:
        limits = result["thresholds"].get(method, {})
        lines.append(f"{method:>16}" + "".join(f"{limits.get(str(n), '-'):>8}" for n in ns))
    lines += ["", f"Figure 2 e: share of right first divisions by s, sigma = {SIGMA_SAMPLE}"]
    lines += _table_lines(rows, "sample", "s", "success")
    most = max((r.most or 0.0 for r in rows if r.part == "noise"), default=1.0)
    lines += [
        "",
        f"Figure 2 f: agreement on all triples by sigma, {most:.3f} at most (below: at its "
        "deepest level)",
    ]
    lines += _table_lines(rows, "noise", "sigma", "agreement")
    lines += ["", *_table_lines(rows, "noise", "sigma", "deepest")]
    lines += ["", "Figure 2 g, h: exponents of n, s = ln n", f"{'':>16} similarities   CPU time"]
    for method, found in result["slopes"].items():
        lines.append(f"{method:>16}{found['queries']:>13.2f}{found['seconds']:>11.2f}")
    lines += [
        "",
        f"Tables 1 and 2, s = {C_TABLE:g} ln n; {'':>9}HKM       HRC  probes   agree   CPU s",
    ]
    for r in rows:
        if r.part == "table":
            agree = f"{r.agreement:>8.3f}" if r.agreement is not None else f"{'':>8}"
            lines.append(
                f"{r.data + ' (' + str(r.n) + ')':>18}{r.method:>6}{r.hkm:>13.4f}{r.hrc:>10.2f}"
                f"{r.share:>8.3f}{agree}{r.seconds:>8.2f}"
            )
    lines += ["", "Claims of the paper about figure 2:"]
    lines += claim_lines(
        ({"found": ""} | each for each in result["claims"]), result.get("paper_size", "")
    )
    lines += ["", "Published (other data):"]
    for data, methods in PUBLISHED.items():
        for method, (hkm, hrc, share, known, seconds) in methods.items():
            agree = f"{known:>8.3f}" if known is not None else f"{'':>8}"
            lines.append(
                f"{data:>18}{method:>6}{hkm:>13.4f}{hrc:>10.2f}{share:>8.3f}{agree}{seconds:>8.1f}"
            )
    return "\n".join(lines)


def _table_lines(rows: list[FigurePoint], part: str, across: str, value: str) -> list[str]:
    found = [r for r in rows if r.part == part]
    columns = sorted({getattr(r, across) for r in found})
    lines = [f"{across:>16}" + "".join(f"{x:>8g}" for x in columns)]
    for method in dict.fromkeys(r.method for r in found):
        values = {getattr(r, across): getattr(r, value) for r in found if r.method == method}
        lines.append(f"{method:>16}" + "".join(f"{values[x]:>8.3f}" for x in columns))
    return lines
