"""The papers' claims as tests of tables: each against a made-up table in which it holds, one in
which it does not, and one in which nothing was found."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from hcviz.reproduce import hierarchy_claims, partition_claims
from hcviz.reproduce.claims import conjunction, exit_code, first_exact, lines, recovers_earlier

# ---------------------------------------------------------------------- the words they share


def test_reached_is_from_there_on():
    assert first_exact({1.0: 0.2, 2.0: 1.0, 3.0: 1.0}) == 2
    assert first_exact({1.0: 1.0, 2.0: 0.9, 3.0: 1.0}) == 3  # not from 1 on
    assert first_exact({1.0: 1.0, 2.0: 0.99}) is None
    assert first_exact({}) is None


def test_sooner_is_undecided_where_nothing_could_show_it():
    never, late, early = {1.0: 0.0, 2.0: 0.0}, {1.0: 0.5, 2.0: 1.0}, {1.0: 1.0, 2.0: 1.0}
    assert recovers_earlier(early, late) is True
    assert recovers_earlier(late, never) is True
    assert recovers_earlier(late, early) is False
    assert recovers_earlier(late, late) is False
    assert recovers_earlier(never, late) is False
    assert recovers_earlier(never, never) is None
    assert recovers_earlier(early, early) is None  # the grid begins too late
    assert conjunction([True, None]) is None
    assert conjunction([True, False, None]) is False
    assert conjunction([]) is None
    assert conjunction([True, True]) is True


def test_three_verdicts_in_words():
    claims = [{"claim": "A.", "holds": each, "found": "1"} for each in (True, False, None)]
    assert lines(claims) == ["holds: A. (1)", "does not hold: A. (1)", "not decided: A. (1)"]
    assert lines(claims, "n 9")[1] == "too small to tell (the paper: n 9): A. (1)"
    assert exit_code([True, False]) == 1
    assert exit_code([True, False], "n 9") == exit_code([True, None]) == 0


# ---------------------------------------------------------------------- Perrot et al. (2020)


def row(**scores):
    return {name.replace("_", "-"): [value, 0.0] for name, value in scores.items()}


def digits(spur, known, mulk, student, means):
    names = (partition_claims.SPUR, partition_claims.KNOWN, partition_claims.MULK)
    names = (*names, partition_claims.STUDENT, partition_claims.MEANS)
    values = (spur, known, mulk, student, means)
    return {name: [value, 0.0] for name, value in zip(names, values, strict=True)}


def partitions():
    """A table that is as the paper says."""
    powers = (2.0, 3.0, 4.0, 4.5, 5.0, 5.5)
    answers = {}
    for power in powers:
        answers[f"n (ln n)^{power:g}"] = row(
            AddS_3=1.0 if power >= 3 else 0.2, AddS_4=1.0 if power >= 3 else 0.15,
            MulK_3=1.0 if power >= 4.5 else 0.3, MulK_4=1.0 if power >= 5.5 else 0.1,
        )  # fmt: skip
    noise = {
        str(eps): row(AddS_3=1.0, MulK_3=1.0 if eps > 0.9 else eps / 2)
        for eps in (0.25, 0.5, 0.75, 0.9, 1.0)
    }
    pairs = {
        f"{pair}, n (ln n)^{power}": row(AddS_3=1.0, MulK_3=0.1 * k)
        for k, pair in enumerate(("normal-normal", "uniform-beta", "uniform-normal"))
        for power in (3, 4)
    }
    names = [
        "true classes",
        *(f"{m}, k = {k}" for k in (2, 3) for m in ("AddS-3", "MulK-3", "t-STE")),
    ]
    matrix = np.full((7, 7), 0.7)
    matrix[0, :] = matrix[:, 0] = 0.3
    matrix[0, names.index("MulK-3, k = 3")] = 0.8
    np.fill_diagonal(matrix, 1.0)
    two, ten = "ari by answers, MNIST 1 and 7", "ari by answers, MNIST ten"
    return {
        "ari by answers": answers,
        "ari by noise": noise,
        "ari by distribution": pairs,
        two: {
            "n (ln n)^2": digits(0.8, 0.8, 0.4, 0.82, 0.8),
            "n (ln n)^3": digits(0.8, 0.8, 0.79, 0.8, 0.8),
            "n (ln n)^4": digits(0.8, 0.8, 0.8, 0.8, 0.8),
        },
        ten: {
            "n (ln n)^2": digits(0.3, 0.5, 0.2, 0.52, 0.6),
            "n (ln n)^3": digits(0.5, 0.58, 0.5, 0.6, 0.6),
            "n (ln n)^4": digits(0.58, 0.6, 0.6, 0.6, 0.6),
        },
        "k": {
            two: {f"n (ln n)^{p}": {"k": [2.0, 0.0]} for p in (2, 3, 4)},
            ten: {f"n (ln n)^{p}": {"k": [k, 0.0]} for p, k in ((2, 3.2), (3, 6.0), (4, 8.9))},
        },
        "car": {"methods": names, "matrix": matrix.tolist(), "k": 2.0},
    }


def verdict(module, result, words):
    found = [each for each in module.claims(result) if words in each["claim"]]
    assert len(found) == 1, words
    return found[0]["holds"]


def put(result, value, *path):
    changed = copy.deepcopy(result)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


def emptied(result, numbers=0.0):
    """All scores, costs and ks are 0."""
    if isinstance(result, dict):
        return {name: emptied(value, numbers) for name, value in result.items()}
    if isinstance(result, list):
        return [emptied(value, numbers) for value in result]
    return numbers if isinstance(result, float) else result


TWO, TEN = "ari by answers, MNIST 1 and 7", "ari by answers, MNIST ten"
ANSWERS, PAIR = "ari by answers", "uniform-beta, n (ln n)^3"
#: Words of a claim, and one number that breaks it.
BROKEN_PARTITIONS = [
    ("recover the clusters exactly from n (ln n)^3", 0.99, ANSWERS, "n (ln n)^4", "AddS-4", 0),
    ("MulK-3 needs n (ln n)^4.5", 1.0, ANSWERS, "n (ln n)^4", "MulK-3", 0),
    ("MulK-4 needs n (ln n)^5.5", 0.9, ANSWERS, "n (ln n)^5.5", "MulK-4", 0),
    ("AddS-3 needs fewer answers than MulK-3", 0.9, ANSWERS, "n (ln n)^4", "AddS-3", 0),
    ("AddS-4 needs fewer answers than MulK-4", 0.9, ANSWERS, "n (ln n)^5.5", "AddS-4", 0),
    ("AddS-3 and AddS-4 are comparable", 0.6, ANSWERS, "n (ln n)^3", "AddS-4", 0),
    ("MulK-3 is significantly better", -9.0, ANSWERS, "n (ln n)^2", "MulK-3", 0),
    ("eps as small as 0.25", 0.99, "ari by noise", "0.5", "AddS-3", 0),
    ("for eps above 0.9, and only there", 0.99, "ari by noise", "1.0", "MulK-3", 0),
    ("for eps above 0.9, and only there", 1.0, "ari by noise", "0.9", "MulK-3", 0),
    ("with every pair of distributions", 1.0, "ari by distribution", PAIR, "MulK-3", 0),
    ("answers take AddS-3 to k-means", 0.7, TWO, "n (ln n)^2", partition_claims.KNOWN, 0),
    ("answers take AddS-3 to k-means", 0.9, TWO, "n (ln n)^2", partition_claims.STUDENT, 0),
    ("MulK-3 requires n (ln n)^3", 0.79, TWO, "n (ln n)^2", partition_claims.MULK, 0),
    ("MulK-3 requires n (ln n)^3", 0.6, TWO, "n (ln n)^3", partition_claims.MULK, 0),
    ("SPUR does as well", 0.7, TWO, "n (ln n)^4", partition_claims.SPUR, 0),
    ("estimates their number rightly", 2.1, "k", TWO, "n (ln n)^3", "k", 0),
    ("known k outperforms SPUR", 0.5, TEN, "n (ln n)^2", partition_claims.SPUR, 0),
    ("outperforms MulK-3 too", 0.5, TEN, "n (ln n)^2", partition_claims.MULK, 0),
    ("close to t-STE", 0.6, TEN, "n (ln n)^2", partition_claims.STUDENT, 0),
    ("all methods converge", 0.5, TEN, "n (ln n)^4", partition_claims.STUDENT, 0),
    ("see more clusters, and its ARI", 3.2, "k", TEN, "n (ln n)^3", "k", 0),
    ("see more clusters, and its ARI", 0.2, TEN, "n (ln n)^3", partition_claims.SPUR, 0),
    ("up to 9 with n (ln n)^4", 5.0, "k", TEN, "n (ln n)^4", "k", 0),
    ("two clusters of cars", 3.0, "car", "k"),
    ("All methods agree well at k = 2", 0.01, "car", "matrix", 1, 3),
    ("MulK-3 at k = 3 agrees", 0.8, "car", "matrix", 0, 1),
]  # fmt: skip


def test_all_claims_of_perrot_2020_hold_for_ideal_numbers():
    found = partition_claims.claims(partitions())
    assert [each["claim"] for each in found if each["holds"] is not True] == []
    assert len(found) == len({each["claim"] for each in found}) == 24
    json.dumps(found)


@pytest.mark.parametrize(("words", "value", "path"), [(w, v, p) for w, v, *p in BROKEN_PARTITIONS])
def test_one_number_breaks_a_claim_of_perrot_2020(words, value, path):
    assert verdict(partition_claims, put(partitions(), value, *path), words) is False


def test_the_distributions_matter_only_if_scores_differ():
    words = "The distributions affect"
    assert verdict(partition_claims, partitions(), words) is True
    flat = partitions()
    flat["ari by distribution"] = {
        x: row(AddS_3=1.0, MulK_3=0.5) for x in flat["ari by distribution"]
    }
    assert verdict(partition_claims, flat, words) is False


def test_nothing_found_is_nothing_shown_in_perrot_2020():
    for each in partition_claims.claims(emptied(partitions())):
        assert each["holds"] in (False, None), each


def test_what_the_grid_lacks_is_not_decided_in_perrot_2020():
    small = partitions()
    for name in ("ari by answers", TEN):
        small[name] = {"n (ln n)^2": small[name]["n (ln n)^2"]}
    small["k"][TEN] = {"n (ln n)^2": {"k": [3.0, 0.0]}}
    small["ari by noise"] = {"0.5": small["ari by noise"]["0.5"]}
    small["ari by distribution"] = {
        "normal-normal, n (ln n)^4": row(AddS_3=1.0, MulK_3=0.4),
    }
    del small["car"], small[TWO]
    found = {each["claim"]: each["holds"] for each in partition_claims.claims(small)}
    decided = [claim for claim, holds in found.items() if holds is not None]
    assert len(decided) == 5, decided
    assert all(words in " ".join(decided) for words in
               ("comparable", "significantly better", "outperforms SPUR", "t-STE"))  # fmt: skip


# ---------------------------------------------------------------------- Ghoshdastidar et al. (2019)


DELTAS = (0.02, 0.06, 0.1, 0.2)


def hierarchies():
    """A table that is as the paper says: where each method recovers the hierarchy from."""
    starts = {"4-al-i5": 0.02, "4-al-i3": 0.06, "4-al": 0.1, "4k-al": 0.1, "4k-al-active": 0.1}
    starts[hierarchy_claims.ALL_LANDMARKS] = 0.1
    lower = {"4-al-i3": 0.6, "4-al": 0.4, "4k-al": 0.35}
    planted = {"all": {}}
    for delta in DELTAS:
        planted["all"][str(delta)] = {"sl": [delta, 0.0], "cl": [1.0 if delta >= 0.2 else 0.3, 0.0]}
    for rate in ("0.01", "0.1", "1.0"):
        planted[rate] = {
            str(delta): {m: [1.0 if delta >= start else lower.get(m, 0.3), 0.0]
                         for m, start in starts.items()}
            for delta in DELTAS
        }  # fmt: skip
    cost = {}
    for data in ("zoo", "glass"):
        embeddings = {"t-ste, d = 2": 2.0, "t-ste, d = 5": 2.2, "t-ste, d = 10": 2.4}
        embeddings |= {"forte, d = 2": 2.2, "forte, d = 5": 2.1, "forte, d = 10": 2.05}
        methods = {"4-al": 1.9, "4k-al": 2.0, **embeddings}
        cost[data] = {rate: {m: [c, 0.0] for m, c in methods.items()} for rate in ("0.01", "0.1")}
    return {"planted": planted, "cost": cost, "car": {}}


BROKEN_HIERARCHIES = [
    ("SL can hardly recover", 0.6, "planted", "all", "0.2", "sl", 0),
    ("CL performs better", -1.0, "planted", "all", "0.2", "cl", 0),
    ("4K-AL recovers it exactly", 0.99, "planted", "0.1", "0.1", "4k-al", 0),
    ("4-AL recovers it exactly", 0.99, "planted", "1.0", "0.2", "4-al", 0),
    ("paper's landmarks) recovers", 0.99, "planted", "0.1", "0.1", "4k-al-active", 0),
    ("authors' code) recovers", 0.99, "planted", "0.1", "0.1", hierarchy_claims.ALL_LANDMARKS, 0),
    ("4-AL-I5 is the best", 0.0, "planted", "0.01", "0.02", "4-al-i5", 0),
    ("4-AL-I3 is the second best", 0.0, "planted", "0.01", "0.2", "4-al-i3", 0),
    ("even for very small delta", 0.9, "planted", "0.01", "0.06", "4-al-i5", 0),
    ("On zoo, 4-AL and 4K-AL both", 3.0, "cost", "zoo", "0.01", "4k-al", 0),
    ("On glass, costs are stable", 2.4, "cost", "glass", "0.01", "forte, d = 2", 0),
    ("On zoo, t-STE gets worse", 2.7, "cost", "zoo", "0.01", "t-ste, d = 2", 0),
    ("On glass, FORTE gets better", 2.7, "cost", "glass", "0.1", "forte, d = 10", 0),
]  # fmt: skip


def test_all_claims_of_ghoshdastidar_2019_hold_for_ideal_numbers():
    found = hierarchy_claims.claims(hierarchies())
    assert [each for each in found if each["holds"] is not True] == []
    assert len(found) == len({each["claim"] for each in found}) == 20
    json.dumps(found)


@pytest.mark.parametrize(("words", "value", "path"), [(w, v, p) for w, v, *p in BROKEN_HIERARCHIES])
def test_one_number_breaks_a_claim_of_ghoshdastidar_2019(words, value, path):
    changed = put(hierarchies(), value, *path)
    if "small delta" in words:  # as late as 4-AL
        changed = put(changed, 0.9, "planted", "0.01", "0.02", "4-al-i5", 0)
    assert verdict(hierarchy_claims, changed, words) is False


@pytest.mark.parametrize(
    ("words", "method"),
    [("4K-AL does not", "4k-al"), ("4-AL does not", "4-al"), ("landmarks) does", "4k-al-active"),
     ("code) does", hierarchy_claims.ALL_LANDMARKS)],
)  # fmt: skip
def test_few_answers_may_cost_much(words, method):
    changed = hierarchies()
    for delta in DELTAS:
        changed["planted"]["0.01"][str(delta)][method] = [0.2, 0.0]
    assert verdict(hierarchy_claims, changed, words) is False


def test_dimensions_may_be_of_no_matter():
    changed = hierarchies()
    for table in changed["cost"].values():
        for methods in table.values():
            methods.update({m: [2.0, 0.0] for m in methods})
    assert verdict(hierarchy_claims, changed, "A poor choice of the dimension") is False


def test_nothing_found_is_nothing_shown_in_ghoshdastidar_2019():
    for each in hierarchy_claims.claims(emptied(hierarchies())):
        assert each["holds"] in (False, None), each


def test_what_the_grid_lacks_is_not_decided_in_ghoshdastidar_2019():
    small = hierarchies()
    small["planted"] = {"all": small["planted"]["all"], "0.1": small["planted"]["0.1"]}
    small["cost"] = {"zoo": {"0.1": {m: v for m, v in small["cost"]["zoo"]["0.1"].items()
                                     if m.endswith(("al", "d = 2"))}}}  # fmt: skip
    found = {each["claim"]: each["holds"] for each in hierarchy_claims.claims(small)}
    open_claims = " ".join(claim for claim, holds in found.items() if holds is None)
    for words in ("degrade", "stable in p", "poor choice", "t-STE gets worse", "FORTE gets better"):
        assert words in open_claims
    assert verdict(hierarchy_claims, small, "4-AL-I5 is the best") is True
