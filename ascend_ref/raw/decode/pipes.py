"""What groups of cores moved and how long their pipes worked, from a record for each period."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import construct
import numpy as np

from ascend_ref.capture import RECORDS, Integers, Records, Texts
from ascend_ref.capture.model import NONE
from ascend_spec.raw.records import CYCLE_BITS

from ..context import Context
from ..damage import Damage
from ..fields import split_numbers
from ..pipes import (
    CUBE_FILE,
    CYCLES,
    FLOW,
    FREQUENCIES,
    OTHERS,
    PIPES,
    TRAFFIC,
    VECTOR_FILE,
    Core,
)
from .session import Rows, Session

_KINDS = (CUBE_FILE, VECTOR_FILE)
_LONGEST = 1 << 20
"""Cycles of a period; collectors take 30,000 at most (ge-profiling 1.3)."""

Columns = Mapping[str, Integers]


def read_pipes(session: Session, texts: Texts) -> Records:
    """The records of all devices, by group and core, each in the order of its files."""
    cycles: list[Columns] = []
    flow: list[Columns] = []
    for device, context in sorted(session.devices.items()):
        files = [kind for kind in _KINDS if kind in context.folder.files]
        period = _period(session, context, files) if files else None
        cores: list[tuple[Core, str, Rows]] = []
        for kind in files if period is not None else ():
            for parts, rows in session.parts(context, kind):
                vector = int(parts["vector"][-1]) if "vector" in parts else NONE
                cores.append((Core(int(parts["group"]), vector), kind, rows))
        for core, kind, rows in sorted(cores, key=lambda one: one[0]):
            declared = session.declared(context, kind)
            alike = {"device": device, "group": core.group, "time": NONE, "period": period or 0}
            own = {name: np.full(len(rows), value) for name, value in alike.items()}
            cycles.append({**own, **_worked(declared, core, rows, texts)})
            if core.vector == NONE:
                moved = {
                    name: split_numbers(declared, parts, rows) for name, parts in TRAFFIC.items()
                }
                flow.append({**own, **moved})
    return {
        record: {
            name: np.concatenate([part[name] for part in parts]) for name in RECORDS[record].columns
        }
        for record, parts in ((FLOW, flow), (CYCLES, cycles))
        if sum(len(part["device"]) for part in parts)
    }


def stated_period(context: Context) -> int:
    """The cycles of a period, 0 where sample.json states none that can be."""
    sample = context.side.documents.get("sample", {})
    stated = [sample[key] for key in FREQUENCIES if sample.get(key) is not None]
    try:
        period = int(stated[0])
    except (IndexError, ValueError, TypeError, OverflowError):
        return 0
    return period if 0 < period <= _LONGEST else 0


def _period(session: Session, context: Context, files: list[str]) -> int | None:
    """The cycles of a period; without them nothing of the files can be shown."""
    period = stated_period(context)
    if period:
        return period
    for kind in files:
        text = f"{kind} is not read: sample.json has no {FREQUENCIES[0]} from 1 to {_LONGEST:,}"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return None


def _worked(declared: construct.Struct, core: Core, rows: Rows, texts: Texts) -> dict[str, Any]:
    """How far the counters went since the sample before, the first of them from 0 on."""
    found: dict[str, Integers] = {
        "core": np.full(len(rows), core.number),
        "type": np.full(len(rows), texts.number(core.type)),
        "length": np.full(len(rows), NONE),
    }
    for name, parts in PIPES.items():
        counted = split_numbers(declared, parts, rows) * (name != OTHERS[core.type])
        found[name] = np.diff(counted, prepend=0) & ((1 << CYCLE_BITS) - 1)
    return found
