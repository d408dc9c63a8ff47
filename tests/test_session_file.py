"""Session files: the identical session back, and a sentence for everything else."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcviz import Problem, Snapshot, Tree
from hcviz import run as hcviz_run
from hcviz.algorithms import generator, get
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import SessionFileError
from hcviz.core.snapshot import Graph, Mask, Matrix, Points, Series
from hcviz.core.state import state_class, state_name
from hcviz.io import session_file
from hcviz.io.session_file import load_session, save_session
from hcviz.session import actions as act
from hcviz.session.effects import StartRun
from hcviz.session.model import Constraint, DataSpec, HistoryEntry, Session, equal_values
from hcviz.session.replay import replay
from hcviz.session.update import update
from tests.sessions import ANIMALS, Driver, FakeState
from tests.trees import caterpillar, random_tree

TABLE = b"name,legs\nbat,2\nwhale,0\n" * 50


@pytest.fixture(scope="module")
def worked() -> Session:
    """A session with something in every field, in the middle of a run."""
    driver = Driver(labels=())
    driver(act.LoadedData(DataSpec(kind="table", filename="my.csv", content=TABLE), ANIMALS))
    driver.settle()
    driver(act.AddConstraint((0, 1, 2), 3, author="Ada", note="mammals"))
    driver.go(2)
    driver(act.SetParams({"c": 0.1, "mode": "fast", "flag": True, "none": None}))
    driver(act.SetMethod("crsc"))
    driver.settle()
    driver(act.AddConstraint((0, 3), 1))  # a conflict
    driver(act.Undo())
    driver(act.AddConstraint((3, 4), 0))
    driver(act.Undo())
    driver(act.AddConstraint((0, 3), 1))
    driver(act.Rerun())
    driver.go(3)
    return driver.session


@pytest.fixture(scope="module")
def content(worked) -> bytes:
    return save_session(worked)


def test_everything_comes_back(worked, content):
    loaded = load_session(content)
    assert equal_values(loaded, worked)
    assert loaded.data.content == TABLE
    assert loaded.snapshot.state.draws == worked.snapshot.state.draws
    assert loaded.conflict == worked.conflict
    assert loaded.status == "sampling"
    assert save_session(loaded) == content
    assert content == save_session(worked)
    assert content.count(TABLE[:20]) == 0  # packed, and once


def test_what_was_one_object_is_one_again(worked, content):
    loaded = load_session(content)
    trees = [p.snapshot.tree for p in loaded.past if p.snapshot] + [h.tree for h in loaded.history]
    before = [p.snapshot.tree for p in worked.past if p.snapshot] + [h.tree for h in worked.history]
    assert len({id(tree) for tree in trees}) == len({id(tree) for tree in before})


def test_no_entry_is_a_pickle(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.startswith("arrays/"):
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            else:
                assert name.startswith("tables/") or json.loads(archive.read(name))


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@st.composite
def sessions(draw):
    n = draw(st.integers(3, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = tuple(draw(st.lists(st.text(min_size=1), min_size=n, max_size=n, unique=True)))
    values = st.one_of(NUMBERS, st.integers(), st.text(), st.booleans(), st.none())

    def snapshot():
        tree = random_tree(rng, n, polytomies=True)
        return Snapshot(
            tree,
            draw(st.integers(0, 9)),
            9,
            metrics=draw(st.dictionaries(st.text(), NUMBERS, max_size=2)),
            state=draw(st.sampled_from([None, FakeState(rng.normal(size=3), 4), {"a": (1, 2.5)}])),
            labels=draw(st.sampled_from([None, np.arange(n, dtype=np.int32)])),
            matrices={"m": rng.normal(size=(n, n))},
            views={
                "s": Series(rng.normal(size=2), np.array([np.nan, -0.0])),
                "m": Matrix(rng.normal(size=(2, 0)), items=True),
                "g": Graph(("a", "b"), np.array([[0, 1]], np.int32), True),
                "p": Points(rng.normal(size=(n, 2))),
                "k": Mask.of([(np.arange(n, dtype=np.int32), np.array([n - 1], np.int32))]),
            },
        )

    tree = random_tree(rng, n)
    constraints = []
    for number in range(draw(st.integers(0, 4))):
        items = draw(st.permutations(range(n)))
        row = items[:3]
        constraints.append(
            Constraint(
                number + 1,
                tuple(row[:2]),
                row[2],
                note=draw(st.text()),
                weight=draw(st.floats(1e-9, 1e9)),
                enabled=bool(tree.satisfies([row])[0]),  # one tree obeys all of these
            )
        )
    return Session(
        data=DataSpec(content=draw(st.one_of(st.none(), st.binary()))),
        labels=labels,
        constraints=tuple(constraints),
        params=draw(st.dictionaries(st.text(), values, max_size=3)),
        other_params={"x": draw(st.dictionaries(st.text(), values, max_size=2))},
        seed=draw(st.integers()),
        run=4,
        status=draw(st.sampled_from(["idle", "sampling", "settled", "failed", "cancelled"])),
        snapshot=draw(st.sampled_from([None, snapshot()])),
        error=draw(st.one_of(st.none(), st.tuples(st.text(), st.text()))),
        next_id=len(constraints) + 1,
        history=(HistoryEntry("x", 1, {"a": 1.0}, tree, 0, 3),),
    )


@settings(max_examples=80, deadline=None)
@given(sessions())
def test_any_session_comes_back(session):
    loaded = load_session(save_session(session))
    assert equal_values(loaded, session)


def test_a_caterpillar_of_20000_leaves_passes():
    tree = caterpillar(20_000)
    session = Session(labels=tuple(map(str, range(20_000))), snapshot=Snapshot(tree, 1, 1))
    assert equal_values(load_session(save_session(session)), session)


def test_what_a_method_keeps_to_itself_is_left_out_and_the_tree_stays():
    session = Session(labels=("a", "b"), snapshot=Snapshot(Tree.star(2), 1, 1, state=object()))
    loaded = load_session(save_session(session))
    assert loaded.snapshot.state is None
    assert loaded.tree == session.tree


# ---------------------------------------------------------------------- broken files


def refused(content: bytes) -> str:
    with pytest.raises(SessionFileError) as caught:
        load_session(content)
    assert caught.value.message.endswith(".")
    assert "Traceback" not in str(caught.value)
    return caught.value.message


def test_every_flipped_byte_is_noticed_or_harmless(content, worked):
    """Every byte of the zip's directory, and a sample of those of the packed entries."""
    directory = content.rfind(b"PK\x05\x06")
    start = int.from_bytes(content[directory + 16 : directory + 20], "little")
    rng = np.random.default_rng(0)
    places = rng.choice(start, 250, replace=False).tolist()
    places += rng.choice(np.arange(start, len(content)), 150, replace=False).tolist()
    places += range(directory, len(content))
    noticed = 0
    for place in places:
        broken = bytearray(content)
        broken[place] ^= 1 << int(rng.integers(8))
        try:
            loaded = load_session(bytes(broken))
        except SessionFileError:
            noticed += 1
        else:
            assert equal_values(loaded, worked)
    assert noticed > 200


