"""What a trace of communication says of links (mindspore-profiler 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from ascend_spec.mindspore import UNRANKED

RDMA, SDMA, LOCAL = "RDMA", "SDMA", "LOCAL"
SEND, WAIT, RECORD = "RDMASend", "Notify Wait", "Notify Record"
MOVES = ("Reduce Inline", "Memcpy")
PER_MS = 1e3
"""Microseconds of a millisecond, and bytes of a kB."""

Links: TypeAlias = dict[str, dict[str, list[float]]]
"""By link and its kind: cost in ms, size in kB, bandwidth in kB/s, and of RDMA the wait in ms."""


class Part(Protocol):
    """A part of an operator, of any source."""

    @property
    def task(self) -> str | None:
        """Its kind."""

    @property
    def duration(self) -> float:
        """us."""

    @property
    def size(self) -> int:
        """Byte."""


class Event(NamedTuple):
    """A part of an operator. ``link``: source and target, where it has both."""

    thread: object
    duration: float
    task: str | None
    transport: str | None
    link: tuple[int, int] | None
    size: int


@dataclass(frozen=True, slots=True)
class LinkWays:
    """The ways of hccl_transfers, hccl_bandwidth, hccl_ranks and hccl_costs."""

    transfers: str
    bandwidth: str
    ranks: str
    costs: str


class Cost(NamedTuple):
    """What an operator costs: ``transfer`` and ``wait`` in ms, and its links."""

    transfer: float
    wait: float
    links: Links


def cost_of(events: Sequence[Event], ways: LinkWays) -> Cost:
    """The cost of one execution of an operator.

    Raises ``TypeError`` for threads that are no numbers, where one of them is the main one.
    """
    links = links_of(events, ways)
    counted = events
    own = links
    if ways.costs == "main-stream":
        threads = _by(events, lambda one: one.thread)
        counted = threads[max(threads)]  # type: ignore[type-var]  # raises, as stated above
        # Parsers turn events on a device itself where they stand, and here turn them back.
        own = links_of(counted, ways, turned=False)
    waits = sum(one.duration for one in counted if one.task == WAIT) / PER_MS
    transfer: float = 0
    in_links: float = 0
    for values in own.values():
        for value in values.values():
            transfer += value[0]
            in_links += value[3] if len(value) > 3 else 0
    return Cost(transfer, waits - in_links, links)


def links_of(events: Iterable[Event], ways: LinkWays, turned: bool = True) -> Links:
    """The links by their ranks, in the order in which they come.

    ``turned``: whether source and target of events on a device itself change places.
    """
    found: Links = {}
    linked = (one for one in events if one.link is not None)
    for name, own in _by(linked, lambda one: _link(one, ways, turned)).items():
        kinds = _kinds(own, ways)
        if not kinds and ways.transfers == "without-records":
            continue
        found[str(name)] = values = {}
        for kind, transfers in kinds.items():
            if kind == RDMA:
                threads = _by(transfers, lambda one: one.thread).values()
                values[kind] = added([_rdma(one, ways) for one in threads])
            else:
                values[kind] = _sdma(transfers, ways)
    return found


def merged(links: Iterable[Links], join: Callable[[list[list[float]]], list[float]]) -> Links:
    """The links of several, with the values of each joined."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for one in links:
        for link, kinds in one.items():
            own = found.setdefault(link, {})
            for kind, values in kinds.items():
                own.setdefault(kind, []).append(values)
    return {
        link: {kind: join(values) for kind, values in kinds.items()}
        for link, kinds in found.items()
    }


def added(values: list[list[float]]) -> list[float]:
    """The sum of each place."""
    found: list[float] = np.sum(values, axis=0).tolist()
    return found


def averaged(values: list[list[float]]) -> list[float]:
    """The mean of each place."""
    found: list[float] = np.mean(values, axis=0).tolist()
    return found


def _by(events: Iterable[Event], key: Callable[[Event], object]) -> dict[object, list[Event]]:
    found: dict[object, list[Event]] = {}
    for one in events:
        found.setdefault(key(one), []).append(one)
    return found


def _link(event: Event, ways: LinkWays, turned: bool) -> str:
    source, target = event.link or (0, 0)
    if ways.ranks == "own":
        source, target = ranks_of(source, target)
    if event.transport == LOCAL and turned:
        source, target = target, source
    return f"{source}-{target}"


def ranks_of(source: int, target: int) -> tuple[int, int]:
    """Source and target, each the other one where it is the own rank."""
    source = target if source == UNRANKED else source
    return source, source if target == UNRANKED else target


def _kinds(events: Iterable[Event], ways: LinkWays) -> Mapping[str, list[Event]]:
    """The transfers by kind; one on a device itself joins those of RDMA, where there are any."""
    found: dict[str, list[Event]] = {}
    for one in events:
        is_record = one.task == RECORD and ways.transfers == "without-records"
        if one.transport in (RDMA, SDMA) and not is_record:
            found.setdefault(str(one.transport), []).append(one)
        elif one.transport == LOCAL and RDMA in found:
            found[RDMA].append(one)
    return found


def transfers_in(parts: Sequence[Part]) -> tuple[float, float, int]:
    """Cost and wait in us, and bytes, of the transfers of RDMA: two sends and a wait that follow
    each other.
    """
    cost: float = 0
    wait: float = 0
    size = at = 0
    while at < len(parts) - 2:
        three = parts[at : at + 3]
        if [one.task for one in three] == [SEND, SEND, WAIT]:
            cost += three[0].duration + three[1].duration + three[2].duration
            wait += three[2].duration
            size += three[0].size + three[1].size
            at += 2
        at += 1
    return cost, wait, size


def _rdma(events: Sequence[Event], ways: LinkWays) -> list[float]:
    cost, wait, size = transfers_in(events)
    return [*_values(cost, size, ways), wait / PER_MS]


def _sdma(events: Iterable[Event], ways: LinkWays) -> list[float]:
    cost: float = 0
    size = 0
    for one in events:
        if one.task in MOVES:
            cost += one.duration
            size += one.size
    return _values(cost, size, ways)


def _values(cost: float, size: int, ways: LinkWays) -> list[float]:
    ms, kb = cost / PER_MS, size / PER_MS
    if not kb or not ms:
        return [ms, kb, 0]
    return [ms, kb, kb / ms / PER_MS if ways.bandwidth == "per-ms" else kb / (ms / PER_MS)]
