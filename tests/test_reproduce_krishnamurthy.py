"""``hcviz reproduce krishnamurthy2012``: Krishnamurthy et al.'s (2012) figures and the columns of
its tables."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings

import numpy as np
import pytest
from scipy.io import savemat

from hcviz import HcvizError, cli
from hcviz.datasets import load, noisy_blocks
from hcviz.reproduce import active_cases
from hcviz.reproduce import krishnamurthy2012 as paper
from hcviz.reproduce.active_figure import wrap_claim
from tests.trees import random_tree

SMALL = paper.Sizes(
    ns=(64,), sigmas=(0.05, 0.6, 3.0), trials=3, n_sample=64, samples=(6, 64), n_noise=64,
    noises=(0.0, 0.8), runs=1, active_ns=(1024, 2048, 4096), full_ns=(64, 128, 256),
)  # fmt: skip


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The command once, smaller still: (what it prints as JSON, and the folder)."""
    out = tmp_path_factory.mktemp("figures") / "one"
    patch = pytest.MonkeyPatch()
    patch.setattr(paper, "QUICK", SMALL)
    patch.delenv("HCVIZ_DATA", raising=False)
    outputs = []
    patch.setattr(paper, "print", outputs.append, raising=False)
    try:
        words = ["reproduce", "krishnamurthy2012", "--quick", "--json", "--out", str(out)]
        assert cli.main(words) == 0
    finally:
        patch.undo()
    return json.loads(outputs[-1]), out


def of(result, part, **fixed):
    rows = [r for r in result["rows"] if r["part"] == part]
    return [r for r in rows if all(r.get(k) == v for k, v in fixed.items())]


def test_noise_thresholds(printed):
    for method in paper.DIVISIONS:
        success = [r["success"] for r in of(printed[0], "threshold", method=method)]
        assert len(success) == 3
        # A sample of ln 64 = 5 items lies in one half with probability 1/16, and then must fail.
        assert success[0] == 1.0 if method in ("SC", "KM") else success[0] > 0
        assert success[-1] == 0.0
        assert float(printed[0]["thresholds"][method]["64"]) < 3.0
    limit = {m: printed[0]["thresholds"][m]["64"] for m in paper.DIVISIONS}
    assert limit["SC"] > limit["ASC"]  # all similarities bear more noise than ln n of them
    assert limit["KM"] > limit["AKM"]


