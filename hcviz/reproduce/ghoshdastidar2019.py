"""Ghoshdastidar, Perrot and von Luxburg (2019): figures 2, 3, S.1 to S.4, and trees of the cars.

Figures 2 and S.1 are about planted hierarchies, figures 3 and S.2 to S.4 about Dasgupta's cost on
Zoo, Glass and 20 Newsgroups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import fit
from hcviz.algorithms.comparison.foural import four_al
from hcviz.algorithms.comparison.similarities import mulk4
from hcviz.core.agglomerate import agglomerate
from hcviz.core.errors import InvalidData
from hcviz.core.problem import Problem
from hcviz.core.similarity import similarity_from_features
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons
from hcviz.datasets import (
    Dataset,
    SignOracle,
    count_comparisons,
    load,
    planted_hierarchy,
    sample_comparisons,
    sample_signs,
)
from hcviz.metrics import aari, adjusted_rand_index, cut, dasgupta_cost
from hcviz.reproduce import grid
from hcviz.reproduce.claims import lines as claim_lines
from hcviz.reproduce.claims import paper_size
from hcviz.reproduce.hierarchy_claims import ALL_LANDMARKS, claims

NAME = "ghoshdastidar2019"
LEVELS, MU, SIGMA = 3, 0.8, 0.1
#: Sizes of the paper's grid, and of a smaller one.
FULL: dict[str, Any] = {
    "pure_size": 30,
    "deltas": tuple(round(0.02 * k, 2) for k in range(1, 11)),
    "rates": (*(round(0.01 * k, 2) for k in range(1, 11)), 1.0),
    "draws": 10,
    "cost_rates": tuple(round(0.01 * k, 2) for k in range(1, 11)),
    "data": ("zoo", "glass", "newsgroups"),
    "dimensions": (2, 5, 10),
    "orders": 40,
}
QUICK: dict[str, Any] = {
    "pure_size": 12,
    "deltas": (0.02, 0.06, 0.1, 0.14, 0.2),
    "rates": (0.01, 0.1),
    "draws": 3,
    "cost_rates": (0.01, 0.03),
    "data": ("zoo", "newsgroups"),
    "dimensions": (2, 10),
    "orders": 10,
}
#: Largest number of answers in a list of rows. More answers are stored as a sign matrix.
MAX_LISTED = 8_000_000
#: Number of articles from 20 Newsgroups.
ARTICLES = 200
#: Steps of gradient descent for embeddings.
STEPS = 200
#: Methods whose trees of the cars are in the paper, with their titles.
CAR_METHODS = {
    "4k-al": "4K-AL", "4-al": "4-AL", "forte": "FORTE-AL, d = 2", "t-ste": "t-STE-AL, d = 2",
}  # fmt: skip

COLUMNS = ("part", "data", "rate", "delta", "draw", "method", "value")

Answers = Comparisons | NDArray[Any]


def reproduce(quick: bool, as_json: bool, out: Path | None = None) -> int:
    """Compute the cells that are not yet in ``out``, and print tables or a JSON object.

    20 Newsgroups and the cars are read from HCVIZ_DATA, or left out.

    Parameters
    ----------
    quick : use a smaller grid
    as_json : print ``{"planted": {rate: {delta: {method: [mean, sd]}}}, "cost": {data: {rate:
        {method: [mean, sd]}}}, "car": {method: [mean, least, most]}, "claims": [...], "cells":
        [done, wanted]}``
    out : a folder for ``ghoshdastidar2019.svg``, ``.png``, ``.csv``, ``.json``, the cells, and
        ``ghoshdastidar2019-cars.svg`` and ``.png`` with the trees of the cars

    Raises
    ------
    KeyboardInterrupt
        After the report, if the computation was interrupted.
    """
    functions = grid.Report(summary, report, COLUMNS, rows, pictures)
    return grid.reproduce(
        NAME, QUICK if quick else FULL, keys, compute, functions, (quick, as_json, out),
        paper_size(FULL, QUICK) if quick else "",
    )  # fmt: skip


# ---------------------------------------------------------------------- computation


def keys(size: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keys of all cells, one repetition after another.

    So an interrupted grid has fewer repetitions.
    """
    if grid.is_available("car"):
        yield {"part": "car", "orders": size["orders"]}
    data = [name for name in size["data"] if grid.is_available(name)]
    for draw in range(size["draws"]):
        for rate in (None, *size["rates"]):  # None for the linkages, which choose their questions
            for delta in size["deltas"]:
                yield {"part": "planted", "pure_size": size["pure_size"], "rate": rate,
                       "delta": delta, "draw": draw}  # fmt: skip
        for name in data:
            for rate in size["cost_rates"]:
                yield {"part": "cost", "data": name, "rate": rate, "draw": draw,
                       "dimensions": list(size["dimensions"])}  # fmt: skip


