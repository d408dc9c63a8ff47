"""``DdtState``: all that a chain needs to continue bit for bit, stored without pickle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hcviz.algorithms.ddt.numbering import by_time
from hcviz.algorithms.ddt.work import (
    ACCEPTED,
    GIVEN,
    LEFT,
    NOISE,
    PARENT,
    PROPOSALS,
    RIGHT,
    SLOT,
    SUBTREE,
    TRIES,
    VAR,
    C,
    Float,
    Int,
    U,
    Work,
)
from hcviz.core.errors import InvalidData
from hcviz.core.tree import Tree


@dataclass(frozen=True, eq=False)
class OtherChains:
    """The other chains of a run, and the record of the log joints of all."""

    states: tuple[DdtState, ...]
    joints: Float  # (r, chains): log joints, evenly thinned
    stride: int  # of these rows
    seen: int  # rows so far
    rhat: float  # as last computed; NaN before
    ess: float
    digest: str  # of the posterior of the log joints


@dataclass(frozen=True, eq=False)
class DdtState:
    """A chain between two proposals, in the kernel's own numbering (m = 2n - 1 nodes).

    Of several chains this is the first, whose tree is shown; ``other_chains`` holds the others.
    """

    parent: Int  # (m,)
    child: Int  # (m, 2); their order matters to the walk's random choices
    u: Float  # (m,) -log(1 - t), inf at the leaves
    c: float
    sigma: Float  # (d,) one for each column that is used
    proposals: int
    accepted: int
    subtree: int  # the subtree that is being moved, if tries > 0
    tries: int  # proposals left for it
    generator: str  # JSON of the bit generator's state
    log_joint: float = float("nan")
    places: Float | None = None  # (n - 1, d) locations in units of sigma, if they are given
    other_chains: OtherChains | None = field(default=None, repr=False)
    data: str = ""  # a digest of the data of c, sigma, noise and places
    noise: float | None = None  # at the leaves, in units of sigma^2; None in older files

    @classmethod
    def of(
        cls,
        w: Work,
        rng: np.random.Generator,
        log_joint: float,
        data: str,
        other_chains: OtherChains | None = None,
        arrays: tuple[Int, Int, Float] | None = None,
    ) -> DdtState:
        """Return the state of ``w``. ``arrays``: parent, child and u, if they are already
        copied."""
        if arrays is None:
            node = w.node
            arrays = node[:, PARENT].copy(), node[:, LEFT : RIGHT + 1].copy(), w.time[:, U].copy()
        tally = w.tally.tolist()
        return cls(
            *arrays,
            float(w.real[C]),
            w.sigma.copy(),
            tally[PROPOSALS],
            tally[ACCEPTED],
            tally[SUBTREE],
            tally[TRIES],
            generator_text(rng),
            log_joint,
            locations_of(w) if w.tally[GIVEN] else None,
            other_chains,
            data,
            float(w.real[NOISE]),
        )

    def fits(self, data: str) -> bool:
        """Return True if the state is of the data with this digest."""
        return self.data == data

    @property
    def chains(self) -> tuple[DdtState, ...]:
        """All chains of the run, this one first."""
        return (self, *(self.other_chains.states if self.other_chains else ()))

    def tree(self) -> Tree:
        """Return the chain's tree, heights 1 - t, as :attr:`Snapshot.tree`. O(n log n)."""
        return tree_from(self.parent, self.u, np.exp(-self.u))

    def rng(self) -> np.random.Generator:
        """Return a generator that continues where this state's stopped."""
        saved = json.loads(self.generator)
        bits = np.random.PCG64()
        bits.state = saved
        return np.random.Generator(bits)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return plain arrays by name, for ``np.savez`` without pickle."""
        found: dict[str, np.ndarray] = {
            "parent": self.parent,
            "child": self.child,
            "u": self.u,
            "c": np.array(self.c),
            "sigma": self.sigma,
            "counts": np.array([self.proposals, self.accepted, self.subtree, self.tries], np.int64),
            "generator": np.frombuffer(self.generator.encode(), np.uint8),
            "log_joint": np.array(self.log_joint),
            "data": np.frombuffer(self.data.encode(), np.uint8),
        }
        if self.noise is not None:
            found["noise"] = np.array(self.noise)
        if self.places is not None:
            found["places"] = self.places
        others = self.other_chains
        if others is not None:  # files name it "company"
            found["company.joints"] = others.joints
            found["company.counts"] = np.array([others.stride, others.seen], np.int64)
            found["company.agreement"] = np.array([others.rhat, others.ess])
            found["company.target"] = np.frombuffer(others.digest.encode(), np.uint8)
            for number, other in enumerate(others.states, 2):
                found |= {f"chain {number}.{k}": v for k, v in other.to_arrays().items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Self:
        """Return the state of :meth:`to_arrays`; raise :class:`InvalidData` for other arrays."""
        try:
            counts = np.asarray(arrays["counts"], np.int64)
            made = cls(
                np.array(arrays["parent"], np.int32),
                np.array(arrays["child"], np.int32),
                np.array(arrays["u"], np.float64),
                float(arrays["c"]),
                np.array(arrays["sigma"], np.float64),
                int(counts[0]),
                int(counts[1]),
                int(counts[2]),
                int(counts[3]),
                bytes(np.asarray(arrays["generator"], np.uint8)).decode(),
                float(arrays.get("log_joint", np.nan)),
                np.array(arrays["places"], np.float64) if "places" in arrays else None,
                _other_chains(arrays) if "company.joints" in arrays else None,
                bytes(np.asarray(arrays["data"], np.uint8)).decode(),
                float(arrays["noise"]) if "noise" in arrays else None,
            )
            made.check()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidData(f"This is no state of a diffusion-tree chain: {error}.") from None
        return made

    def check(self) -> None:
        """Raise ValueError unless the arrays are a binary tree with increasing times.

        The kernel does not check its arrays, and a state may come from a file.
        """
        m = self.parent.size
        n = (m + 1) // 2
        if m < 3 or m % 2 == 0 or self.child.shape != (m, 2) or self.u.shape != (m,):
            raise ValueError("its arrays do not fit each other")
        inner = np.arange(n, m)
        kids = self.child[n:]
        roots = np.flatnonzero(self.parent < 0)
        if (
            np.any(self.child[:n] != -1)
            or roots.size != 1
            or roots[0] < n
            or not np.array_equal(np.sort(kids.ravel()), np.delete(np.arange(m), roots))
            or np.any(self.parent[kids] != inner[:, None])
        ):
            raise ValueError("its nodes are not a binary tree")
        times = self.u[n:]
        if not (
            np.all(np.isfinite(times) & (times > 0))
            and np.all(np.isposinf(self.u[:n]))
            and np.all(self.u[kids] > times[:, None])
        ):
            raise ValueError("its times do not rise from the root to the leaves")
        held = 0 <= self.subtree < m and (self.tries == 0 or self.subtree != roots[0])
        if min(self.tries, self.proposals, self.accepted) < 0 or not held:
            raise ValueError("its counters are out of range")
        if not (np.isfinite(self.c) and self.c > 0):
            raise ValueError("c is not positive")
        if self.sigma.ndim != 1 or not np.all(np.isfinite(self.sigma) & (self.sigma > 0)):
            raise ValueError("sigma is not positive")
        if self.noise is not None and not (np.isfinite(self.noise) and self.noise >= 0):
            raise ValueError("its leaf noise is not a number of 0 or more")
        if self.places is not None and not (
            self.places.shape == (n - 1, self.sigma.size) and np.all(np.isfinite(self.places))
        ):
            raise ValueError("its locations are not finite, or do not fit")
        self.rng()
        if self.other_chains is not None:
            sizes = {state.parent.size for state in self.chains}
            if len(sizes) > 1 or self.other_chains.joints.shape[1:] != (len(self.chains),):
                raise ValueError("its chains do not fit each other")


def generator_text(rng: np.random.Generator) -> str:
    """Return the JSON of a PCG64's state as ``json.dumps`` writes it, ten times faster."""
    state = rng.bit_generator.state
    inner = state["state"]
    return (
        f'{{"bit_generator": "{state["bit_generator"]}", "state": {{"state": {inner["state"]}, '
        f'"inc": {inner["inc"]}}}, "has_uint32": {state["has_uint32"]}, '
        f'"uinteger": {state["uinteger"]}}}'
    )


