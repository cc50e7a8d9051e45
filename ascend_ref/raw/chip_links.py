"""Coarse load of the links between chips and of PCIe (raw-prof 4.9)."""

from __future__ import annotations

from collections.abc import Callable

from ascend_ref.capture import Capture, Integers, Records
from ascend_spec import raw_catalog
from ascend_spec.raw import records

from .machine import chip_of
from .samples import SOC

LINKS, PCIE = "pa_link", "pcie_link"
"""The records of the recording."""
PLAIN, OF_DIES = "CHIP_TRANS", "CHIP_TRANS_V6"
"""Declarations of records of links, and of those of PCIe by die."""
KINDS = {LINKS: records.PA_LINK, PCIE: records.PCIE_LINK}
"""``accType`` by record, where links are not told apart by die."""
FIELDS = {LINKS: ("received", "sent"), PCIE: ("written", "read")}
"""The columns of the two bandwidths of a record, the first one first."""


def declared(chip: int | None) -> str | None:
    """The declaration that files of a chip have; None where they have none."""
    members = (one for one in raw_catalog().files[SOC].members if chip in one.chips)
    found = (one.record for one in members if one.record in (PLAIN, OF_DIES))
    return next(found, None)


def held_of_chip_links(capture: Capture, shown: Callable[[Integers], Integers]) -> Records:
    """The records as raw files hold them; ``shown``: the times that the device's counter shows."""
    record = declared(chip_of(capture.origin))
    names = {PLAIN: (LINKS, PCIE), OF_DIES: (PCIE,)}.get(record or "", ())
    tables = {name: capture.records[name] for name in names if name in capture.records}
    return {name: {**table, "time": shown(table["time"])} for name, table in tables.items()}
