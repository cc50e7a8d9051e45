"""Work of the engines for pictures and video: what it is in raw files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import RECORDS, Capture, Integers, Records
from ascend_spec import raw_catalog

from .machine import chip_of
from .moments import MICROSECOND

RECORD = FILE = "dvpp"
TYPES = ("VDEC", "JPEGD", "PNGD", "JPEGE", "VPC", "VENC", "SCD")
"""Types of engines by number (upstream-msprof StrConstant.DVPP_ENGINE_TYPE)."""
SINGLE = 0
"""The chip that has one group of engines, which its lines do not name."""


def type_numbers(capture: Capture, names: Integers) -> Integers:
    """The numbers of the types that texts name, -1 for none."""
    texts = capture.texts.all
    found = [TYPES.index(one) if one in TYPES else -1 for one in (texts[at] for at in names)]
    return np.array(found, np.int64)


def in_order(columns: Mapping[str, Integers], types: Integers) -> dict[str, Integers]:
    """The rows by device, group, type and engine."""
    keys = (columns["engine"], types, columns["group"], columns["device"])
    order = np.lexsort(keys)
    return {name: columns[name][order] for name in RECORDS[RECORD].columns}


def held_of_engines(capture: Capture) -> Records:
    """The record that raw files hold: whole µs of engines that have a number."""
    table = capture.records.get(RECORD)
    if table is None or chip_of(capture.origin) not in raw_catalog().files[FILE].chips:
        return {}
    types = type_numbers(capture, table["type"])
    kept = (types >= 0) & np.isin(table["device"], capture.origin.devices)
    held = {name: column[kept] for name, column in table.items()}
    held["busy"] = held["busy"] // MICROSECOND * MICROSECOND
    return {RECORD: in_order(held, types[kept])} if kept.any() else {}