def locations_of(w: Work) -> Float:
    """Return the inner nodes' given locations, which are their messages: float64 (n - 1, d)."""
    inner = np.arange(w.data.shape[0], w.node.shape[0])
    found: Float = w.msg[2 * inner + w.node[inner, SLOT], 1:]
    return found


def put_locations(w: Work, places: Float) -> None:
    """Write given locations as messages without variance."""
    inner = np.arange(w.data.shape[0], w.node.shape[0])
    rows = 2 * inner + w.node[inner, SLOT]
    w.msg[rows, VAR] = 0.0
    w.msg[rows, 1:] = places


def _other_chains(arrays: dict[str, Any]) -> OtherChains:
    """Return the other chains of :meth:`DdtState.to_arrays`."""
    stride, seen = (int(x) for x in np.asarray(arrays["company.counts"], np.int64))
    rhat, ess = (float(x) for x in np.asarray(arrays["company.agreement"], np.float64))
    joints = np.array(arrays["company.joints"], np.float64)
    digest = bytes(np.asarray(arrays["company.target"], np.uint8)).decode()
    if stride < 1 or joints.ndim != 2 or seen < 0 or len(joints) != -(-seen // stride):
        raise ValueError("its record does not fit its counts")
    return OtherChains(tuple(_others(arrays)), joints, stride, seen, rhat, ess, digest)


def _others(arrays: dict[str, Any]) -> Iterator[DdtState]:
    number = 2
    while f"chain {number}.parent" in arrays:
        prefix = f"chain {number}."
        own = {k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)}
        yield DdtState.from_arrays(own)
        number += 1


def tree_from(parent: Int, u: Float, h: Float) -> Tree:
    """Return a tree from the kernel's arrays: inner nodes by decreasing time. O(n log n)."""
    above, height = by_time(np.ascontiguousarray(parent), np.ascontiguousarray(u), h.copy())
    return Tree(above, height, (parent.size + 1) // 2)
