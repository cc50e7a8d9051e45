"""What samples of traffic have in raw files and in tables: names and units (raw-prof 4.8).

Each function of a table gives the values that raw files can hold, in the units of the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers
from ascend_ref.derive.matching import groups

from .rates import amounts, rates
from .vocabulary import names_of

Columns = Mapping[str, npt.NDArray[Any]]

MEBI = 1 << 20
MILLION = 1_000_000
PIECE = 32
"""Byte that one event of a memory counts."""

PORTS = ("NIC", "ROCE")

BUS_FIELDS: Mapping[str, str] = {
    "portId": "portId",
    "rxUdmaBind": "udmaRxBind",
    "txUdmaBind": "udmaTxBind",
}
"""Fields of the unified bus by the columns of the table; rates are in the same unit."""

PCIE_FIELDS: Mapping[str, tuple[str, int]] = {
    f"{way}{table}{part.capitalize()}": (f"{way}_{field}_{part}", unit)
    for way, table, field, unit in (
        *(
            (way, table, field, MILLION)
            for way in ("tx", "rx")
            for table, field in (
                ("Post", "p_bandwidth"),
                ("Nonpost", "np_bandwidth"),
                ("Cpl", "cpl_bandwidth"),
            )
        ),
        ("tx", "NonpostLatency", "np_latency", 1),
    )
    for part in ("min", "max", "avg")
}
"""Fields by the columns of the table, and what one of the field is in the table's unit."""


def directions() -> tuple[str, ...]:
    """What a memory does, by number."""
    return names_of("memory_directions")


def part_of(column: str) -> str:
    """The part of a line that a column of a port is, ``rx_packet_rate`` of ``rxPacketRate``."""
    return "function" if column == "funcId" else re.sub("([A-Z])", r"_\1", column).lower()


def before(table: Columns) -> Integers:
    """For each row of HBM the time of the sample before of the same unit and direction, else its
    own.
    """
    time = table["timestampNs"]
    order = np.argsort(time, kind="stable")
    _, group = groups(*(table[name][order] for name in ("deviceId", "hbmId", "type")))
    found = time.copy()
    inner = np.argsort(group, kind="stable")
    same = group[inner][1:] == group[inner][:-1]
    found[order[inner[1:][same]]] = time[order[inner[:-1][same]]]
    return found


def pieces(table: Columns) -> Integers:
    """The events of HBM since the sample before, 0 for the first one."""
    length = table["timestampNs"] - before(table)
    return amounts(table["bandwidth"], length, PIECE)


def _of_ports(table: Columns) -> Columns:
    return {**table, "bandwidth": table["bandwidth"] // MEBI * MEBI}


def _of_pcie(table: Columns) -> Columns:
    units = {name: unit for name, (_, unit) in PCIE_FIELDS.items()}
    return {
        name: column // units.get(name, 1) * units.get(name, 1) for name, column in table.items()
    }


def _of_hbm(table: Columns) -> Columns:
    length = table["timestampNs"] - before(table)
    return {**table, "bandwidth": rates(pieces(table), length, PIECE)}


HELD: Mapping[str, Callable[[Columns], Columns]] = {
    "HBM": _of_hbm,
    "NIC": _of_ports,
    "PCIE": _of_pcie,
    "QOS": _of_ports,
    "ROCE": _of_ports,
}
"""Tables of traffic that raw files hold."""
