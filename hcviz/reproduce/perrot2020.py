"""Perrot, Esser and Ghoshdastidar (2020): figures 1 and 2.

Figure 1 is about planted partitions: number of answers, noise and distributions. Figure 2 is about
MNIST, and about cars with the ARI between all methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hcviz.algorithms import run
from hcviz.core.problem import Problem
from hcviz.datasets import count_comparisons, load, planted_partition, sample_comparisons
from hcviz.metrics import adjusted_rand_index, ari_matrix
from hcviz.reproduce import grid, record
from hcviz.reproduce.claims import lines as claim_lines
from hcviz.reproduce.claims import paper_size
from hcviz.reproduce.partition_claims import claims

NAME = "perrot2020"
FULL: dict[str, Any] = {
    "n": 1000,
    "k": 4,
    "powers": (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5),
    "eps": (0.25, 0.5, 0.75, 0.9, 1.0),
    "draws": 10,
    "mnist": 2000,
    "mnist_powers": (2.0, 3.0, 4.0),
    "mnist_draws": 10,
    "embedded": 10_000,
    "starts": 12,
}
QUICK: dict[str, Any] = {
    "n": 120,
    "k": 4,
    "powers": (2.0, 3.0, 4.0),
    "eps": (0.25, 0.5, 1.0),
    "draws": 2,
    "mnist": 150,
    "mnist_powers": (2.0, 3.0),
    "mnist_draws": 2,
    "embedded": 1500,
    "starts": 12,
}
#: Defaults of the paper: the power of ln n in the number of answers, and eps of the answers.
POWER, EPS = 4.0, 0.75

#: Figure 1c: pairs of distributions (see :func:`hcviz.datasets.planted_partition`), and powers of
#: ln n.
PAIRS = ("normal-normal", "uniform-beta", "uniform-normal")
PAIR_POWERS = (3.0, 4.0)

COLUMNS = ("part", "x", "kind", "draw", "method", "value")


def reproduce(quick: bool, as_json: bool, out: Path | None = None) -> int:
    """Compute the cells that are not yet in ``out``, and print tables or a JSON object.

    MNIST and the cars are read from HCVIZ_DATA, or left out.

    Parameters
    ----------
    quick : use a smaller grid
    as_json : print ``{"ari by answers", "ari by noise", "ari by distribution", "ari by answers,
        MNIST ...": {x: {method: [mean, sd]}}, "k": the same for the k that SPUR estimates, "car":
        {"methods", "matrix", "k"}, "claims": [...], "cells": [done, wanted]}``
    out : a folder for ``perrot2020.svg``, ``.png``, ``.csv``, ``.json`` and the cells

    Raises
    ------
    KeyboardInterrupt
        After the report, if the computation was interrupted.
    """
    size = QUICK if quick else FULL
    pictures = EmbeddedDigits(size["embedded"], size["mnist"])
    functions = grid.Report(summary, report, COLUMNS, rows, draw)
    return grid.reproduce(
        NAME, size, keys, lambda key: compute(key, pictures), functions, (quick, as_json, out),
        paper_size(FULL, QUICK) if quick else "",
    )  # fmt: skip


def draw(result: dict[str, Any], files: list[Path]) -> None:
    """Draw the figures."""
    from hcviz.reproduce.comparison_figure import draw_partitions  # matplotlib is slow to import

    draw_partitions(result, files)


# ---------------------------------------------------------------------- computation


def keys(size: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keys of all cells."""
    if grid.is_available("car"):
        yield {"part": "car", "starts": size["starts"]}
    shape = {"n": size["n"], "k": size["k"]}
    for draw in range(size["draws"]):
        for power in size["powers"]:
            for kind in ("triplets", "quadruplets"):
                yield {"part": "answers", **shape, "kind": kind, "x": power, "draw": draw}
        for eps in size["eps"]:
            yield {"part": "noise", **shape, "kind": "triplets", "x": eps, "draw": draw}
        for pair in PAIRS:
            for power in PAIR_POWERS:
                yield {"part": "distribution", **shape, "kind": "triplets", "x": pair,
                       "power": power, "draw": draw}  # fmt: skip
    if grid.is_available("mnist"):
        for digits in ("1 and 7", "ten"):
            for power in size["mnist_powers"]:
                for draw in range(size["mnist_draws"]):
                    yield {"part": "mnist", "kind": digits, "n": size["mnist"],
                           "of": size["embedded"], "x": power, "starts": size["starts"],
                           "draw": draw}  # fmt: skip


def compute(key: Any, pictures: EmbeddedDigits) -> dict[str, Any]:
    if key["part"] == "car":
        return cars(key["starts"])
    if key["part"] == "mnist":
        return mnist(key, pictures)
    power, eps, pair = POWER, EPS, PAIRS[0]
    if key["part"] == "answers":
        power = key["x"]
    elif key["part"] == "noise":
        eps = key["x"]
    else:
        pair, power = key["x"], key["power"]
    n = key["n"]
    data = planted_partition(
        n=n, k=key["k"], eps=eps, pair=pair, kind=key["kind"], p=rate(n, power, key["kind"]),
        seed=key["draw"],
    )  # fmt: skip
    assert data.classes is not None
    truth = codes(data.classes)
    return partitions(n, data.comparisons, truth, key["draw"])


