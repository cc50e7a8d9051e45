"""Where on the framework thread things happen while it works for a run, in parts of its time.

An operator spends ``before`` until its items are handed over and ``after`` once they are. Both are
divided into 1024 parts; the constants say in which part something begins or ends. Frames of the
Python trace lie outermost, then the backward node, the operator, its outputs and its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..program.model import Synchronize
from .clock import WHOLE, Anchor, Moment
from .script import HostScript, Run

PARTS = 1024
FRAME_PARTS = 4
DEEPEST_FRAME = 45
"""Frame number k begins 4 k parts after the run's begin and ends 4 k parts before its end."""
NODE_CALL, NODE, OPERATOR = 184, 187, 192
FUNCTION, TEST, TEST_END, BUILT_IN = 182, 183, 186, 189
NODE_CALL_END, NODE_END, FUNCTION_END, BUILT_IN_END = 840, 832, 824, 816
OPERATOR_END, LEAF_END = 800, 256
OUTPUTS, OUTPUTS_END = 320, 600
LEAVES = 640
CREATION, CREATION_END = 602, 638
"""The event of a collective."""
SIZING, SIZING_END = 690, 780
"""GetWorkspaceSize, or the descriptions of the operands of a compiled graph."""
FETCH, FETCH_END = 60, 600
"""The copy to the host at the end of a wait."""
SCALAR, SCALAR_END = 400, 700


def beginning(run: Run, part: int) -> Moment:
    """A part of the run's time before its items are handed over."""
    return Moment(Anchor.BEGIN, run.first, (run.share - run.after) * part // PARTS)


def ending(script: HostScript, run: Run, part: int) -> Moment:
    """A part of the run's time after that; at the end of the wait of a Synchronize."""
    if isinstance(script.program.items[run.last], Synchronize):
        return Moment(Anchor.TAIL, run.last, WHOLE * part // PARTS)
    return Moment(Anchor.HANDED, run.last, (run.after or WHOLE) * part // PARTS)


def slots(count: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each of so many leaves, in parts before the run is handed over."""
    for place in range(count):
        yield (
            LEAVES + (PARTS - LEAVES) * place // count,
            LEAVES + (PARTS - LEAVES) * (place + 1) // count,
        )
