"""Raw folders of a 950 made by hand, and the times of its counter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raw_trees import DC, HM_DEV, M0, WALL_US, write_tree

from ascend_ref.capture import RECORDS
from ascend_ref.raw.decode.read import RawCapture, read_raw


def tree_of_950(
    folder: Path,
    host: Mapping[str, bytes],
    device: Mapping[str, bytes],
    frequency: str = "1800",
) -> Path:
    """A ``PROF_*`` folder of chip 15; frequency: MHz of its cores."""
    made = write_tree(folder / "PROF_1", host, device)
    for name in ("host/info.json", "device_0/info.json.0"):
        document = json.loads((made / name).read_text())
        document["platform_version"] = "15"
        for one in document["DeviceInfo"]:
            one["aic_frequency"] = frequency
        (made / name).write_text(json.dumps(document))
    return made


def read_950(made: Path) -> RawCapture:
    (found,) = read_raw(made)
    return found


def unix(ticks: float) -> int:
    """Unix ns of the counter of 50 MHz."""
    return WALL_US * 1_000 + HM_DEV - M0 + round((ticks - DC) * 20)


def shown(found: RawCapture, record: str, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of a record with their texts."""
    table, texts = found.capture.records.get(record, {}), found.capture.texts.all
    values = [
        [texts[one] for one in table[name].tolist()]
        if name in RECORDS[record].texts
        else table[name].tolist()
        for name in columns
        if table
    ]
    return list(zip(*values, strict=True))
