"""What the JSON files next to a database state about the capture and the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ascend_spec import layout_catalog

LEVELS: Mapping[str, Literal[0, 1, 2]] = {"Level0": 0, "Level1": 1, "Level2": 2}

MAX_BYTES = 1 << 22
"""Of one such file; real ones have a few kB."""


@dataclass(frozen=True, slots=True)
class Stated:
    """level: of the profiler. metrics: name of the group as profiler_info spells it. device: first
    entry of DeviceInfo. host: the rest of that info.json. metadata: of the program, from the
    framework. Empty where the files do not say.
    """

    level: Literal[0, 1, 2] | None
    metrics: str | None
    rank: int | None
    device: Mapping[str, Any]
    host: Mapping[str, Any]
    metadata: Mapping[str, Any]

    def number(self, name: str) -> int | None:
        """A number of the device, which some writers put in quotes."""
        value = self.device.get(name)
        try:
            return int(value) if isinstance(value, (int, str)) else None
        except ValueError:
            return None


def stated_around(database: Path) -> Stated:
    """The facts in the folders around a database; unreadable and odd files are ignored."""
    around = (database.parent, database.parent.parent)
    info = next(_objects(around, "profiler_info"), {})
    options = _object(_object(info.get("config")).get("experimental_config"))
    metrics = options.get("_aic_metrics")
    rank = info.get("rank_id")
    machine = next(_objects(_inside(_inside(around, "profile"), "device"), "info"), {})
    devices = machine.get("DeviceInfo")
    return Stated(
        level=LEVELS.get(str(options.get("_profiler_level"))),
        metrics=metrics if isinstance(metrics, str) else None,
        rank=int(rank) if isinstance(rank, (int, str)) and str(rank).isdecimal() else None,
        device=_object(devices[0]) if isinstance(devices, list) and devices else {},
        host=machine,
        metadata=next(_objects(around, "profiler_metadata"), {}),
    )


def _inside(folders: Iterable[Path], which: str) -> Iterator[Path]:
    """Each folder and, after it, the folders of one kind in it."""
    for folder in folders:
        yield folder
        yield from _entries(folder, partial(layout_catalog().is_folder, which))


def _objects(folders: Iterable[Path], which: str) -> Iterator[Mapping[str, Any]]:
    """The contents of the files of one kind in folders."""
    for folder in folders:
        yield from map(_read, _entries(folder, partial(layout_catalog().is_file, which)))


def _entries(folder: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """What has a wanted name, in order; a folder may hold thousands of other profiles."""
    try:
        return [folder / name for name in sorted(filter(wanted, os.listdir(folder)))]
    except OSError:
        return []


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return {}
        return _object(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
