"""Collectives with their parts, of traces of communication (mindspore-profiler 3.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ascend_ref.capture.model import NONE
from ascend_ref.raw.damage import few
from ascend_ref.raw.moments import MICROSECOND
from ascend_spec.mindspore import TASK_NUMBERS, UNRANKED

from ..folder import OPERATOR
from ..parse.documents import Malformed, is_number, read_document
from ..parse.hccl import KIND
from ..parse.hccl_links import LOCAL, RECORD
from ..parse.run import Run
from .found import Collective, Part

_STREAMS = 1 << 31
_LATEST = 1 << 50
"""us that no counter shows."""


def collectives_of(run: Run) -> list[Collective]:
    """The operators of all iterations, in order of start."""
    found = []
    with few(run.damage) as stated:
        for one in run.slices(KIND) or ():
            operator = dict(one.parts)[OPERATOR]
            iteration = one.path.stem
            parts = read_document(one.path, _parts, stated)
            if parts:
                name = f"{operator}_{iteration}"
                found.append(Collective(name, operator.partition("_")[0], tuple(parts)))
    return sorted(found, key=lambda one: one.parts[0].start)


def _parts(document: Any) -> list[Part]:
    """The parts of one operator in order of start. Raises :class:`Malformed`."""
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        raise Malformed("traceEvents is no list of events")
    found = [_part(one, f"traceEvents[{number}]") for number, one in enumerate(events)]
    own = _own_rank(found)
    return [_seen_from(own, one) for one in sorted(found, key=lambda one: one.start)]


def _own_rank(parts: Iterable[Part]) -> int:
    """The rank that was recorded: it notifies others, and waits for them (mindspore-profiler 3.6).

    NONE where it does neither.
    """
    for one in parts:
        if one.kind == RECORD and one.source != NONE:
            return one.source
        if one.transport == LOCAL and one.target != NONE:
            return one.target
    return NONE


def _seen_from(own: int, part: Part) -> Part:
    """The same with the own rank as its source, as databases have it, whoever sends the data."""
    if own == NONE:
        return part
    others = [one for one in (part.source, part.target) if one not in (own, NONE)]
    return replace(part, source=own, target=others[0] if others else own)


def _part(event: Any, place: str) -> Part:
    if not isinstance(event, dict) or not isinstance(event.get("args"), dict):
        raise Malformed(f"{place} is no event with args")
    args = event["args"]
    start, length = (_time(event, one, place) for one in ("ts", "dur"))
    transport = str(args.get("transport type") or "")
    plane = event.get("tid")
    return Part(
        kind=str(args.get("task type") or event.get("name") or ""),
        start=start,
        end=start + length,
        stream=_number(args, "stream id", _STREAMS, place),
        task=_number(args, "task id", TASK_NUMBERS, place),
        plane=plane if isinstance(plane, int) and 0 <= plane < _STREAMS else 0,
        notify=_whole(args.get("notify id"), 1 << 63),
        source=_whole(args.get("src rank"), UNRANKED),
        target=_whole(args.get("dst rank"), UNRANKED),
        size=max(_whole(args.get("size"), 1 << 62), 0),
        transport=transport,
    )


def _time(event: Any, name: str, place: str) -> int:
    """In ns."""
    value = event.get(name)
    if not is_number(value) or not 0 <= value < _LATEST:
        raise Malformed(f"{place}.{name} is {value!r}")
    return round(float(value) * MICROSECOND)


def _number(args: Any, name: str, most: int, place: str) -> int:
    value = args.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < most:
        raise Malformed(f"{place}.args.{name} is {value!r}")
    return value


def _whole(value: Any, most: int) -> int:
    """A number or its hexadecimal text below the greatest; NONE for anything else."""
    if isinstance(value, str):
        try:
            value = int(value, 16)
        except ValueError:
            return NONE
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value < most else NONE
