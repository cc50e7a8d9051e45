"""Why warps wait: ``source/queryTopWarpStallReason``, block 0x0F."""

from __future__ import annotations

from .answer import Body
from .blocks import Blocks
from .question import Question
from .values import INT64, UINT64, member

STALLS_TYPE = 0x0F


def stall_reasons(asked: Question) -> Body:
    """The body of ``source/queryTopWarpStallReason``; no data without the block.

    Without a baseline the difference is the number itself. Reasons that only the baseline has
    follow with 0 of the file. The viewer's order is that of a hash table; ours is the file's.
    """
    compare = _reasons(asked.blocks)
    beside = _reasons(asked.baseline) if asked.baseline and compare else {}
    return {
        "unit": "count",
        "data": [
            {
                "compare": {"name": name, "value": compare.get(name, 0)},
                "baseline": {"name": name, "value": beside.get(name, 0)},
                "diff": {
                    "name": name,
                    "value": _within(compare.get(name, 0) - beside.get(name, 0)),
                },
            }
            for name in dict.fromkeys((*compare, *beside))
        ],
    }


def _reasons(blocks: Blocks) -> dict[str, int]:
    """Samples by reason; what is no integer of 64 bits is left out, and 2^63 and more wraps."""
    table = member(blocks.native(STALLS_TYPE), "top_stall_reason_table")
    if not isinstance(table, dict):
        return {}
    return {
        name: number if number in INT64 else number - UINT64.stop
        for name, number in table.items()
        if isinstance(number, int) and not isinstance(number, bool)
        if number in INT64 or number in UINT64
    }


def _within(number: int) -> int:
    return min(max(number, INT64.start), INT64.stop - 1)
