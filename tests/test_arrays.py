"""NumPy arrays as tables: what is read, and one sentence for what is not."""

from __future__ import annotations

import io

import numpy as np
import pytest

from hcviz import HcvizError, cli
from hcviz.core.errors import TooLarge
from hcviz.io import arrays
from hcviz.io.tables import read_table


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**named) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **named)
    return buffer.getvalue()


def test_an_array_is_a_table_of_numbers():
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    values[1, 2] = np.nan
    data = read_table(npy(values), "some.npy")
    assert np.array_equal(data.features, values, equal_nan=True)
    assert data.features.dtype == np.float64
    assert data.labels == ("row 1", "row 2", "row 3", "row 4")
    assert data.feature_names == ("column 1", "column 2", "column 3")
    assert data.title == "some.npy"
    assert read_table(npy(values > 3)).features.tolist()[3] == [1.0, 1.0, 1.0]


def test_an_archive_brings_names():
    values = np.arange(6.0).reshape(3, 2)
    names = np.array(["a", "b", "c"])
    data = read_table(npz(features=values, labels=names, feature_names=["x", "y"]), "t.npz")
    assert (data.labels, data.feature_names) == (("a", "b", "c"), ("x", "y"))
    only = read_table(npz(anything=values), "t.npz")
    assert np.array_equal(only.features, values)


def test_a_large_table_of_few_ones_is_not_taken_for_an_attack():
    """It unpacks to 40 MB, 240 times its size."""
    values = (np.random.default_rng(0).random((100_000, 50)) < 0.01).astype(float)
    names = np.array([f"item {row}" for row in range(len(values))])
    buffer = io.BytesIO()
    np.savez_compressed(buffer, features=values, labels=names)
    data = read_table(buffer.getvalue(), "t.npz")
    assert data.labels[7] == "item 7"
    assert np.array_equal(data.features, values)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (npy(np.arange(5.0)), "t.npy", "of shape 5"),
        (npy(np.array([["a", "b"]])), "t.npy", "<U1 of shape 1 x 2"),
        (npy(np.array([[object()]])), "t.npy", "Python objects"),
        (npy(np.ones((1, 3))), "t.npy", "1 row and"),
        (npy(np.array([[1.0, np.inf], [0, 1]])), "t.npy", "Row 1, column 2"),
        (npy(np.ones((3, 2)))[:-9], "t.npy", "damaged"),
        (b"\x93NUMPY" + b"x" * 50, "t.npy", "damaged"),
        (npz(a=np.ones((2, 2)), b=np.ones((2, 2))), "t.npz", "which are the features"),
        (npz(features=np.ones((3, 2)), labels=["a", "b"]), "t.npz", "2 names for 3 rows"),
        (npz(features=np.ones((2, 2)), labels=["a", "a"]), "t.npz", "occurs twice"),
        (b"PK\x03\x04" + b"x" * 50, "t.npz", "damaged"),
        (b"PK\x03\x04" + b"x" * 50, "t.csv", "Excel workbook"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(content, name, message):
    with pytest.raises(HcvizError, match=message):
        read_table(content, name)


def test_what_else_an_archive_holds_is_left_alone_and_names_may_be_bytes():
    values = np.eye(3)
    others = np.array([1, "x"], dtype=object)
    data = read_table(
        npz(features=values, other=others, labels=np.array([b"a", b"b", b"c"])), "t.npz"
    )
    assert data.labels == ("a", "b", "c")
    assert np.array_equal(data.features, values)


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_check_describes_an_array(name, tmp_path, capsys):
    values = np.random.default_rng(0).random((20, 5))
    (tmp_path / name).write_bytes(npy(values) if name == "t.npy" else npz(features=values))
    assert cli.main(["check", str(tmp_path / name)]) == 0
    assert "20 items with 5 features" in capsys.readouterr().out


def test_large_arrays_are_refused_before_they_are_copied(monkeypatch):
    monkeypatch.setattr(arrays, "MAX_ARRAY_CELLS", 8)
    with pytest.raises(TooLarge, match="3 x 3 cells; the limit is 8"):
        read_table(npy(np.ones((3, 3))), "t.npy")
    with pytest.raises(TooLarge, match="40 x 40 cells; the limit is 8"):
        read_table(npz(features=np.ones((40, 40))), "t.npz")