def compute(key: Any) -> dict[str, Any]:
    if key["part"] == "planted":
        return planted(key["pure_size"], key["delta"], key["rate"], key["draw"])
    if key["part"] == "cost":
        return costs(key["data"], key["rate"], key["draw"], key["dimensions"])
    return cars(key["orders"])


def planted(pure_size: int, delta: float, rate: float | None, draw: int) -> dict[str, float]:
    """Return the AARI of each method on one random hierarchy, the same for all rates."""
    seed = (draw, round(1000 * delta))
    rng = np.random.default_rng(seed)
    data = planted_hierarchy(LEVELS, pure_size, MU, delta, SIGMA, rng)
    target, n = data.target, data.n_items
    assert target is not None
    asked = Problem(oracle=SignOracle(data.similarity))
    if rate is None:
        trees = {name: fit(name, asked, seed=draw) for name in ("sl", "cl")}
    else:
        rng = np.random.default_rng((*seed, round(1000 * rate)))
        answers = seen(data.similarity, rate, rng)
        kernel = mulk4(n, answers)
        trees = {
            "4k-al": agglomerate(kernel, rng=rng),
            "4k-al-active": fit("4k-al-active", asked, seed=draw, p=rate),
            ALL_LANDMARKS: fit("4k-al-active", asked, seed=draw, p=rate, variant="published"),
            "4-al": four_al(n, answers, rng=rng),
            "4-al-i3": four_al(n, answers, initial=pure(pure_size, 3, rng), rng=rng),
            "4-al-i5": four_al(n, answers, initial=pure(pure_size, 5, rng), rng=rng),
        }
    return {name: aari(target, tree, LEVELS) for name, tree in trees.items()}


def seen(similarity: Any, rate: float, rng: np.random.Generator) -> Answers:
    """Return quadruplets at this rate, as rows, or as a sign matrix if there are many."""
    if count_comparisons(len(similarity)) * rate > MAX_LISTED:
        return sample_signs(similarity, rate, rng)
    return sample_comparisons(similarity, rate, seed=rng)


