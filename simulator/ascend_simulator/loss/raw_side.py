"""Side files of raw data: those that are lost, and those whose clocks are wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.raw.json_text import decode_json, encode_json
from ascend_ref.raw.lines import decode_lines, encode_lines
from ascend_spec import raw_catalog
from ascend_spec.raw import RawFile

from ..draws import Draws

TOO_SLOW = "1.000000"
"""MHz of a wrong frequency: times lie so far apart that most are behind the session."""
LEAST_SHIFT = 20_000_000_000
MOST_SHIFT = 600_000_000_000
"""ns by which a wrong clock is early, besides the length of the session."""

_MONOTONIC, _COUNTER = "clock_monotonic_raw", "cntvct"


@dataclass(frozen=True, slots=True)
class Changed:
    """A clock's record that was changed: the key, and its value before and after."""

    key: str
    was: str
    became: str


def put_wrong(path: Path, kind: RawFile, length: int, draws: Draws) -> Changed | None:
    """Change what a side file states of a clock, so that no time by it lies in the session.

    length: ns of the session. Of a log the reading changes, the one that no other file repeats; of
    info.json the frequency. ``None`` where the file states none.
    """
    if kind.grammar is None:
        return _frequency(path, kind)
    shift = length + draws.one(LEAST_SHIFT, MOST_SHIFT)
    grammar = raw_catalog().grammars[kind.grammar]
    monotonic = kind.side == "device" and kind.grammar == "host_start"
    key = _MONOTONIC if monotonic else _COUNTER
    lines = decode_lines(path.read_bytes(), grammar)
    for place, entry in enumerate(lines):
        if key not in entry.parts:
            continue
        was = int(str(entry.parts[key]))
        # A counter that was read too high makes each time too early; a tick takes 1 ns or more.
        became = max(was - shift, 0) if monotonic else was + shift
        lines[place] = replace(entry, parts={key: became})
        path.write_bytes(encode_lines(lines, grammar))
        return Changed(key, str(was), str(became))
    return None


def _frequency(path: Path, kind: RawFile) -> Changed | None:
    document, spelling = decode_json(path.read_bytes())
    device = kind.side == "device"
    place, key = ("DeviceInfo", "hwts_frequency") if device else ("CPU", "Frequency")
    rows = document.get(place)
    if not rows or not rows[0].get(key):
        return None
    was = str(rows[0][key])
    rows[0][key] = TOO_SLOW
    path.write_bytes(encode_json(document, spelling))
    return Changed(f"{place}/0/{key}", was, TOO_SLOW)
