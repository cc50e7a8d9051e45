"""The paths between all ranks as tables, for looking up many at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ascend_ref.capture import Integers

from ..hardware.model import Machine, path
from .compiled import Flags

LINK_NAMES = ("ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO")
"""Names in ENUM_HCCL_LINK_TYPE."""

_OF_TRANSPORT = {"RDMA": "ROCE"}


@dataclass(frozen=True, eq=False)
class Wires:
    """Tables of shape (ranks, ranks): from, to. rate: Byte per microsecond. latency: ns.

    link: place in :data:`LINK_NAMES`. port: Byte per microsecond of all paths of a kind together
    that begin, or end, at a device; 0 where there is no such limit.
    """

    rate: Integers
    latency: Integers
    link: Integers
    port: Integers

    @cached_property
    def remote(self) -> Flags:
        """Whether a path leads to another host."""
        flags: Flags = self.link == LINK_NAMES.index("ROCE")
        return flags


@lru_cache(maxsize=8)
def wires(machine: Machine, ranks: int) -> Wires:
    """The tables of a machine; the diagonal is a device's own memory."""
    number = np.arange(ranks)
    host, device = number // machine.devices_per_host, number % machine.devices_per_host
    # Paths differ by these alone, so that one path of each kind is enough.
    near = host[:, None] == host
    pair = near & (device[:, None] // 2 == device // 2)
    kind = near * 1 + pair * 1 + np.eye(ranks, dtype=np.int64)
    links = {}
    for one in np.unique(kind).tolist():
        source, target = divmod(int(np.argmax(kind == one)), ranks)
        links[one] = path(machine, source, target)

    def table(values: dict[int, int]) -> Integers:
        found: Integers = np.array([values.get(one, 0) for one in range(4)], np.int64)[kind]
        return found

    names = {one: _OF_TRANSPORT.get(link.transport, link.transport) for one, link in links.items()}
    return Wires(
        table({one: link.bytes_per_microsecond for one, link in links.items()}),
        table({one: link.latency for one, link in links.items()}),
        table({one: LINK_NAMES.index(name) for one, name in names.items()}),
        table({one: link.port for one, link in links.items()}),
    )
