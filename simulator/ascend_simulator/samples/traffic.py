"""What moved during a session, and how much of it by any moment."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from ascend_ref.capture import Batch, Copies, Integers, Kernels, Tasks, Transfers

from ..world.compiled import Compiled
from ..world.small_tasks import Arrivals, enum_ids

LONG_NS_BITS = 31
SHIFT = 20
"""Motions of 2^31 ns and more are cut at multiples of 2^20 ns, to stay within 64 bits."""


@dataclass(frozen=True, slots=True)
class Flow(Batch):
    """Motions of data, each at an even rate from ``start`` to ``end``; they may run side by side.

    read: Byte that the device read from its memory, or received over a link. written: Byte that it
    wrote to its memory, or sent over a link.
    """

    start: Integers
    end: Integers
    read: Integers
    written: Integers


@dataclass(frozen=True, slots=True)
class Traffic:
    """Everything that one device moved.

    memory: what kernels and copies on the device did to its own memory. hccs, sio, roce: transfers
    with other devices. pcie: copies from and to the host, and transfers with devices that hang on
    PCIe. What passes a link also passes the memory, so links are left out of ``memory``. ports:
    what of ``hccs`` passes each port of the unified bus.
    """

    memory: Flow = field(default_factory=Flow.empty)
    hccs: Flow = field(default_factory=Flow.empty)
    sio: Flow = field(default_factory=Flow.empty)
    roce: Flow = field(default_factory=Flow.empty)
    pcie: Flow = field(default_factory=Flow.empty)
    ports: tuple[Flow, ...] = field(default_factory=lambda: (Flow.empty(),))

    def flows(self) -> dict[str, Flow]:
        """All flows by name, but for the parts of ``ports``."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "ports"}


@dataclass(frozen=True, slots=True)
class Peers:
    """Whom a device of a host of so many ``devices`` talks to, by number on the host.

    targets: for each row of Transfers the device that it concerns.
    """

    device: int
    devices: int
    targets: Integers


class Curve:
    """Byte moved until each of some moments; exact, and in all exactly what the flow moved."""

    def __init__(self, flow: Flow, moments: Integers) -> None:
        """Integrate a flow. ``moments`` ascend, without repetition."""
        self._moments = moments
        first = np.searchsorted(moments, flow.start, "right")
        stop = np.maximum(np.searchsorted(moments, flow.end, "left"), first)
        cut = np.flatnonzero(stop > first)
        counts = (stop - first)[cut]
        motion = np.repeat(cut, counts)
        place = np.arange(len(motion)) - np.repeat(np.cumsum(counts) - counts - first[cut], counts)
        length = flow.end[motion] - flow.start[motion]
        passed = moments[place] - flow.start[motion]
        self._read = _until(flow.read, stop, motion, place, passed, length, len(moments))
        self._written = _until(flow.written, stop, motion, place, passed, length, len(moments))

    def read(self, moments: Integers) -> Integers:
        """Byte read or received until these moments, each one of those integrated to."""
        return self._read[np.searchsorted(self._moments, moments)]

    def written(self, moments: Integers) -> Integers:
        """Byte written or sent until these moments, each one of those integrated to."""
        return self._written[np.searchsorted(self._moments, moments)]


def _until(
    amount: Integers,
    stop: Integers,
    motion: Integers,
    place: Integers,
    passed: Integers,
    length: Integers,
    count: int,
) -> Integers:
    """Running total of one amount; motions that moments cut are given piece by piece."""
    within = np.zeros(count + 2, np.int64)
    np.add.at(within, stop, amount)
    done = _share(amount[motion], passed, length)
    np.add.at(within, place, done)
    np.subtract.at(within, place + 1, done)
    return np.cumsum(within)[:count]


def _share(amount: Integers, passed: Integers, length: Integers) -> Integers:
    """``amount * passed // length`` within 64 bits; never decreases with ``passed``."""
    each, rest = np.divmod(amount, length)
    shift = np.where(length >> LONG_NS_BITS, SHIFT, 0)
    done: Integers = each * passed + rest * (passed >> shift) // (length >> shift)
    return done


FLOWS = {"HCCS": "hccs", "SIO": "sio", "ROCE": "roce", "PCIE": "pcie"}
"""Flow of each link type."""
UNIFIED_BUS = "HCCS"
"""What the links of the bus are called in the simulated communication (hardware/products.yaml)."""
HOST_COPIES = ("host to device", "device to host")


def traffic(
    compiled: Compiled,
    tasks: Tasks,
    kernels: Kernels,
    copies: Copies,
    transfers: Transfers,
    arrivals: Arrivals,
) -> Traffic:
    """Flows of one rank.

    ``tasks`` stand at the places of their identities.
    """
    links = enum_ids("ENUM_HCCL_LINK_TYPE")
    operations = enum_ids("ENUM_MEMCPY_OPERATION")
    read, written = compiled.kernel_column("read"), compiled.kernel_column("written")
    memory = [_flow(tasks, kernels.task, read[kernels.kind], written[kernels.kind])]
    local = transfers.take((transfers.link == links["ON_CHIP"]) & (transfers.size > 0))
    memory.append(_flow(tasks, local.task, local.size, local.size))
    task, size, operation = copies.task, copies.size, copies.operation
    inside = ~np.isin(operation, [operations[name] for name in HOST_COPIES])
    memory.append(_flow(tasks, task[inside], size[inside], size[inside]))
    flows = {"memory": Flow.joined(memory)}
    for link, name in FLOWS.items():
        sent = transfers.take((transfers.link == links[link]) & (transfers.size > 0))
        came = arrivals.take(arrivals.link == links[link])
        flows[name] = Flow.joined(
            [
                _flow(tasks, sent.task, sent.size * 0, sent.size),
                Flow(came.start, came.end, came.size, came.size * 0),
            ]
        )
    to_device = operation == operations["host to device"]
    to_host = operation == operations["device to host"]
    moved = _flow(tasks, task, np.where(to_device, size, 0), np.where(to_host, size, 0)).take(
        ~inside
    )
    flows["pcie"] = Flow.joined([flows["pcie"], moved])
    return Traffic(**flows, ports=(Flow.empty(),))


def with_ports(
    moved: Traffic, tasks: Tasks, transfers: Transfers, arrivals: Arrivals, peers: Peers
) -> Traffic:
    """The traffic with what passes each port of the device.

    The devices of a host are joined one to one: the ports lead to the others in order (inferred).
    """
    link = enum_ids("ENUM_HCCL_LINK_TYPE")[UNIFIED_BUS]
    own = (transfers.link == link) & (transfers.size > 0)
    sent, target = transfers.take(own), peers.targets[own]
    came = arrivals.take(arrivals.link == link)
    source = came.source % peers.devices
    ports = []
    for device in range(peers.devices):
        if device != peers.device:
            away, here = sent.take(target == device), came.take(source == device)
            ports.append(
                Flow.joined(
                    [
                        _flow(tasks, away.task, away.size * 0, away.size),
                        Flow(here.start, here.end, here.size, here.size * 0),
                    ]
                )
            )
    return replace(moved, ports=tuple(ports) or moved.ports)


def _flow(tasks: Tasks, task: Integers, read: Integers, written: Integers) -> Flow:
    return Flow(tasks.start[task], tasks.end[task], read, written)