def test_success_by_s_and_entries(printed):
    rows = of(printed[0], "sample")
    assert {r["method"] for r in rows} == {"ASC", "AKM", "ours", *paper.ENTRIES}
    for r in rows:
        s, n = r["s"], r["n"]
        asked = s * (n - s) + s * (s - 1) // 2
        assert r["queries"] == (asked // 2 if r["method"] == "half the entries" else asked)
    whole = {r["method"]: r["success"] for r in rows if r["s"] == 64}
    assert whole["ASC"] == whole["sampled entries"]  # all entries: the same division


def test_agreement_by_noise(printed):
    for method in paper.METHODS:
        clean, noisy = of(printed[0], "noise", method=method)
        if method in ("ASC", "AKM", "HSC"):  # blocks of 8 are fewer than s = 17: left whole
            assert 0.8 < clean["agreement"] < 1.0
            assert clean["deepest"] < 0.5
        else:
            assert clean["agreement"] == clean["most"]
            assert clean["deepest"] == 1.0
        # Eight blocks of eight of the 64 items are polytomies, whose triples no method resolves.
        open_in_target = 8 * math.comb(8, 3) / math.comb(64, 3)
        assert clean["most"] == noisy["most"] == pytest.approx(1.0 - open_in_target)
        assert noisy["agreement"] < noisy["most"]
        assert (clean["share"] < 1.0) == (method in paper.ACTIVE)


def test_exponents(printed):
    for method, slopes in printed[0]["slopes"].items():
        rows = of(printed[0], "growth", method=method)
        assert [r["queries"] for r in rows] == sorted(r["queries"] for r in rows)
        if method in paper.ACTIVE:
            assert slopes["queries"] < 1.6
        else:
            assert slopes["queries"] == pytest.approx(2.0, abs=0.02)
            assert all(r["queries"] == r["n"] * (r["n"] - 1) / 2 for r in rows)


def test_the_tables(printed):
    for data in ("phylo", "digits", "blocks"):
        rows = of(printed[0], "table", data=data)
        assert [r["method"] for r in rows] == list(paper.METHODS)
        for r in rows:
            assert 0 < r["hkm"] <= 1.0
            assert r["hrc"] > 0
            assert ("agreement" in r) == (data != "digits")
            assert (r["share"] < 0.7) == (r["method"] in paper.ACTIVE)
            assert r.get("most", 0.0) >= r.get("agreement", 0.0)
            assert r.get("most") == (1.0 if data == "phylo" else r.get("most"))
    assert printed[0]["paper"]["Phylo"]["ASC"] == [0.012, 22.9, 0.071, 0.971, 600]
    assert set(printed[0]["paper"]["RTW"]) == {"HSC", "ASC", "AKM"}
    assert printed[0]["paper"]["RTW"]["HSC"] == [0.0079, 18.1, 0.41, None, 419]


def test_claims_of_the_paper_are_compared_with_the_numbers():
    """On figures made up for it, which bear everything out, and then its opposite."""
    row = paper.FigurePoint
    for fits in (True, False):
        good, bad = (1.0, 0.5) if fits else (0.5, 1.0)
        rows = [row("threshold", "blocks", "SC", n) for n in (64, 512)]
        rows += [
            row("sample", "blocks", m, 256, success=x)
            for m, x in (("ASC", good), ("AKM", good), ("sampled entries", bad),
                         ("half the entries", bad))
        ]  # fmt: skip
        rows[-3] = row("sample", "blocks", "AKM", 256, success=good if fits else 0.1)
        noise = {"SC": good, "KM": good, "SL": 0.0, "ASC": 0.6, "AKM": 0.6, "HSC": 0.7, "ours": 0.6}
        if not fits:
            noise |= {"HSC": 0.55}
        rows += [row("noise", "blocks", m, 512, agreement=x) for m, x in noise.items()]
        steep = {"queries": 2.0, "seconds": 2.0}
        flat = {"queries": 1.2, "seconds": 1.1} if fits else {"queries": 2.1, "seconds": 2.1}
        slopes = {m: flat if m in paper.ACTIVE else steep for m in paper.METHODS}
        wide, level = {"64": 0.5, "512": 2.0}, {"64": 0.2, "512": 0.2}
        limits = dict.fromkeys(("SC", "KM"), wide if fits else level)
        limits |= dict.fromkeys(("ASC", "AKM"), level if fits else wide)
        found = paper.claims(rows, slopes, limits)
        assert len(found) == 9
        assert [each["claim"] for each in found if each["holds"] != fits] == []


def test_a_threshold_is_between_two_grid_values():
    """Three of four right at 1, one of four at 2: half of them at their geometric mean."""

    def curve(method, n, *success):
        sigmas = (0.5, 1.0, 2.0, 4.0)
        return [
            paper.FigurePoint("threshold", "blocks", method, n, sigma, success=x)
            for sigma, x in zip(sigmas, success, strict=True)
        ]

    rows = curve("SC", 64, 1.0, 0.75, 0.25, 0.0) + curve("SC", 128, 1.0, 1.0, 1.0, 1.0)
    rows += curve("KM", 64, 0.4, 0.4, 0.0, 0.0) + curve("KM", 128, 1.0, 0.5, 0.5, 0.0)
    found = paper.crossings(rows)
    assert found["SC"] == pytest.approx({"64": math.sqrt(2.0), "128": 4.0})
    assert found["KM"] == pytest.approx({"64": 0.5, "128": 2.0})


def test_the_quick_grid_is_fine_enough_for_the_thresholds():
    """By whole steps k-means' noise did not grow with n. Exponents are .39, .29 (SC, KM), -.26 and
    -.30 (ASC, AKM), and .2 parts them. A share of about a half of 10 runs has a standard error of
    .16, some .05 of an exponent here; the runs' seeds are fixed."""
    rows = list(paper.thresholds(paper.QUICK))
    slopes = {m: {"queries": 1.0, "seconds": 1.0} for m in paper.METHODS}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the other claims' rows are not there
        claims = paper.claims(rows, slopes, paper.crossings(rows))
    assert [each["holds"] for each in claims[:2]] == [True, True]


def test_the_files(printed):
    result, out = printed
    rows = list(csv.DictReader((out / "krishnamurthy2012.csv").open()))
    assert len(rows) == len(result["rows"])
    for row, saved in zip(rows, result["rows"], strict=True):
        assert {k: v for k, v in row.items() if v} == {k: str(v) for k, v in saved.items()}
    kept = json.loads((out / "krishnamurthy2012.json").read_text())
    assert kept["quick"] is True
    assert kept["slopes"] == result["slopes"]
    assert kept["claims"] == result["claims"]
    drawn = (out / "krishnamurthy2012.svg").read_text()
    assert drawn.count("<svg") == 1
    small = result["paper_size"]
    for each in result["claims"]:  # on the sheet too, line by line
        assert [line for line in wrap_claim(each, small) if f"<!-- {line} -->" not in drawn] == []
    assert (out / "krishnamurthy2012.png").read_bytes().startswith(b"\x89PNG")


def test_the_tables_for_people(printed):
    rows = [paper.FigurePoint(**row) for row in printed[0]["rows"]]
    report = paper.report(rows, printed[0])
    for words in (
        "Figure 2 a-d",
        "sampled entries",
        "2 e: ActiveSpectral needs fewer",
        "exponents of n",
        "phylo (150)",
        "0.971",
    ):
        assert words in report


def test_which_pairs_are_asked_for():
    """Figure 1: each picture holds the one before it; of the first split the count is known."""
    n = 128
    found = active_cases.sampling_patterns(n)
    assert list(found) == ["first split", "second split", "the end", "ours, the end"]
    off = ~np.eye(n, dtype=bool)
    first, second, end, _ = (mask[off] for mask in found.values())
    assert first.sum() == 2 * active_cases.queries_of_division(n, math.ceil(4 * math.log(n)))
    assert (first <= second).all()
    assert (second <= end).all()
    assert first.sum() < second.sum() < end.sum()


def test_the_trees_are_drawn_over_all_but_the_articles(tmp_path, monkeypatch):
    """Figures 4 and 3, own data taken along."""
    folder = tmp_path / "krishnamurthy2012"
    folder.mkdir()
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    (folder / "own.txt").write_text("\n".join(["ACGT", "ACGA", "TTTT", "TTTA"] * 10))
    pictures = paper.make_figure_data(quick=True)
    assert list(pictures.heat) == ["phylo", "blocks", "own"]
    for data, size in (("phylo", 150), ("blocks", 256), ("own", 40)):
        assert list(pictures.heat[data]) == ["HSC", "ASC", "AKM", "ours"]
        for heat in pictures.heat[data].values():
            assert heat.shape == (size, size)
            assert np.array_equal(heat, heat.T)
    tree, names = pictures.articles
    assert tree.n_leaves == len(names) == 24
    assert len(set(names)) == 6
    assert {"0", "9"} < set(names)  # from all over the ten digits


def test_newsgroups_have_their_names(tmp_path):
    file = tmp_path / "newsgroups1000.npz"
    np.savez(file, features=np.eye(4, 3), labels=np.array([0, 13, 19, 0]))
    data = load("newsgroups", file)
    assert data.classes == ("alt.atheism", "sci.med", "talk.religion.misc", "alt.atheism")
    assert data.labels[3] == "alt.atheism, article 2"


def test_sampled_entries_are_the_paper_s():
    """With every entry drawn, it is the spectral division; with few, not more than was drawn."""
    for seed in range(3):
        data = noisy_blocks(40, 2, 0.2, seed)
        whole = active_cases.spectral(40).divide(data.oracle, seed)
        assert active_cases.sampled_entries(data, 10**9, seed).tolist() == whole.tolist()
        assert active_cases.is_true_division(whole, data)
    assert active_cases.queries_of_division(40, 50) == 40 * 39 / 2


def test_the_paper_s_own_data_are_read_by_path(tmp_path, monkeypatch):
    folder = tmp_path / "krishnamurthy2012"
    folder.mkdir()
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    assert active_cases.paper_cases() == []
    (folder / "snp.txt").write_text("ACGT\nACGA\nTTTT\nTTTA\n")
    (folder / "snp.nwk").write_text("((0,1),(2,3));")
    features = np.random.default_rng(0).random((5, 3))
    np.save(folder / "rtw.npy", features)
    counts = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])  # two words, three articles
    savemat(folder / "nips.mat", {"counts": counts})
    (folder / "README").write_text("not data")
    found = {case.name: case for case in active_cases.paper_cases()}
    assert list(found) == ["nips", "rtw", "snp"]
    assert found["snp"].target.satisfies([[0, 1, 2]]).all()
    assert found["snp"].similarity()[0, 1] == pytest.approx(0.75)
    assert found["rtw"].features.shape == (5, 3)
    tfidf = counts.T * [math.log(3 / 2), 0.0]
    np.testing.assert_allclose(found["nips"].features, tfidf)
    tree = random_tree(np.random.default_rng(0), 3)
    (folder / "rtw.nwk").write_text(tree.to_newick())
    with pytest.raises(HcvizError, match="3 leaves"):
        active_cases.paper_cases()
    (folder / "rtw.nwk").unlink()
    (folder / "bad.npy").write_text("no array")
    with pytest.raises(HcvizError, match="not hold an array"):
        active_cases.paper_cases()


