"""When the pipes of single cores worked, from the trace of words of each core."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Origin, Records, Texts

from ..clocks import OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import numbers
from ..instructions import FILE, KIND_SHIFT, RECORD, Trace, Words, behind, pipes, trace_of
from .session import Session
from .times import state_timeless, times_of


def read_instructions(session: Session, origin: Origin, texts: Texts) -> Records:
    """The record of all devices, by group and core."""
    found: list[dict[str, Integers]] = []
    for device, context in sorted(session.devices.items()):
        every = sorted(
            session.parts(context, FILE),
            key=lambda one: (int(one.parts["group"]), one.parts["core"]),
        )
        for parts, rows in every:
            declared = session.declared(context, FILE)
            high = numbers(declared, "ctrlType", rows) << KIND_SHIFT
            words = Words(rows["sysCnt"].astype(np.int64), high | numbers(declared, "events", rows))
            trace = trace_of(words)
            core = f"group {parts['group']} {parts['core']}"
            _state_damage(session, context, core, trace)
            start, end = _times(session, context, trace, origin)
            known = (start != OUT_OF_RANGE) & (end != OUT_OF_RANGE)
            state_timeless(session, context, FILE, int((~known).sum()))
            named = np.array([texts.number(name) for name in pipes()], np.int64)
            count = int(known.sum())
            if count:
                found.append(
                    {
                        "device": np.full(count, device),
                        "core": np.full(count, texts.number(parts["core"])),
                        "instruction": named[trace.pipe[known]],
                        "time": start[known],
                        "length": (end - start)[known],
                        "group": np.full(count, int(parts["group"])),
                        "block": trace.block[known],
                        "checkpoint": trace.checkpoint[known],
                    }
                )
    if not found:
        return {}
    return {RECORD: {name: np.concatenate([one[name] for one in found]) for name in found[0]}}


def _times(
    session: Session, context: Context, trace: Trace, origin: Origin
) -> tuple[Integers, Integers]:
    """Starts and ends; the clock of the cores is that of info.json, whatever they had."""
    frequency = origin.facts.frequency if origin.facts else 0
    if frequency <= 0:
        nothing = np.full(len(trace.pipe), OUT_OF_RANGE)
        return nothing, nothing
    both = np.append(trace.start_ticks, trace.end_ticks)
    cycles = np.append(trace.start_cycles, trace.end_cycles)
    stamps = times_of(session, context, FILE, "device-counter", both)
    start, end = np.split(behind(stamps, cycles, frequency), 2)
    return start, end


def _state_damage(session: Session, context: Context, core: str, trace: Trace) -> None:
    for wrong, text in (
        (trace.lost, f"{FILE}: {trace.lost:,} words of {core} have no stamp before them"),
        (trace.torn, f"{FILE}: a stamp of {core} is not whole; what follows it is not read"),
    ):
        if wrong:
            session.damage.append(Damage(context.folder.path, text, kind=FILE))
