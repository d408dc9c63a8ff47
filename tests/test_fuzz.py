"""No file makes a reader fail in any other way than with a sentence, or takes too long.

``make fuzz`` gives each reader 100,000 damaged files. Here each gets as many as fit into a fraction
of a second, and the hand-made ones of ``tests/bombs.py``.
"""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hcviz import HcvizError
from hcviz.core import errors
from tests import fuzz
from tests.bombs import BOMBS, pickled
from tests.fuzz import Fault, check, damaged, kind_of, mutate, smallest
from tests.fuzz_readers import READERS, Reader

#: Seconds for each reader.
SECONDS = 0.15

pytestmark = pytest.mark.filterwarnings("ignore")


def warm(name: str) -> Reader:
    """Return a reader that has read its documents once, so that its kernels are compiled."""
    reader = READERS[name]
    for content in reader.documents:
        reader.read(content)
    return reader


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name):
    reader, random = warm(name), Random(f"{name} suite")
    end = time.monotonic() + SECONDS
    outcomes = {check(reader, damaged(reader, random))}
    while time.monotonic() < end:
        outcomes.add(check(reader, damaged(reader, random)))
    assert outcomes <= {"read", "refused"}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_read_or_refused(name):
    reader, make = BOMBS[name]
    check(warm(reader), make())


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["csv", "tree", "json", "constraints"]))
def test_damage_that_hypothesis_chooses_and_makes_smaller(random, name):
    reader = READERS[name]
    check(reader, mutate(random.choice(reader.documents), reader.documents, random))


@pytest.mark.parametrize("reader", ["npy", "npy-file", "linkage"])
def test_pickles_are_never_opened(reader, tmp_path):
    content = pickled(tmp_path / "trap")
    with pytest.raises(HcvizError):
        READERS[reader].read(content)
    assert not (tmp_path / "trap").exists()


# ---------------------------------------------------------------------- the fuzzer itself


def broken(content: bytes) -> None:
    """A reader with a fault of each kind."""
    if b"crash" in content:
        raise KeyError("crash")
    if b"slow" in content:
        while True:
            pass
    if b"large" in content:
        bytearray(1 << 30)[:: 1 << 12] = b"x" * (1 << 18)
    if b"chatty" in content:
        error = HcvizError("a")
        error.message = "a" * 5_000
        raise error
    if b"silent" in content:
        raise HcvizError(" ")
    if b"no" in content:
        raise HcvizError("This is refused.")


BROKEN = Reader("broken", broken, lambda: (b"a",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"crash", "KeyError"),
        (b"slow", "more than 0 s"),
        (b"large", "MB for 5 bytes"),
        (b"chatty", "a message of 5000"),
        (b"silent", "a message of"),
    ],
)
def test_each_fault_is_found(content, message, monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 0.05 if content == b"slow" else 2.0)
    with pytest.raises(Fault, match=message):
        check(BROKEN, content)
    assert check(BROKEN, b"a") == "read"
    assert check(BROKEN, b"no") == "refused"


def test_the_smallest_input_with_the_same_fault_is_found():
    content = b"x" * 300 + b"crash" + b"y" * 200
    with pytest.raises(Fault) as found:
        check(BROKEN, content)
    assert smallest(BROKEN, content, found.value) == b"crash"
    assert "KeyError" in kind_of(found.value)


def test_the_same_seed_gives_the_same_files():
    for name in ("csv", "json"):
        first, second = Random(5), Random(5)
        made = [damaged(READERS[name], first) for _ in range(20)]
        assert made == [damaged(READERS[name], second) for _ in range(20)]
        assert len(set(made)) > 10


def test_messages_are_short_for_any_quoted_text():
    error = HcvizError(f"The name {'n' * 10_000} is wrong.", "h" * 10_000)
    assert error.message.startswith("The name nnn")
    assert error.message.endswith("nnn is wrong.")
    assert len(str(error)) <= errors.MAX_MESSAGE + errors.MAX_HINT + 4
    assert str(HcvizError("A short one.", "Go on.")) == "A short one. Go on."