def npy(rows):
    """An array file's bytes."""
    file = io.BytesIO()
    np.save(file, np.array(rows))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("snp.txt", b"AC\xff\xfeGT\nAC\n", "is not UTF-8 text"),
        ("snp.txt", b"ACGT\n\nACGA\n", "Line 2 .* is empty"),
        ("snp.txt", b"", "is empty"),
        ("nips.mat", b"no matrix at all", "not hold a matrix of numbers"),
        (
            "nips.mat",
            b"MATLAB 5.0 MAT-file" + bytes(200),
            "not hold a matrix of numbers",
        ),
        ("rtw.npy", b"\x93NUMPY\x01\x00", "not hold an array of numbers"),
        (
            "rtw.npy",
            npy([[0.0, 1.0], [np.nan, 1.0], [2.0, 0.5]]),
            "Row 1, column 0 .* is nan",
        ),
        ("rtw.npy", npy([0.0, 1.0, 2.0]), "rtw.npy: .*shape"),
        ("snp.txt", b"ACGT\n", "has only one item"),
    ],
)
def test_bad_files_of_own_data_are_reported(tmp_path, monkeypatch, name, content, message):
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    folder = tmp_path / "krishnamurthy2012"
    folder.mkdir()
    (folder / name).write_bytes(content)
    with pytest.raises(HcvizError, match=message) as fault:
        active_cases.paper_cases()
    assert name in fault.value.message


def test_a_sequence_is_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    folder = tmp_path / "krishnamurthy2012"
    folder.mkdir()
    (folder / "snp.txt").write_text("AC GT\n ACGA \n\n")
    assert active_cases.paper_cases()[0].oracle.strings == ["AC GT", "ACGA"]
    (folder / "snp.nwk").write_bytes(b"((0,1),\xff);")
    with pytest.raises(HcvizError, match="is not UTF-8 text"):
        active_cases.paper_cases()


def test_an_out_that_is_a_file_is_refused_before_anything_runs(tmp_path, capsys):
    file = tmp_path / "x"
    file.write_text("")
    assert cli.main(["reproduce", "krishnamurthy2012", "--quick", "--out", str(file)]) == 2
    assert "is a file" in capsys.readouterr().err
