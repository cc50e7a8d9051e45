"""The intervals of communication operators, and how they spent them: moving data, waiting, idling.

All sums are whole ns and Byte. Source: communication parsers of msprof (text-outputs.md 7.8).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Tasks
from ascend_ref.capture.batch import Reals
from ascend_ref.capture.model import NONE
from ascend_ref.spill import InMemory, Spill

from .matching import greatest, groups, least, sums

TRANSIT_KINDS = ("Memcpy", "Reduce_Inline")
"""Tasks that carry data."""
WAIT_KIND = "Notify_Wait"
LINKS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO", "LOCAL")
"""Names of links in the exporter's order. SDMA: links without a name of their own, and the sum of
all but RDMA. LOCAL: within the chip, which counts for the matrix alone."""
RDMA, HCCS, PCIE, SDMA, SIO, LOCAL = range(6)
OF_LINK = {"ON_CHIP": LOCAL, "HCCS": HCCS, "HCCS_SW": HCCS, "PCIE": PCIE, "SIO": SIO}
"""Links with a name of their own in tables and documents, by their name in
ENUM_HCCL_LINK_TYPE."""
NAMES_IN_MATRIX = tuple(None if name == LINKS[SDMA] else name for name in LINKS)
"""What the matrix calls them: a link without a name of its own has none there (erratum T82)."""
LARGE_PACKET_BYTES = np.array([500_000, 32_000_000, 32_000_000, 0, 32_000_000, 0])
"""A packet over a link is large above so many Byte."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SmallTasks:
    """Tasks of communication operators.

    owner: place of the operator. link: place in LINKS. source, target: places in the group; local
    work ends where it begins. on_master: on the operator's master stream. moves,
    waits: what the task does. The tasks of an operator ascend in time.
    """

    owner: Integers
    start: Integers
    end: Integers
    link: Integers
    source: Integers
    target: Integers
    size: Integers
    on_master: Mask
    moves: Mask
    waits: Mask

    def chosen(self, rows: Mask) -> SmallTasks:
        """The tasks where a mask is true."""
        return SmallTasks(*(getattr(self, name)[rows] for name in self.__slots__))

    @property
    def length(self) -> Integers:
        """How long each task ran."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Division:
    """The time of each operator: ``elapsed = transit + wait + idle``; synchronization is the part
    of wait before the first data moved.
    """

    elapsed: Integers
    transit: Integers
    wait: Integers
    synchronization: Integers

    @property
    def idle(self) -> Integers:
        """What remains of the elapsed time."""
        return self.elapsed - self.transit - self.wait


@dataclass(frozen=True, slots=True)
class Packets:
    """What one operator moved over one link in packets of one size.

    transit_size, transit_time, packets, large: of the link, all sizes together. size: of a packet.
    """

    owner: Integers
    link: Integers
    transit_size: Integers
    transit_time: Integers
    packets: Integers
    large: Integers
    size: Integers
    count: Integers
    duration: Integers


@dataclass(frozen=True, slots=True)
class Flows:
    """What one operator moved from one rank to another. duration: ns, or parts of it."""

    owner: Integers
    source: Integers
    target: Integers
    link: Integers
    size: Integers
    duration: Integers | Reals


def division(tasks: SmallTasks, start: Integers, end: Integers) -> Division:
    """Where the time of the operators went; ``start`` and ``end`` are theirs."""
    count = len(start)
    master = tasks.chosen(tasks.on_master)
    moves = master.moves & (master.link != LOCAL)
    first_move = least(master.owner[moves], master.start[moves], count)
    before = master.waits & (master.start < first_move[master.owner])

    def spent(rows: Mask) -> Integers:
        return sums(master.owner[rows], master.length[rows], count)

    return Division(end - start, spent(moves), spent(master.waits), spent(before))


def packets(tasks: SmallTasks) -> Packets:
    """Amounts by operator, link and size of packet, sizes in order of first use."""
    moved = tasks.chosen(tasks.moves & (tasks.link != LOCAL))
    sized, by_size = groups(moved.owner, moved.link, moved.size)
    _, by_link = groups(moved.owner, moved.link)
    links = int(by_link.max(initial=-1)) + 1
    link = by_link[sized]
    large = moved.size > LARGE_PACKET_BYTES[moved.link]
    sizes = len(sized)
    return Packets(
        owner=moved.owner[sized],
        link=moved.link[sized],
        transit_size=sums(by_link, moved.size, links)[link],
        transit_time=sums(by_link, moved.length, links)[link],
        packets=np.bincount(by_link, minlength=links)[link],
        large=sums(by_link, large.astype(np.int64), links)[link],
        size=moved.size[sized],
        count=np.bincount(by_size, minlength=sizes),
        duration=sums(by_size, moved.length, sizes),
    )


def link_sums(found: Packets) -> Packets:
    """The SDMA row of each operator: its links but RDMA together, without packets."""
    counted = found.link != RDMA
    owner, place = np.unique(found.owner[counted], return_inverse=True)
    none = np.zeros(len(owner), np.int64)
    return Packets(
        owner=owner,
        link=np.full(len(owner), SDMA),
        transit_size=sums(place, (found.size * found.count)[counted], len(owner)),
        transit_time=sums(place, found.duration[counted], len(owner)),
        packets=none,
        large=none,
        size=none,
        count=none,
        duration=none,
    )


def rows_of_links(found: Packets) -> Packets:
    """All rows as exporters write them: those of packets, and the SDMA row of each operator.

    Packets over links without a name stand in SDMA, with its sums and no share of large ones.
    Source: combine_sdma_info of msprof.
    """
    sums = link_sums(found)
    own = found.link == SDMA
    place = np.searchsorted(sums.owner, found.owner[own])
    size, time, large = (
        getattr(found, name).copy() for name in ("transit_size", "transit_time", "large")
    )
    size[own], time[own], large[own] = sums.transit_size[place], sums.transit_time[place], 0
    with_sums = replace(found, transit_size=size, transit_time=time, large=large)
    alone = ~np.isin(sums.owner, found.owner[own])
    return Packets(
        *(
            np.concatenate([getattr(with_sums, name), getattr(sums, name)[alone]])
            for name in Packets.__slots__
        )
    )


def flows(tasks: SmallTasks) -> Flows:
    """Amounts by operator and pair of ranks, pairs in order of first use."""
    moved = tasks.chosen(tasks.moves)
    first, group = groups(moved.owner, moved.source, moved.target)
    return Flows(
        owner=moved.owner[first],
        source=moved.source[first],
        target=moved.target[first],
        link=moved.link[first],
        size=sums(group, moved.size, len(first)),
        duration=sums(group, moved.length, len(first)),
    )


@dataclass(frozen=True, slots=True)
class Operators:
    """Operators that have an interval, in order of start and end.

    rows: their rows in the capture. start, end: ns. number: opId. number_of: opId of every row of
    the capture, -1 for one without an interval.
    """

    rows: Integers
    start: Integers
    end: Integers
    number: Integers
    number_of: Integers

    def __len__(self) -> int:
        return len(self.rows)


def operators(
    *,
    count: int,
    owner: Integers,
    start: Integers,
    end: Integers,
    first: int,
    spill: Spill | None = None,
) -> Operators:
    """First start and last end of the tasks of each of ``count`` operators; ``owner`` of a task.

    An operator without tasks has no interval. The numbers begin with ``first`` and follow the
    order of the intervals (db-schema.md 4.9). Source: invariant I14.
    """
    earliest, latest = least(owner[:0], start[:0], count), greatest(owner[:0], end[:0], count)
    for batch in (spill or InMemory()).batches(len(owner)):
        np.minimum.at(earliest, owner[batch], start[batch])
        np.maximum.at(latest, owner[batch], end[batch])
    present = np.flatnonzero(latest >= 0)
    rows = present[np.lexsort((present, latest[present], earliest[present]))]
    number = first + np.arange(len(rows))
    number_of = np.full(count, -1)
    number_of[rows] = number
    return Operators(rows, earliest[rows], latest[rows], number, number_of)


def task_rows(tasks: Tasks, spill: Spill | None = None) -> Integers:
    """Rows of tasks at the places of their identities; NONE for one that no task has."""
    spill = spill or InMemory()
    most = spill.range_of(tasks.identity)[1] if len(tasks) else NONE
    rows = spill.changeable(most + 1, NONE)
    for batch in spill.batches(len(tasks)):
        rows[tasks.identity[batch]] = np.arange(batch.start, batch.stop)
    return rows


def operators_of(
    capture: Capture, *, first: int = 0, masters: bool = True, spill: Spill | None = None
) -> Operators:
    """The communication operators of a capture, bounded by all their tasks or the master ones."""
    spill = spill or InMemory()
    transfers, tasks = capture.transfers, capture.tasks
    own = spill.where(lambda master: (master == 1) | (not masters), transfers.master)
    rows = spill.taken(task_rows(tasks, spill), spill.taken(transfers.task, own))
    return operators(
        count=len(capture.collectives),
        owner=spill.taken(transfers.collective, own),
        start=spill.taken(tasks.start, rows),
        end=spill.taken(tasks.end, rows),
        first=first,
        spill=spill,
    )