def pure(pure_size: int, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return initial clusters of 4-AL-I k: ``k`` random items per pure cluster, else -1."""
    initial = np.full(2**LEVELS * pure_size, -1)
    for cluster in range(2**LEVELS):
        initial[cluster * pure_size + rng.choice(pure_size, k, replace=False)] = cluster
    return initial


def costs(data: str, rate: float, draw: int, dimensions: list[int]) -> dict[str, float]:
    """Return Dasgupta's cost of each method, in 1e5, for the cosine from which answers are drawn.

    The embeddings get triplets at the same rate, as in the paper.
    """
    rng = np.random.default_rng((draw, round(1000 * rate), len(data)))
    similarity = cosine_of(data, draw)
    n = len(similarity)
    answers = seen(similarity, rate, rng)
    found = {
        "4-al": four_al(n, answers, rng=rng),
        "4k-al": agglomerate(mulk4(n, answers), rng=rng),
        "average linkage, all similarities": fit("average", Problem(similarity=similarity)),
    }
    triplets = sample_comparisons(similarity, rate, "triplets", seed=rng)
    problem = Problem(comparisons=triplets, labels=[str(i) for i in range(n)])
    for d in dimensions:
        for name in ("t-ste", "forte"):
            tree = fit(name, problem, seed=draw, dimensions=d, max_steps=STEPS)
            found[f"{name}, d = {d}"] = tree
    return {name: dasgupta_cost(tree, similarity) / 1e5 for name, tree in found.items()}


def cosine_of(data: str, draw: int) -> NDArray[np.float64]:
    """Return the cosine of unscaled features: Zoo without the girl, Glass, or 200 articles."""
    loaded = load(data)
    assert loaded.features is not None
    features = loaded.features
    if data == "zoo":
        features = np.delete(features, loaded.labels.index("girl"), axis=0)
    elif data == "newsgroups":
        chosen = np.random.default_rng(draw).choice(len(features), ARTICLES, replace=False)
        features = features[np.sort(chosen)]
    return similarity_from_features(features, "cosine")


# ---------------------------------------------------------------------- the cars


def cars(orders: int) -> dict[str, list[float]]:
    """Return the ARI of three clusters with the classes, without the four outliers.

    Each method has mean, minimum and maximum over seeds, which break ties.
    """
    data = load("car")
    known, truth = car_classes(data)
    found: dict[str, list[float]] = {}
    for name in CAR_METHODS:
        scores = [
            adjusted_rand_index(truth, cut(car_tree(name, data, seed), 3)[known])
            for seed in range(orders if name == "4-al" else min(orders, 5))
        ]
        found[name] = [float(np.mean(scores)), float(min(scores)), float(max(scores))]
    return found


def car_classes(data: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the items that are not outliers, and their classes as numbers."""
    assert data.classes is not None
    known = np.flatnonzero([name != "outlier" for name in data.classes])
    names = [str(name) for name in data.classes if name != "outlier"]
    return known, np.unique(names, return_inverse=True)[1].astype(np.int32)


def car_trees() -> tuple[dict[str, Tree], Dataset] | None:
    """Return the trees of the cars by title, and their data; None without the data."""
    try:
        data = load("car")
    except InvalidData:
        return None
    return {title: car_tree(name, data) for name, title in CAR_METHODS.items()}, data


def car_tree(method: str, data: Dataset, seed: int = 0) -> Tree:
    """Return a method's tree of the cars. Embeddings have two dimensions."""
    options: dict[str, Any] = {"max_steps": STEPS} if method in ("t-ste", "forte") else {}
    problem = Problem(comparisons=data.comparisons, labels=data.labels)
    return fit(method, problem, seed=seed, **options)


def pictures(result: dict[str, Any], files: list[Path]) -> None:
    """Draw the curves, and the trees of the cars in files with the suffix ``-cars``."""
    from hcviz.reproduce.comparison_figure import draw_cars, draw_hierarchies  # slow to import

    draw_hierarchies(result, files)
    cars = car_trees()
    if cars is not None:
        draw_cars(*cars, [file.with_stem(f"{file.stem}-cars") for file in files])


# ---------------------------------------------------------------------- report


def summary(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Return the object that ``--json`` prints. Rates are texts, "all" for the linkages."""
    result: dict[str, Any] = {"planted": {}, "cost": {}, "car": {}}
    groups: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for key, values in found:
        if key["part"] == "car":
            result["car"] = values
            continue
        rate = "all" if key["rate"] is None else str(key["rate"])
        own = str(key["delta"]) if key["part"] == "planted" else ""
        place = (key["part"], rate, own) if own else (key["part"], key["data"], rate)
        for method, value in values.items():
            groups.setdefault(place, {}).setdefault(method, []).append(value)
    for (part, first, second), methods in groups.items():
        result[part].setdefault(first, {})[second] = {
            method: [round(float(np.mean(v)), 4), round(float(np.std(v)), 4)]
            for method, v in methods.items()
        }
    result["claims"] = claims(result)
    return result


def rows(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the CSV, one for each number."""
    for key, values in found:
        for method, value in values.items():
            for name, number in zip(
                ("mean", "least", "most") if isinstance(value, list) else ("",),
                value if isinstance(value, list) else [value],
                strict=True,
            ):
                yield (key["part"], key.get("data"), key.get("rate"), key.get("delta"),
                       key.get("draw"), f"{method} {name}".strip(), f"{number:.6f}")  # fmt: skip


def report(result: dict[str, Any]) -> str:
    """Return the summary as text."""
    lines = ["AARI of planted hierarchies, by delta; mean (standard deviation)"]
    for rate, by_delta in result["planted"].items():
        title = "methods that choose questions" if rate == "all" else f"p = {rate}"
        lines += ["", f"{title:<32}" + "".join(f"{delta:>13}" for delta in by_delta)]
        for method in next(iter(by_delta.values())):
            lines.append(f"{method:<32}" + "".join(_cell(row[method]) for row in by_delta.values()))
    for data, by_rate in result["cost"].items():
        lines += ["", f"Dasgupta's cost / 1e5, {data:<9}" + "".join(f"{p:>13}" for p in by_rate)]
        for method in next(iter(by_rate.values())):
            lines.append(f"{method:<32}" + "".join(_cell(row[method]) for row in by_rate.values()))
    if result["car"]:
        lines += ["", "Cars, three clusters: ARI with the classes; mean, least, most over orders"]
        for method, (mean, least, most) in result["car"].items():
            lines.append(f"{method:<32}{mean:>8.3f}{least:>8.3f}{most:>8.3f}")
    lines.append("")
    lines += claim_lines(result["claims"], result.get("paper_size", ""))
    return "\n".join(lines)


def _cell(value: list[float]) -> str:
    mean, sd = value
    return f"{mean:>7.3f}{f'({sd:.2f})' if not math.isnan(sd) else '':>6}"
