"""The paths between all ranks as tables, for looking up many at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ascend_ref.capture import Integers

from ..hardware.model import Machine, path

LINK_NAMES = ("ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO")
"""Names in ENUM_HCCL_LINK_TYPE."""


_OF_TRANSPORT = {"RDMA": "ROCE"}


@dataclass(frozen=True, slots=True, eq=False)
class Wires:
    """Tables of shape (ranks, ranks): from, to. rate: Byte per microsecond. latency: ns.

    link: place in :data:`LINK_NAMES`.
    """

    rate: Integers
    latency: Integers
    link: Integers


@lru_cache(maxsize=8)
def wires(machine: Machine, ranks: int) -> Wires:
    """The tables of a machine; the diagonal is a device's own memory."""
    rows = [[path(machine, source, target) for target in range(ranks)] for source in range(ranks)]
    names = [[_OF_TRANSPORT.get(link.transport, link.transport) for link in row] for row in rows]
    return Wires(
        np.array([[link.bytes_per_microsecond for link in row] for row in rows], np.int64),
        np.array([[link.latency for link in row] for row in rows], np.int64),
        np.array([[LINK_NAMES.index(name) for name in row] for row in names], np.int64),
    )
