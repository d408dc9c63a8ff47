"""Similarities of features in a file, against those of an array."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import hcviz
from hcviz import FeatureOracle, FileOracle, Problem
from hcviz.core import file_oracle
from hcviz.core.errors import InvalidData, InvalidParameter


def saved(path, features):
    np.save(path, features)
    return path


def table(n=70, d=5, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d) + rng.normal(size=d)
    features[:, 1] = 7.3  # a constant column has no information
    features[3] = features[4]
    return features


@pytest.mark.parametrize("chunk", [1, 13, 10**6])
@pytest.mark.parametrize("kind", FeatureOracle.KINDS)
def test_similarities_equal_those_of_an_array(kind, chunk, tmp_path, monkeypatch):
    """Tolerance 1e-12: the order of a sum of 70 numbers changes it by about 1e-15."""
    monkeypatch.setattr(file_oracle, "CHUNK", chunk)
    features = table()
    oracle = FileOracle(saved(tmp_path / "f.npy", features), kind)
    whole = FeatureOracle(features, kind)
    everyone = np.arange(70, dtype=np.int32)
    matrix = oracle.similarity(everyone, everyone)
    np.testing.assert_allclose(matrix, whole.similarity(everyone, everyone), atol=1e-12)
    rng = np.random.default_rng(1)
    rows, cols = rng.permutation(70)[:20].astype(np.int32), rng.permutation(70)[:9].astype(np.int32)
    assert np.array_equal(oracle.similarity(rows, cols), matrix[np.ix_(rows, cols)])
    part = oracle.part(rows)
    inside = np.arange(20, dtype=np.int32)
    assert np.array_equal(part.similarity(inside, inside), matrix[np.ix_(rows, rows)])
    assert oracle.similarity(rows, cols[:0]).shape == (20, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_files_with_all_types_of_numbers(dtype, tmp_path):
    features = (np.abs(table(40)) * 5 % 100).astype(dtype)
    oracle = FileOracle(saved(tmp_path / "f.npy", np.asfortranarray(features)), "cosine")
    everyone = np.arange(40, dtype=np.int32)
    want = FeatureOracle(features, "cosine").similarity(everyone, everyone)
    np.testing.assert_allclose(oracle.similarity(everyone, everyone), want, atol=1e-12)


def test_the_width_of_a_gaussian_equals_that_of_an_array(tmp_path):
    features = np.random.default_rng(0).normal(size=(1500, 3))
    path = saved(tmp_path / "f.npy", features)
    assert FileOracle(path, "gaussian").width == pytest.approx(
        FeatureOracle(features, "gaussian").width, rel=1e-9
    )
    assert FileOracle(path, "gaussian", 0.4).width == 0.4


def test_a_pickle_contains_only_the_path(tmp_path, monkeypatch):
    features = np.random.default_rng(0).normal(size=(3000, 8))
    saved(tmp_path / "f.npy", features)
    monkeypatch.chdir(tmp_path)
    oracle = FileOracle("f.npy")
    data = pickle.dumps(oracle)
    assert len(data) < 1500 < features.nbytes
    monkeypatch.chdir("/")
    again = pickle.loads(data)
    rows = np.arange(0, 3000, 100, dtype=np.int32)
    assert np.array_equal(again.similarity(rows, rows), oracle.similarity(rows, rows))
    saved(tmp_path / "f.npy", features[:2000])
    with pytest.raises(InvalidData, match=r"have shape \(2000, 8\), not \(3000, 8\)"):
        pickle.loads(data)
    (tmp_path / "f.npy").unlink()
    with pytest.raises(InvalidData, match=r"cannot be read from .*f\.npy") as missing:
        pickle.loads(data)
    assert "all workers can read" in missing.value.hint


def test_a_method_gives_the_same_tree_as_with_an_array(tmp_path):
    """The groups are well separated, so rounding has no effect on the tree."""
    rng = np.random.default_rng(2)
    features = rng.normal(size=(900, 4)) + 9 * rng.normal(size=(6, 4))[rng.integers(0, 6, 900)]
    oracle = FileOracle(saved(tmp_path / "f.npy", features))
    found, want = (
        list(hcviz.run("active-spectral", Problem(oracle=each), s=30, seed=1))[-1]
        for each in (oracle, FeatureOracle(features))
    )
    assert found.tree == want.tree
    assert found.metrics == want.metrics
    assert hcviz.fit("average", Problem(oracle=oracle)).n_leaves == 900


@pytest.mark.parametrize(
    ("content", "message"),
    [(np.zeros(4), "does not contain a table"), (np.zeros((0, 3)), "no items"),
     (np.array([["a"]]), "does not contain a table"),
     (np.array([[1.0, 2], [3, np.nan]]), "Row 1, column 1 .* nan"),
     (np.array([[1.0], [-np.inf]]), "Row 1, column 0 .* -inf"),
     (np.array([[1e200]]), r"Row 0, column 0 .* 1e\+200"),
     (np.array([[None]], dtype=object), "cannot be read"), (b"no array", "cannot be read")],
)  # fmt: skip
def test_invalid_files_are_refused(content, message, tmp_path, monkeypatch):
    monkeypatch.setattr(file_oracle, "CHUNK", 1)
    path = tmp_path / "f.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with pytest.raises(InvalidData, match=message):
        FileOracle(path)
    with pytest.raises(InvalidData, match="cannot be read"):
        FileOracle(tmp_path / "nothing.npy")
    with pytest.raises(InvalidParameter, match="computed one by one"):
        FileOracle(path, "snn")
    with pytest.raises(InvalidParameter, match="width of a Gaussian"):
        FileOracle(saved(tmp_path / "g.npy", np.eye(3)), "gaussian", -1.0)
