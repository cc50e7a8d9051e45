"""What AI CPU, Ctrl CPU and TS CPU did, from samples of their functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ascend_ref.capture import Records, Texts
from ascend_ref.spill import batches

from ..context import Context
from ..processors import FILES, SCHEDULER, UNKNOWN, Function, Sums, records_of
from ..system_load import PROCESSORS
from .session import Session
from .system_load import processor_types
from .times import state_wrong

_TEXT = FILES["ai_cpu"]
_EVENT = re.compile(r"(?:r|0x)([0-9a-fA-F]{1,8})")
_SAMPLES = ("sample", "raw_sample")
_NAMELESS = ":"
"""How the name of a program begins that perf does not know."""

Parts = Mapping[str, str]


def read_processors(session: Session, texts: Texts) -> Records:
    """The records of all devices. Samples that cannot be are damage."""
    found: dict[str, dict[int, Sums]] = {processor: {} for processor in FILES}
    for device, context in session.devices.items():
        if FILES[SCHEDULER] in context.folder.files:
            found[SCHEDULER][device] = _scheduler(session, context)
        if _TEXT in context.folder.files:
            for processor, sums in _others(session, context, device).items():
                found[processor][device] = sums
    return records_of(found, texts)


def _scheduler(session: Session, context: Context) -> Sums:
    """What the records of TS CPU add up to; pairs of zeros are places that are not in use."""
    sums, wrong = Sums(), 0
    rows = session.rows(context, FILES[SCHEDULER])
    for batch in batches(len(rows)):
        own = rows[batch]
        for address, numbers in zip(own["pc"].tolist(), own["pmuData"].tolist(), strict=True):
            function: Function = hex(address), None
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            right = [sums.add(function, *pair) for pair in pairs if any(pair)]
            wrong += not all(right)
    state_wrong(
        *(session, context, FILES[SCHEDULER], wrong, len(rows)),
        "have events that there are not, or more of them than a counter has",
    )
    return sums


def _others(session: Session, context: Context, device: int) -> Mapping[str, Sums]:
    """What the samples of AI CPU and of Ctrl CPU add up to; those of others are not shown."""
    types = processor_types(session, context, device, _TEXT) or {}
    found = {processor: Sums() for processor in PROCESSORS.values()}
    wrong = every = 0
    for sample, frame in _samples(session, context):
        every += 1
        number = _EVENT.fullmatch(sample["event"])
        if frame is None or number is None or sample["command"].startswith(_NAMELESS):
            wrong += 1
            continue
        kind = types.get(int(sample["processor"]))
        if kind is not None:
            sums = found[PROCESSORS[kind]]
            wrong += not sums.add(_function(frame), int(number[1], 16), int(sample["count"]))
    state_wrong(
        *(session, context, _TEXT, wrong, every),
        "have no function, program or event that there is, or more events than a counter has",
    )
    return found


def _samples(session: Session, context: Context) -> Iterator[tuple[Parts, Parts | None]]:
    """The first line of each sample, and that of its function; ``None`` without one."""
    sample: Parts | None = None
    for line, parts in session.lines(context, _TEXT):
        if line in _SAMPLES:
            if sample is not None:
                yield sample, None
            sample = parts
        elif sample is not None:
            yield sample, parts
            sample = None
    if sample is not None:
        yield sample, None


def _function(frame: Parts) -> Function:
    """The name without the place in the function behind its last plus, and the module."""
    name, plus, place = frame["function"].rpartition("+")
    name = name if plus else place
    return UNKNOWN if name == f"[{UNKNOWN}]" else name, frame["module"].strip("()")