def test_truncated_empty_random_and_foreign_files(content):
    for cut in (0, 1, 10, len(content) // 2, len(content) - 1):
        refused(content[:cut])
    rng = np.random.default_rng(1)
    for size in (1, 100, 10_000):
        refused(rng.bytes(size))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hello")
    refused(buffer.getvalue())


def rewritten(content: bytes, change, redigest: bool = True) -> bytes:
    """The file with its entries changed by hand, digests made right again if asked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries.pop("manifest.json"))
    document = json.loads(entries["session.json"])
    change(document, entries, manifest)
    if redigest:
        entries["session.json"] = json.dumps(document).encode()
        version = manifest["version"]
        packed = session_file.zipped(entries)
        if version == session_file.VERSION:
            return packed
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, body in entries.items():
            archive.writestr(name, body)
    return buffer.getvalue()


def test_another_version_is_named(content):
    def newer(document, entries, manifest):
        manifest["version"] = 2

    assert "version 2" in refused(rewritten(content, newer))


def test_tampering_is_noticed(content):
    def note(document, entries, manifest):
        entries["session.json"] = entries["session.json"].replace(b"mammals", b"reptile")

    assert "changed" in refused(rewritten(content, note, redigest=False))

    def extra(document, entries, manifest):
        entries["more"] = b"x"

    assert "missing or additional" in refused(rewritten(content, extra, redigest=False))


def set_(path, value):
    def change(document, entries, manifest):
        inside = document["session"]
        for key in path[:-1]:
            inside = inside[key]
            if isinstance(inside, dict) and inside["~"] == "shared":
                inside = document["shared"][inside["at"]]
        inside[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("seed",), "zero"),
        (("seed",), 1.5),
        (("seed",), True),
        (("status",), "dancing"),
        (("labels",), "abc"),
        (("labels",), ["a", "a", "b", "c", "d", "e", "f", "g"]),
        (("labels",), ["a", "b"]),
        (("constraints", 0, "group"), [0, 99]),
        (("constraints", 0, "group"), [0, 0]),
        (("constraints", 0, "weight"), -1),
        (("constraints", 0, "id"), 10**6),
        (("constraints", 0, "~"), "Restore"),
        (("constraints", 0, "~"), "Tree"),
        (("constraints", 1, "enabled"), True),
        (("constraints",), None),
        (("run",), None),
        (("progress",), [1, 2, 3]),
        (("snapshot",), {"~": "snapshot", "at": 999}),
        (("snapshot",), {"~": "state", "class": "os:system", "arrays": {"~": "map", "items": []}}),
        (("log", 0), {"~": "Undo", "time": ""}),
        (("message",), {"~": "bytes", "entry": "../../etc/passwd"}),
        (("history",), [[[[[]]]]]),
        (("labels",), {"~": "shared", "at": 999}),
        (("constraints", 0), {"~": "shared", "at": -1}),
    ],
)
def test_a_forged_file_is_checked_as_any_input(content, path, value):
    refused(rewritten(content, set_(path, value)))


def test_forged_trees_and_arrays(content):
    def shape(document, entries, manifest):
        name = document["trees"][0]["parent"]["entry"]
        entries[name] = entries[name].replace(b"'shape': (", b"'shape': (9")

    refused(rewritten(content, shape))

    def cycle(document, entries, manifest):
        document["trees"][0]["parent"] = document["trees"][0]["height"]

    refused(rewritten(content, cycle))

    def objects(document, entries, manifest):
        buffer = io.BytesIO()
        np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
        entries[document["trees"][0]["parent"]["entry"]] = buffer.getvalue()

    refused(rewritten(content, objects))

    def deep(document, entries, manifest):
        entries["session.json"] = b'{"trees":[],"snapshots":[],"session":' + b"[" * 100_000

    refused(rewritten(content, deep, redigest=False))


def test_only_our_states_are_made_from_files():
    assert state_class(state_name(FakeState(np.zeros(1), 1))) is FakeState
    for name in (
        "os:system",
        "builtins:eval",
        "hcviz.algorithms.base:Algorithm",
        "hcviz.algorithms.nowhere:State",
        "hcviz.algorithms..os:State",
        "subprocess:Popen",
    ):
        with pytest.raises(SessionFileError):
            state_class(name)


def test_a_zip_bomb_is_refused_before_it_is_unpacked():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        block = b"\0" * 2**20
        with archive.open("manifest.json", "w", force_zip64=True) as entry:
            for _ in range(session_file.MAX_BYTES // 2**20 + 1):
                entry.write(block)
    assert len(buffer.getvalue()) < 2**20
    assert "limit" in refused(buffer.getvalue())


def test_a_session_too_large_gives_up_its_oldest_steps_first(worked, monkeypatch):
    whole = sum(
        info.file_size for info in zipfile.ZipFile(io.BytesIO(save_session(worked))).infolist()
    )
    monkeypatch.setattr(session_file, "MAX_BYTES", whole - 5_000)
    loaded = load_session(save_session(worked))
    assert 0 < len(loaded.past) < len(worked.past)
    assert equal_values(loaded.past[-1], worked.past[-1])
    assert equal_values(replace(loaded, past=(), future=(), history=()),
                replace(worked, past=(), future=(), history=()))  # fmt: skip
    monkeypatch.setattr(session_file, "MAX_BYTES", 2_000)
    with pytest.raises(SessionFileError, match="MB"):
        save_session(worked)


def test_a_sampler_continues_from_the_file_without_a_difference():
    features = np.random.default_rng(2).normal(size=(6, 3))
    problem = Problem(features=features, triplets=[[0, 1, 2]])
    *_, last = hcviz_run("ddt", problem, seed=1, steps=200)
    session = Session(labels=tuple("abcdef"), snapshot=last)
    loaded = load_session(save_session(session))
    assert equal_values(loaded, session)
    *_, first = hcviz_run("ddt", problem, seed=5, start=last, steps=200)
    *_, second = hcviz_run("ddt", problem, seed=6, start=loaded.snapshot, steps=200)
    assert equal_values(first, second)


def test_a_sampler_s_session_replays_bit_for_bit():
    """Constraints, undo, another seed: from the log alone, through a file."""
    features = np.random.default_rng(2).normal(size=(6, 3))

    def run_method(spec, effect):
        problem = Problem(features=features, triplets=effect.triplets)
        method = get_algorithm(effect.method)
        params = method.parameters(**effect.params)
        rng = generator(effect.seed, effect.run)
        return method.start_run(problem, params, rng, effect.start)

    session = Session(params={"steps": 600, "every": 100})
    stream = iter(())
    for move in (
        act.LoadedData(DataSpec(), tuple("abcdef")), 3, act.AddConstraint((0, 1), 2), 2,
        act.AddConstraint((3, 4), 0), 4, act.Undo(), act.AddConstraint((3, 5), 1), 1,
        act.SetSeed(4), 2, act.DisableConstraint(1), 3,
    ):  # fmt: skip
        if isinstance(move, int):
            for snapshot in islice((s for s in stream if s is not None), move):
                session, _ = update(session, act.Arrived(session.run, snapshot), get)
            continue
        session, effects = update(session, move, get)
        for effect in effects:
            if isinstance(effect, StartRun):
                stream = run_method(session.data, effect)
    again = replay(load_session(save_session(session)), run_method, get)
    assert session.snapshot.state.proposals > 0
    assert equal_values(again, session)