def rate(n: int, power: float, kind: Any) -> float:
    """Return the p with n (ln n)^power expected comparisons, or 1 if there are fewer."""
    return float(min(1.0, n * math.log(n) ** power / count_comparisons(n, kind)))


def codes(names: Any) -> NDArray[np.int32]:
    return np.unique([str(name) for name in names], return_inverse=True)[1].astype(np.int32)


def partitions(n: int, answers: Any, truth: NDArray[np.int32], draw: int) -> dict[str, float]:
    """Return the ARI of AddS with SPUR, its k, and the ARI of the multiplicative kernel with it."""
    problem = Problem(labels=[str(i) for i in range(n)], comparisons=answers)
    triplets = not answers.is_quadruplets
    found = last(problem, draw, k=0)
    k = int(found.metrics["k"])
    kernel = last(problem, draw, k=k, similarity="mulk-3" if triplets else "mulk-4")
    names = ("AddS-3", "MulK-3") if triplets else ("AddS-4", "MulK-4")
    return {
        names[0]: adjusted_rand_index(truth, found.labels),
        names[1]: adjusted_rand_index(truth, kernel.labels),
        "k": float(k),
    }


def last(problem: Problem, seed: int, method: str = "adds-sdp", **params: Any) -> Any:
    """Return the last snapshot of a method."""
    return list(run(method, problem, seed=seed, **params))[-1]


def kmeans_labels(x: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int32]:
    """Return the labels of k-means on points, int32 (n,)."""
    from sklearn.cluster import KMeans  # slow to import

    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(x), dtype=np.int32)


