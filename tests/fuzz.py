"""Damaged files for every reader: a mutator, limits of time and memory, the smallest bad input.

``python -m tests.fuzz --cases 100000`` (``make fuzz``) gives so many files to each reader of
``tests/fuzz_readers.py``, in a process of its own. A reader returns something, or raises an
``HcvizError`` of one or two short sentences. All else is a fault. The smallest input that still
shows a fault is written to ``tests/artifacts/fuzz``.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from hcviz import HcvizError
from tests.fuzz_readers import READERS, Reader

FOUND = Path(__file__).parent / "artifacts" / "fuzz"

#: CPU seconds of a case, and seconds for each of its megabytes.
SECONDS, SECONDS_PER_MB = 2.0, 2.0
#: Bytes that a case may take beside what is there, and for each of its own bytes.
MEMORY, MEMORY_PER_BYTE = 384 * 2**20, 100
#: Characters of a message with its hint. Names that it quotes are shortened.
MAX_MESSAGE = 1_000
#: Bytes of a mutated file.
MAX_BYTES = 200_000
#: Tries to make a bad input smaller.
SHRINKING = 400

#: What is inserted anywhere: signs of all formats, texts and numbers at the edge of what is valid.
TOKENS = [
    b"", b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n",
    b"\r\n", b"\t", b" ", b",", b";", b"|", b'"', b"'", b'""', b"\\", b"\\ud800", b"\\u0000", b"(",
    b")", b"[", b"]", b"{", b"}", b"<", b">", b"</", b"/>", b"&", b"&#0;", b"&lt;", b"&a;", b":",
    b".", b"-", b"--", b"#", b"@", b"^^", b"*", b"!", b"~", b"=", b"null", b"true", b"NaN", b"[]",
    b"{}", b'""', b"-1", b"0", b"1", b"1e999", b"-1e999", b"1e-999", b"1E400000000", b"nan", b"inf",
    b"9" * 30, b"9" * 5_000, b"0.1", b"1,5", b"0x10", b"2147483648", b"18446744073709551616",
    b"1_000", b"1990-13-45", b"99999-01-01", b"NA", b"?", b"\xe2\x80\xae", b"\xe2\x80\xa8",
    "é".encode(), "é".encode("cp1252"), "\U0001f600".encode(), "٣".encode(), b"<!DOCTYPE a [",
    b"<!ENTITY a 'b'>", b"<?xml version='1.0' encoding='utf-16'?>", b"@prefix a: <b> .",
    b"@context", b"@id", b"@graph", b"skos:broader", b"prefLabel", b"PK\x03\x04", b"PAR1",
    b"\x93NUMPY", b"data:image/png;base64,", b"sep=;", b"name", b"anchor,near,far", b"count",
    b"a" * 3_000, b"(" * 500, b"[" * 500, b"- " * 200, b"  " * 300,
]  # fmt: skip
_NUMBER = re.compile(rb"[0-9]+")


class Fault(AssertionError):
    """What a reader may not do: its case, and how it failed."""


class OutOfTime(BaseException):
    """A case has used up its time. Not an ``Exception``, so that no reader handles it."""


# ---------------------------------------------------------------------- the mutator


def mutate(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    """Return the content with one to four changes, drawn from ``random``."""
    is_json = content[:1] in (b"{", b"[")
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4])):
        change = _json_value if is_json and random.random() < 0.6 else random.choice(CHANGES)
        content = change(content, others, random)[:MAX_BYTES]
    return content


def _slice(content: bytes, random: Random) -> tuple[int, int]:
    first = random.randint(0, len(content))
    size = random.choice([1, 2, 8, 64, len(content)])
    return first, min(len(content), first + random.randint(0, size))


def _flip(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    if not content:
        return b"\0"
    at = random.randrange(len(content))
    return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]


def _insert(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    at = random.randint(0, len(content))
    return content[:at] + random.choice(TOKENS) + content[at:]


def _replace(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    first, last = _slice(content, random)
    return content[:first] + random.choice(TOKENS) + content[last:]


def _delete(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    first, last = _slice(content, random)
    return content[:first] + content[last:]


def _repeat(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    first, last = _slice(content, random)
    times = random.choice([1, 1, 2, 3, 10, 1_000])
    return content[:last] + content[first:last] * times + content[last:]


def _swap(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    a, b, c = sorted(random.randint(0, len(content)) for _ in range(3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def _splice(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    other = random.choice(others)
    first, last = _slice(other, random)
    at, end = _slice(content, random)
    return content[:at] + other[first:last] + content[end:]


def _truncate(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    return content[: random.randint(0, len(content))]


def _number(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _insert(content, others, random)
    chosen = random.choice(found)
    number = random.choice([b"-1", b"0", b"1", b"2", b"1e999", b"2147483648", b"9" * 400, b"0.5"])
    return content[: chosen.start()] + number + content[chosen.end() :]


def _json_value(content: bytes, others: tuple[bytes, ...], random: Random) -> bytes:
    """Replace, remove or copy a value of JSON, so that the text is still JSON."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return _replace(content, others, random)
    places, waiting = [], [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            keys = list(each) if isinstance(each, dict) else range(len(each))
            places += [(each, key) for key in keys]
            waiting += [each[key] for key in keys]
    if not places:
        return _replace(content, others, random)
    holder, key = random.choice(places)
    change = random.random()
    if change < 0.5:
        holder[key] = random.choice(JSON_VALUES)
    elif change < 0.75:
        other, place = random.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        del holder[key]
    return json.dumps(document).encode("utf-8", "surrogatepass")


#: Values of JSON that a reader may not expect.
JSON_VALUES = [
    None, True, False, -1, 0, 1, 2, 7, 2**31, 2**63, 10**400, 0.5, float("inf"), float("nan"), "",
    "a", "\ud800", "\0", "a" * 3_000, [], {}, [[]], [0], ["a", "a"], {"a": 1}, {"~": "Session"},
    {"~": "shared", "at": 0}, {"~": "tree", "at": 0}, {"~": "array", "entry": "arrays/x"},
    {"@id": "_:a"}, {"@list": []}, {"@value": 1, "@type": "@id"}, "*", "!", "hard", "soft",
]  # fmt: skip
CHANGES = [
    _flip, _insert, _replace, _delete, _repeat, _swap, _splice, _truncate, _number, _json_value,
]  # fmt: skip


def damaged(reader: Reader, random: Random) -> bytes:
    """Return a damaged file for the reader. Two of three archives are damaged in a part alone."""
    content = random.choice(reader.documents)
    if reader.parts is None or random.random() < 1 / 3:
        return mutate(content, reader.documents, random)
    parts = reader.parts.split(content)
    name = random.choice(sorted(parts))
    parts[name] = mutate(parts[name], tuple(parts.values()), random)
    return reader.parts.join(parts)


# ---------------------------------------------------------------------- a case


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after so many CPU seconds of this process."""

    def stop(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _peak() -> int:
    """Return the largest number of bytes in memory since :func:`_forget_peak`."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def check(reader: Reader, content: bytes) -> str:
    """Give a file to the reader. Return "read" or "refused", or raise :class:`Fault`."""
    seconds = SECONDS + SECONDS_PER_MB * len(content) / 2**20
    _forget_peak()
    before, outcome = _peak(), "read"
    try:
        with _time_limit(seconds):
            reader.read(content)
    except HcvizError as error:
        outcome = "refused"
        message = str(error)
        if not error.message.strip() or len(message) > MAX_MESSAGE:
            raise Fault(
                f"{reader.name}: a message of {len(message)} characters: {message[:200]}"
            ) from None
    except OutOfTime:
        where = traceback.format_exc(limit=-2)
        raise Fault(f"{reader.name}: more than {seconds:.0f} s\n{where}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Fault(f"{reader.name}: {traceback.format_exc(limit=-4)}") from error
    taken = _peak() - before
    if taken > MEMORY + MEMORY_PER_BYTE * len(content):
        raise Fault(f"{reader.name}: {taken / 2**20:,.0f} MB for {len(content):,} bytes")
    return outcome


def kind_of(fault: Fault) -> str:
    """Return what two faults with one cause have in common: the last lines without values."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    frames = [line for line in lines if line.startswith("File ")]
    return re.sub(r"\d+", "0", "|".join([*frames[-1:], lines[-1][:60]]))


def smallest(reader: Reader, content: bytes, fault: Fault) -> bytes:
    """Return a smaller file with the same kind of fault, by deleting ever smaller pieces."""
    kind, tries, size = kind_of(fault), 0, max(1, len(content) // 2)
    while size and tries < SHRINKING:
        at = 0
        while at < len(content) and tries < SHRINKING:
            shorter, tries = content[:at] + content[at + size :], tries + 1
            try:
                check(reader, shorter)
            except Fault as again:
                if kind_of(again) == kind:
                    content = shorter
                    continue
            at += size
        size //= 2
    return content


# ---------------------------------------------------------------------- many cases


def run(
    name: str, cases: int, seed: int, seconds: float
) -> tuple[str, int, dict[str, int], list[str]]:
    """Give a reader many damaged files in this process; it may end by a signal of its limits."""
    reader = READERS[name]
    for content in reader.documents:
        reader.read(content)  # compiles kernels, and shows that it can be read
    random = Random(f"{name} {seed}")
    counts, found = {"read": 0, "refused": 0, "faults": 0}, {}
    current = FOUND / f"{name}.running"
    end, done = time.monotonic() + seconds, 0
    while done < cases and time.monotonic() < end:
        done += 1
        content = damaged(reader, random)
        current.write_bytes(content)  # it is left there if the process dies
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(cpu.ru_utime + cpu.ru_stime + 4 * SECONDS + 30)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            counts[check(reader, content)] += 1
        except Fault as fault:
            counts["faults"] += 1
            kind = kind_of(fault)
            if kind not in found:
                small = smallest(reader, content, fault)
                path = FOUND / f"{name}-{len(found)}"
                path.write_bytes(small)
                found[kind] = f"{path} ({len(small):,} bytes)\n{fault}"
    current.unlink()
    return name, done, counts, list(found.values())


def _limited() -> None:
    """Limit the memory of a process, so that a case cannot take all of the machine's."""
    resource.setrlimit(resource.RLIMIT_AS, (12 * 2**30, resource.RLIM_INFINITY))


def main(arguments: list[str] | None = None) -> int:
    """Fuzz the readers, a process each, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", help=f"of {', '.join(READERS)}; all by default")
    parser.add_argument("--cases", type=int, default=100_000, help="of each reader")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    options = parser.parse_args(arguments)
    FOUND.mkdir(parents=True, exist_ok=True)
    faults = total = 0
    names = options.readers or list(READERS)
    context = multiprocessing.get_context("spawn")
    for first in range(0, len(names), options.processes):
        batch = names[first : first + options.processes]
        pipes = []
        for name in batch:
            receive, send = context.Pipe(duplex=False)
            given = (send, name, options.cases, options.seed, options.seconds)
            process = context.Process(target=_child, args=given)
            process.start()
            send.close()
            pipes.append((name, process, receive))
        for name, process, receive in pipes:
            try:
                _, cases, counts, found = receive.recv()
            except EOFError:
                process.join()
                found = [f"{FOUND / name}.running ended the process: {process.exitcode}"]
                cases, counts = 0, {"faults": 1}
            process.join()
            total, faults = total + cases, faults + len(found)
            listed = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            print(f"{name}: {cases:,} cases, {listed}", flush=True)
            for each in found:
                print(f"  {each}", flush=True)
    print(f"{total:,} cases of {len(names)} readers; {faults} kinds of faults", flush=True)
    return 1 if faults else 0


def _child(send, *given) -> None:
    _limited()
    send.send(run(*given))
    send.close()


if __name__ == "__main__":
    sys.exit(main())
