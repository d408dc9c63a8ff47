"""What every ``hcviz reproduce NAME --out FOLDER`` leaves behind."""

from __future__ import annotations

import csv
import json

import pytest

from hcviz.core.errors import InvalidData
from hcviz.reproduce import record


def test_the_files_of_a_run(tmp_path):
    out = tmp_path / "not" / "yet"
    record.check_folder(out)
    written = record.run_record(
        "x2026", 12.345, {"quick": True}, {"draws": 3}, {"goals": []}, ("matplotlib",)
    )
    rows = record.csv_text(["who", "td"], [["a, b", None], ["c", 0.5]])
    drawn = []
    record.write_files(out, "x2026", rows, written, drawn.append)
    assert drawn == [[out / "x2026.svg", out / "x2026.png"]]
    with (out / "x2026.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["who", "td"], ["a, b", ""], ["c", "0.5"]]
    read = json.loads((out / "x2026.json").read_text())
    assert read == written
    assert list(read) == ["paper", "made", "seconds", "quick", "settings", "versions", "goals"]
    assert (read["paper"], read["seconds"], read["quick"]) == ("x2026", 12.3, True)
    assert set(read["versions"]) == {*record.PACKAGES, "matplotlib", "python", "machine"}


def test_a_folder_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InvalidData, match="cannot be written to"):
        record.write_files(tmp_path / "file" / "below", "x2026", "", {}, lambda files: None)
    assert (tmp_path / "file").read_text() == "kept"
