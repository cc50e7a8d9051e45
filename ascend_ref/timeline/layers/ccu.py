"""CCU: loops and waits of the units for collective communication.

What is known of an instruction stands in its table as a JSON array of alternating names and values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers, is_one_of
from ascend_ref.derive.ccu import LOOP, WAIT
from ascend_ref.derive.traffic import MEBIBYTE
from ascend_ref.spill import batches

from ..events import Events, Item
from ..notation import reals
from ..rows import Fragment
from ..session import Session

LAYER, TABLE = "CCU", "CCU"
KINDS = {"loop": LOOP, "wait": WAIT}
RATE = "Bandwidth (MB/s)"
"""Made of the amount and the length; the table has it in Byte/s."""
AMOUNT = "Data Size"
NANOSECONDS = 1e9


def instructions(session: Session) -> Iterator[Item]:
    """Loops, then waits, of each device."""
    layer, table = session.layer(LAYER), session.recorded.table(TABLE)
    if layer is None or not len(table):
        return
    device = integers(table["deviceId"], session.device)
    for home in np.unique(device).tolist():
        yield from session.process(layer, home)
        yield from session.thread(layer, "all", home)
    start, end = integers(table["startNs"], 0), integers(table["endNs"], 0)
    for kind, name in KINDS.items():
        every = np.flatnonzero(is_one_of(table["name"], [name]))
        for part in batches(len(every)):
            rows = every[part]
            length = np.maximum(end[rows] - start[rows], 0)
            texts = table["args"].take(pa.array(rows)).to_pylist()
            stated = [_pairs(one) for one in texts]
            for one, took in zip(stated, length.tolist(), strict=True):
                if took and isinstance(one.get(AMOUNT), int):
                    one[RATE] = one[AMOUNT] * NANOSECONDS / took / MEBIBYTE
            yield Events(
                layer=layer,
                kind=layer.event(kind),
                start=start[rows],
                device=device[rows],
                length=length,
                args={
                    arg.name.template: _shown(
                        session, [one.get(arg.name.template) for one in stated]
                    )
                    for arg in layer.event(kind).args
                },
            )


def _pairs(text: str | None) -> dict[str, Any]:
    """Names and values; nothing where there is no such array."""
    try:
        found = json.loads(text or "")
    except ValueError:
        return {}
    if not isinstance(found, list):
        return {}
    return {str(name): value for name, value in zip(found[::2], found[1::2], strict=False)}


def _shown(session: Session, values: Sequence[Any]) -> Fragment:
    """Values as text without quotes, NULL for what is not known."""
    return pa.array([_text(session, one) for one in values], pa.string())


def _text(session: Session, value: Any) -> str | None:
    if isinstance(value, str):
        return session.notation.string(value)
    if isinstance(value, float):
        return str(reals(np.array([value]))[0])
    return str(value) if isinstance(value, int) else None
