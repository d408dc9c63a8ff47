"""docs/ecosystem.md: each line of its tables runs, and gives what its neighbour package has."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster
from scipy.spatial.distance import squareform

import hcviz
from tests.conftest import ROOT

mpl.use("agg")
PAGE = (ROOT / "docs" / "ecosystem.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| .* \| `(.+)` \|$", PAGE, re.MULTILINE)


@cache
def prepared() -> dict[str, Any]:
    scope: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], scope)
    exec("from hcviz.sklearn import HierarchicalClustering", scope)
    return scope


@pytest.mark.parametrize("line", LINES, ids=[line[:40] for line in LINES])
def test_each_line_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = dict(prepared())
    exec(line if line.startswith("from ") else f"value = {line}", scope)
    if ".save(" in line:
        assert (tmp_path / "page.html").stat().st_size > 100_000
    elif not line.startswith("from "):
        assert scope["value"] is not None


def test_all_lines_are_found():
    tables = [row for row in PAGE.splitlines() if row.startswith("| ") and "---" not in row]
    assert len(LINES) == len(tables) - 4  # without the heads of four tables
    assert len(LINES) >= 27
    for package in ("pandas", "scipy", "networkx", "ArviZ", "HoloViews", "scikit-learn", "Newick"):
        assert package in PAGE


def test_twelve_tasks_give_what_they_say():
    scope = dict(prepared())
    found = []
    for line in LINES[:14]:
        exec(f"value = {line}", scope)
        found.append(scope["value"])
    assert found[1].labels == tree_labels(scope)
    assert hcviz.fit("average", scope["points"]).height[-1] == found[1].height[-1]
    assert list(found[3].index) == ["average", "ward", "crsc"]
    assert found[8]["cluster"].nunique() == 2
    assert 0.5 < found[9] <= 1.0
    assert 0.0 <= found[10] <= 1.0
    assert len(set(found[11].tolist())) == 2
    tree = scope["tree"]
    for again in found[12:14]:
        assert (again.labels, set(again.frame()["members"])) == (
            tree.labels, set(tree.frame()["members"])
        )  # fmt: skip
    assert found[12].info == tree.info


def tree_labels(scope: dict[str, Any]) -> tuple[str, ...]:
    return tuple(scope["frame"].index)


def test_what_goes_out_comes_back():
    tree = prepared()["tree"]
    again = hcviz.Tree.from_linkage(tree.to_linkage()).with_labels(tree.labels)
    newick = hcviz.Tree.from_newick(tree.to_newick(), list(tree.labels))
    members = set(tree.frame()["members"])
    assert set(again.frame()["members"]) == set(newick.frame()["members"]) == members
    depth = squareform(cophenet(tree.to_linkage()))
    for i in range(4):
        for j in range(i):
            assert depth[i, j] == pytest.approx(tree.height[tree.lca(i, j)])
    flat = fcluster(tree.to_linkage(), 2, "maxclust")
    assert len(set(zip(flat.tolist(), tree.clusters(2), strict=True))) == 2
    assert isinstance(tree.clusters(2), pd.Series)
    assert np.array_equal(tree.clusters(2).index, tree.labels)
