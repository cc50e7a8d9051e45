"""When the counter of a device showed what: the clocks of old captures (mindspore-profiler 1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ascend_ref.raw.moments import MICROSECOND
from ascend_spec.mindspore import TICKS

from ..folder import RawCapture

SECOND, MILLISECOND = 10**9, 10**6
"""ns."""
TICK = MICROSECOND // TICKS
"""ns of a tick."""
EXACT = 1 << 53
"""Ticks below it are exact as floating-point numbers; a device shows them for three years."""

_HOST, _DEVICE = "host_start", "device_start"
_REALTIME, _MONOTONIC, _COUNTER = "clock_realtime", "clock_monotonic_raw", "cntvct"
_LONGEST = 1 << 12
"""Bytes of such a file that are read; real ones have three lines."""
_LIMIT = 1 << 61
"""No clock shows a greater number."""


UNIX = 946_684_800 * SECOND
"""2000-01-01: no counter of a device shows as much, and every Unix time of a capture more."""


def known_zero(capture: RawCapture, first: int) -> tuple[int, Sequence[str]] | None:
    """The Unix time, in ns, when the counter was 0, and sentences on what of it is not known;
    ``None`` where no file states the time of the collection.

    first: the earliest time of the capture, in ns since then.
    """
    host, device = _numbers(capture, _HOST), _numbers(capture, _DEVICE)
    if _REALTIME in device and _COUNTER in device:
        return device[_REALTIME] - device[_COUNTER] * TICK, ()
    if {_REALTIME, _MONOTONIC} <= host.keys() and {_MONOTONIC, _COUNTER} <= device.keys():
        since = device[_MONOTONIC] - host[_MONOTONIC]
        return host[_REALTIME] + since - device[_COUNTER] * TICK, ()
    if _REALTIME in host:
        text = (
            "no file has the counter of the device at a time; the first record stands at the start "
            "of the collection in host_start.log, and only differences of times are right"
        )
        return host[_REALTIME] - first, (text,)
    return None


def unknown_zero(first: int, day: str) -> tuple[int, Sequence[str]]:
    """The same where no file states it. day: of the parsers, which stands in its place."""
    begun = int(datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp())
    text = (
        f"no file has the time of the collection; the first record stands at {day}, the day of the "
        "generation, and only differences of times are right"
    )
    return begun * SECOND - first, (text,)


def _numbers(capture: RawCapture, kind: str) -> dict[str, int]:
    """The numbers of a file of clocks by their names; lines of any other form are passed over."""
    found = capture.files.get(kind)
    if found is None:
        return {}
    return _read(found.slices[0].path)


def _read(path: Path) -> dict[str, int]:
    with path.open("rb") as file:
        text = file.read(_LONGEST).decode("utf-8", "replace")
    numbers = {}
    for line in text.splitlines():
        name, between, value = line.partition(":")
        digits = value.strip()
        if between and digits.isdecimal() and digits.isascii() and int(digits) < _LIMIT:
            numbers[name.strip()] = int(digits)
    return numbers