class EmbeddedDigits:
    """MNIST in two dimensions by t-SNE, scaled to [-1, 1], computed at the first use."""

    def __init__(self, embedded: int, most: int) -> None:
        self._embedded, self._most = embedded, most
        self._made: tuple[NDArray[np.float64], NDArray[np.int32]] | None = None

    def __call__(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return ``(points (n, 2), digits (n,))``."""
        if self._made is None:
            from sklearn.manifold import TSNE  # slow to import; it runs for minutes

            data = load("mnist")
            assert data.features is not None
            assert data.classes is not None
            record.progress(f"t-SNE of {self._embedded} digits")
            features = data.features[: self._embedded] / 255.0
            points = np.asarray(TSNE(random_state=0).fit_transform(features), dtype=np.float64)
            points = 2 * (points - points.min(axis=0)) / np.ptp(points, axis=0) - 1
            digits = [int(str(name)) for name in data.classes[: self._embedded]]
            self._made = points, np.array(digits, np.int32)
        return self._made

    def chosen(self, digits: str, draw: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return ones and sevens, or all ten digits; a random subset if there are too many."""
        points, truth = self()
        wanted = np.flatnonzero(np.isin(truth, (1, 7)) if digits == "1 and 7" else truth >= 0)
        most = self._most if digits == "ten" or self._most < 1000 else len(wanted)
        if len(wanted) > most:
            wanted = np.random.default_rng(draw).choice(wanted, most, replace=False)
        return points[wanted], truth[wanted]


def mnist(key: Any, pictures: EmbeddedDigits) -> dict[str, float]:
    """Return the ARI of each method with the digits.

    The answers compare distances in the plane. A Gaussian similarity of any width gives the same
    answers.
    """
    points, truth = pictures.chosen(key["kind"], key["draw"])
    n, k = len(points), len(np.unique(truth))
    squares = (points**2).sum(axis=1)
    near = -(squares[:, None] + squares[None] - 2 * points @ points.T)
    near = (near + near.T) / 2
    answers = sample_comparisons(near, rate(n, key["x"], "triplets"), "triplets", seed=key["draw"])
    problem = Problem(labels=[str(i) for i in range(n)], comparisons=answers)
    spur = last(problem, key["draw"], k=0)
    placed = embedded(problem, key["draw"], key["starts"])[0]
    found = {
        "AddS-3, SPUR": spur.labels,
        "AddS-3, k known": last(problem, key["draw"], k=k).labels,
        "MulK-3, k known": last(problem, key["draw"], k=k, similarity="mulk-3").labels,
        "t-STE and k-means": kmeans_labels(placed, k, key["draw"]),
        "k-means on the points": kmeans_labels(points, k, key["draw"]),
    }
    scores = {name: adjusted_rand_index(truth, labels) for name, labels in found.items()}
    return scores | {"k": spur.metrics["k"]}


def embedded(
    problem: Problem, seed: int, starts: int, steps: int = 200
) -> tuple[NDArray[np.float64], float]:
    """Return the points of t-STE in two dimensions, from the best of ``starts``, and their loss."""
    shown: Any = last(problem, seed, "t-ste", max_steps=steps, starts=starts)
    points: NDArray[np.float64] = shown.views["points"].xy
    return points, float(shown.metrics["loss"])


def cars(starts: int) -> dict[str, Any]:
    """Return the data of figure 2c for all 60 cars.

    These are the ARI between the methods at k = 2 and 3 and the classes (outliers are a fourth
    class), and the k that SPUR estimates. Results of t-STE depend on the start. The matrix has the
    start with the least loss. ``"t-STE"`` has for each start, the best first, its loss and its ARI
    with AddS-3 at k = 2.
    """
    data = load("car")
    assert data.classes is not None
    problem = Problem(labels=data.labels, comparisons=data.comparisons)
    spur = last(problem, 0, k=0)
    labels: dict[str, Any] = {"true classes": codes(data.classes)}
    tried = sorted((embedded(problem, seed, 1, 500) for seed in range(starts)), key=lambda t: t[1])
    for k in (2, 3):
        labels[f"AddS-3, k = {k}"] = last(problem, 0, k=k).labels
        labels[f"MulK-3, k = {k}"] = last(problem, 0, k=k, similarity="mulk-3").labels
        labels[f"t-STE, k = {k}"] = kmeans_labels(tried[0][0], k, 0)
    matrix = ari_matrix(list(labels.values()))
    line = spur.views["theta by k"]
    alone = [
        [
            round(loss, 4),
            round(adjusted_rand_index(labels["AddS-3, k = 2"], kmeans_labels(x, 2, 0)), 4),
        ]
        for x, loss in tried
    ]
    return {
        "methods": list(labels),
        "matrix": np.round(matrix, 4).tolist(),
        "k": float(spur.metrics["k"]),
        "theta": dict(zip(map(str, line.x.astype(int)), np.round(line.y, 4).tolist(), strict=True)),
        "t-STE": alone,
    }


# ---------------------------------------------------------------------- report


def summary(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    groups: dict[str, dict[str, dict[str, list[float]]]] = {}
    result: dict[str, Any] = {}
    for key, values in found:
        if key["part"] == "car":
            result["car"] = values
            continue
        name = "answers" if key["part"] in ("answers", "mnist") else key["part"]
        name = f"ari by {name}" + (f", MNIST {key['kind']}" if key["part"] == "mnist" else "")
        x = f"n (ln n)^{key['x']:g}" if key["part"] in ("answers", "mnist") else str(key["x"])
        x += f", n (ln n)^{key['power']:g}" if key["part"] == "distribution" else ""
        row = groups.setdefault(name, {}).setdefault(x, {})
        quadruplets = key["kind"] == "quadruplets"
        for method, value in values.items():
            method = "k, quadruplets" if quadruplets and method == "k" else method
            row.setdefault(method, []).append(value)
    result["k"] = {}
    for name, by_x in groups.items():
        result[name], result["k"][name] = {}, {}
        for x, row in by_x.items():
            values = {m: [round(float(np.mean(v)), 4), round(float(np.std(v)), 4)]
                      for m, v in row.items()}  # fmt: skip
            estimates = ("k", "k, quadruplets")
            result[name][x] = {m: v for m, v in values.items() if m not in estimates}
            result["k"][name][x] = {m: v for m, v in values.items() if m in estimates}
    result["claims"] = claims(result)
    return result


def rows(found: list[tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the CSV, one for each number."""
    for key, values in found:
        if key["part"] == "car":
            for name, line in zip(values["methods"], values["matrix"], strict=True):
                for other, value in zip(values["methods"], line, strict=True):
                    yield "car", other, "ARI", None, name, f"{value:.6f}"
            continue
        for method, value in values.items():
            x = f"{key['x']}, {key['power']:g}" if "power" in key else key["x"]
            yield key["part"], x, key["kind"], key["draw"], method, f"{value:.6f}"


def report(result: dict[str, Any]) -> str:
    """Return the summary as text."""
    lines: list[str] = []
    for name, by_x in result.items():
        if not name.startswith("ari by"):
            continue
        wide = max(16, 2 + max(map(len, by_x), default=0))
        lines += ["", f"{name:<34}" + "".join(f"{x:>{wide}}" for x in by_x)]
        methods = dict.fromkeys(m for row in by_x.values() for m in row)
        tables = [(m, by_x) for m in methods]
        estimates = dict.fromkeys(m for row in result["k"][name].values() for m in row)
        tables += [(m, result["k"][name]) for m in estimates]
        for method, table in tables:
            cells = [row.get(method) for row in table.values()]  # None if interrupted
            texts = [f"{cell[0]:.3f} ({cell[1]:.2f})" if cell else "-" for cell in cells]
            lines.append(f"{method:<34}" + "".join(f"{text:>{wide}}" for text in texts))
    if "car" in result:
        car = result["car"]
        lines += ["", f"Cars: SPUR estimates {car['k']:.0f} clusters; theta by k: {car['theta']}"]
        for name, line in zip(car["methods"], car["matrix"], strict=True):
            lines.append(f"{name:<20}" + "".join(f"{value:>7.2f}" for value in line))
        starts = ", ".join(f"{loss:.4f}: {ari:.2f}" for loss, ari in car["t-STE"])
        lines.append(f"t-STE by start, loss and ARI with AddS-3 at k = 2: {starts}")
    lines.append("")
    lines += claim_lines(result["claims"], result.get("paper_size", ""))
    return "\n".join(lines).lstrip("\n")
