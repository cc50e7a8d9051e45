"""The side files of a capture, from which readers take its machine, switches and clocks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ascend_ref.capture import Origin
from ascend_ref.names import HOST_ZONE
from ascend_spec import raw_catalog

from ..damage import Damage
from ..json_text import encode_json
from ..lines import Entry, encode_lines
from ..machine import HOST_DEVICE, machine_info
from ..moments import MICROSECOND, Moments
from ..side import SideFiles, read_side_files
from ..tree import DATA, HOST, find_folders

Document = Mapping[str, Any]


def write_side_files(
    folder: Path,
    origin: Origin,
    samples: Mapping[int | None, Document],
    moments: Moments,
    machine: Document,
    devices: Mapping[int, Document],
) -> Mapping[int | None, SideFiles]:
    """Write the side files of the host and of each device; returns what they state.

    samples: ``sample.json`` of the host (``None``) and of each device. machine: what info.json
    states of the host in addition; devices: of each device. Raises ``ValueError`` for a chip that
    has no platform number, or cores of a device that are not known.
    """
    if origin.facts is None:
        raise ValueError("cores and clock of the device are not known; raw data cannot do without")
    found: dict[int | None, SideFiles] = {}
    for device, sample in samples.items():
        place = folder / (HOST if device is None else f"device_{device}")
        (place / DATA).mkdir(parents=True)
        side = "host" if device is None else "device"
        stated = machine_info(origin, device, moments)
        if device is not None:
            stated["DeviceInfo"][0].update(devices.get(device, {}))
        documents: dict[str, Document] = {
            "info": {**stated, **machine},
            "sample": {"devices": str(HOST_DEVICE if device is None else device), **sample},
            "start_info": {
                "collectionDateBegin": _date(origin.start),
                "collectionTimeBegin": str(origin.start // MICROSECOND),
                "clockMonotonicRaw": str(moments.monotonic),
            },
        }
        if origin.end is not None:
            documents["end_info"] = {
                "collectionDateEnd": _date(origin.end),
                "collectionTimeEnd": str(origin.end // MICROSECOND),
                "clockMonotonicRaw": str(moments.monotonic + origin.end - origin.start),
            }
        for name, document in documents.items():
            path = place / _name(f"{side}_{name}", device)
            path.write_bytes(encode_json(document))
        for kind, content in _logs(device, moments).items():
            (place / _name(kind, device)).write_bytes(content)
        damage: list[Damage] = []
        (one,) = find_folders(place)
        found[device] = read_side_files(one, damage)
        if damage:
            raise ValueError(str(damage[0]))
    return found


def write_host_clocks(place: Path, origin: Origin, moments: Moments) -> None:
    """Write into the folder of the host what shows the times of the counter: start_info and
    host_start.log. Raises ``OSError``.
    """
    start = {
        "collectionDateBegin": _date(origin.start),
        "collectionTimeBegin": str(origin.start // MICROSECOND),
        "clockMonotonicRaw": str(moments.monotonic),
    }
    (place / _name("host_start_info", None)).write_bytes(encode_json(start))
    for kind, content in _logs(None, moments).items():
        (place / _name(kind, None)).write_bytes(content)


def _logs(device: int | None, moments: Moments) -> Mapping[str, bytes]:
    """The files of clocks: of the host, and of the moment at which a device's were read."""
    host = [
        Entry("section", {"section": "Host" if device is None else f"Device{device}"}),
        Entry("monotonic", {"clock_monotonic_raw": moments.monotonic + moments.counted}),
        Entry("counter", {"cntvct": moments.host_counter}),
        Entry("difference", {"cntvct_diff": 0}),
    ]
    if device is None:
        return {"host_start": _log("host_start", host)}
    own = [
        Entry("monotonic", {"clock_monotonic_raw": moments.device_monotonic + device * _APART}),
        Entry("counter", {"cntvct": moments.device_counter + device * _APART}),
    ]
    return {
        "device_host_start": _log("host_start", host),
        "dev_start": _log("dev_start", own),
    }


def _log(grammar: str, entries: list[Entry]) -> bytes:
    return encode_lines(entries, raw_catalog().grammars[grammar])


_APART = 1_000_000
"""Devices count from when they were switched on: each clock shows so much more than the last."""


def _name(kind: str, device: int | None) -> str:
    return raw_catalog().files[kind].name.of(device=device)


def _date(moment: int) -> str:
    seconds, rest = divmod(moment, 1_000_000_000)
    time = datetime.fromtimestamp(seconds, UTC) + HOST_ZONE
    return f"{time:%Y-%m-%d %H:%M:%S}.{rest // MICROSECOND:06}"
