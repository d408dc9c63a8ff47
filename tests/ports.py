"""Ports for the servers of the tests."""

from __future__ import annotations

import random
import socket
from pathlib import Path

#: Each process draws another number, for any seeds of its tests: test runs may overlap.
_chance = random.SystemRandom()


def free_port() -> int:
    """A port of 127.0.0.1 that is free, and stays so until a slow server has started.

    Not one of those that the system itself gives away, to every connection of every process: by
    then it may have.
    """
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(given.read_text().split()[0]) if given.exists() else 32768
    while True:
        port = _chance.randrange(10_000, max(first, 12_000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
