"""Coarse load of the links between chips and of PCIe, a record for each sample of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ascend_ref.capture import Capture, Integers

from ..chip_links import FIELDS, KINDS, LINKS, OF_DIES, PCIE, declared
from ..fields import put
from ..samples import SOC
from .tree import RawTree, Rows

Made = Callable[[str, Integers], tuple[Rows, Integers]]
"""Records of a declaration at these times, and their ticks."""


def link_rows(
    capture: Capture, tree: RawTree, device: int, made: Made
) -> Iterator[tuple[Rows, Integers]]:
    """The records of a device and their ticks, kind by kind."""
    record = declared(tree.chip)
    for name in (LINKS, PCIE) if record is not None else ():
        table = capture.records.get(name)
        if table is None or record is None:
            continue
        own = table["device"] == device
        rows, ticks = made(record, table["time"][own])
        declaration = tree.declaration(SOC, record)
        first, second = FIELDS[name]
        if record == OF_DIES:
            put(declaration, rows, "dieId", table["link"][own])
            rows["writeBandwidth"], rows["readBandwidth"] = table[first][own], table[second][own]
        else:
            put(declaration, rows, "accType", KINDS[name])
            rows["eventId"] = table["link"][own]
            rows["rxOrWrite"], rows["txOrRead"] = table[first][own], table[second][own]
        yield rows, ticks
