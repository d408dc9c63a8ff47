"""Every kind of file that the page opens, through every command that takes a file.

Each either works or is refused in one sentence with exit code 2; none ends in a traceback.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
import urllib.error
import urllib.request
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import hcviz
from hcviz import cli
from hcviz.commands.serve import read_start
from hcviz.core.errors import HcvizError
from hcviz.io.session_file import save_session
from hcviz.io.tables import TableKind
from hcviz.session.model import Constraint, DataSpec, Session
from hcviz.ui.state import data_sources as sources
from tests.conftest import ROOT
from tests.ports import free_port

KINDS = get_args(TableKind)
NAMES = ("ant", "bee", "cat", "dog", "eel")
TABLE = "name,x,colour,flies\nant,1,red,no\nbee,2,red,yes\ncat,5,blue,no\ndog,6,blue,no\neel,,,no\n"
FAR = np.abs(np.subtract.outer([0.0, 1, 4, 5, 9], [0.0, 1, 4, 5, 9]))
TREE = "((ant,bee),((cat,dog),eel));"
CARDS = "participant,card,pile\n" + "".join(
    f"{who},{card},{pile}\n"
    for who, piles in (("P1", "aabbc"), ("P2", "aabbb"), ("P3", "xyyzz"))
    for card, pile in zip(NAMES, piles, strict=True)
)
SIGNED = "question,chosen,other_1,other_2,author,time\nodd,ant,bee,cat,me,noon\n"


def frame() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(TABLE))


def parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    return buffer.getvalue()


def saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def packed(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def matrix(numbers: np.ndarray) -> bytes:
    return pd.DataFrame(numbers, NAMES, NAMES).to_csv().encode()


def session() -> bytes:
    spec = DataSpec(kind="table", name="t.csv", filename="t.csv", content=TABLE.encode())
    constraints = (Constraint(1, (0, 1), 2),)
    return save_session(Session(labels=NAMES, data=spec, constraints=constraints, next_id=2))


#: File -> its content, and the methods that ``run`` is tried with.
FILES: dict[str, bytes] = {
    "table.csv": TABLE.encode(),
    "table.tsv": TABLE.replace(",", "\t").encode(),
    "semicolons.csv": TABLE.replace(",", ";").encode(),
    "bars.txt": TABLE.replace(",", "|").encode("utf-16"),
    "table.parquet": parquet(frame()),
    "classes.csv": TABLE.replace("colour", "species").encode(),
    "onlyclasses.csv": b"name,species\nant,a\nbee,a\ncat,b\n",
    "numbers.npy": saved(np.arange(12.0).reshape(6, 2)),
    "linkage.npy": saved(hcviz.Tree.from_newick(TREE, list(NAMES)).to_linkage()),
    "numbers.npz": packed(features=np.arange(10.0).reshape(5, 2), labels=np.array(NAMES)),
    "flat.npy": saved(np.arange(3.0)),
    "similarity.csv": matrix(9 - FAR),
    "distance.csv": matrix(FAR),
    "distance.parquet": parquet(pd.DataFrame(FAR, NAMES, NAMES)),
    "cardsort.csv": CARDS.encode(),
    "cardsort.parquet": parquet(pd.read_csv(io.StringIO(CARDS))),
    "genes.fasta": b">ant it\nACGT\n>bee\nACGA\n>cat\nTTTT\n",
    "genes.fa": b">ant it\nACGT\n>bee\nACGA\n>cat\nTTTT\n",
    "lines.txt": b"kitten\nsitting\nmitten\n",
    "sequences.csv": b"name,sequence\nant,ACGT\nbee,ACGA\ncat,TTTT\n",
    "anchor.csv": b"anchor,near,far\nant,bee,cat\ncat,dog,ant\n",
    "quadruplets.csv": b"first,second,third,fourth\nant,bee,cat,dog\n",
    "central.csv": b"central,other_1,other_2\nant,bee,cat\n",
    "odd.tsv": b"odd\tother_1\tother_2\tcount\nant\tbee\tcat\t3\n",
    "signed.csv": SIGNED.encode(),
    "food.csv": b"images/a.jpg;images/b.jpg;images/c.jpg\n",
    "headless.csv": b"ant,bee,cat\ncat,dog,ant\nbee,ant,dog\n",
    "constraints.csv": b"together_1,together_2,apart\nant,bee,cat\n",
    "contradiction.csv": b"together_1,together_2,apart\na,b,c\na,c,b\n",
    "clusters.csv": b"name,cluster\nant,1\nbee,1\ncat,2\n",
    "items.txt": "\n".join(NAMES).encode(),
    "work.hcviz": session(),
    "tree.nwk": TREE.encode(),
    "tree.newick": b"(ant,bee,(cat,dog));",
    "tree.tre": b"((ant,bee),cat",
    "star.tree": b"(ant,bee,cat);",
    "two.csv": f"name,x\nZoë,1\n{unicodedata.normalize('NFD', 'Zoë')},2\nb,4\n".encode(),
    "empty.csv": b"",
    "broken.parquet": b"PAR1 cut short",
    "broken.npz": b"PK\x03\x04 cut short",
    "broken.hcviz": b"PK\x03\x04 cut short",
    "picture.csv": b"\x89PNG\r\n\x1a\n\0\0\0",
    "binary.txt": bytes(range(256)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (made / name).write_bytes(content)
    return made


def called(capsys, *words: object) -> tuple[int, str]:
    """A command's exit code and what it prints; any exception is the test's failure."""
    code = cli.main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert code in (0, 2)
    if code == 2:
        assert out == ""
        assert err.startswith("hcviz: ")
        assert len(err.splitlines()) == 1, err
        assert len(err) < 800
    return code, out


#: What ``check`` says of each file, opened as features; no line: a sentence refuses it.
HOLDS = {
    "table.csv": "a table of 5 items with 4 features. ",
    "onlyclasses.csv": None,
    "numbers.npz": "a table of 5 items with 2 features.",
    "numbers.npy": "a table of 6 items with 2 features.",
    "linkage.npy": "a tree over 5 items",
    "flat.npy": None,
    "cardsort.csv": "a card sort. 3 participants sorted 5 cards: ",
    "cardsort.parquet": "a card sort. 3 participants sorted 5 cards: ",
    "genes.fasta": "3 sequences of 4 to 4 letters.",
    "food.csv": "answers about 3 items",
    "constraints.csv": "1 constraint on 3 items",
    "contradiction.csv": None,
    "work.hcviz": "a session on t.csv with 5 items and 1 constraint.",
    "tree.nwk": "a tree over 5 items",
    "tree.tre": None,
    "empty.csv": None,
    "broken.parquet": None,
    "broken.npz": None,
    "broken.hcviz": None,
    "picture.csv": None,
    "binary.txt": None,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_check(name, kind, folder, capsys):
    code, out = called(capsys, "check", folder / name, "--kind", kind)
    if code == 0:
        assert out.startswith(f"{folder / name}: ")
        assert len(out.splitlines()) == 1 or "a table of" in out.splitlines()[0]
    if kind == "features" and name in HOLDS:
        assert (code == 0) == (HOLDS[name] is not None)
        assert (HOLDS[name] or "") in out


def test_check_describes_matrices(folder, capsys):
    for kind in ("similarity", "distance"):
        _, out = called(capsys, "check", folder / f"{kind}.csv", "--kind", kind)
        assert out.endswith(f": a {kind} matrix over 5 items.\n")


def test_check_of_the_card_sort_people_bring(shared_data, capsys):
    path = shared_data.parent / "tables" / "cardsort.csv"
    code, out = called(capsys, "check", path)
    assert code == 0
    assert out.startswith(f"{path}: a card sort. 20 participants sorted 40 cards: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_run(name, kind, folder, capsys):
    for method in ("average", "build", "4-al", "densest-cut"):
        words = ("run", method, folder / name, "--kind", kind, "--json")
        code, out = called(capsys, *words)
        if code == 0:
            result = json.loads(out)
            assert result["newick"].endswith(";")
            assert result["items"] >= 2


@pytest.mark.parametrize("option", ["--triplets", "--answers", "--items"])
@pytest.mark.parametrize("name", FILES)
def test_run_with_the_file_beside_another(name, option, folder, capsys):
    data = folder / ("anchor.csv" if option == "--items" else "table.csv")
    called(capsys, "run", "average", data, option, folder / name)
    called(capsys, "check", data, *(("--items", folder / name) if option == "--items" else ()))


@pytest.mark.parametrize("ending", [".nwk", ".npy", ".txt"])
@pytest.mark.parametrize("name", FILES)
def test_convert(name, ending, folder, capsys, tmp_path):
    target = tmp_path / f"out{ending}"
    code, _ = called(capsys, "convert", folder / name, target)
    assert target.exists() == (code == 0)
    labels = ("--labels", folder / "items.txt")
    called(capsys, "convert", folder / name, tmp_path / f"named{ending}", *labels)


@pytest.fixture
def nothing_offered():
    yield
    sources.offer(None)


def words_of(*words: object):
    return cli.make_parser().parse_args([str(word) for word in words])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_serve_reads(name, kind, folder, capsys, nothing_offered):
    """What ``serve`` reads before it listens: it holds what ``run`` would be given, or a
    sentence."""
    options = words_of("serve", folder / name, "--kind", kind)
    message = ""
    try:
        sources.offer(read_start(options))
    except HcvizError as fault:
        message = str(fault)
    begun = sources.offered()
    assert (begun is None) == bool(message)
    assert "\n" not in message
    assert begun is None or begun.data.n_items >= 2


def start(*words: object) -> tuple[subprocess.Popen[str], str]:
    address = f"http://127.0.0.1:{words[-1]}/"
    made = subprocess.Popen(
        [sys.executable, "-m", "hcviz", "serve", *map(str, words)],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        env={**os.environ, "BOKEH_BROWSER": "none"},
    )  # fmt: skip
    return made, address


def test_serve_starts_on_a_card_sort_and_refuses_a_damaged_table(folder, tmp_path):
    server, address = start(folder / "cardsort.csv", "--no-autosave", "--port", free_port())
    try:
        page = ""
        for _ in range(600):
            assert server.poll() is None, server.communicate()[1]
            try:
                page = urllib.request.urlopen(address, timeout=60).read().decode()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        assert "<html" in page
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    assert "Traceback" not in errors
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("name,size\nx,1,2\n")
    refusing, _ = start(damaged, "--no-autosave", "--port", free_port())
    _, errors = refusing.communicate(timeout=120)
    assert refusing.returncode == 2
    assert errors.startswith("hcviz: ")
    assert len(errors.splitlines()) == 1
