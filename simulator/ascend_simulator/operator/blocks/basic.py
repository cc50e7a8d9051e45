"""Block 0x05: what the operator is, and how long its blocks ran."""

from __future__ import annotations

from typing import Any

from ascend_spec import bin_catalog

from ...draws import Draws
from .numbers import six
from .view import Report

LOW_FREQUENCY = 0.95
"""Of the rated clock; at or below it there is advice (bin-blocks.md 3.5)."""
NO_MIX = "-1"


def basic_info(report: Report) -> dict[str, Any]:
    """The payload of 0x05."""
    world, program = report.world, report.world.program
    current, rated = world.frequency, program.chip.frequency
    advice = [str(one.value) for one in bin_catalog().enums["basic_advice"].members]
    detail = "mix_block_detail" if report.mixed else "block_detail"
    vectors = len(program.units) - 1
    return {
        "name": operator_name(report),
        "soc": program.chip.name,
        "op_type": program.op_type,
        "block_dim": str(program.block_dim),
        "mix_block_dim": str(program.block_dim * vectors) if report.mixed else NO_MIX,
        "device_id": "0",
        "pid": str(Draws(world.seed, "process").one(100_000, 4_000_000)),
        "duration": report.duration,
        "cur_freq": str(current),
        "rated_freq": str(rated),
        detail: _table(report),
        "advice": advice[:1] if current <= LOW_FREQUENCY * rated else [],
    }


def operator_name(report: Report) -> str:
    """The name of the binary: kernel, hash of its sources, kind of core."""
    program = report.world.program
    words = "".join(part.capitalize() for part in program.kernel.split("_"))
    code = "".join(f"{int(word):016x}" for word in Draws(report.world.seed, words).raw(2))
    return f"{words}_{code}_0" + ("_mix_aic" if report.mixed else "")


def _table(report: Report) -> dict[str, Any]:
    heads = list(bin_catalog().memory.detail_headers(report.family, report.op_type))
    rows = []
    for number, block_id in enumerate(report.block_ids):
        durations = [
            six(report.cycles(unit) / report.world.frequency) for unit in report.units(number)
        ]
        value = [] if report.world.chip.unified else [block_id]
        value += durations if report.mixed else [report.op_type, *durations]
        rows.append({"value": value})
    return {"head_name": heads, "row": rows, "size": [len(rows) + 1, len(heads)]}
